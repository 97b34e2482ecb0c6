"""XNNPACK, which is not available."""

enabled = False
