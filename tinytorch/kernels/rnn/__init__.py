"""Recurrent layers, one direction of one layer at a time."""
