"""functorch.make_functional: a module as a function of its parameters, from before torch.func.functional_call."""
from __future__ import annotations

import copy
from collections.abc import Sequence

from ..func.modules import functional_call
from ..nn import Module
from ..ops.layout.join import stack
from ..tensor import Tensor

__all__ = ["FunctionalModule", "FunctionalModuleWithBuffers", "combine_state_for_ensemble", "make_functional",
           "make_functional_with_buffers"]


class FunctionalModule(Module):
    """A module that takes parameters and arguments, and calls the original module with both."""

    def __init__(self, stateless_model: Module, param_names: tuple[str, ...]) -> None:
        super().__init__()
        self.stateless_model, self.param_names = stateless_model, param_names

    def forward(self, params: Sequence[Tensor], *args, **kwargs):
        return functional_call(self.stateless_model, dict(zip(self.param_names, params)), args, kwargs)


class FunctionalModuleWithBuffers(Module):
    """A module that takes parameters, buffers and arguments, and calls the original module with them."""

    def __init__(self, stateless_model: Module, param_names: tuple[str, ...], buffer_names: tuple[str, ...]) -> None:
        super().__init__()
        self.stateless_model, self.param_names, self.buffer_names = stateless_model, param_names, buffer_names

    def forward(self, params: Sequence[Tensor], buffers: Sequence[Tensor], *args, **kwargs):
        state = dict(zip(self.param_names + self.buffer_names, (*params, *buffers)))
        return functional_call(self.stateless_model, state, args, kwargs)


def _parameters(model, disable_autograd_tracking):
    params = tuple(model.parameters())
    return tuple([p.detach() for p in params]) if disable_autograd_tracking else params


def make_functional(model: Module, disable_autograd_tracking: bool = False) -> tuple[FunctionalModule, tuple]:
    """(function of parameters and arguments, the parameters) of a module without buffers. RuntimeError for a module
    with buffers.

    >>> import tinytorch as torch
    >>> function, params = make_functional(torch.nn.Linear(2, 1, bias=False))
    >>> torch.equal(function((torch.ones(1, 2),), torch.ones(2)), torch.tensor([2.]))
    True
    """
    if list(model.buffers()):
        raise RuntimeError("make_functional(model): `model` has buffers. Please use "
                           "make_functional_with_buffers(model) instead.")
    names = tuple([name for name, _ in model.named_parameters()])
    return FunctionalModule(copy.deepcopy(model), names), _parameters(model, disable_autograd_tracking)


def make_functional_with_buffers(model: Module, disable_autograd_tracking: bool = False) -> tuple:
    """(function of parameters, buffers and arguments, the parameters, the buffers) of a module."""
    names = tuple([name for name, _ in model.named_parameters()])
    buffer_names = tuple([name for name, _ in model.named_buffers()])
    function = FunctionalModuleWithBuffers(copy.deepcopy(model), names, buffer_names)
    return function, _parameters(model, disable_autograd_tracking), tuple(model.buffers())


def combine_state_for_ensemble(models: Sequence[Module]) -> tuple:
    """(function, parameters, buffers) of several modules of one class: their parameters and buffers stacked, for vmap.
    RuntimeError for none, or for modules of different classes or modes."""
    if not models:
        raise RuntimeError("combine_state_for_ensemble: Expected at least one model, got 0.")
    if len({model.training for model in models}) > 1:
        raise RuntimeError("combine_state_for_ensemble: Expected all models to have the same training/eval mode.")
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("combine_state_for_ensemble: Expected all models to be of the same class.")
    functions, params, buffers = zip(*[make_functional_with_buffers(model) for model in models])
    return functions[0], tuple([stack(same) for same in zip(*params)]), tuple([stack(same) for same in zip(*buffers)])
