"""Calls that are answered from what is kept of earlier ones (autograd/repeats.py) give what the function gives."""
from __future__ import annotations

import sys
import threading
import warnings

import numpy as np
import pytest

import tinytorch as torch
from tinytorch import Tensor
from tinytorch.autograd import repeats as keeping
from tinytorch.autograd.public import TABLE
from tinytorch.kernels import native
from tinytorch.seam import seam

F = torch.nn.functional
needs_records = pytest.mark.skipif(
    native.level() is None or sys.implementation.name != "cpython"
    or not getattr(sys, "_is_gil_enabled", lambda: True)(), reason="C reads no Python objects here")


def times(function, n=60):
    for _ in range(n):
        result = function()
    return result


def records(repeats):
    """The number of records in the table of a function."""
    return int(np.count_nonzero(np.frombuffer(repeats.table, np.int64, 24)[2::3])) if repeats.table else 0


@pytest.fixture
def fresh(monkeypatch):
    """A public function whose door repeats calls, and an element for each of its calls."""
    monkeypatch.setattr(seam, "up", False)     # tensors of classes that other tests made may still live
    from tinytorch.autograd.public import public
    seen = []

    @public(repeats=True)
    def mean_of_rows(input: Tensor, other: Tensor | None = None, scale: float = 1.0) -> Tensor:
        """A softmax of rows that counts its calls."""
        seen.append(1)
        return torch.softmax(input, -1)
    yield mean_of_rows, seen
    del TABLE[mean_of_rows]


@needs_records
def test_the_function_is_left_out(fresh):
    function, seen = fresh
    x, y = torch.randn(3, 4), torch.randn(3, 4)
    times(lambda: function(x))
    count = len(seen)
    assert torch.equal(function(y), torch.softmax(y, -1)) and torch.equal(function(x), torch.softmax(x, -1))
    assert len(seen) == count
    function(torch.randn(4, 4))                # another shape
    function(x.double())                       # another dtype
    function(x, None, 2.0)                     # other arguments
    function(x.requires_grad_())               # recorded
    assert len(seen) == count + 4


@needs_records
def test_views_subclasses_and_modes_are_told_apart(fresh):
    function, seen = fresh
    x = torch.randn(4, 4)
    times(lambda: function(x))
    count = len(seen)
    assert torch.equal(function(x.t()), torch.softmax(x.t().contiguous(), -1))         # other strides
    assert len(seen) == count + 1
    whole = torch.randn(8, 4)
    assert torch.equal(function(whole[4:]), torch.softmax(whole[4:].clone(), -1)) and len(seen) == count + 1
    learns = torch.randn(8, 4, requires_grad=True)
    assert function(learns[4:]).requires_grad and function(torch.nn.Parameter(x)).requires_grad
    with torch.inference_mode():
        assert function(x).is_inference()
    assert not function(x).is_inference()

    class Mine(torch.Tensor):
        pass
    assert type(function(x.as_subclass(Mine))) is Mine
    batches = torch.randn(3, 4, 4)
    assert torch.equal(torch.vmap(function)(batches), torch.softmax(batches, -1))


@needs_records
def test_unaligned_memory_goes_the_long_way(fresh):
    function, _ = fresh
    x = torch.randn(3, 4)
    times(lambda: function(x))
    raw = np.zeros(12 * 4 + 1, np.uint8)
    odd = raw[1:].view(np.float32).reshape(3, 4)
    odd[...] = x.numpy()
    assert torch.equal(function(torch.from_numpy(odd)), function(x))


@needs_records
def test_settings_drop_records(fresh):
    function, seen = fresh
    x = torch.randn(3, 4)
    times(lambda: function(x))
    count, threads = len(seen), torch.get_num_threads()
    try:
        torch.set_num_threads(threads + 1)
        function(x)
        assert len(seen) == count + 1
    finally:
        torch.set_num_threads(threads)


@needs_records
def test_what_no_kernel_computes_is_not_kept(monkeypatch):
    monkeypatch.setattr(seam, "up", False)
    from tinytorch.autograd.public import public
    seen = []

    @public(repeats=True)
    def doubled(input: Tensor) -> Tensor:
        """Changes a kernel's result by NumPy."""
        seen.append(1)
        result = torch.softmax(input, -1)
        result._array += 1
        return result
    x = torch.randn(3, 4)
    times(lambda: doubled(x))
    count = len(seen)
    assert torch.equal(doubled(x), torch.softmax(x, -1) + 1) and len(seen) == count + 1
    del TABLE[doubled]


