"""pykan: a network of learned splines: fitted, its grid refined, pruned, and its formula read off."""
import contextlib
import io

import torch
from kan import KAN, create_dataset
from outcome import show

torch.set_default_dtype(torch.double)
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    data = create_dataset(lambda x: torch.exp(torch.sin(torch.pi * x[:, [0]]) + x[:, [1]] ** 2), train_num=100,
                          test_num=20)
    net = KAN(width=[2, 3, 1], grid=3, k=3, seed=0, auto_save=False)
    lbfgs = net.fit(data, opt="LBFGS", steps=2, update_grid=False)
    net(data["train_input"])
    finer = net.refine(6)
    finer.auto_save = False
    adam = finer.fit(data, opt="Adam", steps=10, lr=0.01, lamb=0.001)
    finer.attribute()
    scores = finer.node_scores
    finer.prune_edge(0.05)
    known = KAN(width=[2, 1, 1], grid=3, k=3, auto_save=False)
    known(data["train_input"])
    for place, name in (((0, 0, 0), "sin"), ((0, 1, 0), "x^2"), ((1, 0, 0), "exp")):
        known.fix_symbolic(*place, name)
    symbolic = known.fit(data, opt="Adam", steps=10, lr=0.01, update_grid=False)
    formula = known.symbolic_formula()[0][0]
show(lbfgs=lbfgs["train_loss"], adam=adam["test_loss"], scores=scores, out=finer(data["test_input"]),
     symbolic=symbolic["train_loss"], formula=sorted(float(a) for a in formula.atoms() if a.is_Float))
