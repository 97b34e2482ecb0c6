"""torch.amp: autocast on the processor and GradScaler; each program runs under both modules."""
import pickle
import warnings

import pytest

from .adapter import same_outcome

#: Calls of which autocast casts the arguments, or does not: a result of the dtype that torch gives.
CALLS = """
x@x x.matmul(x) x.mm(x) torch.bmm(x[None],x[None]) torch.addmm(x,x,x) torch.baddbmm(x[None],x[None],x[None])
torch.einsum("ij,jk->ik",x,x) torch.einsum("i,j->ij",x[0],x[0]) torch.einsum("ij,jk",x,x) torch.tensordot(x,x,1)
F.linear(x,x,x[0]) F.conv1d(x[None],x[:,:,None]) F.conv2d(x[None,None],x[None,None])
F.conv_transpose1d(x[None],x[:,:,None]) F.prelu(x,x[0,:1]) F.scaled_dot_product_attention(x[None],x[None],x[None])
torch.linalg.multi_dot([x,x,x]) torch.linalg.vecdot(x,x) x+x x*h h+h x.exp() h.exp() h.sum() h.softmax(0) F.relu(h)
F.layer_norm(h,(3,)) h.prod() torch.prod(h) torch.trace(h) torch.linalg.inv(h.float()+x) torch.linalg.qr(h)[1].shape
F.mse_loss(h,x) F.mse_loss(h,h) F.l1_loss(h,h) F.smooth_l1_loss(h,h) F.cross_entropy(h,i) F.nll_loss(h,i)
F.kl_div(h,h) F.binary_cross_entropy_with_logits(h,h.sigmoid()) F.cosine_embedding_loss(h,h,i.sign()*2+1)
torch.cdist(h,h) torch.fft.fft(h).real torch.cat([h,x]) torch.cat([h,h]) torch.stack([x,h]) F.pad(h,(1,1))
F.pad(h[None],(1,1),mode="reflect") torch.quantile(h,0.5) x.double()@x.double() i@i torch.mv(x,x[0])
torch.dot(x[0],x[0]) F.embedding(i,x)
torch.cumsum(h,0) F.avg_pool2d(h[None],2) F.avg_pool3d(h[None,None],1) h.norm() torch.linalg.norm(h)
""".split()


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("call", CALLS)
def test_results(call, dtype):
    def program(lib):
        lib.manual_seed(0)
        x = lib.randn(3, 3)
        names = {"torch": lib, "F": lib.nn.functional, "x": x, "h": x.bfloat16(), "i": lib.tensor([0, 2, 1])}
        with lib.autocast("cpu", getattr(lib, dtype)):
            return eval(call, names), (x + 0).dtype
    same_outcome(program, tolerance=2e-2)


OUT = """x.mm(y) x.matmul(y) bmm(x[None],y[None]) addmm(x,x,y) addbmm(x,x[None],y[None]) addmv(x[0],x,x[0])
baddbmm(x[None],x[None],y[None]) mv(x,x[0]) dot(x[0],x[0]) linalg.multi_dot([x,y]) linalg.vecdot(x,y) linalg.inv(y)
linalg.cond(y) linalg.solve(y,x) fft.irfft(x) cat([x,y]) stack([x,y]) quantile(x,.5) prod(x,0) cholesky(y) trace(x)
neg(x)""".split()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "float64"])
@pytest.mark.parametrize("call", OUT)
def test_what_writes_to_out_is_not_cast(call, dtype):
    def program(lib):
        x, y, o = lib.arange(9.).reshape(3, 3), lib.eye(3) * 2, lib.empty(0, dtype=getattr(lib, dtype))
        call_on = f"torch.{call[2:].replace('(', '(x,', 1)}" if call[:2] == "x." else f"torch.{call}"
        with lib.autocast("cpu", lib.bfloat16):
            result = eval(f"{call_on[:-1]}, out=o)", {"torch": lib, "x": x, "y": y, "o": o})
            return result is o, o
    same_outcome(program, cut=lambda text: "")


