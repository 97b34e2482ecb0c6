"""A program for test_native_places.py: an operation runs on an index while another thread, or another process that
shares its memory, writes places into it that there are not.

    python -m tests.unit.changing_indices NAME SECONDS thread|process [DTYPE]

It ends with 0 unless the operation reads or writes where it must not: then a signal ends it, mostly."""
import multiprocessing
import sys
import threading
import time

import tinytorch as torch

F = torch.nn.functional
N, WIDTH = 20_000, 8
BEYOND = (1 << 40, -(1 << 40), N * WIDTH * 64)


def tensors(dtype):
    return torch.ones(N, WIDTH, dtype=dtype), torch.ones(N, dtype=dtype), torch.ones(N, WIDTH, dtype=dtype)


def _backward(make):
    def run(i, wide, flat, source):
        y = make(i, wide.clone().requires_grad_(), flat, source)
        y.sum().backward()
    return run


#: name -> function of (index (N) of numbers below WIDTH, matrix (N, WIDTH), row (N), matrix (N, WIDTH)).
OPERATIONS = {
    "gather": lambda i, wide, flat, source: flat.gather(0, i),
    "gather of columns": lambda i, wide, flat, source: wide.gather(0, i[:, None].expand(N, WIDTH)),
    "gather of rows": lambda i, wide, flat, source: source.gather(1, i[:, None]),
    "scatter_": lambda i, wide, flat, source: flat.scatter_(0, i, source[:, 0]),
    "scatter_add_": lambda i, wide, flat, source: flat.scatter_add_(0, i, source[:, 0]),
    "scatter_reduce_": lambda i, wide, flat, source: flat.scatter_reduce_(0, i, source[:, 0], "amax"),
    "index_add_": lambda i, wide, flat, source: wide.index_add_(0, i, source),
    "index_copy_": lambda i, wide, flat, source: wide.index_copy_(0, i, source),
    "index_fill_": lambda i, wide, flat, source: wide.index_fill_(0, i, 2.),
    "index_reduce_": lambda i, wide, flat, source: wide.index_reduce_(0, i, source, "amax"),
    "index_select": lambda i, wide, flat, source: wide.index_select(0, i),
    "index_select of columns": lambda i, wide, flat, source: wide.T.index_select(1, i),
    "index_put_": lambda i, wide, flat, source: wide.index_put_((i,), source),
    "index_put_ and add": lambda i, wide, flat, source: wide.index_put_((i,), source, accumulate=True),
    "index_put_ at two": lambda i, wide, flat, source: wide.index_put_((i, i), flat),
    "x[i]": lambda i, wide, flat, source: wide[i],
    "flat[i]": lambda i, wide, flat, source: flat[i],
    "x[i, j]": lambda i, wide, flat, source: wide[i, i],
    "x[:, i]": lambda i, wide, flat, source: wide.T[:, i[5000:]],
    "x[i] = v": lambda i, wide, flat, source: wide.__setitem__(i, source),
    "flat[i] = v": lambda i, wide, flat, source: flat.__setitem__(i, source[:, 0]),
    "x[i, j] = v": lambda i, wide, flat, source: wide.__setitem__((i, i), 3.),
    "take": lambda i, wide, flat, source: wide.take(i),
    "put_": lambda i, wide, flat, source: flat.put_(i, source[:, 0]),
    "put_ and add": lambda i, wide, flat, source: flat.put_(i, source[:, 0], accumulate=True),
    "take_along_dim": lambda i, wide, flat, source: flat.take_along_dim(i),
    "embedding": lambda i, wide, flat, source: F.embedding(i, wide),
    "embedding backward": _backward(lambda i, wide, flat, source: F.embedding(i, wide)),
    "embedding_bag": lambda i, wide, flat, source: F.embedding_bag(i.reshape(-1, 4), wide),
    "embedding_bag backward": _backward(lambda i, wide, flat, source: F.embedding_bag(i.reshape(-1, 4), wide)),
    "cross_entropy": lambda i, wide, flat, source: F.cross_entropy(source, i),
    "nll_loss": lambda i, wide, flat, source: F.nll_loss(source, i),
    "nll_loss backward": _backward(lambda i, wide, flat, source: F.nll_loss(wide, i)),
    "cross_entropy backward": _backward(lambda i, wide, flat, source: F.cross_entropy(wide, i)),
    "multi_margin_loss": lambda i, wide, flat, source: F.multi_margin_loss(wide, i),
    "one_hot": lambda i, wide, flat, source: F.one_hot(i, WIDTH),
    "bincount": lambda i, wide, flat, source: torch.bincount(i),
    "max_unpool1d": lambda i, wide, flat, source: F.max_unpool1d(flat[None], i[None], 1),
    "index_put_ of columns": lambda i, wide, flat, source: wide.T.index_put_((torch.arange(1), i), flat),
    "repeat_interleave": lambda i, wide, flat, source: flat.repeat_interleave(i),
    "select gradient": _backward(lambda i, wide, flat, source: wide[i]),
    "gather gradient": _backward(lambda i, wide, flat, source: wide.gather(0, i[:, None].expand(N, WIDTH))),
}


def flip(index, until):
    """Writes places that do not exist, and such that do, until that time."""
    array = index.numpy()
    right = array.copy()
    while time.time() < until:
        for beyond in BEYOND:
            for k in (0, N // 2):
                array[k:k + 100] = beyond
                array[k:k + 100] = right[k:k + 100]


def main(name, seconds, how, dtype):
    index = torch.randint(0, WIDTH, (N,)).share_memory_() if how == "process" else torch.randint(0, WIDTH, (N,))
    until = time.time() + seconds
    start = multiprocessing.get_context("fork").Process if how == "process" else threading.Thread
    other = start(target=flip, args=(index, until))
    sys.setswitchinterval(1e-5)
    other.start()
    operands, ran, refused = tensors(dtype), 0, 0
    while time.time() < until:
        try:
            OPERATIONS[name](index, *operands)
            ran += 1
        except (IndexError, RuntimeError, ValueError):
            refused += 1
    other.join()
    print(name, ran, refused)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), sys.argv[3], getattr(torch, (sys.argv + ["float32"])[4]))
