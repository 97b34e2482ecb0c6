"""export_c: programs are compiled, run and compared with the model, in 64 bits and in 32."""
import importlib
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import tinytorch as torch
import tinytorch.nn.functional as F
from tinytorch import nn

COMPILER = shutil.which("gcc") or shutil.which("cc")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs a compiler of C")
C_TYPES = {"f": "float", "i": "int64_t", "b": "unsigned char"}
NUMPY = {"f": np.float32, "i": np.int64, "b": np.uint8}


def tensors(x):
    if isinstance(x, torch.Tensor):
        return [x]
    return [y for part in x for y in tensors(part)]


def main_of(inputs, outputs):
    """A program around the model: it reads its inputs, runs twice and writes what the second run gives."""
    kinds = [x.numpy().dtype.kind for x in (*inputs, *outputs)]
    lines = [f"static {C_TYPES[k]} v{i}[{x.numel()}];" for i, (k, x) in enumerate(zip(kinds, (*inputs, *outputs)))]
    reads = [f"if (fread(v{i}, 1, sizeof v{i}, stdin) != sizeof v{i}) return 1;" for i in range(len(inputs))]
    call = f"model({', '.join([f'v{i}' for i in range(len(kinds))])});"
    writes = [f"fwrite(v{i}, 1, sizeof v{i}, stdout);" for i in range(len(inputs), len(kinds))]
    body = [*lines, "int main(void) {", *reads, call, call, *writes, "return 0; }"]
    return "\n#include <stdio.h>\n" + "\n".join(body)


def outcome(model, inputs, folder, *flags):
    """(what the program gives, what the model gives), as arrays."""
    text = torch.export_c(model, inputs, folder / "model.c")
    assert (folder / "model.c").read_text() == text
    model = model.eval() if isinstance(model, nn.Module) else model
    with torch.no_grad():
        expected = tensors(model(*inputs))
    (folder / "whole.c").write_text(text + main_of(inputs, expected))
    subprocess.run([COMPILER, "-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", *flags, "whole.c", "-o", "whole",
                    "-lm"], check=True, cwd=folder)
    given = b"".join([np.ascontiguousarray(x.numpy()).astype(NUMPY[x.numpy().dtype.kind]).tobytes() for x in inputs])
    printed = subprocess.run([folder / "whole"], input=given, stdout=subprocess.PIPE, check=True).stdout
    found, at = [], 0
    for x in expected:
        dtype = np.dtype(NUMPY[x.numpy().dtype.kind])
        found.append(np.frombuffer(printed, dtype, x.numel(), at).reshape(x.shape))
        at += x.numel() * dtype.itemsize
    assert at == len(printed)
    return found, [x.numpy() for x in expected]


def check(model, inputs, folder, *flags):
    for found, expected in zip(*outcome(model, inputs, folder, *flags)):
        if found.dtype != np.float32:
            np.testing.assert_array_equal(found, expected.astype(found.dtype))
            continue
        largest = np.abs(expected).max() or 1
        assert np.isfinite(expected).all() and np.abs(found - expected).max() <= 1e-6 * largest


class TextCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.conv, self.out = nn.Embedding(50, 16), nn.Conv1d(16, 8, 5), nn.Linear(8, 1)

    def forward(self, x):
        x = F.relu(self.conv(self.embedding(x).transpose(1, 2)))
        return torch.sigmoid(self.out(F.max_pool1d(x, x.shape[-1]).squeeze(-1)))


