"""Matrix products and sums by BLAS."""
