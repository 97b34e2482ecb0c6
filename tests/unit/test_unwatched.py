"""Operations on tensors that nobody watches take a short way, with the same results."""
import pytest

import tinytorch as torch

CALLS = {
    "topk": lambda x: x.topk(2, 1), "kthvalue": lambda x: x.kthvalue(2, 0), "median": lambda x: x.median(1, True),
    "sort": lambda x: x.sort(0, True), "max": lambda x: x.max(1), "cummax": lambda x: x.cummax(0),
    "cummin": lambda x: x.cummin(1), "aminmax": lambda x: x.aminmax(dim=1), "aminmax of all": lambda x: x.aminmax(),
    "amax": lambda x: (x.amax(1), x.amin((0, 1))), "max of all": lambda x: (x.max(), x.min()),
    "diff": lambda x: (x.diff(), x.diff(dim=0)), "trapezoid": lambda x: (torch.trapezoid(x), torch.trapezoid(x, x)),
    "qr": torch.linalg.qr, "svd": torch.linalg.svd, "var_mean": lambda x: torch.var_mean(x, 1),
    "eigh": lambda x: torch.linalg.eigh(x @ x.mT), "cumsum": lambda x: (x.cumsum(0), x.cumprod(1))}


def numbers():
    return torch.tensor([[3., 1., 2., 2.], [0.5, -1., 7., 2.], [1., 5., -4., 0.]])


@pytest.mark.parametrize("name", CALLS)
def test_the_same_with_and_without_a_watcher(name):
    call = CALLS[name]
    wanted = call(numbers())
    watched = numbers().requires_grad_()
    base = numbers().repeat(2, 1)
    written = torch.zeros(3, 4)
    view = written[:]
    written.copy_(watched)                     # gives the view a history
    for x in (watched, torch.nn.Parameter(numbers()), base[:3], numbers().mT.contiguous().mT, view,
              numbers().as_subclass(type("Own", (torch.Tensor,), {}))):
        found = call(x)
        assert len(found) == len(wanted) == 2 + (name == "svd")
        for a, b in zip(found, wanted):
            assert a.dtype == b.dtype and a.shape == b.shape
            torch.testing.assert_close(a.detach(), b, rtol=0, atol=1e-6, msg=f"{name} of {type(x)}")
            assert not b.requires_grad and b._version == 0 and b._base is None
            assert a.requires_grad == (x.requires_grad and a.is_floating_point())
        assert type(found) is type(wanted)


@pytest.mark.parametrize("name", [name for name in CALLS if name not in ("qr", "svd", "eigh", "aminmax of all")])
def test_batches_are_seen(name):
    several = torch.stack([numbers(), numbers() * -1 + 0.25])
    found = torch.vmap(lambda x: tuple(CALLS[name](x)))(several)
    for i, x in enumerate(several):
        for a, b in zip(found, CALLS[name](x)):
            torch.testing.assert_close(a[i], b, rtol=0, atol=1e-6)


def test_dtypes_are_kept():
    for dtype in (torch.bfloat16, torch.float16, torch.float64, torch.int64, torch.uint8):
        x = torch.tensor([[3, 1, 2], [5, 4, 9]]).to(dtype)
        for values in (x.topk(2).values, x.kthvalue(1).values, x.median(1).values, x.sort(0).values, x.max(0).values,
                       x.cummax(1).values, *x.aminmax(dim=0), x.amax(0), x.max(), x.diff()):
            assert values.dtype == dtype
        assert x.max().item() == 9 and x.topk(1).values.flatten().tolist() == [3, 9]


@pytest.mark.parametrize("interpolation", ["linear", "lower", "higher", "midpoint", "nearest"])
@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
def test_quantiles(name, interpolation):
    """Of rows, of columns and of all, at the ends and between; and with a NaN, which is left to the long way."""
    function = getattr(torch, name)
    for x in (numbers(), numbers().double(), numbers()[:, :1], torch.tensor([[1., float("nan"), 3.]])):
        for q in (0, 0.3, 0.5, 1):
            for dim in (None, 0, -1):
                for keepdim in (False, True):
                    found = function(x, q, dim, keepdim, interpolation=interpolation)
                    wanted = function(x.clone().requires_grad_(), q, dim, keepdim, interpolation=interpolation)
                    assert found.shape == wanted.shape and found.dtype == wanted.dtype and found.is_contiguous()
                    assert found.detach().numpy().tobytes() == wanted.detach().numpy().tobytes()


def test_covariances():
    for x in (numbers(), numbers().double(), numbers()[:1], numbers()[:2] * 0, numbers()[:, :2] * torch.inf):
        for function in (torch.cov, torch.corrcoef, lambda x: torch.cov(x, correction=0)):
            found, wanted = function(x), function(x.clone().requires_grad_())
            assert found.shape == wanted.shape
            assert found.numpy().tobytes() == wanted.detach().numpy().tobytes()


def test_equal_and_sinc():
    nan = torch.tensor([1., float("nan")])
    for x in (nan, nan.double(), nan.half(), nan.bfloat16()):
        assert not torch.equal(x, x) and not torch.equal(x, x.clone())
        assert torch.equal(x[:1], x[:1].clone()) and not torch.equal(x[:1], x[:1] + 1)
    for x in (torch.tensor([0., -0.]), torch.tensor([False, False]), torch.zeros(0), torch.zeros(300)):
        assert torch.equal(x, x) and torch.equal(x, x.clone()) and torch.equal(x.float(), -x.float())
    assert torch.sinc(torch.tensor([0., -0.0, 1e-45, 0.5])).tolist()[:3] == [1, 1, 1]
    assert torch.sinc(torch.tensor(0.)) == 1 and torch.sinc(torch.tensor([0.5])).item() == pytest.approx(0.63661977)


def test_searches():
    sequence = torch.tensor([1., 3., 3., 5.])
    for right in (False, True):
        for values in (numbers(), torch.tensor(3.), 3.0):
            found = torch.searchsorted(sequence, values, right=right)
            wanted = torch.searchsorted(sequence.clone(), torch.as_tensor(values).double(), right=right)
            assert found.dtype == torch.int64 and torch.equal(found, wanted)
            assert torch.bucketize(values, sequence, out_int32=True, right=right).dtype == torch.int32
