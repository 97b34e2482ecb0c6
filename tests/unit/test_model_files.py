"""Files of models, of each kind: a path that cannot be written to, and a disk that is full."""
import subprocess
import sys
import textwrap

import pytest

import tinytorch as torch
from tinytorch import nn

WRITERS = {
    "TorchScript": lambda path: torch.jit.save(torch.jit.trace(nn.Linear(40, 40), torch.ones(1, 40)), path),
    "pt2": lambda path: torch.export.save(torch.export.export(nn.Linear(40, 40), (torch.ones(1, 40),)), path),
    "ONNX": lambda path: torch.onnx.export(nn.Linear(40, 40).eval(), (torch.ones(1, 40),), path),
    "C": lambda path: torch.export_c(nn.Linear(40, 40), torch.ones(1, 40), path),
    "state dict": lambda path: torch.save(nn.Linear(40, 40).state_dict(), path)}


@pytest.mark.parametrize("kind", WRITERS)
def test_a_path_that_cannot_be_written_to(kind, tmp_path):
    if kind == "ONNX":
        pytest.importorskip("onnx", reason="files of ONNX need the extra onnx")
    path = str(tmp_path / "none" / "model")
    with pytest.raises((OSError, RuntimeError), match="none"):
        WRITERS[kind](path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="limits of the size of files are POSIX's")
@pytest.mark.parametrize("kind", WRITERS)
def test_a_full_disk_leaves_the_file_as_it_was(kind, tmp_path):
    if kind == "ONNX":
        pytest.importorskip("onnx", reason="files of ONNX need the extra onnx")
    (tmp_path / "model").write_text("before")
    code = textwrap.dedent(f"""
        import resource, signal
        from tests.unit.test_model_files import WRITERS
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        try:
            WRITERS[{kind!r}]({str(tmp_path / "model")!r})
        except OSError as error:
            print("refused", error)
    """)
    done = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.startswith("refused"), done.stdout + done.stderr[-1500:]
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert (tmp_path / "model").read_text() == "before"
