"""The cost of shipping a model: installed bytes, processor time until the first answer, memory, on small machines too.

    python benchmarks/shipping.py [--rounds 7] [--pyinstaller PYTHON] [--groups] [--data FOLDER] [--page FILE]

--pyinstaller   a Python that has PyInstaller and NumPy, which makes a program of one file
--groups        as root: makes control groups, one of half a core and one of 128 MB, for the time of the measurement
--data          the folder with MNIST for the README's first command; without it the program draws digits
--page          writes the tables into docs/shipping.md
"""
import argparse
import compileall
import contextlib
import json
import os
import py_compile
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipapp
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

from machine import facts

ROOT = Path(__file__).resolve().parents[1]
LIBRARIES = ["tinytorch", "torch", *["onnxruntime"] * (find_spec("onnxruntime") is not None)]
MARK = "<!-- figures: benchmarks/shipping.py -->"
#: The peak of resident memory in MB. The kernel's `ru_maxrss` counts the process from which the child was forked too.
PEAK = """
def peak():
    import re, resource
    try:
        return int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]) / 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
"""
CHILD = PEAK + """
import json, sys, time
start = time.process_time()
torch = __import__(sys.argv[1])
imported = time.process_time()
nn = torch.nn
{network}
if len(sys.argv) > 3:
    torch.save(net.state_dict(), sys.argv[2])
    if sys.argv[3] == "onnx":
        torch.onnx.export(net, ({inputs},), sys.argv[2] + ".onnx", dynamo=False)
net.load_state_dict(torch.load(sys.argv[2]))
with torch.inference_mode():
    net({inputs})
print(json.dumps([imported - start, time.process_time(), peak()]))
"""
ONNX_CHILD = PEAK + """
import json, sys, time
start = time.process_time()
import onnxruntime
imported = time.process_time()
import numpy
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(sys.argv[2], options)
given, = session.get_inputs()
session.run(None, {given.name: numpy.ones(given.shape, numpy.float32)})
print(json.dumps([imported - start, time.process_time(), peak()]))
"""
MODELS = {
    "MLP 784-256-10": ("net = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10)).eval()",
                       "torch.ones(1, 784)"),
    "CNN": ("net = nn.Sequential(nn.Conv2d(1, 16, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),"
            " nn.Linear(2704, 10)).eval()", "torch.ones(1, 1, 28, 28)"),
}
#: The program that is shipped in several ways: the CNN with random weights.
PROGRAM = PEAK + f"""
import json, time
start = time.process_time()
import tinytorch as torch
imported = time.process_time()
from tinytorch import nn
{MODELS["CNN"][0]}
with torch.inference_mode():
    net({MODELS["CNN"][1]})
answered = time.process_time()
kernels = [line for line in torch.__config__.show().splitlines() if "native kernels" in line][0].split(": ")[1]
print(json.dumps([imported - start, answered, peak(), kernels, torch.get_num_threads()]))
"""


def _requirements(name, found):
    """The names of a distribution and of all distributions that it needs on this system."""
    name = re.sub(r"[-_.]+", "-", name).lower()
    if name in found:
        return found
    try:
        needed = distribution(name).requires or []
    except PackageNotFoundError:               # needed on another system
        return found
    found.add(name)
    for text in needed:
        if "extra ==" not in text:
            _requirements(re.match(r"[\w.-]+", text)[0], found)
    return found


def installed(library):
    """(bytes, number of distributions) of a library and its requirements, without bytecode."""
    if library == "tinytorch":
        own = sum(path.stat().st_size for path in (ROOT / "tinytorch").rglob("*")
                  if path.is_file() and "__pycache__" not in path.parts)
        needed = _requirements("numpy", set())
    else:
        own, needed = 0, _requirements(library, set())
    files = {path.locate() for name in needed for path in distribution(name).files or ()}
    size = sum(path.stat().st_size for path in map(Path, files) if path.suffix != ".pyc" and path.is_file())
    return own + size, len(needed) + (library == "tinytorch")


def _environment(**more):
    known = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {**known, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **more}


def measured(model, rounds, folder):
    """{library: medians over alternating processes}: the processor seconds of the import, and from the start of Python
    to the first answer, and the peak of resident memory in MB."""
    network, inputs = MODELS[model]
    code = CHILD.format(network=network, inputs=inputs)
    environment = _environment(PYTHONPYCACHEPREFIX=os.path.join(folder, "bytecode"))

    def child(library, *more):
        weights = os.path.join(folder, f"{library}.pt")
        command = [sys.executable, "-c", code, library, weights, *more]
        if library == "onnxruntime":
            command[2:] = ONNX_CHILD, library, os.path.join(folder, "tinytorch.pt.onnx")
        return json.loads(subprocess.check_output(command, env=environment, cwd=folder).splitlines()[-1])
    child("tinytorch", "onnx" if "onnxruntime" in LIBRARIES else "write")
    child("torch", "write")                    # they write the bytecode too
    found = [[child(library) for library in LIBRARIES] for _ in range(rounds)]
    return {library: [statistics.median(column) for column in zip(*numbers, strict=True)]
            for library, numbers in zip(LIBRARIES, zip(*found, strict=True), strict=True)}


