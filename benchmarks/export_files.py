"""Times a service that starts from each kind of model file: a process that reads the model and answers once.

    python benchmarks/export_files.py [--runs 7] [--onnx]

The model is the MNIST network of examples/mnist_cnn.py (86,070 numbers). Each row is the size of the file and the
median time of the whole process; processes alternate. PyTorch's rows need torch.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).parent.parent
_NET = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.pool = torch.nn.Conv2d(1, 6, 3, bias=False), torch.nn.MaxPool2d(2)
        self.hidden, self.out = torch.nn.Linear(1014, 84, bias=False), torch.nn.Linear(84, 10, bias=False)

    def forward(self, images):
        x = self.pool(torch.relu(self.conv(images.unsqueeze(1))))
        return self.out(torch.relu(self.hidden(torch.flatten(x, 1))))
"""
_PROGRAMS = {
    "state dict": ("net.pt", "model = Net(); model.load_state_dict(torch.load('net.pt'))"),
    "TorchScript": ("net.torchscript.pt", "model = torch.jit.load('net.torchscript.pt')"),
    ".pt2": ("net.pt2", "model = torch.export.load('net.pt2').module()")}
_ONNX = ("import numpy, onnxruntime\nsession = onnxruntime.InferenceSession('net.onnx')\n"
         "print(session.run(None, {session.get_inputs()[0].name: numpy.zeros((1, 28, 28), numpy.float32)})[0].shape)")
_MAIN = """
#include <stdio.h>
int main(void) { static float x[784], y[10]; model(x, y); printf("%f\\n", y[0]); return 0; }
"""


def rows(folder, with_onnx):
    """(name, file, command) for each kind of file."""
    import tinytorch as torch
    space = {"torch": torch}
    exec(_NET, space)
    torch.manual_seed(0)
    model, x = space["Net"]().eval(), torch.zeros(1, 28, 28)
    torch.save(model.state_dict(), folder / "net.pt")
    torch.jit.save(torch.jit.trace(model, x), str(folder / "net.torchscript.pt"))
    torch.export.save(torch.export.export(model, (x,)), folder / "net.pt2")
    found = []
    for module in ("tinytorch", "torch"):
        for what, (file, loads) in _PROGRAMS.items():
            text = f"import {module} as torch\n{_NET}\n{loads}\nprint(model(torch.zeros(1, 28, 28)).shape)"
            found.append((f"{what}, {module}", file, [sys.executable, "-c", text]))
    if with_onnx:
        torch.onnx.export(model, (x,), str(folder / "net.onnx"))
        found.append(("ONNX, onnxruntime", "net.onnx", [sys.executable, "-c", _ONNX]))
    torch.export_c(model, x, folder / "net.c")
    (folder / "main.c").write_text((folder / "net.c").read_text() + _MAIN)
    subprocess.run(["cc", "-std=c99", "-O2", "main.c", "-o", "net", "-lm"], cwd=folder, check=True)
    found.append(("C, compiled", "net", [str(folder / "net")]))
    return found


def once(command, folder):
    """The seconds that a process takes."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--onnx", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        kinds = rows(folder, options.onnx)
        found = {what: [] for what, _, _ in kinds}
        for _ in range(options.runs + 1):
            for what, _, command in kinds:
                found[what].append(once(command, folder))
        print("| file, read by | size | seconds to the first answer |\n|---|---|---|")
        for what, file, _ in kinds:
            seconds = statistics.median(found[what][1:])   # the first run reads the disk
            print(f"| {what} | {(folder / file).stat().st_size / 1000:.0f} kB | {seconds:.3f} |")


if __name__ == "__main__":
    main()
