"""torch.multiprocessing.spawn."""
import pytest

import tinytorch as torch
from tinytorch import multiprocessing


def put_square(i, queue, x):
    queue.put((i, (x * x).sum().item()))


def fail(i):
    if i == 1:
        raise ValueError("as asked")


def test_spawn_runs_a_function_in_each_process():
    queue = multiprocessing.get_context("spawn").SimpleQueue()
    multiprocessing.spawn(put_square, args=(queue, torch.tensor([1.0, 2.0])), nprocs=2)
    assert sorted(queue.get() for _ in range(2)) == [(0, 5.0), (1, 5.0)]


def test_spawn_raises_what_a_process_raised():
    with pytest.raises(multiprocessing.ProcessRaisedException,
                       match="(?s)-- Process 1 terminated.*ValueError: as asked"):
        multiprocessing.spawn(fail, nprocs=2)
