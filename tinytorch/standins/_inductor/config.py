"""torch._inductor.config: settings of a compiler. They can be set, and change nothing."""
from types import SimpleNamespace
from typing import Any

fx_graph_cache = True
force_fuse_int_mm_with_mul = use_mixed_mm = freezing = max_autotune = max_autotune_gemm = coordinate_descent_tuning = (
    epilogue_fusion) = coordinate_descent_check_all_directions = shape_padding = debug = False
max_autotune_gemm_search_space = "DEFAULT"
triton = SimpleNamespace(cudagraphs=False, unique_kernel_names=True, cudagraph_trees=True)
cpp = SimpleNamespace(threads=-1, weight_prepack=True)
pre_grad_custom_pass: Any = None
post_grad_custom_pre_pass: Any = None
post_grad_custom_post_pass: Any = None
joint_custom_pre_pass: Any = None
joint_custom_post_pass: Any = None
