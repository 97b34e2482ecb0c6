"""MIOpen, which is not available."""

immediate = False
