"""Costs and benefits of keeping freed memory: resident memory while a program grows, frees and grows again, and the
time of a CNN's training step, with the settings of the allocator (see tinytorch/kernels/allocator.py) and without them.

    python benchmarks/memory.py
"""
import json
import os
import statistics
import subprocess
import sys

from compare import HERE, environment_of_children, times_of

SIZES = {"1 KB": 1 << 10, "256 KB": 1 << 18, "4 MB": 1 << 22, "64 MB": 1 << 26}
TOTAL = 1 << 29


def resident():
    """Resident memory of this process in MB."""
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2 ** 20


def grow_and_free(torch, size):
    """The MB above the start after each step: allocating 512 MB in tensors of `size` bytes, freeing them, allocating as
    much again, freeing it."""
    start, found = resident(), []
    for _ in range(2):
        tensors = [torch.ones(size // 4) for _ in range(TOTAL // size)]
        found.append(resident() - start)
        del tensors
        found.append(resident() - start)
    return found


def worker(job):
    from workloads import WORKLOADS

    import tinytorch as torch
    if job in SIZES:
        print(json.dumps(grow_and_free(torch, SIZES[job])))
    else:
        print(json.dumps(1000 * statistics.median(times_of(WORKLOADS[job](torch), 2))))


def main():
    if len(sys.argv) == 3:
        return worker(sys.argv[2])
    for setting, text in (("1", "as imported"), ("0", "TINYTORCH_MALLOC=0")):
        environment = dict(environment_of_children(), TINYTORCH_MALLOC=setting)

        def child(job):
            return json.loads(subprocess.check_output([sys.executable, __file__, "--worker", job], cwd=HERE,
                                                      env=environment))
        print(f"{text}: resident MB after growing, freeing, growing again, freeing")
        for name in SIZES:
            print(f"  tensors of {name:10}" + "".join(f"{mb:8.0f}" for mb in child(name)))
        print(f"  CNN 1-6: {child('CNN 1-6'):.2f} ms a training step")


if __name__ == "__main__":
    main()