def kept(function, *given):
    """Whether calls with these arguments get a record, whose results are the function's for others too."""
    repeats, found = function.record.repeats, []
    repeats.left = 400                         # other tests may have used up the calls that are listened to
    times(lambda: function(*given), 24)
    others = [torch.rand_like(x) if isinstance(x, Tensor) else x for x in given]
    again = repeats.again
    try:
        repeats.again = lambda key: found.append(again(key)) or found[-1]
        result = function(*others)
        repeats.again = lambda key: None
        expected = function(*others)
    finally:
        repeats.again = again
    assert result.shape == expected.shape and result._array.tobytes() == expected._array.tobytes()
    return isinstance(found[0], Tensor)


SMALL, OTHER, THIRD = [torch.rand(4, 8, generator=torch.Generator().manual_seed(n)) for n in range(3)]
KEPT = {
    "mean": (torch.mean, SMALL), "mean of rows": (torch.mean, SMALL, 1), "roll": (torch.roll, SMALL, 1, 0),
    "diag": (torch.diag, SMALL[0]), "diag_embed": (torch.diag_embed, SMALL, 1), "diff": (torch.diff, SMALL),
    "outer": (torch.outer, SMALL[0], OTHER[0]), "kron": (torch.kron, SMALL[0], OTHER[0]),
    "searchsorted": (torch.searchsorted, SMALL[0], OTHER), "bucketize": (torch.bucketize, OTHER, SMALL[0]),
    "argsort": (torch.argsort, SMALL, 1), "cdist": (torch.cdist, SMALL, OTHER),
    "cosine_similarity": (F.cosine_similarity, SMALL, OTHER), "normalize": (F.normalize, SMALL),
    "pairwise_distance": (F.pairwise_distance, SMALL, OTHER), "instance_norm": (F.instance_norm, SMALL[None]),
    "rms_norm": (F.rms_norm, SMALL, (8,)), "triplet_margin_loss": (F.triplet_margin_loss, SMALL, OTHER, THIRD),
    "bmm": (torch.bmm, SMALL.view(2, 4, 4), OTHER.view(2, 4, 4)), "mm": (torch.mm, SMALL, OTHER.t()),
    "mm of bfloat16": (torch.mm, SMALL.bfloat16(), OTHER.bfloat16().t()),
    "matmul": (torch.matmul, SMALL.view(1, 2, 4, 4), OTHER.view(1, 2, 4, 4)),
    "vector_norm": (torch.linalg.vector_norm, SMALL, 3), "vector_norm of rows": (torch.linalg.vector_norm, SMALL, 3, 1),
    **{f.__name__: (f, SMALL, OTHER) for f in (
        F.soft_margin_loss, F.hinge_embedding_loss, F.poisson_nll_loss, F.binary_cross_entropy, F.smooth_l1_loss,
        F.huber_loss, F.binary_cross_entropy_with_logits)}}


@needs_records
@pytest.mark.parametrize("name", KEPT)
def test_functions_of_several_kernels_are_kept(name, monkeypatch):
    monkeypatch.setattr(seam, "up", False)
    assert kept(*KEPT[name])


@needs_records
def test_a_tensor_and_its_transpose_are_kept(monkeypatch):
    """In trials with other numbers they share memory too."""
    monkeypatch.setattr(seam, "up", False)
    repeats, x, y = torch.mm.record.repeats, torch.rand(3, 5), torch.rand(3, 5)
    repeats.left = 400
    times(lambda: torch.mm(x, x.t()), 24)
    found = repeats.again((y, y.t()))
    assert isinstance(found, Tensor) and torch.equal(found, torch.mm.record.function(y, y.t()))


@needs_records
@pytest.mark.parametrize("name, shape", [
    ("qr", (4, 4)), ("qr", (4, 8)), ("qr", (8, 4)), ("svd", (5, 5)), ("svd", (3, 5)), ("svd", (5, 3)),
    ("eigh", (4, 4))])
def test_results_in_column_order_are_kept(name, shape, monkeypatch):
    monkeypatch.setattr(seam, "up", False)
    function, x, y = getattr(torch.linalg, name), torch.rand(shape), torch.rand(shape)
    repeats = function.record.repeats
    repeats.left = 400
    times(lambda: function(x), 24)
    found, wanted = repeats.again((y,)), function.record.function(y)
    assert type(found) is type(wanted)
    for a, b in zip(found, wanted):
        assert torch.equal(a, b) and a.stride() == b.stride()


