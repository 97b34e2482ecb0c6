"""Reductions and orders: sums, statistics, running sums, sorting."""
