"""A KeyboardInterrupt at any line leaves no lock held, and no mode that cannot be set back."""
import contextlib
import linecache
import os
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest

import tinytorch as torch
from tinytorch import debug
from tinytorch.autograd import accumulate, casts, grad_mode
from tinytorch.autograd.grad_mode import all_threads, mode
from tinytorch.autograd.torch_function import note_modes, state
from tinytorch.func import tails
from tinytorch.optim import optimizer
from tinytorch.overrides import TorchFunctionMode
from tinytorch.seam import seam
from tinytorch.utils import _device

PACKAGE = str(Path(torch.__file__).parent)
ROOT = Path(__file__).parents[2]


class Interrupt:
    """Raises a KeyboardInterrupt in this thread before the line number `at` of tinytorch's that is run.

    Not where a `with` statement ends: its line counts a second time there, and what is raised then comes after its
    block and before its lock is released. Nor at the first line of a `finally`. No signal is handled there: Python
    looks for one when a function is called and when it has returned, and at the end of a turn of a loop. Nor where a
    comprehension goes on to its next element: Python 3.12 and 3.13 leave out the `with` around it if a trace function
    raises there, which a signal does not. Nor at `try:`, which does nothing, and which a `with` around it omits."""

    def __init__(self, at):
        self.left, self.raised, self.leaving, self._entered, self.place = at, False, False, set(), None

    def _ends(self, frame):
        """Whether it is the line of a `with` or a comprehension, come to again, or the first one of a `finally`."""
        before, line = [linecache.getline(frame.f_code.co_filename, frame.f_lineno - k).strip() for k in (1, 0)]
        if before == "finally:" or line == "try:":
            return True
        if not line.startswith("with ") and not ("[" in line and " for " in line):
            return False
        before = (frame, frame.f_lineno) in self._entered
        self._entered.add((frame, frame.f_lineno))
        return before

    def _is_leaving(self, frame):
        """Whether it comes in the midst of an `__exit__`."""
        while frame is not None and frame.f_code.co_name not in ("__exit__", "leave", "disable_saved_tensors_hooks"):
            frame = frame.f_back
        return frame is not None

    def _trace(self, frame, event, arg):
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        if event == "line" and not self._ends(frame):
            if self.left == 0 and not self.raised:
                self.raised, self.leaving = True, self._is_leaving(frame)
                self.place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
                raise KeyboardInterrupt
            self.left -= 1
        return self._trace

    def __enter__(self):
        self._before = sys.gettrace()
        sys.settrace(self._trace)
        return self

    def __exit__(self, *exc_info):
        sys.settrace(self._before)


def leaf():
    return torch.tensor([1., 2.], requires_grad=True)


