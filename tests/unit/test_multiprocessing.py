"""torch.multiprocessing: spawn, and tensors in shared memory."""
import os
import signal

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


def test_spawn_says_how_a_process_ended():
    with pytest.raises(multiprocessing.ProcessExitedException) as caught:
        multiprocessing.start_processes(lambda i: os.kill(os.getpid(), signal.SIGKILL), nprocs=1, start_method="fork")
    error = caught.value
    assert str(error) == "process 0 terminated with signal SIGKILL"
    assert (error.error_index, error.exit_code, error.signal_name) == (0, -9, "SIGKILL")


# ------------------------------------------------------------------ shared memory
def add_one(received, done):
    for tensor in iter(received.get, None):
        with torch.no_grad():
            tensor.add_(1)
        done.put((type(tensor).__name__, tensor.requires_grad, tensor.is_shared(), tensor.stride()))


@pytest.fixture
def adder():
    """function(tensor): what a process that adds 1 to it says of it."""
    context = multiprocessing.get_context("fork")
    sent, done = context.Queue(), context.Queue()
    process = context.Process(target=add_one, args=(sent, done), daemon=True)
    process.start()

    def add(tensor):
        sent.put(tensor)
        return done.get(timeout=10)
    yield add
    sent.put(None)
    process.join(10)
    assert process.exitcode == 0


def test_queues_share_memory(adder):
    whole = torch.zeros(3, 2)
    part = whole.t()[:, 1:]
    bytes_before = whole.untyped_storage()
    assert adder(part) == ("Tensor", False, True, (1, 2)) == adder(part)
    assert whole.tolist() == [[0, 0], [2, 2], [2, 2]] and whole.is_shared() and bytes_before.is_shared()
    weight = torch.nn.Parameter(torch.ones(2))
    assert adder(weight) == ("Parameter", True, True, (1,)) and weight.tolist() == [2, 2]
    half = torch.ones(2, dtype=torch.bfloat16)
    adder(half)
    empty = torch.empty(0, 3)
    assert half.tolist() == [2, 2] and adder(empty)[2:] == (True, (3, 1))
    storage = part.untyped_storage()
    assert storage.share_memory_() is storage and storage.data_ptr() == whole.data_ptr()


def test_a_history_stays_in_its_process():
    from tinytorch.multiprocessing.reductions import reduce_tensor
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor"):
        reduce_tensor(torch.ones(1, requires_grad=True) * 2)


def test_modules_share_memory():
    module = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    module(torch.randn(3, 2)).sum().backward()
    values = [p.tolist() for p in module.parameters()]
    assert module.share_memory() is module and [p.tolist() for p in module.parameters()] == values
    assert all(t.is_shared() for t in module.state_dict().values()) and module[0].weight.grad.is_shared()
    with pytest.raises(AssertionError, match="invalid sharing strategy"):
        multiprocessing.set_sharing_strategy("hope")


def learn(i, model, x, y):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(100):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()


def test_processes_train_the_same_weights():
    torch.manual_seed(0)
    model, x = torch.nn.Linear(3, 1).share_memory(), torch.randn(64, 3)
    y = x @ torch.tensor([[1.], [-2.], [3.]]) + 0.5
    multiprocessing.start_processes(learn, (model, x, y), nprocs=2, start_method="fork")
    assert torch.nn.functional.mse_loss(model(x), y).item() < 1e-2
