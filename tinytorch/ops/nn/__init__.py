"""The operations that layers are made of."""
