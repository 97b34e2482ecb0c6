"""torch.fx.experimental: names to import."""
