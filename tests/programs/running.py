"""How the programs are run and how what they print is compared."""
import os
import re
import shlex
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from tests.libraries.running import ROOT, environment

from .exporting import export, lay_out_data, script

#: How far a number may be from torch's, relative to it, beside one unit of the last digit that is printed.
TOLERANCE = 1e-3
#: How many numbers are compared, from the first.
NUMBERS = 20

#: Torch then takes its kernels for older processors: the same program, rounded otherwise.
OTHER_KERNELS = {"ATEN_CPU_CAPABILITY": "avx2", "MKL_CBWR": "COMPATIBLE", "ONEDNN_MAX_CPU_ISA": "SSE41"}

_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?(?![\w])|\b(?:nan|inf)\b")
#: What differs between any two runs, and how torch.__version__ ends.
_OWN = re.compile(r"0x[0-9a-f]+|(?<=\d)\+(?:cpu|tinytorch)\b")
_SEEDED = """import random, runpy, sys
import numpy, torch
random.seed(0)
numpy.random.seed(0)
torch.manual_seed(0)
sys.argv = sys.argv[1:]
sys.path[0] = {folder!r}
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def _printed(program, target, command, paths, kernels):
    """(what it prints, the last line of its errors or "", the seconds it took, whether it was stopped)."""
    folder = Path(target) / program.runs_in
    path = script(program, target)
    variables = environment([str(target), *paths]) | kernels
    variables |= {"PYTHONHASHSEED": "0", "PYTHONUNBUFFERED": "1", "PYTHONWARNINGS": "ignore", "MPLBACKEND": "Agg",
                  "COLUMNS": "80", "HOME": str(target)}
    given = ["-c", _SEEDED.format(folder=str(path.parent))] if program.seed == "given" else []
    if program.before:
        subprocess.run([*command, str(Path(target) / program.before)], env=variables, cwd=folder, check=True,
                       capture_output=True, timeout=60)
    started, stopped = time.monotonic(), False
    with (Path(target) / ".errors").open("w+", encoding="utf-8") as errors, \
            (Path(target) / ".printed").open("w+", encoding="utf-8", errors="replace") as printed:
        process = subprocess.Popen([*command, *given, str(path), *shlex.split(program.arguments)], env=variables,
                                   stdin=subprocess.DEVNULL, stdout=printed, stderr=errors, cwd=folder,
                                   start_new_session=True)
        try:
            process.wait(program.seconds)
        except subprocess.TimeoutExpired:
            stopped = True
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        seconds = time.monotonic() - started
        printed.seek(0)
        errors.seek(0)
        text, lines = printed.read(), [x for x in errors.read().splitlines() if x and not x.startswith(" ")]
    raised = [x for x in lines if re.match(r"[\w.]+(Error|Exception)\b", x)] or lines
    error = "" if stopped or process.returncode == 0 else (raised or [f"exit status {process.returncode}"])[-1]
    return text.replace(str(target), ""), error, seconds, stopped


def run(program, mirror, data, command, paths=(), kernels=None):
    """Runs a program in a copy of its repository that is its own."""
    with tempfile.TemporaryDirectory() as target:
        export(mirror, program, target)
        lay_out_data(data, program, target)
        return _printed(program, target, command, paths, kernels or {})


def numbers(text):
    """The numbers in a text, as they are written, and the text with # in their place."""
    text = _OWN.sub("", text)
    return _NUMBER.findall(text), re.sub(r"\s+", " ", _NUMBER.sub("#", text))


def near(ours, theirs):
    """Whether a number is as good as equal to the other: both as they are written."""
    a, b = float(ours), float(theirs)
    if a != a or b != b or abs(b) == float("inf"):
        return ours.strip("+") == theirs.strip("+")
    digits = re.fullmatch(r"[-+]?\d*\.?(\d*)(?:[eE]([-+]?\d+))?", theirs)
    unit = 10.0 ** (int(digits[2] or 0) - len(digits[1])) if "." in theirs else 0.0
    return abs(a - b) <= TOLERANCE * abs(b) + unit * (1 + 1e-9)


def compared(ours, theirs, ended=True, without=""):
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
    same = next((index for index, (a, b) in enumerate(pairs) if not near(a, b)), len(pairs))
    if same < min(NUMBERS, len(pairs)):
        return f"number {same + 1} is {pairs[same][0]}, torch's {pairs[same][1]}"
    our_words, their_words = (x.split("#")[:min(NUMBERS, len(pairs))] for x in (our_words, their_words))
    if our_words != their_words:
        return "other words between the numbers"
    return f"equal ({same} of {len(pairs)})"


def outcome(ours, theirs, without=""):
    """What to say of two runs."""
    (our_text, our_error, _, our_stop), (their_text, their_error, _, their_stop) = ours, theirs
    if our_error and their_error:
        same = our_error.partition(":")[0] == their_error.partition(":")[0]
        return f"stops under both: {our_error}" if same else f"stops: {our_error}; under torch: {their_error}"
    if our_error or their_error:
        return f"stops: {our_error}" if our_error else f"stops under torch alone: {their_error}"
    return compared(our_text, their_text, not (our_stop or their_stop), without)


def tried(program, mirror, data, tiny, torch, torchvision=None):
    """(outcome, seconds here, seconds there) of a program; tiny, torch: interpreters; torchvision: a folder that holds
    torchvision's own package, with which a program runs again that asks for more of it than there is here.

    Where the numbers are not the same, torch with other kernels is compared with torch too: a program whose training
    makes a rounding grow gives other numbers there as well.
    """
    libraries = subprocess.run([tiny, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"], text=True,
                               capture_output=True, check=True, timeout=60).stdout.strip()
    theirs = run(program, mirror, data, [torch], [libraries])
    ours = run(program, mirror, data, [tiny, "-m", "tinytorch"], [str(ROOT), libraries])
    with_its_own = ""
    if torchvision and "torchvision's own runs on it" in ours[1]:
        ours = run(program, mirror, data, [tiny, "-m", "tinytorch"], [str(ROOT), libraries, torchvision])
        with_its_own = ", with torchvision's own package"
    said = outcome(ours, theirs, program.without) + with_its_own
    if said.startswith("number"):
        again = outcome(run(program, mirror, data, [torch], [libraries], OTHER_KERNELS), theirs, program.without)
        said += f"; torch's other kernels: {again}"
    return said, ours[2], theirs[2]
