"""How the programs are run and how what they print is compared."""
import json
import os
import re
import resource
import shlex
import signal
import statistics
import subprocess
import tempfile
from pathlib import Path

from tests.libraries.running import ROOT, environment

from .exporting import export, lay_out_data, script

#: How far a number may be from torch's, relative to it, beside one unit of the last digit that is printed.
TOLERANCE = 1e-3
#: The same where everything is in double precision.
TOLERANCE_OF_DOUBLE = 1e-6
#: How many numbers are compared, from the first.
NUMBERS = 20
#: How many steps of training are looked at one by one.
STEPS = 20
#: How much longer than its row says a program may take whose numbers are looked into: these runs are slower.
LONGER = 1
#: How much longer than its processor time a program may take in all: the machine may be busy with others.
PATIENCE = 8

#: Torch then takes its kernels for older processors: the same program, rounded otherwise.
OTHER_KERNELS = {"ATEN_CPU_CAPABILITY": "avx2", "MKL_CBWR": "COMPATIBLE", "ONEDNN_MAX_CPU_ISA": "SSE41"}

_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?(?![\w])|\b(?:nan|inf)\b")
#: What differs between any two runs, and how torch.__version__ ends.
_OWN = re.compile(r"0x[0-9a-f]+|(?<=\d)\+(?:cpu|tinytorch)\b")
_RUN = """import random, runpy, sys
import numpy, torch
{first}
sys.argv = sys.argv[1:]
sys.path[0] = {folder!r}
runpy.run_path(sys.argv[0], run_name="__main__")
"""
_SEED = """random.seed(0)
numpy.random.seed(0)
torch.manual_seed(0)
"""
#: What makes of every number in single precision that a program asks for one in double precision.
_IN_DOUBLE = """torch.set_default_dtype(torch.float64)
torch.float = torch.float32 = torch.float64
torch.FloatTensor = torch.DoubleTensor
torch.Tensor.float, torch.nn.Module.float = torch.Tensor.double, torch.nn.Module.double
"""


def _variables(target, paths):
    return environment([str(target), *paths]) | {
        "PYTHONHASHSEED": "0", "PYTHONUNBUFFERED": "1", "PYTHONWARNINGS": "ignore", "MPLBACKEND": "Agg",
        "COLUMNS": "80", "HOME": str(target)}


def _run_before(program, target, command, folder, variables):
    if program.before:
        subprocess.run([*command, str(Path(target) / program.before)], env=variables, cwd=folder, check=True,
                       capture_output=True, timeout=60)


def _started(command, seconds, **options):
    """A process that is stopped after so many seconds of processor time."""
    def limited():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=limited, **options)


def _ended(process, seconds):
    """Whether it ends by itself before that; none of its own processes is left."""
    try:
        process.wait(seconds * PATIENCE)
        return process.returncode not in (-signal.SIGXCPU, -signal.SIGKILL)
    except subprocess.TimeoutExpired:
        return False
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def _printed(program, target, command, paths, kernels, in_double=False, longer=1):
    """(what it prints, the last line of its errors or "", the seconds of processor time it took, whether it was
    stopped)."""
    folder = Path(target) / program.runs_in
    path = script(program, target)
    variables = _variables(target, paths) | kernels
    first = _IN_DOUBLE * in_double + _SEED * (program.seed == "given")
    given = ["-c", _RUN.format(first=first, folder=str(path.parent))] if first else []
    _run_before(program, target, command, folder, variables)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with (Path(target) / ".errors").open("w+", encoding="utf-8") as errors, \
            (Path(target) / ".printed").open("w+", encoding="utf-8", errors="replace") as printed:
        process = _started([*command, *given, str(path), *shlex.split(program.arguments)], program.seconds * longer,
                           env=variables, stdout=printed, stderr=errors, cwd=folder)
        stopped = not _ended(process, program.seconds * longer)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        printed.seek(0)
        errors.seek(0)
        text, lines = printed.read(), [x for x in errors.read().splitlines() if x and not x.startswith(" ")]
    raised = [x for x in lines if re.match(r"[\w.]+(Error|Exception)\b", x)] or lines
    error = "" if stopped or process.returncode == 0 else (raised or [f"exit status {process.returncode}"])[-1]
    return text.replace(str(target), ""), error, seconds, stopped


def run(program, mirror, data, command, paths=(), kernels=None, **how):
    """Runs a program in a copy of its repository that is its own. `in_double`: every number is in double precision;
    `longer`: how many times its seconds it may take."""
    with tempfile.TemporaryDirectory() as target:
        export(mirror, program, target)
        lay_out_data(data, program, target)
        return _printed(program, target, command, paths, kernels or {}, **how)


