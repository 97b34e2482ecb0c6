"""tensorly: decompositions of tensors on the torch backend, and gradients through them."""
import tensorly as tl
import torch
from outcome import show
from tensorly.decomposition import non_negative_parafac, parafac, tensor_train, tucker

tl.set_backend("pytorch")
torch.set_default_dtype(torch.double)
x = tl.cp_to_tensor((None, [torch.rand(n, 2) for n in (4, 5, 6)])) + 0.01 * torch.rand(4, 5, 6)
cp, errors = parafac(x, rank=2, init="svd", n_iter_max=30, return_errors=True)
positive = non_negative_parafac(x, rank=2, init="svd", n_iter_max=30)
core, factors = tucker(x, rank=[2, 2, 3], n_iter_max=20)
train = tensor_train(x, rank=[1, 2, 2, 1])
weights = [torch.rand(n, 2, requires_grad=True) for n in (4, 5, 6)]
optimizer, losses = torch.optim.Adam(weights, 0.05), []
for _ in range(10):
    optimizer.zero_grad()
    loss = tl.norm(tl.cp_to_tensor((None, weights)) - x, 2) ** 2 + 0.1 * sum(tl.norm(w, 1) for w in weights)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
show(cp=tl.cp_to_tensor(cp), errors=[float(e) for e in errors], positive=tl.cp_to_tensor(positive), core=core.abs(),
     tucker=tl.tucker_to_tensor((core, factors)), train=tl.tt_to_tensor(train), losses=losses,
     unfolded=tl.unfold(x, 1), product=tl.tenalg.multi_mode_dot(x, [w.T for w in weights]),
     khatri_rao=tl.tenalg.khatri_rao(weights))
