"""autoray: functions written once for any arrays, run on torch, put off, and compiled."""
import autoray
import torch
from autoray import do, lazy
from outcome import show

x = torch.randn(5, 4, dtype=torch.double, requires_grad=True)


def orthogonal(matrix):
    q, r = do("linalg.qr", matrix)
    return q * do("sign", do("diag", r))


def spread(matrix):
    u, s, v = do("linalg.svd", matrix)
    cut = do("where", s > 1.0, s, do("zeros_like", s))
    return do("einsum", "ij,j,jk->ik", u, cut, v)


loss = do("sum", do("tanh", orthogonal(x)) ** 3) + do("linalg.norm", spread(x))
loss.backward()
y = x.detach()
late = lazy.array(y)
product = do("tensordot", late, do("transpose", late), axes=1)
traced = autoray.autojit(lambda a: do("exp", do("tensordot", a, do("conj", a), axes=([0], [0]))) + a[0, 0])
show(loss=loss, grad=x.grad, backend=autoray.infer_backend(x), name=autoray.get_dtype_name(x), lazy=product.compute(),
     history=product.history_num_nodes(), traced=traced(y), padded=do("pad", y, ((1, 1), (0, 2)), mode="constant"),
     taken=do("take", y, torch.tensor([2, 0]), axis=0), clipped=do("clip", y, -0.5, 0.5),
     complexes=do("real", do("astype", y, "complex128") * 1j * do("astype", y, "complex128")),
     stacked=do("stack", (y, y), axis=1), numpy=do("to_numpy", y).tolist()[0], eye=do("eye", 3, like=y),
     split=list(do("split", y, [1, 3], axis=0)), order=do("argsort", y[0]), many=do("count_nonzero", y > 0))
