"""torch.fx.passes.dialect.common: passes for graphs with any operators."""
