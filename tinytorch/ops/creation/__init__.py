"""New tensors, and conversions."""
