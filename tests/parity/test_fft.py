"""Fourier transforms and windows beside torch: values, memory order, nodes, what they save, gradients, the words of
errors."""
import random

import pytest

from .adapter import same_outcome
from .test_graph import both_agree

TRANSFORMS = [kind + many for kind in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft") for many in ("", "2", "n")]


def numbers(t, *shape, dtype="float64"):
    count = 1
    for n in shape:
        count *= n
    x = t.sin(t.arange(count, dtype=t.float64) ** 2).reshape(shape)
    return (x + 1j * t.cos(3 * x)).to(getattr(t, dtype)) if "complex" in dtype else x.to(getattr(t, dtype))


def chain(x):
    """The names of the nodes on the first way back. (torch converts operands of two dtypes within the operation.)"""
    names, node = [], x.grad_fn
    while node is not None:
        names += [node.name()] * (node.name() != "ToCopyBackward0")
        node = node.next_functions[0][0] if node.next_functions else None
    return names


def settings(draw, name, ndim, sizes):
    """Keywords of a transform of so many dimensions."""
    given = {"norm": draw.choice([None, "forward", "backward", "ortho"])}
    dims = draw.sample(range(-ndim, 0), draw.randrange(1, ndim + 1))
    dims = [d % ndim if draw.random() < .3 else d for d in dims]
    if name[-1] not in "2n":
        given["dim"] = dims[0]
        if draw.random() < .5:
            given["n"] = draw.randrange(1, 7)
    elif draw.random() < .8:
        given["dim"] = tuple(dims)
        if draw.random() < .5:
            given["s"] = tuple(draw.choice([-1, *sizes]) for _ in dims)
    elif draw.random() < .5:
        given["s"] = (3, 4)
    return given


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name):
    draw = random.Random(name)
    for _ in range(40):
        sizes = [2, 3, 4, 5] if name[:2] == "ih" else [1, 2, 3, 4, 5]      # made of several operations
        shape = [draw.choice(sizes) for _ in range(draw.choice([2, 3, 4]))]
        order, step = draw.sample(range(len(shape)), len(shape)), draw.choice([1, 1, 2])
        real = name.startswith(("r", "ih"))
        dtype = draw.choice(["float64", "float32"] if real else ["float64", "complex128", "complex64", "float32"])
        expanded, conjugate = draw.random() < .1, draw.random() < .2
        given = settings(draw, name, len(shape), sizes)

        def program(t):
            x = numbers(t, *shape[:-1], shape[-1] * step, dtype=dtype).requires_grad_()
            y = (x[..., ::step] if step > 1 else x).permute(order)
            y = y.narrow(1, 0, 1).expand(y.shape) if expanded else y
            y = y.conj() if conjugate else y
            z = getattr(t.fft, name)(y, **given)
            saved = [getattr(z.grad_fn, n, None) for n in ("_saved_dim", "_saved_normalization", "_saved_forward",
                                                           "_saved_onesided", "_saved_self")]
            w = numbers(t, *z.shape, dtype=str(z.dtype).removeprefix("torch."))
            g, = t.autograd.grad((z * z * w).sum().abs(), x, create_graph=True)
            gg, = t.autograd.grad((g * g.conj()).real.sum(), x)
            return z, z.stride(), chain(z), saved, g, gg
        same_outcome(program, tolerance=1e-3 if dtype in ("float32", "complex64") else 1e-9)


