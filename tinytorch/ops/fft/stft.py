"""Short-time Fourier transforms, and signals reconstructed from them: stft istft."""
from __future__ import annotations

from ... import dtypes as dt
from ...autograd.public import public
from ...autograd.views import become
from ...errors import type_name, warn_once
from ...tensor import Tensor, check_dim
from ..creation.factories import ones, zeros
from ..elementwise.complex import _view_as_complex, view_as_real
from ..layout.index import _slice
from ..layout.shape import _squeeze_dim, _transpose
from ..layout.views import _unfold_backward, as_strided
from ..nn.pad import constant_pad_nd, pad
from .primitives import NONE, ROOT, WHOLE, _fft_c2c, _fft_c2r, _fft_r2c

__all__ = ["istft", "stft"]


def _described(name, input, window, **settings):
    """The text of the call, as torch's messages show it."""
    def kind(x):
        return f"CPU{type_name(x)}Type" if x._array.dtype.kind == dt.COMPLEX else f"torch.{type_name(x)}Tensor"

    window = "None" if window is None else f"{kind(window)}{{{list(window._array.shape)}}}"
    settings = {k: int(v) if isinstance(v, bool) else v for k, v in settings.items()}
    lengths = ", ".join(f"{k}={settings.pop(k)}" for k in ("n_fft", "hop_length", "win_length"))
    rest = ", ".join(f"{k}={v}" for k, v in settings.items())
    return f"{name}({kind(input)}{list(input._array.shape)}, {lengths}, window={window}, {rest}) "


