"""Many elements to fewer: sums, statistics, running sums, sorting."""