class Last(nn.Module):
    """The last step of a recurrent layer, classified."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer
        self.out = nn.Linear(layer.hidden_size * (1 + layer.bidirectional), 3)

    def forward(self, x):
        y, _ = self.layer(x)
        return F.log_softmax(self.out(y[:, -1] if self.layer.batch_first else y[-1]), -1)


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False)
        self.second = nn.Conv2d(8, 8, (3, 1), padding=(1, 0), groups=4)
        self.norms = nn.ModuleList([nn.BatchNorm2d(8), nn.BatchNorm2d(8, affine=False)])
        self.out = nn.Linear(8, 10)
        for norm in self.norms:
            norm.running_mean.normal_()
            norm.running_var.uniform_(.5, 2)

    def forward(self, x):
        x = F.relu(self.norms[0](self.first(x)), inplace=True)
        y = self.norms[1](self.second(x))
        y += x
        return self.out(F.adaptive_avg_pool2d(F.relu(y), 1).flatten(1))


def recurrent(kind, **options):
    return lambda: (Last(getattr(nn, kind)(8, 6, **options)), torch.randn(3, 5, 8))


MODELS = {
    "mlp": lambda: (nn.Sequential(nn.Linear(784, 100), nn.ReLU(), nn.Linear(100, 10)), torch.randn(1, 784)),
    "mlp with norms": lambda: (nn.Sequential(nn.Linear(20, 30), nn.Tanh(), nn.LayerNorm(30), nn.GELU(), nn.Dropout(.5),
                                             nn.Linear(30, 10), nn.Softmax(-1)), torch.randn(5, 20)),
    "cnn": lambda: (nn.Sequential(nn.Conv2d(1, 6, 3, bias=False), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                                  nn.Linear(150, 10, bias=False)), torch.randn(2, 1, 12, 12)),
    "residual": lambda: (Residual(), torch.randn(2, 3, 16, 15)),
    "decoder": lambda: (nn.Sequential(nn.ConvTranspose2d(4, 3, 4, 2, 1), nn.SiLU(), nn.Upsample(scale_factor=2),
                                      nn.AvgPool2d(3, 2, 1, ceil_mode=True)), torch.randn(2, 4, 5, 5)),
    "groups": lambda: (nn.Sequential(nn.GroupNorm(2, 4), nn.PReLU(4), nn.Conv2d(4, 4, 3, dilation=2, padding="same")),
                       torch.randn(2, 4, 6, 6)),
    "text cnn": lambda: (TextCNN(), torch.randint(0, 50, (3, 20))),
    "lstm": recurrent("LSTM", batch_first=True), "gru": recurrent("GRU"),
    "lstm both ways": recurrent("LSTM", num_layers=2, bidirectional=True),
    "gru of two layers": recurrent("GRU", num_layers=2, batch_first=True, bias=False),
    "rnn": recurrent("RNN", batch_first=True), "rnn of relu": recurrent("RNN", nonlinearity="relu", bidirectional=True),
    "lstm with its states": lambda: (nn.LSTM(4, 3), (
        torch.randn(5, 2, 4), (torch.randn(1, 2, 3), torch.randn(1, 2, 3)))),
    "encoder layer": lambda: (nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), torch.randn(2, 5, 16)),
    "causal attention": lambda: (lambda q, k: F.scaled_dot_product_attention(q, k, k, is_causal=True),
                                 (torch.randn(2, 2, 4, 3), torch.randn(2, 2, 4, 3))),
    "masked attention": lambda: (lambda q, m: F.scaled_dot_product_attention(q, q, q, attn_mask=m),
                                 (torch.randn(2, 3, 4), torch.ones(3, 3).tril() > 0)),
}


@pytest.mark.parametrize("name", MODELS)
def test_models(name, tmp_path):
    torch.manual_seed(0)
    model, inputs = MODELS[name]()
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    if any([isinstance(x, tuple) for x in inputs]):        # the states of a layer: tensors of their own
        layer, (x, states) = model, inputs
        model, inputs = (lambda x, h, c: layer(x, (h, c))), (x, *states)
    check(model, inputs, tmp_path)


FUNCTIONS = {
    "activations": lambda x: (
        F.elu(x), F.selu(x), F.leaky_relu(x), F.hardswish(x * 4), F.hardsigmoid(x * 4), F.softplus(x), F.mish(x),
        F.logsigmoid(x), F.relu6(x * 4), F.celu(x, .5), F.hardtanh(x), F.softsign(x), F.tanhshrink(x),
        F.threshold(x, .1, 20.), F.gelu(x, approximate="tanh"), F.silu(x)),
    "mathematics": lambda x: (
        x.exp(), x.abs().log1p(), x.square().rsqrt(), x.sin(), x.cos(), x.erf(), x.floor(), x.round(), x.sign(), x ** 3,
        x.abs() ** .5, x.abs().pow(1.7), 2 - x, x / 3, 1 / x, torch.maximum(x, -x), torch.atan2(x, x + 1),
        x.clamp(-.5, .5), x.clamp(max=.1), torch.lerp(x, x * 2, .3), torch.where(x > 0, x, x * .1),
        x.masked_fill(x < 0, 7.), torch.sub(x, x * x, alpha=2)),
    "conditions and integers": lambda x: (
        x > 0, (x > 0) & (x < 1), ~(x > 0), x.argmax(1), x.argmin(), (x > 0).long() * 3, (x * 10).long() + 1,
        x.max(2)[1], (x > 0).sum()),
    "reductions": lambda x: (
        x.abs().sum(), x.abs().mean(1), x.amax((0, 2)), x.max(1)[0], x.prod(-1), x.std(1), x.var((0, 2), correction=0),
        x.abs().cumsum(1), x.norm(dim=1), torch.logsumexp(x, 1), x.min(0)[0], x.amin(), x.softmax(1)),
    "shapes": lambda x: (
        torch.cat([x, x * 2], 1).permute(2, 0, 1).reshape(5, -1), x[:, 1:, ::2] + x[:, :1, ::2], x.chunk(2, 1)[0],
        torch.stack([x, x], -1), F.pad(x, (1, 2, -1, 0)), x.unsqueeze(1).expand(3, 2, 4, 5) * 1.5,
        x.flatten(1).view(2, 30), x.unbind(1)[2], x.transpose(0, 2).contiguous().view(5, 12), x.split([1, 3], 1)[1],
        x.narrow(2, 1, 2), x.movedim(0, 2), x[..., 0], torch.zeros(2) + 1, torch.arange(3), x.mT.reshape(-1)),
    "written in place": lambda x: (_written(x),),
}


def _written(x):
    y = x.clone()
    y[:, 1].mul_(3)
    y += 1
    return y.relu_()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name, tmp_path):
    torch.manual_seed(1)
    check(FUNCTIONS[name], (torch.randn(3, 4, 5),), tmp_path)


def test_several_inputs_and_products(tmp_path):
    torch.manual_seed(2)
    check(lambda a, b, c: (a @ b, torch.bmm(c, c.mT), c @ b[:4], a @ b[:, 0], torch.addmm(a[:, :1], a, b), a[0] @ b),
          (torch.randn(3, 4), torch.randn(4, 5), torch.randn(2, 3, 4)), tmp_path)


def test_in_32_bits(tmp_path):
    (tmp_path / "empty.c").write_text("#include <stdio.h>\nint main(void) { return 0; }\n")
    if subprocess.run([COMPILER, "-m32", "empty.c"], cwd=tmp_path, stderr=subprocess.DEVNULL).returncode:
        pytest.skip("the compiler has no 32-bit libraries (gcc-multilib)")
    for name in ("cnn", "text cnn", "lstm", "encoder layer"):
        model, inputs = MODELS[name]()
        check(model, (inputs,), tmp_path, "-m32")


@pytest.mark.parametrize("module, arguments, shape", [
    ("mnist_cnn", (), (1, 28, 28)), ("mnist_rnn", (), (1, 4, 196)), ("mnist_gru", (), (1, 28, 28)),
    ("imdb_cnn", (), None), ("nanogpt", (20, 8, 16, 2, 2, 0.), None)])
def test_the_models_of_the_examples(module, arguments, shape, tmp_path, monkeypatch):
    examples = os.path.join(os.path.dirname(__file__), "..", "..", "examples")
    monkeypatch.syspath_prepend(examples)
    made = importlib.import_module(module)
    monkeypatch.setattr(sys, "argv", [module])
    model = (made.GPT if module == "nanogpt" else made.Net)(*arguments)
    inputs = torch.randn(shape) if shape else torch.randint(0, 20, (1, 8) if module == "nanogpt" else (1, 130))
    check(model, (inputs,), tmp_path)


def test_memory_is_used_again():
    model = nn.Sequential(*[nn.Linear(50, 50) for _ in range(20)])
    text = torch.export_c(model, torch.zeros(1, 50))
    assert int(re.search(r"static float memory\[(\d+)\]", text).group(1)) == 100


# ------------------------------------------------------------------ what is refused
class Branching(nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x


@pytest.mark.parametrize("model, said", [
    (lambda x: torch.linalg.svd(x)[1], r"aten::linalg_svd has no counterpart in C"),
    (Branching(), "Converting a tensor to a Python boolean"),
    (lambda x: F.dropout(x, .5, True), "dropped at random.*model.eval"),
    (lambda x: F.batch_norm(x, None, None, training=True), "statistics of the batch"),
    (lambda x: x.add_(1), "the model writes to x, which is its input"),
    (lambda x: x.to(torch.complex64).abs(), "numbers of torch.complex64 have no counterpart"),
])
def test_refusals_name_the_thing_and_leave_no_file(model, said, tmp_path):
    with pytest.raises((RuntimeError, TypeError), match=said):
        torch.export_c(model, torch.randn(2, 3), tmp_path / "model.c")
    assert not list(tmp_path.iterdir())


def test_inputs_are_tensors_and_modes_come_back():
    with pytest.raises(TypeError, match="inputs must be a tensor or a tuple of tensors, got list, int"):
        torch.export_c(nn.Linear(2, 2), ([1.], 2))
    model = nn.Sequential(nn.Dropout(), nn.BatchNorm1d(3).eval())
    torch.export_c(model, torch.zeros(2, 3))
    assert [m.training for m in model.modules()] == [True, True, False]
