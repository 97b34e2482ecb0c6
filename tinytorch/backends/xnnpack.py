"""XNNPACK, which is not there."""

enabled = False
