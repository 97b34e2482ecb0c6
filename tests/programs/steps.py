"""Looks at each step of a program's training beside torch's. A program by itself: it imports nothing of the project.

    python steps.py record FOLDER N SEED PROGRAM ARGUMENTS ...      under torch: keeps the first N steps in FOLDER
    python -m tinytorch steps.py compare FOLDER N SEED PROGRAM ...  the same here; FOLDER/found.json says how far

Before each forward pass after a step, parameters and buffers are set to torch's, and after each backward pass gradients
are; so what is found is what one step adds. A step is a call of Tensor.backward. The distance of a gradient is relative
to the largest of the parameter's, or to a thousandth of the largest of all, if that is more: where a gradient is zero
but for rounding, there is nothing to compare.
"""
import functools
import json
import os
import random
import runpy
import sys

import numpy
import torch


class Steps:
    """What is kept of steps, or compared with what was."""

    def __init__(self, mode, folder, steps):
        self.recording, self.folder, self.left = mode == "record", folder, steps
        self.done, self.fresh, self.modules = 0, True, []
        self.found = {"losses": [], "gradients": [], "updates": []}

    def tensors(self):
        """The parameters and the buffers of all modules, each once, in the order in which modules were made."""
        seen = {}
        for module in self.modules:
            for each in module.modules() if "_modules" in module.__dict__ else ():
                for held in (each._parameters, each._buffers):
                    seen.update({id(x): x for x in held.values() if x is not None and x.is_floating_point()})
        return list(seen.values())

    def exchanged(self, name, tensors):
        """Keeps the tensors; or gives what was kept."""
        path = os.path.join(self.folder, f"{name}{self.done}.npz")
        if self.recording:
            numpy.savez(path, *[x.detach().numpy() for x in tensors])
            return None
        kept = numpy.load(path)
        kept = [kept[key] for key in kept.files]
        assert [x.shape for x in kept] == [tuple(x.shape) for x in tensors], "other tensors than torch's"
        return kept

    def before_forward(self):
        """Called before every module; a step has ended if there was a backward pass since."""
        if not self.fresh:
            return
        self.fresh, tensors = False, self.tensors()
        kept = self.exchanged("tensors", tensors)
        if kept is not None:
            self.found["updates"].append(max([_distance(x.detach().numpy(), y) for x, y in zip(tensors, kept)
                                              if isinstance(x, torch.nn.Parameter)], default=0.0))
            with torch.no_grad():
                for x, y in zip(tensors, kept):
                    x.copy_(torch.from_numpy(y))

    def after_backward(self, loss):
        gradients = [x.grad for x in self.tensors() if x.grad is not None]
        kept = self.exchanged("gradients", [loss.detach(), *gradients])
        if kept is not None:
            self.found["losses"].append(_distance(loss.detach().numpy(), kept.pop(0)))
            floor = max([abs(y).max() for y in kept if y.size], default=0.0) / 1000
            self.found["gradients"].append(max([_distance(x.numpy(), y, floor) for x, y in zip(gradients, kept)],
                                               default=0.0))
            with torch.no_grad():
                for x, y in zip(gradients, kept):
                    x.copy_(torch.from_numpy(y))
        self.done, self.fresh = self.done + 1, True
        if self.done == self.left:
            self.end()

    def end(self):
        with open(os.path.join(self.folder, "found.json"), "w", encoding="utf-8") as file:
            json.dump({"steps": self.done, **self.found}, file)
        sys.stdout.flush()
        os._exit(0)                            # the rest of the program says nothing new


def _distance(ours, theirs, floor=0.0):
    if not theirs.size:
        return 0.0
    scale, apart = max(float(abs(theirs).max()), float(floor)), float(abs(ours - theirs).max())
    return apart / scale if scale else apart


def main(mode, folder, count, seed, *program):
    steps = Steps(mode, folder, int(count))
    make, call, backward = torch.nn.Module.__init__, torch.nn.Module.__call__, torch.Tensor.backward

    @functools.wraps(make)
    def made(module, *args, **kwargs):
        steps.modules.append(module)
        make(module, *args, **kwargs)

    @functools.wraps(call)
    def called(module, *args, **kwargs):
        steps.before_forward()
        return call(module, *args, **kwargs)

    @functools.wraps(backward)
    def gone_back(loss, *args, **kwargs):
        backward(loss, *args, **kwargs)
        steps.after_backward(loss)
    torch.nn.Module.__init__, torch.nn.Module.__call__, torch.Tensor.backward = made, called, gone_back
    if seed == "given":
        random.seed(0)
        numpy.random.seed(0)
        torch.manual_seed(0)
    sys.argv, sys.path[0] = list(program), os.path.dirname(os.path.abspath(program[0]))
    try:
        runpy.run_path(program[0], run_name="__main__")
    finally:
        steps.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