@needs_records
def test_a_matrix_that_cannot_be_factored_is_refused_by_records(monkeypatch):
    monkeypatch.setattr(seam, "up", False)
    repeats, x = torch.linalg.cholesky.record.repeats, torch.rand(4, 4)
    repeats.left, x = 400, x @ x.t() + torch.eye(4)
    times(lambda: torch.linalg.cholesky(x), 24)
    found = repeats.again((x * 3,))
    assert torch.equal(found, torch.linalg.cholesky.record.function(x * 3)) and found.stride() == (1, 4)
    assert repeats.again((x * float("inf"),)) is None
    for bad in (-x, x * float("nan")):
        assert repeats.again((bad,)) is None
        with pytest.raises(torch.linalg.LinAlgError):
            torch.linalg.cholesky(bad)


@needs_records
def test_views_of_a_grid_are_kept(monkeypatch):
    monkeypatch.setattr(seam, "up", False)
    repeats, x, y, z = torch.meshgrid.record.repeats, torch.rand(3), torch.rand(4), torch.rand(3)
    repeats.left = 400
    for indexing in ("ij", "xy"):
        times(lambda: torch.meshgrid(x, y, indexing=indexing), 24)
        found = repeats.again((2, z, y, "indexing", indexing))
        for a, b, base in zip(found, torch.meshgrid.record.function(z, y, indexing=indexing), (z, y)):
            assert torch.equal(a, b) and a.stride() == b.stride() and a._base is base


@needs_records
def test_a_grid_warns_every_time_if_asked_to(monkeypatch):
    monkeypatch.setattr(seam, "up", False)
    x, y = torch.rand(3), torch.rand(4)
    torch.meshgrid.record.repeats.left = 400
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        times(lambda: torch.meshgrid(x, y), 24)
    torch.set_warn_always(True)
    try:
        with pytest.warns(UserWarning, match="indexing"):
            torch.meshgrid(x, y)
    finally:
        torch.set_warn_always(False)


@needs_records
def test_a_function_may_use_memory_again(monkeypatch):
    """Each array is free before the next, larger one is made, and the last kernel reads a constant that was made at the
    place of one of them."""
    monkeypatch.setattr(seam, "up", False)
    from tinytorch.autograd.public import public
    from tinytorch.kernels import arrange

    @public(repeats=True)
    def weighted(input: Tensor) -> Tensor:
        """A sum of rows with constant weights."""
        for offset in range(1, 6):
            arrange.on_diagonals(input._array, offset)
        weights = np.full(input.shape, 1e-6, np.float32)
        return F.rms_norm(input, input.shape, torch.from_numpy(weights))
    x, y = torch.rand(5), torch.rand(5)
    times(lambda: weighted(x))
    assert records(TABLE[weighted].repeats) == 1
    assert torch.equal(weighted(y), F.rms_norm(y, (5,), torch.full((5,), 1e-6)))
    del TABLE[weighted]


def test_attention_that_draws_is_not_answered():
    q, k, v = torch.rand(3, 1, 2, 5, 8, generator=torch.Generator().manual_seed(0))
    attend = F.scaled_dot_product_attention
    expected = attend(q, k, v, scale=0.5)
    for _ in range(40):
        assert torch.equal(attend(q, k, v, scale=0.5), expected)
    assert not torch.equal(attend(k, q, v, scale=0.5), expected)
    torch.manual_seed(0)
    for p in (0.5, 1e-12):                     # the second one drops nothing, and draws
        before = torch.get_rng_state()
        drawn = [attend(q, k, v, dropout_p=p) for _ in range(40)]
        assert p < 0.1 or not torch.equal(drawn[-1], drawn[-2])
        assert not torch.equal(before, torch.get_rng_state())
    with torch.nn.attention.sdpa_kernel([torch.nn.attention.SDPBackend.EFFICIENT_ATTENTION]):
        with pytest.raises(RuntimeError, match="No viable backend"):
            attend(q, k, v, scale=0.5)


@needs_records
def test_numbers_that_a_function_refuses_are_not_tried(monkeypatch):
    monkeypatch.setattr(seam, "up", False)
    shares = torch.rand(4, 8)
    F.binary_cross_entropy.record.repeats.left = 400
    times(lambda: F.binary_cross_entropy(shares, shares))
    for outside in (-0.5, 1.5, float("nan")):
        wrong = shares.clone()
        wrong[3, 7] = outside
        with pytest.raises(RuntimeError, match="all elements of input should be between 0 and 1"):
            F.binary_cross_entropy(wrong, shares)


