"""torch.fx.passes.dialect: passes for graphs of one set of operators."""
