"""Learning rate schedules and averaged weights beside torch's: rates, states given to the other library, words."""
import copy
import inspect
import pickle
import warnings

import numpy as np
import pytest
import torch

import tinytorch

from .adapter import error_of, same

LIBRARIES = tinytorch, torch


class Decay:
    """A function with a state."""

    def __init__(self, rate=0.9):
        self.rate = rate

    def __call__(self, epoch):
        return self.rate ** epoch


def parts(kind, *milestones):
    """A schedule made of three others."""
    def make(library, opt):
        s = library.optim.lr_scheduler
        inner = [s.ConstantLR(opt, 0.1, 3), s.ExponentialLR(opt, 0.9), s.StepLR(opt, 4, 0.5)]
        if kind == "nested":
            return s.ChainedScheduler([s.SequentialLR(opt, inner[:2], [5]), inner[2]], opt)
        return s.ChainedScheduler(inner) if kind == "chained" else s.SequentialLR(opt, inner, list(milestones))
    return make


def of(name, space="lr_scheduler", **kwargs):
    """A schedule by its name."""
    def make(library, opt):
        given = {k: copy.deepcopy(v) for k, v in kwargs.items()}
        return getattr(getattr(library.optim, space), name)(opt, **given)
    return make


SCHEDULES = {
    "LambdaLR": of("LambdaLR", lr_lambda=[Decay(), lambda epoch: 1 / (1 + epoch)]),
    "MultiplicativeLR": of("MultiplicativeLR", lr_lambda=lambda epoch: 0.9 + 0.01 * (epoch % 3)),
    "MultiplicativeLR-each": of("MultiplicativeLR", lr_lambda=(Decay(0.99), Decay(0.98))),
    "StepLR": of("StepLR", step_size=4, gamma=0.3), "MultiStepLR": of("MultiStepLR", milestones=[8, 3, 3, 20]),
    "ConstantLR": of("ConstantLR"), "ConstantLR-late": of("ConstantLR", factor=0.7, total_iters=16),
    "LinearLR": of("LinearLR"), "LinearLR-down": of("LinearLR", start_factor=0.9, end_factor=0.0, total_iters=12),
    "ExponentialLR": of("ExponentialLR", gamma=0.93),
    "PolynomialLR": of("PolynomialLR"), "PolynomialLR-2": of("PolynomialLR", total_iters=20, power=2.5),
    "CosineAnnealingLR": of("CosineAnnealingLR", T_max=7, eta_min=0.02),
    "Restarts": of("CosineAnnealingWarmRestarts", T_0=4),
    "Restarts-longer": of("CosineAnnealingWarmRestarts", T_0=3, T_mult=2, eta_min=0.01),
    "CyclicLR": of("CyclicLR", base_lr=0.01, max_lr=0.2, step_size_up=4),
    "CyclicLR-2": of("CyclicLR", base_lr=[0.01, 0.02], max_lr=[0.2, 0.1], step_size_up=3, step_size_down=6,
                     mode="triangular2", base_momentum=[0.7, 0.6], max_momentum=0.8),
    "CyclicLR-power": of("CyclicLR", base_lr=0.01, max_lr=0.2, step_size_up=4, mode="exp_range", gamma=0.9),
    "CyclicLR-own": of("CyclicLR", base_lr=0.01, max_lr=0.2, step_size_up=4, scale_fn=Decay(), scale_mode="iterations",
                       cycle_momentum=False),
    "OneCycleLR": of("OneCycleLR", max_lr=0.4, total_steps=40),
    "OneCycleLR-3": of("OneCycleLR", max_lr=[0.4, 0.2], epochs=5, steps_per_epoch=7, three_phase=True,
                       anneal_strategy="linear"),
    "OneCycleLR-rate": of("OneCycleLR", max_lr=0.4, total_steps=40, cycle_momentum=False),
    "ReduceLROnPlateau": of("ReduceLROnPlateau", patience=1, factor=0.5, cooldown=1),
    "ReduceLROnPlateau-max": of("ReduceLROnPlateau", mode="max", patience=0, threshold_mode="abs", min_lr=[0.01, 0.2]),
    "SWALR": of("SWALR", "swa_utils", swa_lr=0.05), "SWALR-0": of("SWALR", "swa_utils", swa_lr=0.05, anneal_epochs=0),
    "SWALR-line": of("SWALR", "swa_utils", swa_lr=[0.05, 0.5], anneal_epochs=4, anneal_strategy="linear"),
    "SequentialLR": parts("sequential", 4, 11), "SequentialLR-at-once": parts("sequential", 0, 11),
    "ChainedScheduler": parts("chained"), "nested": parts("nested"),
}
OPTIMIZERS = {"SGD": {"momentum": 0.9}, "AdamW": {}, "RMSprop": {"momentum": 0.5}}


