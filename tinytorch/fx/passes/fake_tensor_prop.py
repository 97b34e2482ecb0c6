"""torch.fx.passes.fake_tensor_prop: names to import."""
from ..._refused import refused_class

__all__ = ["FakeTensorProp"]

FakeTensorProp = refused_class(__name__, "FakeTensorProp", "there are no fake tensors; shape_prop runs a graph on an "
                               "example, of the meta device too")