@public(method=True, autocast="up", in_python=True)
def stft(input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None,
         window: Tensor | None = None, center: bool = True, pad_mode: str = "reflect", normalized: bool = False,
         onesided: bool | None = None, return_complex: bool | None = None,
         align_to_window: bool | None = None) -> Tensor:
    """Fourier transforms of `n_fft` points of the parts of signals (L,) or (B, L): (n_fft // 2 + 1, frames) numbers.

    A part starts `hop_length` (n_fft // 4) points after the previous one. It is multiplied by `window` (default ones),
    which has `win_length` (n_fft) numbers and is filled up with zeros on both sides. `center`: part t has its middle
    at t * hop_length, and the signal is padded in `pad_mode` at its ends. `normalized`: the result is divided by
    sqrt(n_fft). `onesided` (real signals): the result has n_fft // 2 + 1 numbers; the others would be conjugates of
    them, and onesided=False includes them. `return_complex`: must be given for real signals; if False, real and
    imaginary parts stand side by side in a last dimension.

    RuntimeError for other dtypes or shapes, or for lengths that do not fit.

    >>> import tinytorch as torch
    >>> torch.stft(torch.arange(8.), 4, window=torch.ones(4), center=False, return_complex=True).real
    tensor([[ 6., 10., 14., 18., 22.],
            [-2., -2., -2., -2., -2.],
            [-2., -2., -2., -2., -2.]])
    """
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    if center:
        shape = input._array.shape
        input = pad(input.view((1,) * (3 - len(shape)) + tuple(shape)), (n_fft // 2, n_fft // 2), pad_mode)
        input = input.view(input._array.shape[-len(shape) if shape else 0:])
    hop_length = n_fft >> 2 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    return_complex = _check_stft(input, n_fft, hop_length, win_length, window, normalized, onesided, return_complex,
                                 align_to_window)
    single = input._array.ndim == 1
    parts = _parts(input.unsqueeze(0) if single else input, n_fft, hop_length, win_length, align_to_window)
    window = _padded_window(window, n_fft, win_length, parts)
    if window is not None:
        parts = parts * window
    scale = ROOT if normalized else NONE
    if parts._array.dtype.kind == dt.COMPLEX:
        if onesided:
            raise RuntimeError("Cannot have onesided output if window or input is complex")
        result = _fft_c2c(parts, (2,), scale, True)
    else:
        result = _fft_r2c(parts, (2,), scale, onesided is None or onesided)
    become(result, _transpose(result, 1, 2))
    if single:
        become(result, _squeeze_dim(result, result._array.shape[1:]))
    return result if return_complex else view_as_real(result)


def _check_stft(input, n_fft, hop_length, win_length, window, normalized, onesided, return_complex, align_to_window):
    """Whether to return complex numbers. RuntimeError for arguments that do not fit."""
    if window is None:
        warn_once("A window was not provided. A rectangular window will be applied,which is known to cause spectral "
                  "leakage. Other windows such as torch.hann_window or torch.hamming_window are recommended to reduce "
                  "spectral leakage.To suppress this warning and use a rectangular window, explicitly set "
                  "`window=torch.ones(n_fft, device=<device>)`.")
    call = _described("stft", input, window, n_fft=n_fft, hop_length=hop_length, win_length=win_length,
                      normalized=normalized, onesided=onesided, return_complex=return_complex,
                      align_to_window=align_to_window)
    kinds = [x._array.dtype.kind for x in (input, window) if x is not None]
    if not (dt.COMPLEX in kinds if return_complex is None else return_complex):
        if return_complex is None:
            raise RuntimeError("stft requires the return_complex parameter be given for real inputs, and will further "
                               "require that return_complex=True in a future PyTorch release.")
        warn_once("stft with return_complex=False is deprecated. In a future pytorch release, stft will return "
                  "complex tensors for all inputs, and return_complex=False will raise an error.\nNote: you can still "
                  "call torch.view_as_real on the complex output to recover the old return format.")
    if kinds[0] not in dt.DIFFERENTIABLE:
        raise RuntimeError(call + ": expected a tensor of floating point or complex values")
    if input._array.ndim not in (1, 2):
        raise RuntimeError(call + ": expected a 1D or 2D tensor")
    length = input._array.shape[-1]
    if not 0 < n_fft <= length:
        raise RuntimeError(call + f": expected 0 < n_fft < {length}, but got n_fft={win_length}")
    if hop_length <= 0:
        raise RuntimeError(call + f": expected hop_length > 0, but got hop_length={hop_length}")
    if not 0 < win_length <= n_fft:
        raise RuntimeError(call + f": expected 0 < win_length <= n_fft, but got win_length={win_length}")
    if window is not None and window._array.shape != (win_length,):
        raise RuntimeError(call + f": expected a 1D window tensor of size equal to win_length={win_length}, but got "
                           f"window with size {list(window._array.shape)}")
    return return_complex is None or return_complex


def _parts(input, n_fft, hop_length, win_length, align_to_window):
    """The parts of signals (B, L), as a view (B, frames, n_fft)."""
    length, size = input._array.shape[1], n_fft
    if align_to_window:
        size = win_length
        input = constant_pad_nd(input, ((n_fft - win_length) // 2,) * 2)
    frames, (batch, step) = 1 + (length - size) // hop_length, input.stride()
    return as_strided(input, (input._array.shape[0], frames, n_fft), (batch, hop_length * step, step))


def _padded_window(window, n_fft, win_length, parts):
    """The window with zeros on both sides. Its default is ones, or None where a product with ones changes nothing."""
    if win_length == n_fft:
        return window
    like = parts if window is None else window
    result, left = zeros(n_fft, dtype=like.dtype), (n_fft - win_length) // 2
    middle = result.narrow(0, left, win_length)
    middle.fill_(1) if window is None else middle.copy_(window)
    return result


@public(method=True, in_python="Tensor")
def istft(input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None,
          window: Tensor | None = None, center: bool = True, normalized: bool = False, onesided: bool | None = None,
          length: int | None = None, return_complex: bool = False) -> Tensor:
    """The signals (L,) or (B, L) whose `stft` with the same arguments is `input`, by least squares.

    `length`: the result is cut off or filled up with zeros to this length. `return_complex`: for complex signals or a
    complex window. RuntimeError for input that is not complex, lengths that do not fit, or windows that leave out
    points.

    >>> import tinytorch as torch
    >>> parts = torch.stft(torch.arange(8.), 4, window=torch.ones(4), return_complex=True)
    >>> torch.istft(parts, 4, window=torch.ones(4))
    tensor([0., 1., 2., 3., 4., 5., 6., 7.])
    """
    hop_length = n_fft >> 2 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    onesided, call = _check_istft(input, n_fft, hop_length, win_length, window, center, normalized, onesided, length,
                                  return_complex)
    parts = view_as_real(input.resolve_conj())
    single, frames = parts._array.ndim == 3, parts._array.shape[-2]
    window = ones(win_length, dtype=parts.dtype) if window is None else window
    if win_length != n_fft:
        left = (n_fft - win_length) // 2
        window = constant_pad_nd(window, (left, n_fft - win_length - left))
    parts = _view_as_complex((parts.unsqueeze(0) if single else parts).transpose(1, 2))
    scale = ROOT if normalized else WHOLE
    if return_complex:
        parts = _fft_c2c(parts, (2,), scale, False)
    else:
        parts = _fft_c2r(parts if onesided else parts[:, :, :n_fft // 2 + 1], (2,), scale, n_fft)
    total = n_fft + hop_length * (frames - 1)

    start = n_fft // 2 if center else 0
    if length is not None:
        end = start + length
    else:
        end = -start if center else total
    signal, weights = (
        _slice(_unfold_backward(x, (len(x), total), 1, n_fft, hop_length), (slice(None), slice(start, end), ...))
        for x in (parts * window.view(1, 1, n_fft), window.pow(2).expand(1, frames, n_fft)))
    if (weights.abs().min() < 1e-11).item():
        raise RuntimeError(call + "window overlap add min: 1\n[ CPUBoolType{} ]")
    signal = signal / weights
    if single:
        signal = signal.squeeze(0)
    if end > total:
        warn_once("The length of signal is shorter than the length parameter. Result is being padded with zeros in "
                  "the tail. Please check your center and hop_length settings.")
        signal = constant_pad_nd(signal, (0, end - total))
    return signal


def _check_istft(input, n_fft, hop_length, win_length, window, center, normalized, onesided, length, return_complex):
    """Whether the input is onesided, and the call's text for messages. RuntimeError for arguments that do not fit."""
    if window is None:
        warn_once("A window was not provided. A rectangular window will be applied.Please provide the same window "
                  "used by stft to make the inversion lossless.To suppress this warning and use a rectangular window, "
                  "explicitly set `window=torch.ones(n_fft, device=<device>)`.")
    call = _described("istft", input, window, n_fft=n_fft, hop_length=hop_length, win_length=win_length,
                      center=center, normalized=normalized, onesided=onesided, length=length,
                      return_complex=return_complex)
    if input._array.dtype.kind != dt.COMPLEX:
        raise RuntimeError("istft requires a complex-valued input tensor matching the output from stft with "
                           "return_complex=True.")
    shape = (*input._array.shape, 2)            # torch counts the real and imaginary parts as a dimension
    check_dim(-2, len(shape))
    check_dim(-3, len(shape))
    size = shape[-3]
    if not input._array.size:
        raise RuntimeError(call + ": input tensor cannot be empty.")
    if len(shape) not in (3, 4):
        raise RuntimeError(call + f": expected a tensor with 3 or 4 dimensions, but got {len(shape)}")
    onesided = size != n_fft if onesided is None else onesided
    if size != (n_fft // 2 + 1 if onesided else n_fft):
        match = "n_fft / 2 + 1 when onesided=True" if onesided else "n_fft when onesided=False"
        raise RuntimeError(call + f": expected the frequency dimension (3rd to the last) of the input tensor to match "
                           f"{match}, but got {size}")
    if not 0 < hop_length <= win_length:
        raise RuntimeError(call + ": expected 0 < hop_length <= win_length")
    if not 0 < win_length <= n_fft:
        raise RuntimeError(call + ": expected 0 < win_length <= n_fft")
    if window is not None and window._array.shape != (win_length,):
        raise RuntimeError(call + ": Invalid window shape. window has to be 1D and length of `win_length`")
    if return_complex and onesided:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if not return_complex and window is not None and window._array.dtype.kind == dt.COMPLEX:
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    return onesided, call
