"""torch.fx.passes.splitter_base: names to import."""
from ..._refused import refused_names

globals().update(refused_names(
    __name__, "there are no accelerators to split for; infra.partitioner and split_module split graphs",
    "generate_inputs_for_submodules", "FxNetAccNodesFinder FxNetSplitterInternalError SplitResult Subgraph "
    "_SplitterBase _SplitterSettingBase"))