@needs_records
def test_errors_of_kernels_are_the_functions():
    weight, good, bad = torch.randn(3, 2), torch.tensor([0, 2]), torch.tensor([0, 3])
    times(lambda: torch.index_select(weight, 0, good))
    for _ in range(40):
        with pytest.raises(IndexError):
            torch.index_select(weight, 0, bad)
    assert torch.equal(torch.index_select(weight, 0, good), weight[[0, 2]])


@needs_records
def test_arguments_are_checked_while_a_call_is_listened_to(fresh):
    function, seen = fresh
    x = torch.randn(3, 4)
    times(lambda: function(x))
    for _ in range(40):
        with pytest.raises(TypeError, match=r"mean_of_rows\(\): argument 'input' \(position 1\) must be Tensor"):
            function(None)
        with pytest.raises(TypeError, match="must be Tensor, not int"):
            function(x, 3)


@needs_records
def test_threads_at_once(fresh):
    function, _ = fresh
    inputs = [torch.randn(n, 4) for n in range(1, 9)]
    wanted = [torch.softmax(x, -1) for x in inputs]
    wrong = []

    def work():
        for _ in range(300):
            for x, y in zip(inputs, wanted):
                if not torch.equal(function(x), y):
                    wrong.append(x.shape)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@needs_records
def test_records_hold_no_tensors(fresh):
    import gc
    import weakref
    function, _ = fresh

    def called():
        x = torch.randn(3, 4)
        times(lambda: function(x))
        return weakref.ref(x)
    died = called()
    gc.collect()
    assert died() is None


def kept_of(function):
    """The `Repeats` of a method, which listens to calls again: other tests may have used up those that it hears."""
    repeats = function.__closure__[function.__code__.co_freevars.index("repeats")].cell_contents
    repeats.left = 400
    return repeats


VIEWS = [("view", (-1,)), ("view", (2, 12)), ("unsqueeze", (1,)), ("t", ()), ("transpose", (0, 1)), ("permute", (1, 0)),
         ("expand", (2, -1, -1)), ("diagonal", (1,)), ("reshape", (2, 2, 6)), ("flatten", ()),
         ("unflatten", (1, (2, -1)))]


@needs_records
@pytest.mark.parametrize("name, args", VIEWS)
def test_views_are_made_as_the_function_makes_them(name, args, monkeypatch):
    monkeypatch.setattr(seam, "up", False)
    method, whole = getattr(torch.Tensor, name), torch.randn(8, 6)
    repeats = kept_of(method)
    times(lambda: method(torch.randn(4, 6), *args))
    times(lambda: method(whole[4:], *args))
    assert records(repeats) > 0
    plain = torch.randn(4, 6)
    for x in (plain, whole[4:]):
        with torch.no_grad():
            expected = method(x, *args)
        made = method(x, *args)
        assert made.data_ptr() == expected.data_ptr() and made.storage_offset() == expected.storage_offset()
        assert (made.shape, made.stride(), made.dtype) == (expected.shape, expected.stride(), expected.dtype)
        assert made._base is (x if x is plain else whole) and made.is_leaf and not made.requires_grad
        assert made.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
        before = x._version
        with torch.no_grad():
            x.mul_(2)
        assert made._version == before + 1 and torch.equal(made, method(x.clone(), *args))
        if name != "expand":
            made.add_(1)
            assert x._version == before + 2 and torch.equal(method(x, *args), made)


@needs_records
def test_parts_refuse_writes_that_are_recorded(monkeypatch):
    monkeypatch.setattr(seam, "up", False)
    x, repeats = torch.randn(4, 6), kept_of(torch.Tensor.chunk)
    parts = times(lambda: x.chunk(2))
    assert records(repeats) > 0 and [part._base for part in parts] == [x, x]
    for part in (x.chunk(2)[1], x.chunk(2)[1].t(), *times(lambda: parts[0].chunk(2, 1))):
        with pytest.raises(RuntimeError, match="is the output of a function that returns multiple views"):
            part.mul_(torch.ones((), requires_grad=True))