CALLS = """
F.fft(x,n=0) F.fft(x,dim=5) F.fft(x,norm="a") F.fft(x,n=2.) F.fft([1.]) F.fftn(x,s=(1,2,3,4))
F.fftn(x,s=(2,),dim=(1,2))
F.fftn(x,dim=(1,1)) F.fftn(x,s=3) F.fftn(x,dim=2) F.fftn(x,dim=()) F.rfftn(x,dim=())
F.irfftn(x,dim=()) F.hfftn(x,dim=())
F.ihfftn(x,dim=()) F.fft2(x,s=(0,1)) F.irfft(x,n=0) F.fft2(x,dim=None) F.fft(x,n=True) F.fft(x,norm=1)
F.fft2(x[0,0]) F.fftn(x,s=(-1,2)) F.irfftn(x,s=(2,-1)) F.fft(x,n=-1) F.fftn(x,s=[2,-2]) F.fft(x,3,0,"ortho")
F.rfft(x+0j) F.ihfft(x+0j) F.rfft2(x+0j) F.ihfftn(x+0j) F.fft(x.half()) F.fft2(x.bfloat16()) F.irfft(x.half())
F.fft(x[0,0,0]) F.fftn(x[0,0,0]) F.rfftn(x[0,0,0]) F.fft2(x[0,0,0]) F.fft(x.int()) F.rfft2(x>0) F.hfft(x.to(t.uint8))
F.fft(x[:,:0]) F.irfft(x[:,:,:1]) F.irfft(x[:,:,:0]) F.fftn(x[:0])
F.fftshift(x) F.fftshift(x,dim=1) F.ifftshift(x,dim=(0,-1)) F.fftshift(x,dim=(5,)) F.fftshift(x[0,0,0])
F.ifftshift(x.half()) F.ifftshift(x,()) F.fftshift(x[:0])
F.fftfreq(5) F.fftfreq(4,.5) F.fftfreq(0) F.fftfreq(1) F.fftfreq(-1) F.fftfreq(-4) F.fftfreq(5,dtype=t.int64)
F.fftfreq(5,dtype=t.bool) F.fftfreq(9,3.,dtype=t.half) F.fftfreq(9,.3,dtype=t.bfloat16) F.fftfreq(5,dtype=t.complex64)
F.fftfreq(5,out=empty("float32")) F.fftfreq(5,out=empty("float32"),dtype=t.float64) F.fftfreq(5,requires_grad=True)
F.fftfreq(5.) F.fftfreq(5,None) F.fftfreq(5,d=1.5,out=empty("int64")) F.fftfreq(5,2,out=empty("float64"))
F.rfftfreq(5) F.rfftfreq(4,.5) F.rfftfreq(0,2.) F.rfftfreq(1) F.rfftfreq(-1) F.rfftfreq(-4) F.rfftfreq(8,dtype=t.int64)
F.rfftfreq(8,3.,dtype=t.half) F.rfftfreq(8,.3,dtype=t.bfloat16) F.rfftfreq(5,dtype=t.complex128) F.rfftfreq(n=6,d=2)
F.fft(x,out=empty("float32")) F.irfft(x,out=empty("complex64")) F.fft(d,out=empty("complex128"))
F.fft(x,out=empty("complex128")) F.ihfft(d,out=empty("complex128")) F.ihfft(d,out=empty("complex64"))
F.hfftn(d,out=empty("float64")) F.irfft(d,out=empty("float16")) F.hfftn(x,out=empty("int64"))
F.fft(d,0,out=empty("float32")) F.irfft(d,0,out=empty("int64")) F.fftn(d,dim=1,out=empty("complex64"))
F.fftn(d+0j,dim=(0,),out=empty("complex128")) F.rfftn(d,dim=(0,1),out=empty("complex128"))
F.irfft2(d,out=empty("float32")) F.ihfftn(d,out=empty("complex64")) F.ihfftn(d,out=empty("float32"))
F.rfft(d,out=d) F.fft(d+0j,norm="x",out=empty("float32")) F.fftn(d,norm="x",out=empty("float32")) F.fft(d,out=1)
""".split()