def optimizer(library, name="SGD", lr=0.1, **extra):
    parameters = [library.zeros(2, requires_grad=True), library.zeros(3, requires_grad=True)]
    groups = [{"params": parameters[:1]}, {"params": parameters[1:], "lr": 3 * lr}]
    return getattr(library.optim, name)(groups, lr=lr, **{**OPTIMIZERS[name], **extra})


def advance(schedule, opt, first, last):
    """The rates and momenta of some epochs."""
    metrics = np.random.RandomState(1).rand(last)
    waits = type(schedule).__name__ == "ReduceLROnPlateau"
    seen = []
    for epoch in range(first, last):
        opt.step()
        schedule.step(*([metrics[epoch]] if waits else []))
        seen.append([plain(schedule.get_last_lr()), [plain(group["lr"]) for group in opt.param_groups],
                     [group.get("momentum", group.get("betas")) for group in opt.param_groups]])
    return seen


def plain(state):
    """A state without what belongs to one library."""
    if isinstance(state, dict):
        return {k: plain(v) for k, v in state.items() if k not in ("_scale_fn_ref", "anneal_func")}
    if isinstance(state, (list, tuple)):
        return [plain(part) for part in state]
    return state.item() if hasattr(state, "item") else state


@pytest.mark.parametrize("kind", OPTIMIZERS)
@pytest.mark.parametrize("name", SCHEDULES)
def test_rates_and_states_of_the_other_library(name, kind):
    """30 steps each; from the middle of them each goes on from the state that the other one has there."""
    opts = [optimizer(library, kind) for library in LIBRARIES]
    ours, theirs = schedules = [SCHEDULES[name](library, opt) for library, opt in zip(LIBRARIES, opts)]
    assert plain(ours.state_dict()) == plain(theirs.state_dict())
    assert advance(ours, opts[0], 0, 13) == advance(theirs, opts[1], 0, 13)
    states = [copy.deepcopy(s.state_dict()) for s in schedules]
    assert plain(states[0]) == plain(states[1])
    rest = []
    for library, opt, state in zip(LIBRARIES, opts, reversed(states)):
        fresh_opt = optimizer(library, kind)
        fresh = SCHEDULES[name](library, fresh_opt)
        for group, before in zip(fresh_opt.param_groups, opt.param_groups):
            group.update({k: v for k, v in before.items() if k != "params"})
        fresh.load_state_dict(state)
        rest.append(advance(fresh, fresh_opt, 13, 30))
    assert rest[0] == rest[1] == advance(theirs, opts[1], 13, 30)


@pytest.mark.parametrize("name", SCHEDULES)
def test_rates_in_tensors(name):
    def run(library):
        opt = optimizer(library, "SGD", library.tensor(0.25))
        return advance(SCHEDULES[name](library, opt), opt, 0, 12), [type(g["lr"]).__name__ for g in opt.param_groups]
    same(run(tinytorch), run(torch), name)


@pytest.mark.parametrize("name", [name for name in SCHEDULES if "-" not in name])
def test_closed_forms_and_epochs(name):
    def run(library):
        opt = optimizer(library)
        schedule = SCHEDULES[name](library, opt)
        seen, words = [], []
        for epoch in (7, 2, 12):
            opt.step()
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                given = [0.5] if name == "ReduceLROnPlateau" else []
                error = error_of(lambda: schedule.step(*given, epoch=epoch))[0]
                words += [(str(w.message), w.category.__name__) for w in caught]
            seen.append((plain(schedule.get_last_lr()), type(error).__name__))
        closed = getattr(schedule, "_get_closed_form_lr", None)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            asked = error_of(schedule.get_lr)
            words += [(str(w.message), w.category.__name__) for w in caught]
        return seen, words, closed and closed(), type(asked[0]).__name__, plain(asked[1])
    assert run(tinytorch) == run(torch)