@needs_records
def test_views_in_modes_go_the_long_way(monkeypatch):
    monkeypatch.setattr(seam, "up", False)
    x = torch.randn(5, 6)
    with torch.no_grad():
        inside = times(lambda: x.t())
    with pytest.raises(RuntimeError, match="was created in no_grad mode"):
        inside.mul_(torch.ones((), requires_grad=True))
    times(lambda: x.t())
    with torch.no_grad():
        inside = x.t()
    with pytest.raises(RuntimeError, match="was created in no_grad mode"):
        inside.mul_(torch.ones((), requires_grad=True))
    with torch.inference_mode():
        made = torch.randn(5, 6)
        assert x.t().is_inference() is False and made.t().is_inference()
    assert times(lambda: made.t()).is_inference() and not x.t().is_inference()
    y = torch.randn(5, 6, requires_grad=True)
    y.t().sum().backward()
    assert torch.equal(y.grad, torch.ones(5, 6)) and y.detach().t()._base is not None
    part = x.t()
    x.requires_grad_()
    (part * 2).sum()                           # made before its base required gradients
    (x.t() * 2).sum().backward()
    assert torch.equal(x.grad, torch.full((5, 6), 2.0))


@needs_records
def test_records_of_large_tensors_are_of_views_alone(monkeypatch):
    """Trials with other numbers would take longer than many calls."""
    monkeypatch.setattr(seam, "up", False)
    tried, whole = [], torch.zeros(1 << 19)
    monkeypatch.setattr(keeping, "_others", lambda *given: tried.append(given))
    for method, args, kept in (("view", (-1, 4), True), ("fill_", (0.25,), False), ("mul", (2.0,), False)):
        function = getattr(torch.Tensor, method)
        repeats = kept_of(function)
        times(lambda: function(whole, *args))                  # noqa: B023
        assert isinstance(repeats.again((whole, *args)), Tensor) == kept and not tried


@pytest.mark.parametrize("function", [
    lambda: F.smooth_l1_loss(SMALL, SMALL[:1]), lambda: F.huber_loss(SMALL, SMALL[:1]),
    lambda: torch.std(SMALL[0, :1])])
def test_warnings_are_given_every_time(function, monkeypatch):
    monkeypatch.setattr(seam, "up", False)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        times(function, 50)
    assert len(given) == 50


def test_warnings_that_are_given_once_follow_the_setting(monkeypatch):
    monkeypatch.setattr(seam, "up", False)
    column = torch.arange(3)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        times(lambda: torch.meshgrid(column, column))
        given.clear()
        torch.set_warn_always(True)
        try:
            times(lambda: torch.meshgrid(column, column), 50)
        finally:
            torch.set_warn_always(False)
    assert len(given) == 50


@needs_records
@pytest.mark.parametrize("function", [torch.sub, torch.rsub, lambda x, y: torch.dist(x, y)])
def test_errors_of_numpy_are_raised_while_a_call_is_listened_to(function, monkeypatch):
    monkeypatch.setattr(seam, "up", False)
    x, y = torch.rand(4, 6) > 0.5, torch.rand(4, 6) > 0.5
    for _ in range(60):
        with pytest.raises(RuntimeError, match="with two bool tensors is not supported"):
            function(x, y)


@needs_records
def test_a_view_keeps_its_base_alive(monkeypatch):
    monkeypatch.setattr(seam, "up", False)
    import gc
    import weakref
    x = torch.randn(4, 6)
    made = times(lambda: x.t())
    died, array = weakref.ref(x), weakref.ref(x._array)
    x = None
    gc.collect()
    assert died() is made._base and array() is not None
    made = None
    gc.collect()
    assert died() is None and array() is None
    y, counts = torch.randn(4, 6), [sys.getrefcount(x) for x in (None, False)]
    for _ in range(1000):
        y.t()
    assert sys.getrefcount(y) == 2
    assert all([abs(sys.getrefcount(x) - n) < 100 for x, n in zip((None, False), counts)])


WRITES = [("relu_", ()), ("sigmoid_", ()), ("clamp_", (-0.5, 0.5)), ("clamp_", (0,)), ("zero_", ()), ("fill_", (2.5,))]


def special(*shape):
    """Numbers that kernels may treat in their own ways."""
    x = torch.randn(*shape)
    x.view(-1)[:7] = torch.tensor([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e30, -3.0])
    return x


