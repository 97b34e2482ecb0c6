"""Shapes, views and indexing: operations that move elements and do not change them."""
