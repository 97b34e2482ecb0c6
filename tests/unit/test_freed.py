"""Modules that are dropped are freed by reference counts alone: the garbage collector finds nothing of them."""
import copy
import gc
import inspect
import io
import pickle
import warnings
import weakref

import pytest

import tinytorch as torch
from tinytorch import nn
from tinytorch.nn import utils
from tinytorch.nn.utils import parametrizations, parametrize

pytestmark = pytest.mark.usefixtures("no_new_records")

ARGUMENTS = {
    "Linear": (3, 2), "Bilinear": (2, 3, 4), "Conv1d": (2, 3, 1), "Conv2d": (2, 3, 1), "Conv3d": (2, 3, 1),
    "ConvTranspose1d": (2, 3, 1), "ConvTranspose2d": (2, 3, 1), "ConvTranspose3d": (2, 3, 1), "Embedding": (3, 2),
    "EmbeddingBag": (3, 2), "LSTM": (3, 2), "GRU": (3, 2), "RNN": (3, 2), "LSTMCell": (3, 2), "GRUCell": (3, 2),
    "RNNCell": (3, 2), "Unflatten": (1, (2, 2)), "LayerNorm": (3,), "GroupNorm": (1, 3),
    "RNNBase": ("LSTM", 3, 2), "RNNCellBase": (3, 2, True, 4), "AdaptiveLogSoftmaxWithLoss": (3, 4, [2])}
TRIES = [(), (2,), (2, 2), (2, 2, 1), (2, 3, 4), (nn.Linear(2, 2), 2)]


def made(name):
    """A module of the class of that name, of the first arguments that it takes."""
    cls = getattr(nn, name)
    for arguments in [ARGUMENTS[name]] if name in ARGUMENTS else TRIES:
        try:
            return cls(*copy.deepcopy(arguments))
        except (TypeError, ValueError, RuntimeError, AssertionError, AttributeError):
            pass
    raise TypeError(f"no arguments for {name}")


CLASSES = [name for name, cls in vars(nn).items() if inspect.isclass(cls) and issubclass(cls, nn.Module)]


def trained(module):
    for _ in range(2):
        out = module(torch.randn(4, 3))
        out.sum().backward()
    return module


def reloaded(module):
    module.load_state_dict(module.state_dict())
    return module


def saved(module):
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