@needs_records
@pytest.mark.parametrize("name, args", WRITES)
def test_writes_are_counted_and_refused_as_the_function_does(name, args, monkeypatch):
    monkeypatch.setattr(seam, "up", False)
    method = getattr(torch.Tensor, name)
    repeats = kept_of(method)
    for dtype in (torch.float32, torch.float64, torch.float16, torch.int64):
        if dtype is torch.int64 and (name == "sigmoid_" or args == (-0.5, 0.5)):
            continue
        times(lambda: method(torch.randn(4, 6).to(dtype), *args))      # noqa: B023
        assert records(repeats) > 0 or dtype is not torch.float32
        x = torch.randn(8, 6).to(dtype) if dtype is torch.int64 else special(8, 6).to(dtype)
        expected = x.clone()
        with monkeypatch.context() as patch:
            patch.setattr(repeats, "again", lambda key: None)
            method(expected[4:], *args)
        part, before = x[4:], x._version
        assert method(part, *args) is part and x._version == part._version == before + 1
        assert x._array.tobytes() == expected._array.tobytes()
    frozen = torch.randn(4, 6)
    frozen._array.flags.writeable = False
    with pytest.raises(RuntimeError, match="read-only memory"):
        method(frozen, *args)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        method(torch.randn(4, 6, requires_grad=True), *args)
    if name not in ("zero_", "fill_"):
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
            method(torch.randn(6).expand(4, 6), *args)
    with torch.inference_mode():
        made = torch.randn(4, 6)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        method(made, *args)
    learns = torch.randn(4, 6, requires_grad=True)
    y = learns * 1
    method(y, *args)
    assert y.grad_fn is not None and y._version == 1


@needs_records
def test_a_write_that_no_kernel_makes_is_not_kept(fresh, monkeypatch):
    from tinytorch.autograd.public import public

    @public(repeats=True)
    def changed_(input: Tensor) -> Tensor:
        """Changes its argument by NumPy, and only where other numbers than those of a trial stand."""
        np.clip(input._array, -9, 9, out=input._array)
        input._version_counter[0] += 1
        return input
    times(lambda: changed_(torch.randn(3, 4)))
    assert changed_(torch.full((3, 4), 100.0)).max().item() == 9
    del TABLE[changed_]


@needs_records
def test_memory_that_arguments_share_goes_the_long_way(monkeypatch):
    """A record for operands apart is not for operands that overlap."""
    monkeypatch.setattr(seam, "up", False)
    from tinytorch.autograd.public import public
    seen = []

    @public(repeats=True)
    def relu_like_(input: Tensor, other: Tensor) -> Tensor:
        """Writes to the first argument."""
        seen.append(1)
        return input.relu_()
    x, y = torch.randn(4, 6), torch.randn(4, 6)
    times(lambda: relu_like_(x, y))
    count, whole = len(seen), torch.randn(9, 6)
    relu_like_(x, y)
    assert len(seen) == count
    relu_like_(whole[:4], whole[1:5])
    assert len(seen) == count + 1
    relu_like_(whole[:4], whole[5:])
    assert len(seen) == count + 1
    del TABLE[relu_like_]


@needs_records
@pytest.mark.parametrize("make", [
    lambda: torch.arange(9), lambda: torch.arange(1, 9, 2, dtype=torch.float16), lambda: torch.eye(3),
    lambda: torch.eye(3, 4, dtype=torch.bool), lambda: torch.zeros(3, 4), lambda: torch.ones(3, dtype=torch.int64),
    lambda: torch.full((2, 2), 7), lambda: torch.zeros(0, 3)])
def test_constants_are_new_memory_each_time(make, monkeypatch):
    monkeypatch.setattr(seam, "up", False)
    first, wanted = times(make), make().clone()
    first.fill_(1) if first.dtype is torch.bool else first.sub_(5)
    again = make()
    assert torch.equal(again, wanted) and (again.stride(), again._version) == (wanted.stride(), 0)
    assert first.numel() == 0 or again.data_ptr() != first.data_ptr()


@needs_records
def test_constants_follow_the_default_dtype(monkeypatch):
    monkeypatch.setattr(seam, "up", False)
    assert times(lambda: torch.eye(3)).dtype is torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert times(lambda: torch.eye(3)).dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    assert torch.eye(3).dtype is torch.float32


CASTS = ["half", "float", "double", "long", "bool", "bfloat16"]