@pytest.mark.parametrize("expression", CALLS)
def test_calls(expression):
    def program(t):
        x = numbers(t, 3, 4, 5, dtype="float32")
        result = eval(expression, dict(t=t, F=t.fft, x=x.clone().requires_grad_(), d=x, empty=lambda name: t.empty(
            0, dtype=getattr(t, name))))
        return result, result.stride(), result.requires_grad
    if expression in ("F.fft(x[:,:0])", "F.fftn(x[:0])", "F.fftfreq(5,requires_grad=True)"):
        both_agree(lambda t: _only_type(lambda: program(t)))
    else:
        same_outcome(program, tolerance=1e-5)


def _only_type(program):
    """torch's words name its library, or the operation under another name."""
    try:
        return program()
    except RuntimeError:
        return "RuntimeError"


WINDOWS = """
(5,) (5,False) (1,) (0,) (2,) (2,False) (64,) (33,False) (1,requires_grad=True) (7,False,requires_grad=True)
(5,dtype=t.int64) (5,dtype=t.bool) (-1,) (-1,dtype=t.int8) (5,dtype=t.complex64) (1,dtype=t.complex64) (9,dtype=t.half)
(9,dtype=t.bfloat16) (40,False,dtype=t.half) (40,False,dtype=t.bfloat16) (9,dtype=t.float64) (9,dtype=float) (5.,)
(True,) (window_length=4,periodic=False) (0,dtype=t.bfloat16) (1,dtype=t.half) (6,layout=t.strided,device="cpu")
(4,layout=t.strided,dtype=t.int32) (3,pin_memory=True)
"""


@pytest.mark.parametrize("arguments", WINDOWS.split())
@pytest.mark.parametrize("name", ["hann", "hamming", "bartlett", "blackman", "kaiser"])
def test_windows(name, arguments):
    def program(t):
        w = eval(f"t.{name}_window{arguments}")
        return w, w.is_leaf, w.requires_grad, w.untyped_storage().nbytes()
    if "half" in arguments or "bfloat" in arguments:
        same_outcome(program, tolerance=0)
    else:
        same_outcome(program)


@pytest.mark.parametrize("call", [
    "hamming_window(6, True, .3)", "hamming_window(6, True, .3, .6)", "hamming_window(6, periodic=False, alpha=1)",
    "kaiser_window(6, True, 1.5)", "kaiser_window(6, periodic=False, beta=3)",
    "kaiser_window(6, True, 3, dtype=t.half)", "kaiser_window(9, False, .3, dtype=t.bfloat16)"])
def test_windows_of_a_shape(call):
    same_outcome(lambda t: eval("t." + call))


OF_SIGNAL = ["bartlett", "blackman", "cosine", "exponential", "gaussian", "hamming", "hann", "kaiser", "nuttall"]


@pytest.mark.parametrize("name", [*OF_SIGNAL, "general_hamming"])
@pytest.mark.parametrize("arguments", [
    "(7)", "(8)", "(0)", "(1)", "(1, sym=False)", "(6, sym=False)", "(-1)", "(5, dtype=t.half)", "(5, dtype=t.float64)",
    "(5, requires_grad=True)", "(5.)", "(5, std=-1)", "(5, tau=0)", "(5, beta=-1.)", "(5, center=1, sym=False)",
    "(5, center=1)", "(5, alpha=.3)", "(5, beta=3)", "(5, tau=.5)", "(5, std=2.)", "(5, True)", "(2, dtype=t.int64)"])
def test_windows_of_signal(name, arguments):
    """The words of Python's own TypeErrors are not compared."""
    def program(t):
        try:
            return eval(f"t.signal.windows.{name}{arguments}")
        except TypeError:
            return "TypeError"
    same_outcome(program)


@pytest.mark.parametrize("arguments", ["(5, a=[.5, .5])", "(5, a=(.1, .2, .3), sym=False)", "(5, a=[])", "(5, a=1)",
                                       "(1, a=1)", "(0, a=[1])", "(5, a=[1, 2], requires_grad=True)"])
def test_general_cosine(arguments):
    same_outcome(lambda t: eval(f"t.signal.windows.general_cosine{arguments}"))