@pytest.mark.parametrize("rows, columns", [(1, 1), (1, 3), (2, 1), (2, 3)])
@pytest.mark.parametrize("call", """torch.einsum("ij,kj->ik",a,b) torch.einsum("ij,ij->",a,a)
torch.einsum("ij,ij->i",a,a) torch.einsum("...i,...i->...",a,a) torch.einsum("ij,kj,kl->il",a,b,b)
torch.einsum("i,j->ij",a[0],b[0])
torch.tensordot(a,b.T,1) torch.tensordot(a,a,2) torch.tensordot(a,b,0) torch.inner(a,b) torch.inner(a[0],b[0])
torch.cov(a) torch.corrcoef(a) torch.kron(a,b) torch.dot(a[0],b[0]) torch.outer(a[0],b[0])""".split())
def test_products_in_parts(call, rows, columns):
    """Where a function multiplies matrices by the way, that product alone is cast: a sum over one number is none."""
    def program(lib):
        found = []
        for dtype in (lib.float32, lib.bfloat16, lib.float64):
            a, b = lib.ones(rows, columns, dtype=dtype), lib.ones(rows + 1, columns, dtype=dtype)
            with lib.autocast("cpu", lib.float16):
                found.append(eval(call, {"torch": lib, "a": a, "b": b}).dtype)
        return found
    same_outcome(program)


def training(lib):
    """Of layers in Python: what is cast, in which dtype gradients come, that a weight is cast once."""
    lib.manual_seed(0)
    net = lib.nn.Sequential(lib.nn.Conv2d(1, 2, 3), lib.nn.ReLU(), lib.nn.Flatten(), lib.nn.Linear(8, 4),
                            lib.nn.LayerNorm(4), lib.nn.Linear(4, 4))
    found = []
    for caching in True, False:
        with lib.autocast("cpu", cache_enabled=caching):
            out = net(lib.randn(2, 1, 4, 4))
            out = net[5](out) + net[5](out)
            loss = lib.nn.functional.cross_entropy(out, lib.tensor([0, 3]))
        loss.backward()
        found += [out, loss, [p.grad for p in net.parameters()]]
        net.zero_grad()
    return found


def switches(lib):
    """Nested, as a decorator, and what the settings say meanwhile."""
    x, found = lib.ones(2, 2), []

    def state():
        return (lib.is_autocast_enabled("cpu"), lib.get_autocast_dtype("cpu"), lib.is_autocast_cpu_enabled(),
                lib.is_autocast_cache_enabled(), lib.is_autocast_enabled(), (x @ x).dtype)
    found.append(state())
    with lib.autocast("cpu"):
        found.append(state())
        with lib.autocast("cpu", enabled=False):
            found.append(state())
        with lib.autocast("cpu", dtype=lib.float16, cache_enabled=False):
            found.append(state())
        found += [state(), lib.autocast("cpu", enabled=False)(state)()]
    return found + [state(), lib.amp.is_autocast_available("cpu"), lib.amp.is_autocast_available("vulkan"),
                    lib.get_autocast_dtype("cuda")]


def own_functions(lib):
    """custom_fwd casts and switches autocast off, custom_bwd has it as forward had."""
    found = []

    class Cast(lib.autograd.Function):
        @staticmethod
        @lib.amp.custom_fwd(device_type="cpu", cast_inputs=lib.float32)
        def forward(ctx, x):
            found.append((x.dtype, lib.is_autocast_enabled("cpu")))
            return x @ x

        @staticmethod
        @lib.amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            found.append((g.dtype, lib.is_autocast_enabled("cpu")))
            return g

    class Plain(lib.autograd.Function):
        @staticmethod
        @lib.amp.custom_fwd(device_type="cpu")
        def forward(ctx, x):
            found.append((x @ x).dtype)
            return x + 1

        @staticmethod
        @lib.amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            found.append((g @ g).dtype)
            return g
    for kind in Cast, Plain:
        x = lib.ones(2, 2, requires_grad=True)
        with lib.autocast("cpu"):
            y = kind.apply(x.bfloat16())
        y.sum().backward()
        found += [y.dtype, x.grad]
    return found


def scaler(lib):
    """Steps that are taken and skipped, and how the scale goes; its state, and a pickle of it."""
    w = lib.tensor([1.0, 2.0], requires_grad=True)
    optimizer = lib.optim.SGD([w], 0.1)
    scaler, found = lib.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2), []
    for factor in 1.0, float("inf"), 1.0, 1.0, float("nan"), 1.0:
        optimizer.zero_grad()
        scaler.scale([(w * w).sum() * factor])[0].backward()
        if factor == 1.0:
            scaler.unscale_(optimizer)
        found += [w.grad.clone(), scaler.step(optimizer), w.detach().clone()]
        scaler.update()
        found.append((scaler.state_dict(), scaler.get_scale(), scaler.get_growth_factor()))
    again = lib.amp.GradScaler("cpu")
    again.load_state_dict(scaler.state_dict())
    scaler.update(4.0)
    return found + [again.state_dict(), scaler.get_scale(), lib.amp.GradScaler("cpu", enabled=False).state_dict(),
                    lib.amp.GradScaler("cpu", enabled=False).scale(w), lib.amp.GradScaler().is_enabled()]


