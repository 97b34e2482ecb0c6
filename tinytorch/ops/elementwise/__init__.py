"""Elementwise functions of one tensor or of several that broadcast."""
