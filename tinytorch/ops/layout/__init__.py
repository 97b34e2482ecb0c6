"""Shapes, views, indexing: where elements are, not what they are."""
