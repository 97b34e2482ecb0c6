"""The code of the course, chapter by chapter."""
