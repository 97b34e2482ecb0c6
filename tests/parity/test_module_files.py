"""Modules through files, from either library to the other: whole modules as pickles, and state dicts after which
training goes on as in torch."""
import io
import warnings

import numpy as np
import pytest
import torch

import tinytorch

from .adapter import MODULES, Untranslatable, convert, tensors

#: Layers that torch's table of modules has not, by what makes one.
OTHERS = {
    "AlphaDropout": (0.3,), "ChannelShuffle": (2,), "CosineSimilarity": (), "CrossMapLRN2d": (3,), "DataParallel": (),
    "Dropout": (0.2,), "Dropout2d": (0.2,), "FeatureAlphaDropout": (), "Flatten": (), "Fold": (4, 2),
    "Identity": (), "LazyBatchNorm2d": (), "LazyInstanceNorm1d": (), "LazyLinear": (3,), "PairwiseDistance": (),
    "PixelShuffle": (2,), "PixelUnshuffle": (2,), "RReLU": (), "Softmax2d": (), "SyncBatchNorm": (3,),
    "Unflatten": (1, (2, 3)), "Unfold": (2,), "UpsamplingBilinear2d": ((3, 3),), "UpsamplingNearest2d": ((3, 3),)}
#: Layers with parameters.
LEARNING = (
    "BatchNorm1d BatchNorm2d BatchNorm3d Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d "
    "ConvTranspose3d Embedding GRU GRUCell GroupNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d LSTM LSTMCell "
    "LayerNorm LazyConv1d LazyConv2d LazyConv3d LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d "
    "Linear LinearCrossEntropyLoss MultiheadAttention PReLU RMSNorm RNN RNNCell Transformer "
    "TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer").split()


def _pairs(name, dtype):
    """(torch's module, ours, torch's forward inputs) of the samples that have another class or other settings."""
    info = MODULES[name]
    torch.manual_seed(0)
    cls = getattr(tinytorch.nn, name.removeprefix("nn."))
    for case in info.module_inputs_func(info, device="cpu", dtype=dtype, requires_grad=False, training=True):
        args, kwargs = case.constructor_input.args, case.constructor_input.kwargs
        try:
            our_args, our_kwargs = convert((args, kwargs))
        except Untranslatable:
            continue
        yield info.module_cls(*args, **kwargs).to(dtype), cls(*our_args, **our_kwargs).to(convert(dtype)), (
            case.forward_input)


def _through_file(module, save, load):
    file = io.BytesIO()
    save(module, file)
    file.seek(0)
    return load(file, weights_only=False)


def _state(module):
    return module.__reduce_ex__(2)[2]


def _same_module(ours, theirs):
    for (path, a), (other, b) in zip(ours.named_modules(), theirs.named_modules(), strict=True):
        assert path == other and type(a).__name__ == type(b).__name__
        mine, his = _state(a), _state(b)
        assert set(mine) == set(his), path
        for key, value in his.items():
            if isinstance(value, (bool, int, float, str, tuple, list)) and not tensors(value):
                assert mine[key] == value, f"{path}.{key}"
    assert repr(ours) == repr(theirs)
    for (key, a), (other, b) in zip(ours.state_dict().items(), theirs.state_dict().items(), strict=True):
        assert key == other
        if not isinstance(b, torch.nn.parameter.UninitializedTensorMixin):
            np.testing.assert_array_equal(a.detach().numpy(), b.detach().numpy(), err_msg=key)


def _pickled(theirs, ours):
    _same_module(_through_file(theirs, torch.save, tinytorch.load), theirs)
    _same_module(ours, _through_file(ours, tinytorch.save, torch.load))


@pytest.mark.filterwarnings("ignore:Lazy modules are a new feature", "ignore:enable_nested_tensor is True")
@pytest.mark.parametrize("name", MODULES)
def test_pickle(name):
    seen = set()
    for theirs, ours, _ in _pairs(name, torch.float32):
        settings = repr(theirs)
        if settings not in seen and len(seen) < 4:
            seen.add(settings)
            _pickled(theirs, ours)
    assert seen


@pytest.mark.filterwarnings("ignore:Lazy modules are a new feature")
@pytest.mark.parametrize("name", OTHERS)
def test_pickle_of_others(name):
    def make(nn):
        return nn.DataParallel(nn.Linear(2, 1)) if name == "DataParallel" else getattr(nn, name)(*OTHERS[name])
    _pickled(make(torch.nn), make(tinytorch.nn))


def _trained(library, module, args, kwargs):
    """Parameters and buffers after ten steps of SGD."""
    library.manual_seed(5)
    optimizer = library.optim.SGD(module.parameters(), lr=0.01, momentum=0.5)
    for _ in range(10):
        optimizer.zero_grad()
        outputs = [t for t in tensors(module(*args, **kwargs)) if t.requires_grad]
        loss = sum(((library.arange(t.numel()) % 7 - 3).reshape(t.shape).to(t.dtype) * t).mean() for t in outputs)
        loss.backward()
        optimizer.step()
    return module.state_dict()


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
@pytest.mark.parametrize("ours_first", [False, True], ids=["from_torch", "to_torch"])
@pytest.mark.parametrize("name", LEARNING)
def test_training_goes_on_from_a_state_dict(name, ours_first):
    compared = False
    for theirs, ours, call in _pairs("nn." + name, torch.float64):
        if compared or call is None or not list(theirs.parameters()):
            continue
        args, kwargs = convert((call.args, call.kwargs))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if "Lazy" in name:
                theirs(*call.args, **call.kwargs)
                ours(*args, **kwargs)
            if ours_first:
                theirs.load_state_dict(_through_file(ours.state_dict(), tinytorch.save, torch.load))
            else:
                ours.load_state_dict(_through_file(theirs.state_dict(), torch.save, tinytorch.load))
            mine = _trained(tinytorch, ours, args, kwargs)
            expected = _trained(torch, theirs, call.args, call.kwargs)
        assert list(mine) == list(expected)
        for key, value in expected.items():
            np.testing.assert_allclose(mine[key].numpy(), value.numpy(), rtol=1e-10, atol=1e-10, err_msg=key)
        compared = True
    assert compared