ERRORS = [
    of("CyclicLR", base_lr=0.1, max_lr=1.0, mode="steep"), of("CyclicLR", base_lr=[0.1], max_lr=1.0),
    of("CyclicLR", base_lr=0.1, max_lr=[1.0]), of("ConstantLR", factor=2), of("LinearLR", start_factor=0),
    of("LinearLR", end_factor=2), of("MultiplicativeLR", lr_lambda=[abs]), of("MultiplicativeLR", lr_lambda=3),
    of("CosineAnnealingWarmRestarts", T_0=0), of("CosineAnnealingWarmRestarts", T_0=2, T_mult=1.5),
    of("CosineAnnealingWarmRestarts", T_0=2, eta_min="low"), of("PolynomialLR", last_epoch=2),
    of("SWALR", "swa_utils", swa_lr=[1.0]), of("SWALR", "swa_utils", swa_lr=1.0, anneal_strategy="steep"),
    of("SWALR", "swa_utils", swa_lr=1.0, anneal_epochs=-1),
    of("OneCycleLR", max_lr=0.1), of("OneCycleLR", max_lr=0.1, total_steps=-1),
    of("OneCycleLR", max_lr=0.1, total_steps=5, pct_start=2),
    of("OneCycleLR", max_lr=0.1, total_steps=5, anneal_strategy="steep"),
    of("OneCycleLR", max_lr=[0.1], total_steps=5), of("LambdaLR", lr_lambda=[abs]),
    of("ReduceLROnPlateau", factor=1.0), of("ReduceLROnPlateau", mode="best"),
    of("ReduceLROnPlateau", threshold_mode="best"), of("ReduceLROnPlateau", min_lr=[1, 2, 3]),
    of("StepLR", step_size=1, last_epoch=3),
    lambda t, opt: t.optim.lr_scheduler.SequentialLR(opt, [], []),
    lambda t, opt: t.optim.lr_scheduler.ChainedScheduler([]),
    lambda t, opt: t.optim.lr_scheduler.SequentialLR(opt, [t.optim.lr_scheduler.StepLR(opt, 2)], [3]),
    lambda t, opt: t.optim.lr_scheduler.ChainedScheduler([t.optim.lr_scheduler.ReduceLROnPlateau(opt)]),
    lambda t, opt: t.optim.lr_scheduler.SequentialLR(opt, [3], []),
    lambda t, opt: t.optim.lr_scheduler.StepLR(3, 2),
    lambda t, opt: t.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, 2).step(-1),
    lambda t, opt: t.optim.lr_scheduler.CyclicLR(t.optim.Adagrad([t.ones(1)]), 0.1, 1.0),
    lambda t, opt: t.optim.swa_utils.get_ema_avg_fn(1.5), lambda t, opt: t.optim.swa_utils.get_ema_multi_avg_fn(-1),
    lambda t, opt: t.optim.swa_utils.AveragedModel(t.nn.Linear(1, 1), avg_fn=max, multi_avg_fn=max),
]


@pytest.mark.parametrize("program", ERRORS)
def test_errors(program):
    ours, theirs = (error_of(lambda: program(library, optimizer(library)))[0] for library in LIBRARIES)
    assert theirs is not None and type(ours) is type(theirs) and str(ours) == str(theirs)


def test_stepping_the_schedule_first_warns():
    def words(library):
        schedule = library.optim.lr_scheduler.StepLR(optimizer(library), 2)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            schedule.step()
        return [(str(w.message), w.category) for w in caught]
    found = words(tinytorch)
    assert found == words(torch)
    assert "Detected call of `lr_scheduler.step()` before" in found[0][0]


@pytest.mark.parametrize("name", sorted(set(torch.optim.lr_scheduler.__all__) | {"_LRScheduler", "SWALR"}))
def test_signatures(name):
    ours, theirs = (getattr(library.optim.swa_utils if name == "SWALR" else library.optim.lr_scheduler, name)
                    for library in LIBRARIES)
    for method in ("__init__", "step"):
        arguments = [[(p.name, p.default) for p in inspect.signature(getattr(cls, method)).parameters.values()]
                     for cls in (ours, theirs)]
        assert arguments[0] == arguments[1]
    assert ours.__module__.partition(".")[2] == theirs.__module__.partition(".")[2]