STFT = """
t.stft(X,8,window=w,return_complex=True) t.stft(x,8,window=w,return_complex=True) t.stft(X,8,window=w)
t.stft(X,8,window=w,return_complex=False) t.stft(X*1j,8,window=w) t.stft(X,8,window=w*1j)
t.stft(X,8,window=w[:4],win_length=4,center=False,align_to_window=True,return_complex=True)
t.stft(X,8,2,5,window=w[:5],center=False,align_to_window=False,return_complex=True)
t.stft(X,8,window=w,align_to_window=True,return_complex=True) t.stft(X,80,window=w,return_complex=True,center=False)
t.stft(X,8,0,window=w,return_complex=True) t.stft(X,8,2,9,window=w,return_complex=True)
t.stft(X,8,2,4,window=w,return_complex=True) t.stft(X[0,0],8,2,4,window=w,return_complex=True,center=False)
t.stft(X[None],8,2,8,window=w,return_complex=True,center=False) t.stft(X.long(),8,2,8,window=w,return_complex=True)
t.stft(X*1j,8,window=w,onesided=True) t.stft(X*1j,8,3,window=w,onesided=False,normalized=True)
X.stft(8,window=w,return_complex=True,normalized=True,onesided=False) t.stft(X,8,window=w,pad_mode="abc")
t.stft(X,7,3,5,w[:5],True,"constant",return_complex=True) t.stft(X,8,window=w,pad_mode="replicate",return_complex=True)
t.stft(X,8,2,6,window=w[:6].detach().requires_grad_(),return_complex=True) t.istft(s,8,window=w)
t.istft(s[0],8,window=w) s.istft(8,window=w,length=10) t.istft(s,8,window=w,return_complex=True)
t.istft(f,8,window=w,return_complex=True) t.istft(f,8,window=w) t.istft(s,8,window=w*1j)
t.istft(f,8,window=w*1j,return_complex=True) t.istft(s.real,8,window=w) t.istft(s,8,9,window=w)
t.istft(s,8,0,window=w) t.istft(s,8,2,9,window=w) t.istft(s,8,2,4,window=w) t.istft(s,10,window=w)
t.istft(s,8,window=w,onesided=False) t.istft(s[None],8,window=w) t.istft(s[:0],8,window=w)
t.istft(s,8,window=w,center=False) t.istft(s,8,2,4,window=w[2:6]) t.istft(s[0,0],8,window=w)
t.istft(s,8,window=w+1,center=False,normalized=True) t.istft(s,8,window=w+1,length=0) t.istft(s.conj(),8,window=w+1)
t.istft(s,8,window=w.bool()) t.istft(s[0,0,0],8,window=w) t.istft(s,8,2,5,window=w[1:6])
""".split()


@pytest.mark.parametrize("expression", STFT)
def test_stft(expression):
    def program(t):
        X = numbers(t, 2, 20).requires_grad_()
        w = t.hann_window(8, dtype=t.float64)
        s = t.stft(X.detach(), 8, window=w, return_complex=True).requires_grad_()
        f = t.stft(X.detach(), 8, window=w, return_complex=True, onesided=False).requires_grad_()
        y = eval(expression, dict(t=t, X=X, x=X[0], w=w, s=s, f=f))
        leaf = X if "stft(X" in expression or "X.stft" in expression or "stft(x" in expression else (
            f if "(f" in expression else s)
        g, = t.autograd.grad(y.abs().pow(2).sum(), leaf)
        names = chain(y)
        return y, y.stride(), y.is_leaf, names, g
    both_agree(program)


def test_gradient_of_a_view_made_without_grad():
    """It requires grad as its base does, and what is computed of it leads nowhere."""
    def program(t):
        x = t.ones(3, requires_grad=True)
        with t.no_grad():
            v = x[:2]
        y = (v * 2).sum()
        return y.requires_grad, t.autograd.grad(y, [v, x], allow_unused=True, retain_graph=True), t.autograd.grad(y, v)
    both_agree(program)