@needs_records
@pytest.mark.parametrize("name", CASTS)
def test_casts_of_every_number(name, monkeypatch):
    monkeypatch.setattr(seam, "up", False)
    method, kept = getattr(torch.Tensor, name), False
    repeats = kept_of(method)
    for dtype in [getattr(torch.empty(0), name)().dtype for name in CASTS]:
        plain = torch.arange(-9, 9).to(dtype)
        x = special(18).to(dtype) if dtype.is_floating_point else plain
        times(lambda: method(plain))                           # noqa: B023
        kept = kept or records(repeats) > 0
        made = method(x)
        with monkeypatch.context() as patch:
            patch.setattr(repeats, "again", lambda key: None)
            expected = method(x)
        assert made.dtype is expected.dtype and made._array.tobytes() == expected._array.tobytes()
        assert (made is x) == (expected is x)
    assert kept


@needs_records
@pytest.mark.parametrize("function", [torch.add, torch.sub, torch.mul, torch.div])
def test_operands_that_are_broadcast(function, monkeypatch):
    monkeypatch.setattr(seam, "up", False)
    x = special(3, 4, 5)
    for other in (torch.randn(5), torch.randn(4, 1), torch.randn(3, 1, 1), torch.randn(()), torch.randn(1, 5), 2.5, 3):
        for a, b in ((x, other), (other, x)):
            if not isinstance(a, Tensor) and function is torch.div:
                continue
            times(lambda: function(a, b))                      # noqa: B023
            wanted = getattr(np, {torch.add: "add", torch.sub: "subtract", torch.mul: "multiply", torch.div: "divide"}[
                function])
            with np.errstate(all="ignore"):
                expected = wanted(*[y.numpy() if isinstance(y, Tensor) else y for y in (a, b)])
            assert function(a, b).numpy().tobytes() == expected.tobytes()
    learns = torch.randn(5, requires_grad=True)
    function(x, learns).sum().backward()
    assert learns.grad is not None


@needs_records
def test_divisors_of_zero_are_refused(monkeypatch):
    monkeypatch.setattr(seam, "up", False)
    x, y = torch.arange(-16, 16).reshape(4, 8), torch.arange(-20, 12).reshape(4, 8)
    good = torch.where(y == 0, 7, y)
    assert torch.equal(times(lambda: torch.floor_divide(x, good)), torch.from_numpy(x.numpy() // good.numpy()))
    for divisor in (y, torch.tensor(0), 0):
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            torch.floor_divide(x, divisor)
    least = torch.tensor([-1 << 63, 5])
    for divisor in (-1, 3, torch.tensor([-1, -1]), torch.tensor(-2)):
        with np.errstate(over="ignore"):
            wanted = np.floor_divide(least.numpy(), divisor.numpy() if isinstance(divisor, Tensor) else divisor)
        assert torch.equal(times(lambda: torch.floor_divide(least, divisor)), torch.from_numpy(wanted))    # noqa: B023


@needs_records
@pytest.mark.parametrize("function, wanted", [(torch.max, np.max), (torch.min, np.min)])
def test_extremes_of_integers(function, wanted, monkeypatch):
    monkeypatch.setattr(seam, "up", False)
    times(lambda: function(torch.randint(-9, 9, (4, 8))))
    for _ in range(20):
        x = torch.randint(-(1 << 62), 1 << 62, (4, 8))
        assert function(x).item() == wanted(x.numpy()) and function(x).dtype is torch.int64


@needs_records
def test_counts_of_bools(monkeypatch):
    monkeypatch.setattr(seam, "up", False)
    for function in (torch.sum, torch.count_nonzero):
        times(lambda: function(torch.rand(4, 8) > 0.5))        # noqa: B023
        for _ in range(20):
            x = torch.rand(4, 8) > 0.5
            assert function(x).item() == np.count_nonzero(x.numpy()) and function(x).dtype is torch.int64
    assert torch.count_nonzero(torch.zeros(0, dtype=torch.bool)).item() == 0


@needs_records
def test_the_number_of_a_tensor_is_no_constant(monkeypatch):
    monkeypatch.setattr(seam, "up", False)
    x, none = torch.randn(1), torch.tensor([False])
    times(lambda: torch.masked_fill(x, none, torch.tensor(2.0)))
    assert torch.masked_fill(x, torch.tensor([True]), torch.tensor(3.0)).item() == 3.0


def test_doors_read_what_is_kept():
    """Each function that says `repeats` is asked about: its door reads what is kept."""
    for function, record in TABLE.items():
        if record.repeats is not None:
            assert "repeats" in function.__code__.co_freevars, function