class Nothing(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


def _hooked():
    x = leaf()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        (x * x).sum().backward()


def _with_hooks():
    x = leaf()
    handles = [x.register_hook(lambda g: g * 1), x.register_post_accumulate_grad_hook(lambda t: None)]
    (x * x).sum().backward()
    for handle in handles:
        handle.remove()


def _inside(make):
    def action():
        with make():
            (leaf() * 2).sum()
    return action


def _switched_off(make):
    def action():
        with make():
            torch.is_grad_enabled()
    return action


def _decorated(make):
    return lambda: make()(lambda: (leaf() * 2).sum())()


def _dual():
    with torch.autograd.forward_ad.dual_level():
        torch.autograd.forward_ad.make_dual(torch.ones(2), torch.ones(2)) * 2


def _profiled():
    with torch.profiler.profile():
        torch.ones(2) * 2


class _quick_leaks(torch.debug.leaks):
    """One that does not look through all objects, which would be done at each line."""

    def _memory(self):
        return ()

    def _collect(self):
        pass

    def _old(self):                            # the trace holds frames, and what they have
        return []


#: What is interrupted. Everything that is a context manager of the public namespaces is here by its name, or in OTHERS.
ACTIONS = {
    "autograd.set_detect_anomaly": _inside(lambda: torch.autograd.set_detect_anomaly(True)),
    "autograd.detect_anomaly": _inside(torch.autograd.detect_anomaly),
    "anomaly at once": lambda: (torch.autograd.set_detect_anomaly(True), torch.autograd.set_detect_anomaly(False)),
    "no_grad": _inside(torch.no_grad), "decorated no_grad": _decorated(torch.no_grad),
    "enable_grad": _inside(torch.enable_grad), "inference_mode": _inside(torch.inference_mode),
    "decorated inference_mode": _decorated(torch.inference_mode),
    "set_grad_enabled": _inside(lambda: torch.set_grad_enabled(False)),
    "autocast": _inside(lambda: torch.autocast("cpu")),
    "autograd.graph.saved_tensors_hooks": _hooked,
    "autograd.graph.save_on_cpu": _inside(torch.autograd.graph.save_on_cpu),
    "autograd.graph.disable_saved_tensors_hooks": _inside(
        lambda: torch.autograd.graph.disable_saved_tensors_hooks("no")),
    "autograd.graph.allow_mutation_on_saved_tensors": _inside(torch.autograd.graph.allow_mutation_on_saved_tensors),
    "debug.nonfinite": _inside(torch.debug.nonfinite), "debug.inplace": _inside(torch.debug.inplace),
    "debug.leaks": _inside(_quick_leaks),
    "precise_tails": _inside(torch.precise_tails), "decorated precise_tails": _decorated(torch.precise_tails),
    "hooks": _with_hooks,
    "modes": _inside(Nothing),
    "device": _inside(lambda: torch.device("meta")),
    "random.fork_rng": _inside(torch.random.fork_rng),
    "draws": lambda: (torch.manual_seed(1), torch.rand(3), torch.randn(20), torch.zeros(3).uniform_(),
                      torch.randperm(5), torch.get_rng_state(), torch.nn.functional.dropout(torch.ones(4), .5)),
    "autograd.forward_ad.dual_level": _dual,
    "func": lambda: torch.func.vmap(torch.func.grad(lambda x: (x * x).sum()))(torch.ones(2, 3)),
    "profiler": _profiled,
    "backward": lambda: (leaf() * 2).sum().backward(),
    "utils.checkpoint": lambda: torch.utils.checkpoint.checkpoint(
        lambda x: x * x, leaf(), use_reentrant=False).sum().backward(),
    "utils.checkpoint.GraphExecGroup": _inside(torch.utils.checkpoint.GraphExecGroup),
    "DisableTorchFunction": _switched_off(torch.DisableTorchFunction),
    "DisableTorchFunctionSubclass": _switched_off(torch.DisableTorchFunctionSubclass),
}


def reset():
    """What a program does to be in its usual modes again."""
    torch.set_grad_enabled(True)
    torch.autograd.set_detect_anomaly(False)
    torch.precise_tails(False)
    torch.set_autocast_enabled("cpu", False)
    with contextlib.suppress(RuntimeError):
        torch.autograd.forward_ad.exit_dual_level()
    with torch.no_grad():
        pass
    with torch.inference_mode():
        pass
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        pass


def locks():
    """All locks of the package, with where they are."""
    lock_types = type(threading.Lock()), type(threading.RLock())
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == "tinytorch":
            for key, value in list(vars(module).items()):
                for place, candidate in [(key, value), *[(f"{key}.{k}", getattr(value, k, None)) for k in (
                        "lock", "_lock")]]:
                    if isinstance(candidate, lock_types):
                        yield f"{name}.{place}", candidate
    yield "the default generator", torch.default_generator.stream.lock


def in_another_thread(function):
    found = []
    thread = threading.Thread(target=lambda: found.append(function()), daemon=True)
    thread.start()
    thread.join(20)
    assert found, "another thread hangs"
    return found[0]


def check(name, interrupt, k, known_locks):
    if interrupt.leaving and name in ENDED_BY_EXIT_ALONE:
        force()
    reset()
    where = f"{name}, interrupted at line {k}: {interrupt.place}"
    held, drawn = in_another_thread(lambda: (
        [place for place, lock in known_locks if not (lock.acquire(blocking=False) and lock.release() is None)],
        torch.rand(2).shape))
    assert not held and drawn == (2,), (where, held)
    assert torch.is_grad_enabled() and not torch.is_inference_mode_enabled() and mode.grad is True, where
    assert not mode.watchers and not mode.places and not mode.anomaly and mode.saved_tensors_hooks is None, where
    assert not all_threads.in_special_mode and not all_threads.noting_writes and not casts.state.inside, where
    assert not state.disabled and not state.skips and not state.modes and not state.handling, where
    assert not mode.graph_task and mode.current_node is None and mode.dual_level is None, where
    assert not mode.grad_levels and not mode.vmap_levels and not mode.computing_jvp, where
    x = leaf()
    y = torch.nn.functional.dropout(x * x + torch.rand(2) * 0, 0.)
    y.sum().backward()
    assert x.grad.tolist() == [2., 4.] and y.requires_grad, where
    with torch.no_grad():
        assert not (x * 2).requires_grad, where


#: Modes that nothing but their `__exit__` ends, in torch as well: of an interrupt in the midst of it, which no class in
#: Python can rule out, the locks are looked at here, and the numbers when the mode is off again.
ENDED_BY_EXIT_ALONE = {"modes", "device", "inference_mode", "decorated inference_mode",
                       "autograd.graph.saved_tensors_hooks", "autograd.graph.save_on_cpu",
                       "autograd.graph.disable_saved_tensors_hooks", "autograd.graph.allow_mutation_on_saved_tensors",
                       "utils.checkpoint", "utils.checkpoint.GraphExecGroup", "func",
                       "DisableTorchFunction", "DisableTorchFunctionSubclass",
                       "debug.nonfinite", "debug.inplace", "debug.leaks", "precise_tails", "decorated precise_tails"}


def force():
    """All modes as in a new thread."""
    vars(mode).clear()
    state.modes.clear()
    state.disabled, state.skips, state.handling = 0, False, 0
    note_modes()
    _device._entered.contexts.clear()
    for part in (debug.finite, debug.writes, debug.living, tails):
        vars(part._here).clear()
    for reason in ("nonfinite", "leaks"):
        seam.watch(reason, False)
    torch.utils.checkpoint.GraphExecGroup().__exit__()
    for hooks in optimizer._global_optimizer_pre_hooks, optimizer._global_optimizer_post_hooks:
        hooks.clear()


def warm(action):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        action()


@pytest.mark.parametrize("name", ACTIONS)
def test_at_every_line(name):
    """Of the long ones, at each of the first 60 lines and then at fewer and fewer."""
    action = ACTIONS[name]
    warm(action)                               # imports and what is installed at the first call
    k, known_locks = 0, list(locks())
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                with Interrupt(k) as interrupt:
                    action()
            except KeyboardInterrupt:
                pass
            except RuntimeError as error:      # what was to be ended is no more: it comes of the interrupt
                assert interrupt.raised, (name, k, error)
        check(name, interrupt, k, known_locks)
        if not interrupt.raised:
            break
        k += 1 + max(0, k - 60) // 10
    assert k > 3


def contexts():
    """The names of all public context managers."""
    found = set()
    for space in ("", "autograd", "autograd.graph", "autograd.forward_ad", "amp", "random", "profiler", "func",
                  "overrides", "utils.checkpoint", "debug", "nn.utils.parametrize", "testing", "nn.attention"):
        module = torch
        for part in filter(None, space.split(".")):
            module = getattr(module, part)
        for key, value in vars(module).items():
            if isinstance(value, type) and hasattr(value, "__enter__") and key[0] != "_" and (
                    value.__module__.startswith("tinytorch")):
                found.add(f"{space}.{key}".lstrip("."))
    return found


#: Context managers that have no state of a thread or process of their own.
OTHERS = {
    "Stream": "nothing is done", "Event": "nothing is done",
    "autograd.set_multithreading_enabled": "a flag without effect",
    "autograd.enforce_grad_layout_policy": "one flag, set by one statement",
}


#: Those that are another one by a second name, or the class that another one is of.
ALIKE = {
    "amp.autocast_mode": "autocast", "profiler.profile": "profiler", "autograd.forward_ad.Level": "dual_level",
    "profiler.record_function": "a note in the profiler's list", "overrides.TorchFunctionMode": "modes",
    "overrides.BaseTorchFunctionMode": "modes", "overrides.EnableTorchFunction": "one number of the thread",
    "autograd.graph.RemovableHandle": "hooks", "utils.checkpoint.set_checkpoint_debug_enabled": "one flag",
}


def test_every_context_manager_is_tried():
    known = {name.split(".")[-1] for name in [*ACTIONS, *OTHERS]}
    missing = {name for name in contexts() if name.split(".")[-1] not in known}
    assert missing <= set(ALIKE), missing - set(ALIKE)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no such timer on this system")
@pytest.mark.parametrize("draw", [lambda: torch.rand(3), lambda: torch.zeros(3).normal_(), lambda: torch.randperm(4),
                                  lambda: torch.zeros(3, dtype=torch.int64).random_(), lambda: torch.rand(20_000)])
def test_the_state_of_a_generator(draw):
    """An interrupt in a draw comes before it or after it: the state says which, and is one to continue from."""
    def following():
        return torch.rand(4).tolist()
    torch.manual_seed(1)
    before = following()
    torch.manual_seed(1)
    draw()
    after = following()
    for at in range(10_000):
        torch.manual_seed(1)
        with contextlib.suppress(KeyboardInterrupt), Interrupt(at) as interrupt:
            draw()
        state = torch.get_rng_state()
        first = following()
        torch.set_rng_state(state)
        assert first == following() and first in (before, after), (at, interrupt.place)
        if not interrupt.raised:
            break
    assert first == after and at > 5


def test_at_random_times():
    """SIGINT while forward, backward, optimisers, draws and a loader are at work: then the numbers are right again."""
    program = """
import itertools, random, signal, sys, time
import tinytorch as torch
random.seed(int(sys.argv[1]))
optimizers = itertools.cycle([torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop,
                              torch.optim.Adagrad, torch.optim.NAdam])
data = torch.utils.data.TensorDataset(torch.randn(40, 8), torch.randn(40, 2))
loader = torch.utils.data.DataLoader(data, 8, shuffle=True)
def train(n):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Dropout(.2), torch.nn.Linear(16, 2))
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(n):
        for x, y in loader:
            optimizer.zero_grad()
            loss = (model(x) - y).square().mean()
            loss.backward()
            optimizer.step()
    return loss.item()
def step():
    w = torch.ones(100, requires_grad=True)
    optimizer = next(optimizers)([w], lr=.1)
    for _ in range(50):
        with torch.no_grad():
            torch.randn(50)
        (w * torch.rand(100)).sum().backward()
        optimizer.step()
    optimizer.state_dict()
right = train(2)
caught = 0
signal.signal(signal.SIGALRM, signal.default_int_handler)
for _ in range(60):
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(.0002, .01))
        while True:
            step()
            train(1)
    except KeyboardInterrupt:
        caught += 1
    torch.set_grad_enabled(True)               # the interrupt may have come in the end of no_grad
assert train(2) == right, "other numbers"
print("caught", caught)
"""
    for seed in range(2):
        ended = subprocess.run([sys.executable, "-c", program, str(seed)], cwd=ROOT, capture_output=True, text=True,
                               timeout=300, env={**os.environ, "PYTHONPATH": str(ROOT)})
        assert ended.returncode == 0 and ended.stdout.strip() == "caught 60", ended.stdout + ended.stderr[-1500:]


INSTALLS = {
    "overrides": "class M(torch.overrides.TorchFunctionMode):\n"
                 "    def __torch_function__(self, f, types, args=(), kwargs=None):\n"
                 "        seen.append(f.__name__); return f(*args, **(kwargs or {}))\n"
                 "def act():\n    with M():\n        torch.add(torch.ones(2), 1)\n"
                 "def good():\n    seen.clear(); act(); return 'add' in seen",
    "autocast": "def act():\n    with torch.autocast('cpu'):\n"
                "        return torch.mm(torch.ones(2, 2), torch.ones(2, 2))\n"
                "def good():\n    return act().dtype is torch.bfloat16 and torch.mm(torch.ones(2, 2), torch.ones(2, 2)"
                ").dtype is torch.float32",
    "sparse": "def act():\n    return torch.eye(3).to_sparse() * 2\n"
              "def good():\n    return act().to_dense().trace().item() == 6.",
    "vmap": "def act():\n    return torch.func.vmap(lambda x: x.sum() * 2)(torch.ones(3, 2))\n"
            "def good():\n    return act().tolist() == [4., 4., 4.] and torch.ones(2).sum().item() == 2.",
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.parametrize("name", INSTALLS)
def test_what_is_installed_at_the_first_use(name):
    """Interrupted at its k-th line, each time in a copy of a process that has done nothing yet: the next use finds all
    in place."""
    program = f"""
import itertools, os, sys, traceback, warnings
sys.path.insert(0, {str(ROOT)!r})
import tinytorch as torch
from tests.unit.test_interrupts import Interrupt
warnings.simplefilter("ignore")
seen = []
{INSTALLS[name]}
def interrupted(k):
    interrupt = Interrupt(k)
    try:
        with interrupt:
            act()
    except KeyboardInterrupt:
        pass
    torch.set_grad_enabled(True)
    torch.set_autocast_enabled("cpu", False)
    assert good(), f"interrupted at line {{k}}, it does not work any more"
for k in itertools.chain((1, 3, 10, 30), (int(60 * 1.5 ** i) for i in range(12))):
    child = os.fork()
    if child == 0:
        try:
            interrupted(k)
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""
    ended = subprocess.run([sys.executable, "-W", "ignore", "-c", program], cwd=ROOT, capture_output=True, text=True,
                           timeout=300)
    assert ended.returncode == 0, ended.stderr[-1500:]


def test_the_lock_of_gradients_is_released():
    """Where a hook is interrupted too."""
    x = leaf()

    def interrupted(g):
        raise KeyboardInterrupt
    x.register_hook(interrupted)
    with pytest.raises(KeyboardInterrupt):
        (x * x).sum().backward()
    assert in_another_thread(lambda: accumulate.lock.acquire(blocking=False) and accumulate.lock.release() is None)
    assert not grad_mode.all_threads.in_special_mode
