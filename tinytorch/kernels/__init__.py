"""Routines from ndarrays to ndarrays, on which the ops are built. Apart from expressions.py no file knows a Tensor."""