@pytest.mark.parametrize("program", [training, switches, own_functions, scaler], ids=lambda f: f.__name__)
def test_programs(program):
    same_outcome(program, tolerance=2e-2)


def _scaled(lib, last):
    w = lib.ones(2, requires_grad=True)
    optimizer, scaler = lib.optim.SGD([w], 0.1), lib.amp.GradScaler("cpu")
    scaler.scale(w.sum()).backward()
    scaler.unscale_(optimizer)
    return last(lib, scaler, optimizer)


ERRORS = {
    "device": lambda lib: lib.autocast("nothing"),
    "device without autocast": lambda lib: lib.autocast("meta"),
    "device without autocast, dtype": lambda lib: lib.autocast("meta", lib.float16),
    "available": lambda lib: lib.amp.is_autocast_available("nothing"),
    "device type": lambda lib: lib.autocast(1),
    "no function": lambda lib: lib.autocast("cpu")(1),
    "growth": lambda lib: lib.amp.GradScaler("cpu", growth_factor=1.0),
    "backoff": lambda lib: lib.amp.GradScaler("cpu", backoff_factor=1.0),
    "update first": lambda lib: lib.amp.GradScaler("cpu").update(),
    "step first": lambda lib: lib.amp.GradScaler("cpu").step(lib.optim.SGD([lib.ones(1)], 0.1)),
    "empty state": lambda lib: lib.amp.GradScaler("cpu").load_state_dict({}),
    "unscale twice": lambda lib: _scaled(lib, lambda lib, s, o: s.unscale_(o)),
    "step twice": lambda lib: _scaled(lib, lambda lib, s, o: (s.step(o), s.step(o))),
    "unscale after step": lambda lib: _scaled(lib, lambda lib, s, o: (s.step(o), s.unscale_(o))),
    "closure": lambda lib: _scaled(lib, lambda lib, s, o: s.step(o, closure=lambda: 0)),
    "pickled": lambda lib: _scaled(lib, lambda lib, s, o: pickle.dumps(s)),
    **{line: lambda lib, line=line: eval("lib." + line, {"lib": lib}) for line in (
        "set_autocast_enabled(1)", "set_autocast_enabled('cpu', 1)", "set_autocast_enabled('cpu')",
        "set_autocast_dtype('cpu', 1)", "set_autocast_dtype(1, lib.float16)", "set_autocast_cpu_dtype(1)",
        "set_autocast_cpu_enabled(1)", "set_autocast_cache_enabled(1)", "set_autocast_gpu_dtype(1)",
        "get_autocast_dtype(None)", "is_autocast_enabled(None)", "set_autocast_enabled(None, True)")},
    "scale of": lambda lib: lib.amp.GradScaler("cpu").scale(1),
}


@pytest.mark.parametrize("call", ERRORS.values(), ids=ERRORS)
def test_errors(call):
    same_outcome(call, lambda text: text.replace("\n", ""))


def warned(lib):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for make in (lambda: lib.autocast("cuda"), lambda: lib.autocast("cpu", lib.float64), lib.cuda.amp.autocast,
                     lib.cuda.amp.GradScaler, lib.cpu.amp.autocast, lib.cpu.amp.GradScaler, lib.amp.GradScaler):
            with make() if "autocast" in repr(make) else warnings.catch_warnings():
                make()
    return sorted({(w.category.__name__, str(w.message)) for w in caught})


def test_warnings():
    import torch

    import tinytorch
    ours = warned(tinytorch)
    assert ours == warned(torch) and len(ours) == 7


@pytest.mark.parametrize("reentrant", [False, True])
@pytest.mark.parametrize("inside", [False, True])
def test_checkpointing_computes_again_as_before(reentrant, inside):
    """Whatever autocast is told where backward runs."""
    import torch

    import tinytorch
    found = []
    for lib in (torch, tinytorch):
        lib.manual_seed(0)
        model = lib.nn.Sequential(lib.nn.Linear(7, 5), lib.nn.Tanh(), lib.nn.Linear(5, 3))
        x = lib.randn(4, 7, requires_grad=True)
        with lib.autocast("cpu", dtype=lib.bfloat16):
            y = lib.utils.checkpoint.checkpoint(model, x, use_reentrant=reentrant)
        with lib.autocast("cpu", dtype=lib.bfloat16, enabled=inside):
            y.sum().backward()
        found.append((str(y.dtype).split(".")[1], x.grad.tolist(), model[0].weight.grad.tolist()))
    assert found[0] == found[1] and found[0][0] == "bfloat16"
