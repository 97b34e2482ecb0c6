"""The older spectral_norm, by a forward pre-hook. parametrizations.spectral_norm is newer."""
from ...autograd.grad_mode import no_grad
from ...ops.linalg.functions import multi_dot
from ...ops.linalg.products import dot, mv
from ...ops.nn.similarity import normalize
from ..modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..parameter import Parameter, is_lazy

__all__ = ["remove_spectral_norm", "spectral_norm"]


class SpectralNorm:
    """The hook that computes `name` from `name_orig`, `name_u` and `name_v` before every forward."""

    _version = 1

    def __init__(self, name="weight", n_power_iterations=1, dim=0, eps=1e-12):
        if n_power_iterations <= 0:
            raise ValueError("Expected n_power_iterations to be positive, but got "
                             f"n_power_iterations={n_power_iterations}")
        self.name, self.dim, self.n_power_iterations, self.eps = name, dim, n_power_iterations, eps

    def reshape_weight_to_matrix(self, weight):
        if self.dim:
            weight = weight.permute(self.dim, *[d for d in range(weight.dim()) if d != self.dim])
        return weight.reshape(weight.shape[0], -1)

    def compute_weight(self, module, do_power_iteration):
        """The original divided by u^T W v.

        The power iteration changes the vectors u and v in place, so that copies of the module share them."""
        weight, u, v = [getattr(module, self.name + suffix) for suffix in ("_orig", "_u", "_v")]
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    normalize(mv(matrix.t(), u), dim=0, eps=self.eps, out=v)
                    normalize(mv(matrix, v), dim=0, eps=self.eps, out=u)
                u, v = u.clone(), v.clone()    # the next forward must not change what this backward needs
        return weight / dot(u, mv(matrix, v))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module, module.training))

    def remove(self, module):
        with no_grad():
            weight = self.compute_weight(module, False)
        for suffix in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + suffix)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def solve_v(self, matrix, u, sigma):
        """A vector v such that matrix @ v, normalised, is u, and u^T matrix v is sigma."""
        v = multi_dot([matrix.t().mm(matrix).pinverse(), matrix.t(), u.unsqueeze(1)]).squeeze(1)
        return v.mul_(sigma / dot(u, mv(matrix, v)))


class _SaveHook:
    """Writes the version of the layout to the metadata of a state_dict."""

    def __init__(self, fn):
        self.fn = fn

    def __call__(self, module, state_dict, prefix, local_metadata):
        versions = local_metadata.setdefault("spectral_norm", {})
        key = self.fn.name + ".version"
        if key in versions:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        versions[key] = self.fn._version


class _LoadHook:
    """Adds `name_v` to state_dicts of older versions, which do not hold it."""

    def __init__(self, fn):
        self.fn = fn

    def __call__(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        version = local_metadata.get("spectral_norm", {}).get(self.fn.name + ".version")
        if version is not None and version >= 1:
            return
        key = prefix + self.fn.name
        if version is None and key not in state_dict and all(key + s in state_dict for s in ("_orig", "_u", "_v")):
            return                             # complete: only the metadata was lost
        missing = [key + suffix for suffix in ("_orig", "", "_u") if key + suffix not in state_dict]
        if missing:
            missing_keys.extend(missing if strict else [])
            return
        with no_grad():
            original, weight = state_dict[key + "_orig"], state_dict.pop(key)
            sigma = (original / weight).mean()
            matrix = self.fn.reshape_weight_to_matrix(original)
            state_dict[key + "_v"] = self.fn.solve_v(matrix, state_dict[key + "_u"], sigma)


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Replace the parameter `name` by the parameter `name_orig` and the buffers `name_u` and `name_v`. Before every
    forward, `name` becomes the original divided by its largest singular value. parametrizations.spectral_norm is newer.

    n_power_iterations    number of steps before every forward in training mode
    dim                   the dimension of the matrix's rows (default 0, and 1 for ConvTranspose)

    Miyato et al., https://arxiv.org/abs/1802.05957. RuntimeError if it has been applied already. Returns the module.
    """
    if dim is None:
        dim = 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0
    for hook in module._forward_pre_hooks.values():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
    fn = SpectralNorm(name, n_power_iterations, dim, eps)
    weight = module._parameters[name]
    if weight is None:
        raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
    if is_lazy(weight):
        raise ValueError("The module passed to `SpectralNorm` can't have uninitialized parameters. Make sure to run "
                         "the dummy forward before applying spectral normalization")
    with no_grad():
        u, v = [normalize(weight.new_empty(n).normal_(0, 1), dim=0, eps=eps)
                for n in fn.reshape_weight_to_matrix(weight).shape]
    delattr(module, name)
    module.register_parameter(name + "_orig", weight)
    setattr(module, name, weight.data)         # a plain attribute, which can be read before the first forward
    module.register_buffer(name + "_u", u)
    module.register_buffer(name + "_v", v)
    module.register_forward_pre_hook(fn)
    module._register_state_dict_hook(_SaveHook(fn))
    module._register_load_state_dict_pre_hook(_LoadHook(fn))
    return module


def remove_spectral_norm(module, name="weight"):
    """Undo `spectral_norm`: `name` is a parameter again, with its present value. ValueError if it was not applied."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            break
    else:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    for registry, kind in [(module._state_dict_hooks, _SaveHook), (module._load_state_dict_pre_hooks, _LoadHook)]:
        for key, hook in list(registry.items()):
            hook = getattr(hook, "hook", hook)
            if isinstance(hook, kind) and hook.fn.name == name:
                del registry[key]
    return module