def _table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


def libraries(rounds):
    """The lines of the table of libraries."""
    sizes = [installed(library) for library in LIBRARIES]
    rows = [["installed, with all that it needs", *[f"{size / 1e6:.0f} MB in {n} distributions" for size, n in sizes]]]
    with tempfile.TemporaryDirectory() as folder:
        for model in MODELS:
            found = measured(model, rounds, folder)
            for i, (what, unit, factor) in enumerate([("import", "ms", 1000), ("start to first answer", "ms", 1000),
                                                      ("peak memory", "MB", 1)]):
                if what != "import" or model == next(iter(MODELS)):
                    name = what if what == "import" else f"{model}: {what}"
                    rows.append([name, *[f"{found[library][i] * factor:.0f} {unit}" for library in LIBRARIES]])
    return _table(["", *LIBRARIES], rows)


# ------------------------------------------------------------------ ways of shipping
def _copy(folder):
    """The package without bytecode and without what only compilers and type checkers read."""
    shutil.copytree(ROOT / "tinytorch", folder / "tinytorch",
                    ignore=shutil.ignore_patterns("__pycache__", "*.c", "*.h", "*.pyi"))


def _size(path):
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files)


def ways(folder, pyinstaller):
    """{way: (command, further environment, bytes)} of the same program."""
    plain, packed, compiled = (folder / name for name in ("plain", "packed", "compiled"))
    for place in (plain, packed, compiled):
        place.mkdir()
        _copy(place)
        (place / "__main__.py").write_text(PROGRAM)
    with_bytecode = folder / "with_bytecode"
    shutil.copytree(plain, with_bytecode)
    compileall.compile_dir(with_bytecode, quiet=2)
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH        # a zip has no times to check
    compileall.compile_dir(compiled, quiet=2, legacy=True, invalidation_mode=unchecked)
    archives = {place: folder / f"{place.name}.pyz" for place in (packed, compiled)}
    for place, archive in archives.items():
        zipapp.create_archive(place, archive, compressed=True)
    unwritten = {"PYTHONDONTWRITEBYTECODE": "1"}
    found = {"installed, with bytecode": ([sys.executable, with_bytecode], unwritten, _size(with_bytecode)),
             "installed, read-only, without bytecode": ([sys.executable, plain], unwritten, _size(plain)),
             "zipapp, with bytecode": ([sys.executable, archives[compiled]], unwritten, _size(archives[compiled])),
             "zipapp, sources alone": ([sys.executable, archives[packed]], unwritten, _size(archives[packed]))}
    if pyinstaller:
        subprocess.run([pyinstaller, "-m", "PyInstaller", "--onefile", "--log-level", "ERROR", "--name", "program",
                        "--additional-hooks-dir", ROOT / "tinytorch/__pyinstaller", "--paths", ROOT,
                        "--distpath", folder, "--workpath", folder / "work", "--specpath", folder,
                        plain / "__main__.py"], check=True, env=_environment())
        found["PyInstaller, one file (NumPy and Python in it)"] = [folder / "program"], {}, _size(folder / "program")
    return found


