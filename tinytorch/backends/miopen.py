"""MIOpen, which is not there."""

immediate = False