def steps_of(program, mirror, data, commands, steps=STEPS):
    """What to say of the first steps of training, each from torch's parameters and with torch's gradients (steps.py).
    commands: torch's and ours, each (command, paths). "": there are no steps."""
    with tempfile.TemporaryDirectory() as kept:
        counts = []
        for mode, (command, paths) in zip(("record", "compare"), commands):
            with tempfile.TemporaryDirectory() as target:
                export(mirror, program, target)
                lay_out_data(data, program, target)
                folder, variables = Path(target) / program.runs_in, _variables(target, paths)
                _run_before(program, target, command, folder, variables)
                process = _started(
                    [*command, str(Path(__file__).with_name("steps.py")), mode, kept, str(steps), program.seed,
                     str(script(program, target)), *shlex.split(program.arguments)], program.seconds * LONGER,
                    env=variables, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                if not _ended(process, program.seconds * LONGER):
                    return f"no end of {steps} steps"
            with (Path(kept) / "found.json").open(encoding="utf-8") as file:
                found = json.load(file)
            counts.append(found.pop("steps"))
    return said_of_steps(counts, found)


def said_of_steps(counts, found):
    """counts: steps of torch and here; found: distances of each step, by what is apart."""
    if counts[0] != counts[1]:
        return f"{counts[1]} steps, torch {counts[0]}"
    if not counts[0]:
        return ""
    far = ", ".join([f"{what} {max(each):.0e}" + (f" (median {statistics.median(each):.0e})"
                                                  if max(each) > 10 * statistics.median(each) else "")
                     for what, each in found.items()])
    return f"{counts[0]} steps from torch's own: {far}"


def numbers(text):
    """The numbers in a text, as they are written, and the text with # in their place."""
    text = _OWN.sub("", text)
    return _NUMBER.findall(text), re.sub(r"\s+", " ", _NUMBER.sub("#", text))


def near(ours, theirs, tolerance=TOLERANCE):
    """Whether a number is as good as equal to the other: both as they are written."""
    a, b = float(ours), float(theirs)
    if a != a or b != b or abs(b) == float("inf"):
        return ours.strip("+") == theirs.strip("+")
    digits = re.fullmatch(r"[-+]?\d*\.?(\d*)(?:[eE]([-+]?\d+))?", theirs)
    unit = 10.0 ** (int(digits[2] or 0) - len(digits[1])) if "." in theirs else 0.0
    return abs(a - b) <= tolerance * abs(b) + unit * (1 + 1e-9)


def compared(ours, theirs, ended=True, without="", tolerance=TOLERANCE):
    """What to say of what two runs print; ended: both to the end."""
    if without:
        ours, theirs = re.sub(without, "", ours), re.sub(without, "", theirs)
    (our_numbers, our_words), (their_numbers, their_words) = numbers(ours), numbers(theirs)
    if ended and len(our_numbers) != len(their_numbers):
        return f"prints {len(our_numbers)} numbers, torch {len(their_numbers)}"
    both = min(len(our_numbers), len(their_numbers)) - (not ended)          # the last may be cut off
    pairs = list(zip(our_numbers, their_numbers))[:max(both, 0)]
    if not pairs:
        if not ended:
            return "prints no numbers"
        return "equal (no numbers)" if our_words == their_words else "other words, no numbers"
    same = next((index for index, (a, b) in enumerate(pairs) if not near(a, b, tolerance)), len(pairs))
    if same < min(NUMBERS, len(pairs)):
        return f"number {same + 1} is {pairs[same][0]}, torch's {pairs[same][1]}"
    our_words, their_words = (x.split("#")[:min(NUMBERS, len(pairs))] for x in (our_words, their_words))
    if our_words != their_words:
        return "other words between the numbers"
    return f"equal ({same} of {len(pairs)})"


def outcome(ours, theirs, without="", tolerance=TOLERANCE):
    """What to say of two runs."""
    (our_text, our_error, _, our_stop), (their_text, their_error, _, their_stop) = ours, theirs
    if our_error and their_error:
        same = our_error.partition(":")[0] == their_error.partition(":")[0]
        return f"stops under both: {our_error}" if same else f"stops: {our_error}; under torch: {their_error}"
    if our_error or their_error:
        return f"stops: {our_error}" if our_error else f"stops under torch alone: {their_error}"
    return compared(our_text, their_text, not (our_stop or their_stop), without, tolerance)


def _libraries(tiny):
    return subprocess.run([tiny, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"], text=True,
                          capture_output=True, check=True, timeout=60).stdout.strip()


def tried(program, mirror, data, tiny, torch, torchvision=None):
    """(outcome, seconds here, seconds there) of a program; tiny, torch: interpreters; torchvision: a folder that holds
    torchvision's own package, with which a program runs again that asks for more of it than there is here."""
    libraries = _libraries(tiny)
    theirs = run(program, mirror, data, [torch], [libraries])
    ours = run(program, mirror, data, [tiny, "-m", "tinytorch"], [str(ROOT), libraries])
    with_its_own = ""
    if torchvision and "torchvision's own runs on it" in ours[1]:
        ours = run(program, mirror, data, [tiny, "-m", "tinytorch"], [str(ROOT), libraries, torchvision])
        with_its_own = ", with torchvision's own package"
    said = outcome(ours, theirs, program.without) + with_its_own
    if said.startswith("number"):
        said += "; " + looked_into(program, mirror, data, tiny, torch, theirs)
    return said, ours[2], theirs[2]


def looked_into(program, mirror, data, tiny, torch, theirs=None):
    """Where other numbers come from: from a rounding that the program makes grow, or from a fault. Told are

    - torch with other kernels beside torch: a program that makes a rounding grow gives other numbers there as well;
    - both in double precision, where a rounding is a billion times smaller: a fault is there as it was;
    - each of the first steps, beside torch's from the same parameters: what is not right in single precision alone.
    """
    libraries = _libraries(tiny)
    here, there = ([tiny, "-m", "tinytorch"], [str(ROOT), libraries]), ([torch], [libraries])
    theirs = theirs or run(program, mirror, data, *there)
    other = run(program, mirror, data, *there, OTHER_KERNELS, longer=LONGER)
    said = f"torch's other kernels: {outcome(other, theirs, program.without)}"
    doubles = [run(program, mirror, data, *side, in_double=True, longer=LONGER) for side in (here, there)]
    said += f"; in double precision: {outcome(*doubles, program.without, TOLERANCE_OF_DOUBLE)}"
    steps = steps_of(program, mirror, data, (there, here))
    return said + (f"; {steps}" if steps else "")
