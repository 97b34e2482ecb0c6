"""torch.fx.passes.dialect: passes for graphs with a given set of operators."""