def _processor_time():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def shipped(rounds, pyinstaller):
    """The lines of the table of ways to ship."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = ways(folder, pyinstaller)
        numbers = {way: [] for way in found}
        for _ in range(rounds + 1):            # the first round warms the caches of the disk
            for way, (command, more, _) in found.items():
                before = _processor_time()
                said = json.loads(subprocess.check_output(command, env=_environment(PYTHONPATH="", **more), cwd=folder))
                numbers[way].append([*said[:3], _processor_time() - before, said[3]])
        rows = []
        for way, (_, _, size) in found.items():
            *columns, kernels = zip(*numbers[way][1:], strict=True)
            imported, answered, peak, whole = map(statistics.median, columns)
            rows.append([way, f"{size / 1e6:.1f} MB", f"{imported * 1000:.0f} ms", f"{min(columns[0]) * 1000:.0f} ms",
                         f"{answered * 1000:.0f} ms", f"{whole * 1000:.0f} ms", f"{peak:.0f} MB", kernels[0]])
    return _table(["the CNN as", "size", "import, median", "import, best", "start to first answer", "whole process",
                   "peak memory", "native kernels"], rows)


# ------------------------------------------------------------------ control groups
@contextlib.contextmanager
def group(memory=None, quota=None):
    """A control group with so many bytes or microseconds of each 100,000: a function that runs a command in it, and the
    files of the group. OSError where none can be made."""
    unified = os.path.exists("/sys/fs/cgroup/cgroup.controllers")
    kind = "memory" if memory else "cpu"
    folder = Path("/sys/fs/cgroup", "" if unified else kind, f"tinytorch-{os.getpid()}")
    limits = {("memory.max" if unified else "memory.limit_in_bytes"): memory,
              ("cpu.max" if unified else "cpu.cfs_quota_us"): quota}
    folder.mkdir()
    try:
        for name, limit in limits.items():
            if limit:
                (folder / name).write_text(f"{limit} 100000" if name == "cpu.max" else str(limit))

        def run(command, **how):
            enter = f'echo $$ > "{folder}/cgroup.procs" && exec "$@"'
            return subprocess.run(["sh", "-c", enter, "sh", *map(str, command)], text=True, capture_output=True, **how)
        yield run, folder
    finally:
        for _ in range(50):
            try:
                folder.rmdir()
                break
            except OSError:                    # the last process is not quite gone
                time.sleep(.1)


def in_groups(data):
    """The lines about control groups: half a core, and 128 MB for the README's first command."""
    lines = []
    environment = {k: v for k, v in _environment().items() if not k.endswith("_NUM_THREADS")}
    with group(quota=50_000) as (run, _):
        start = time.perf_counter()
        said = run([sys.executable, "-c", PROGRAM], env=environment, check=True).stdout
        seconds = time.perf_counter() - start
    threads = [json.loads(text)[4] for text in
               (said, subprocess.check_output([sys.executable, "-c", PROGRAM], env=environment, text=True))]
    lines.append("- **Half a core** (a control group with a quota of 50 ms of each 100 ms): the library uses "
                 f"{threads[0]} thread, and {threads[1]} outside the group. The CNN answers {seconds:.1f} s after "
                 "the start of Python.")
    example = ROOT / "examples/mnist_cnn.py"
    code = (f"{PEAK}\nimport runpy, sys\nsys.path.insert(0, {str(example.parent)!r})\nsys.argv[0] = {str(example)!r}\n"
            f"runpy.run_path({str(example)!r}, run_name='__main__')\nprint(peak())")
    options = ["--epochs", "1", *(["--data", data] if data else [])]
    with tempfile.TemporaryDirectory() as folder, group(memory=128 << 20) as (run, files):
        done = run([sys.executable, "-c", code, *options], env=environment, cwd=folder)
        unified = (files / "memory.peak").exists()
        most = int((files / ("memory.peak" if unified else "memory.max_usage_in_bytes")).read_text()) / 2**20
    if done.returncode:
        raise RuntimeError(f"the README's first command ended with {done.returncode}: {done.stderr[-300:]}")
    peak = float(done.stdout.split()[-1])
    lines.append("- **128 MB** (a control group without swap): the README's first command, `python "
                 "examples/mnist_cnn.py`, trains an epoch on all 60,000 images. The process peaks at "
                 f"{peak:.0f} MB. The group is charged with {most:.0f} MB, which excludes the pages of libraries that "
                 "other processes had loaded before.")
    return lines


def page(options):
    """All that is measured, in Markdown."""
    known = facts("torch")
    versions = known["versions"]
    busy = os.getloadavg()[0]
    lines = [*libraries(options.rounds), "",
             f"Times are the processor's, of {options.rounds} processes (medians), bytecode written before. Measured "
             f"on {known['processor']}, {known['system']}, Python {known['python']}, NumPy {versions['numpy']}, torch "
             f"{versions['torch']}, one thread. The load of the machine was {busy:.0f} on {known['cores']} cores. The "
             "times of both tables are shorter on an idle machine.", "",
             *shipped(options.rounds, options.pyinstaller)]
    if options.groups:
        lines += ["", *in_groups(options.data)]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--pyinstaller", metavar="PYTHON")
    parser.add_argument("--groups", action="store_true")
    parser.add_argument("--data")
    parser.add_argument("--page")
    options = parser.parse_args()
    found = page(options)
    print(found)
    if options.page:
        head, _, rest = Path(options.page).read_text(encoding="utf-8").partition(MARK)
        tail = rest.partition(MARK)[2]
        Path(options.page).write_text(f"{head}{MARK}\n{found}\n{MARK}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
