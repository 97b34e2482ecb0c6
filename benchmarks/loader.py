"""Times DataLoaders of tinytorch and torch side by side, in alternating processes. The data are small image files,
which the dataset reads, crops and flips at random (the same Python code in both), and arrays in memory. Prints medians
and ratios.

    python benchmarks/loader.py [--files 5000] [--workers 0 1 2] [--rounds 3] [--only REGEX] [--json FILE]

Pillow makes the files, alternately PNG and JPEG, in a temporary folder. "processor" is the processor time of a pass,
including that of the workers. Other programs on the machine disturb it less than the wall time. A ratio below one means
that tinytorch is faster.
"""
import argparse
import importlib
import json
import random
import re
import resource
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
from compare import child

LIBRARIES = ("tinytorch", "torch")
SIDE, CROP = 40, 32


def make_files(folder, count):
    from PIL import Image
    chance = np.random.default_rng(0)
    for i in range(count):
        coarse = Image.fromarray(chance.integers(0, 256, (5, 5, 3), dtype=np.uint8))
        coarse.resize((SIDE, SIDE)).save(Path(folder, f"{i:05}.{'png' if i % 2 else 'jpg'}"))


class Images:
    """A map-style dataset of (image, class)."""

    def __init__(self, torch, folder):
        self.torch, self.paths = torch, sorted(Path(folder).iterdir())

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        from PIL import Image
        with Image.open(self.paths[i]) as image:
            pixels = np.asarray(image.convert("RGB"))
        top, left = random.randint(0, SIDE - CROP), random.randint(0, SIDE - CROP)
        pixels = pixels[top:top + CROP, left:left + CROP]
        if random.random() < 0.5:
            pixels = pixels[:, ::-1]
        pixels = np.ascontiguousarray(pixels.transpose(2, 0, 1), dtype=np.float32)
        return self.torch.from_numpy(pixels) / 255, i % 10


def loaders(torch, folder, workers):
    """{name: a loader, or another object that can be iterated repeatedly}."""
    data, rows, classes = torch.utils.data, torch.randn(10000, 20), torch.randint(0, 10, (10000,))
    pairs = [(row, int(k)) for row, k in zip(rows, classes)]
    found = {f"files, {n} workers": data.DataLoader(Images(torch, folder), 50, shuffle=True, num_workers=n)
             for n in workers}
    return {**found, "TensorDataset": data.DataLoader(data.TensorDataset(rows, classes), 100, shuffle=True),
            "(tensor, int) pairs": data.DataLoader(pairs, 100, shuffle=True)}


def processor_seconds():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def worker(library, folder, workers, only):
    """Prints [name, wall seconds, processor seconds]: medians of some passes after one that is not timed."""
    torch = importlib.import_module(library)
    importlib.import_module(f"{library}.utils.data")
    torch.manual_seed(0)
    for name, loader in loaders(torch, folder, workers).items():
        if not re.search(only, name):
            continue
        found = []
        for _ in range(3 if name.startswith("files") else 20):
            processor, start = processor_seconds(), time.perf_counter()
            for _ in loader:
                pass
            found.append((time.perf_counter() - start, processor_seconds() - processor))
        print(json.dumps([name, *[statistics.median(times) for times in zip(*found[1:])]]), flush=True)


def compare(args):
    samples = {}
    with tempfile.TemporaryDirectory() as folder:
        make_files(folder, args.files)
        for _ in range(args.rounds):
            for library in LIBRARIES:
                for name, *times in child(["--worker", library, "--folder", folder, "--only", args.only, "--workers",
                                           *map(str, args.workers)], 1, __file__):
                    samples.setdefault(name, {}).setdefault(library, []).append(times)
    print(f"{'ms':<24}{'tinytorch':>10}{'torch':>10}{'ratio':>8}  processor:{'tinytorch':>10}{'torch':>10}{'ratio':>8}")
    results = {}
    for name, found in samples.items():
        ours, theirs = ([1000 * statistics.median(times) for times in zip(*found[lib])] for lib in LIBRARIES)
        results[name] = {"tinytorch": ours[0], "torch": theirs[0], "ratio": ours[0] / theirs[0],
                         "processor": {"tinytorch": ours[1], "torch": theirs[1], "ratio": ours[1] / theirs[1]}}
        print(f"{name:<24}{ours[0]:>10.1f}{theirs[0]:>10.1f}{ours[0] / theirs[0]:>8.2f}  {'':10}"
              f"{ours[1]:>10.1f}{theirs[1]:>10.1f}{ours[1] / theirs[1]:>8.2f}")
    if args.json:
        Path(args.json).write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=5000, help="number of images (5000)")
    parser.add_argument("--workers", type=int, nargs="*", default=[0, 1, 2], help="numbers of workers (0 1 2)")
    parser.add_argument("--rounds", type=int, default=3, help="processes of each library (3)")
    parser.add_argument("--only", default="", help="loaders whose name matches this")
    parser.add_argument("--json", help="write the figures to this file too")
    parser.add_argument("--worker", choices=LIBRARIES, help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        worker(args.worker, args.folder, args.workers, args.only)
    else:
        compare(args)
