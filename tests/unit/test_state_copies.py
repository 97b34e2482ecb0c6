"""Module.state_dict(copy=True) and load_state_dict(assign=True, keep_ties=True)."""
from collections import OrderedDict

import pytest

import tinytorch as torch


class Tied(torch.nn.Module):
    """A decoder that has the encoder's weight, and a buffer of two names, one of them in a module below."""

    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
        self.decoder.weight = self.encoder.weight
        self.register_buffer("scale", torch.rand(2))
        self.decoder.register_buffer("scale", self.scale)
        self.encoder.again = self.encoder.weight

    def get_extra_state(self):
        return {"notes": ["old"]}

    def set_extra_state(self, state):
        pass


def test_copies_are_what_no_training_changes():
    model = Tied()
    shared, copied = model.state_dict(), model.state_dict(copy=True)
    assert list(shared) == list(copied) and copied._metadata == shared._metadata and type(copied) is OrderedDict
    before = {name: value.clone() for name, value in shared.items() if isinstance(value, torch.Tensor)}
    for p in model.parameters():
        p.data.add_(1)
    model.scale.zero_()
    for name, value in before.items():
        assert torch.equal(copied[name], value) and not torch.equal(shared[name], value)
        assert copied[name].is_leaf and not copied[name].requires_grad
    copied["encoder.weight"][0, 0] = 7         # what was one is one
    assert copied["decoder.weight"][0, 0] == copied["encoder.again"][0, 0] == 7
    copied["_extra_state"]["notes"].append("new")
    assert shared["_extra_state"]["notes"] == ["old"]
    model.load_state_dict(copied)
    assert model.decoder.weight[0, 0] == 7


def test_copies_show_nothing_else():
    flat = torch.arange(1000.)
    model = torch.nn.Module()
    model.a, model.b = torch.nn.Parameter(flat[10:16].view(2, 3)), torch.nn.Parameter(flat[14:20])
    model.register_buffer("column", flat.view(10, 100)[:, 3])
    model.register_buffer("conjugate", torch.complex(flat[:2], flat[1:3]).conj())
    model.register_buffer("rows", torch.eye(2).to_sparse())
    model.register_buffer("empty", torch.ones(0, 3))
    model.lazy = torch.nn.LazyLinear(2)
    copied = model.state_dict(copy=True, prefix="m.")
    assert copied["m.a"].untyped_storage().nbytes() == (10 + 10) * 4         # 10 of the column, which is between them
    copied["m.a"][1, 2] = -1
    assert copied["m.b"][1] == -1 and flat[15] == 15
    for name, value in model.state_dict().items():
        if name not in ("a", "b") and not name.startswith("lazy"):
            assert torch.equal(copied["m." + name].to_dense(), value.to_dense())
    assert isinstance(copied["m.lazy.weight"], torch.nn.UninitializedParameter)


def test_copies_into_a_destination():
    model, there = torch.nn.Linear(2, 2), torch.ones(1)
    destination = OrderedDict(there=there)
    assert model.state_dict(destination=destination, prefix="x.", copy=True) is destination
    assert destination["there"] is there and list(destination) == ["there", "x.weight", "x.bias"]
    model.weight.data.zero_()
    assert destination["x.weight"].any()
    with pytest.raises(ValueError, match="keep_vars=True excludes it"):
        model.state_dict(copy=True, keep_vars=True)


def test_ties_are_kept():
    source, model = Tied(), Tied()
    state = source.state_dict(copy=True)
    optimizer_sees = len(list(model.parameters()))
    model.load_state_dict(state, assign=True, keep_ties=True)
    assert model.encoder.weight is model.decoder.weight is model.encoder.again and model.scale is model.decoder.scale
    assert len(list(model.parameters())) == optimizer_sees == 3
    assert isinstance(model.encoder.weight, torch.nn.Parameter) and model.encoder.weight.requires_grad
    assert model.encoder.weight.data_ptr() == state["encoder.weight"].data_ptr()
    assert torch.equal(model.encoder.weight, source.encoder.weight)
    model.load_state_dict(source.state_dict(copy=True), assign=True)         # torch's
    assert model.encoder.weight is not model.decoder.weight and model.scale is not model.decoder.scale


def test_ties_and_names_that_are_not_there():
    """What the last name was given counts, as it does without `assign`."""
    for names, value in ((["encoder.weight"], 1), (["decoder.weight"], 2), (["encoder.weight", "decoder.weight"], 2)):
        models = [Tied(), Tied()]
        state = {name: torch.full((3, 3), 1. if name.startswith("e") else 2.) for name in names}
        for model, options in zip(models, ({}, {"assign": True, "keep_ties": True})):
            missing = model.load_state_dict(state, strict=False, **options).missing_keys
            assert set(names).isdisjoint(missing) and "scale" in missing
            assert model.encoder.weight is model.decoder.weight and (model.decoder.weight == value).all()
            assert model.scale is model.decoder.scale
    with pytest.raises(RuntimeError, match="size mismatch"):
        models[0].load_state_dict({"encoder.weight": torch.ones(1)}, strict=False, assign=True, keep_ties=True)
    assert models[0].encoder.weight is models[0].decoder.weight


def test_ties_on_the_meta_device():
    with torch.device("meta"):
        model = Tied()
    model.load_state_dict(Tied().state_dict(), assign=True, keep_ties=True)
    assert not model.encoder.weight.is_meta and model.encoder.weight is model.decoder.weight