@pytest.mark.parametrize("again", [copy.deepcopy, lambda schedule: pickle.loads(pickle.dumps(schedule))])
@pytest.mark.parametrize("name", ["StepLR", "CyclicLR-power", "CyclicLR-own", "SequentialLR", "SWALR"])
def test_copies_go_on_alike(name, again):
    def run(library):
        opt = optimizer(library)
        schedule = SCHEDULES[name](library, opt)
        advance(schedule, opt, 0, 5)
        copied = again(schedule)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")    # the copy's optimiser has not been wrapped
            return advance(copied, copied.optimizer, 5, 9), advance(schedule, opt, 5, 9)
    ours = run(tinytorch)
    assert ours == run(torch) and ours[0] == ours[1]


AVERAGES = {
    "mean": lambda s: {}, "swa": lambda s: {"avg_fn": s.get_swa_avg_fn()},
    "ema": lambda s: {"avg_fn": s.get_ema_avg_fn(0.9)},
    "swa-lists": lambda s: {"multi_avg_fn": s.get_swa_multi_avg_fn()},
    "ema-lists": lambda s: {"multi_avg_fn": s.get_ema_multi_avg_fn(0.9)},
    "own": lambda s: {"avg_fn": lambda average, value, count: (average + value) / (1 + count)},
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("use_buffers", [False, True])
@pytest.mark.parametrize("name", AVERAGES)
def test_averaged_models(name, use_buffers, dtype):
    def model_of(library):
        kind = getattr(library, dtype)
        model = library.nn.Sequential(library.nn.Linear(3, 2), library.nn.BatchNorm1d(2)).to(kind)
        return model, library.optim.swa_utils.AveragedModel(
            model, "cpu", use_buffers=use_buffers, **AVERAGES[name](library.optim.swa_utils))

    def update(library, model, average, seed):
        random = np.random.RandomState(seed)
        with library.no_grad():
            for tensor in model.state_dict().values():
                if tensor.ndim:
                    tensor.copy_(library.tensor(random.rand(*tensor.shape)))
                else:
                    tensor.fill_(seed)
        return error_of(lambda: average.update_parameters(model))[0]

    def numbers(average):
        return {k: v.double().tolist() for k, v in average.state_dict().items()}
    ours, theirs = model_of(tinytorch), model_of(torch)
    for seed in range(4):
        mine, error = update(tinytorch, *ours, seed), update(torch, *theirs, seed)
        if error is not None:                  # addcdiv's: it says in other words what to do instead
            said = "Integer division with addcdiv is no longer supported"
            assert type(mine) is type(error) and str(mine).startswith(said) and str(error).startswith(said)
            assert name == "swa-lists" and use_buffers
            return
        assert mine is None
        same(numbers(ours[1]), numbers(theirs[1]), name)
    fresh = model_of(tinytorch)[1]
    fresh.load_state_dict({k: tinytorch.tensor(v.double().numpy()) for k, v in theirs[1].state_dict().items()})
    back = model_of(torch)[1]
    back.load_state_dict({k: torch.tensor(v.double().numpy()) for k, v in ours[1].state_dict().items()})
    assert fresh.n_averaged.item() == back.n_averaged.item() == 4
    same(numbers(fresh), numbers(back), name)


@pytest.mark.parametrize("nested", [False, True])
def test_update_bn(nested):
    def run(library):
        model = library.nn.Sequential(library.nn.BatchNorm1d(3, momentum=0.3), library.nn.BatchNorm1d(3)).eval()
        batches = [library.tensor(x) for x in np.random.RandomState(0).rand(4, 5, 3).astype("f")]
        library.optim.swa_utils.update_bn([(x, 0) for x in batches] if nested else batches, model, "cpu")
        library.optim.swa_utils.update_bn([None], library.nn.Linear(1, 1))          # nothing to do
        return {k: v.tolist() for k, v in model.state_dict().items()}, [m.momentum for m in model], model.training
    same(run(tinytorch), run(torch), "update_bn")