def old(kind, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return getattr(utils, kind)(nn.Linear(3, 3), *args)


class Doubled(nn.Module):
    def forward(self, x):
        return x * 2

    def right_inverse(self, x):
        return x / 2


def both(module):
    for name in ("weight", "bias"):
        parametrize.register_parametrization(module, name, Doubled())
    return module


NORMS = {
    "weight_norm": lambda: old("weight_norm"), "weight_norm of all": lambda: old("weight_norm", "weight", None),
    "spectral_norm": lambda: old("spectral_norm"),
    "weight_norm of an LSTM": lambda: utils.weight_norm(nn.LSTM(3, 3), "weight_hh_l0"),
    "new weight_norm": lambda: parametrizations.weight_norm(nn.Linear(3, 3)),
    "new spectral_norm": lambda: parametrizations.spectral_norm(nn.Linear(3, 3)),
    "orthogonal": lambda: parametrizations.orthogonal(nn.Linear(3, 3)),
    "cayley": lambda: parametrizations.orthogonal(nn.Linear(3, 3), orthogonal_map="cayley"),
    "two of one": lambda: parametrizations.spectral_norm(parametrizations.weight_norm(nn.Linear(3, 3))),
    "one of each": lambda: both(nn.Linear(3, 3)),
    "in a model": lambda: nn.Sequential(old("weight_norm"), nn.ReLU(), parametrizations.weight_norm(nn.Linear(3, 3))),
    "removed weight_norm": lambda: utils.remove_weight_norm(old("weight_norm")),
    "removed spectral_norm": lambda: utils.remove_spectral_norm(old("spectral_norm")),
    "removed parametrization": lambda: parametrize.remove_parametrizations(both(nn.Linear(3, 3)), "weight"),
    "all removed": lambda: parametrize.remove_parametrizations(
        parametrize.remove_parametrizations(both(nn.Linear(3, 3)), "weight"), "bias"),
    "transferred": lambda: parametrize.transfer_parametrizations_and_params(both(nn.Linear(3, 3)), nn.Linear(3, 3))}


def check_freed(make):
    """The module that `make` returns, all its tensors and what else came about are gone as soon as it is dropped."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make()                                 # what is made once for all is made now
        gc.disable()
        gc.freeze()                            # what is there already is none of ours
        try:
            module = make()
            seen = [weakref.ref(x) for x in (*module.modules(), *module.parameters(), *module.buffers())]
            assert len(seen) > 0
            del module
            assert [reference for reference in seen if reference() is not None] == []
            gc.set_debug(gc.DEBUG_SAVEALL)
            gc.collect()
            gc.set_debug(0)
            left = [type(x).__name__ for x in gc.garbage]
        finally:
            gc.set_debug(0)
            gc.garbage.clear()
            gc.unfreeze()
            gc.enable()
    assert left == []


@pytest.mark.parametrize("name", CLASSES)
def test_module(name):
    check_freed(lambda: made(name))


@pytest.mark.parametrize("norm", NORMS)
def test_norm(norm):
    check_freed(NORMS[norm])


@pytest.mark.parametrize("norm", [n for n in NORMS if "LSTM" not in n])
@pytest.mark.parametrize("use", [trained, reloaded])
def test_norm_in_use(norm, use):
    check_freed(lambda: use(NORMS[norm]()))


@pytest.mark.parametrize("norm", ["spectral_norm", "new weight_norm", "orthogonal", "one of each",
                                  "removed weight_norm"])
def test_copy(norm):
    check_freed(lambda: trained(copy.deepcopy(NORMS[norm]())))


@pytest.mark.parametrize("norm", ["weight_norm", "spectral_norm", "removed weight_norm", "removed parametrization"])
@pytest.mark.parametrize("again", [saved, lambda module: pickle.loads(pickle.dumps(module))])
def test_pickle(norm, again):
    if norm == "removed parametrization":      # bias is still computed: that is refused, as in torch
        with pytest.raises(RuntimeError, match="only supported through state_dict"):
            again(NORMS[norm]())
        return
    check_freed(lambda: trained(again(NORMS[norm]())))
    module = NORMS[norm]()
    x = torch.randn(2, 3)
    assert torch.equal(again(module.eval())(x), module(x))


@pytest.mark.parametrize("name", [n for n in CLASSES if n.startswith("Lazy") and n != "LazyModuleMixin"])
def test_lazy_copy_and_state(name):
    """A lazy module finds its shapes in a state_dict, and so does its copy."""
    check_freed(lambda: copy.deepcopy(made(name)))
    check_freed(lambda: pickle.loads(pickle.dumps(made(name))))


def test_lazy_copy_loads_for_itself():
    first = nn.LazyLinear(2)
    second = copy.deepcopy(first)
    second.load_state_dict(nn.Linear(5, 2).state_dict())
    assert second.weight.shape == (2, 5) and first.has_uninitialized_params()


def test_parametrized_modules_of_a_class_share_one():
    """Only the garbage collector frees a class; what is computed in one module is not in another."""
    a, b = (parametrizations.weight_norm(nn.Linear(3, 3)) for _ in range(2))
    assert type(a) is type(b) and type(a).__name__ == "ParametrizedLinear" and isinstance(a, nn.Linear)
    parametrize.register_parametrization(a, "bias", Doubled())
    assert type(a) is not type(b) and isinstance(b.bias, nn.Parameter)
    a.bias = torch.ones(3)
    assert a.bias.tolist() == [1, 1, 1] and a.parametrizations.bias.original.tolist() == [0.5, 0.5, 0.5]
    parametrize.remove_parametrizations(a, "weight")
    assert isinstance(a.weight, nn.Parameter) and not isinstance(b.weight, nn.Parameter)
    parametrize.remove_parametrizations(a, "bias")
    assert type(a) is nn.Linear and type(b) is not nn.Linear
    assert parametrize.type_before_parametrizations(b) is nn.Linear


def test_a_derived_class_has_its_own():
    class Derived(nn.Linear):
        pass
    a, b = parametrizations.weight_norm(nn.Linear(2, 2)), parametrizations.weight_norm(Derived(2, 2))
    assert type(b).__name__ == "ParametrizedDerived" and not isinstance(a, Derived) and isinstance(b, Derived)
    assert parametrize.type_before_parametrizations(b) is Derived


def test_the_input_of_cross_entropy_is_not_kept():
    x = torch.ones(2, 3, requires_grad=True)
    scores = x * 1
    array = weakref.ref(scores._array)
    loss = nn.functional.cross_entropy(scores, torch.tensor([0, 1]))
    del scores
    assert array() is None and loss.grad_fn is not None
