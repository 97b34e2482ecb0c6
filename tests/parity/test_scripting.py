"""torch.jit.script: the same programs compiled here and there compute the same, and each runs the other's archives."""
import importlib.util
import io

import numpy as np
import pytest
import torch

import tinytorch
from tests.parity import scripts as theirs

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    """scripts.py with tinytorch as torch."""
    path = tmp_path_factory.mktemp("scripts") / "scripts_here.py"
    with open(theirs.__file__, encoding="utf-8") as file:
        text = file.read().replace("import torch\n", "import tinytorch as torch\n").replace(
            "from torch", "from tinytorch")
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("scripts_here", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def arguments(t, make):
    rng = np.random.default_rng(0)
    return make(lambda *s: t.from_numpy(rng.standard_normal(s).astype(np.float32)),
                lambda *s: t.from_numpy(rng.integers(0, 10, s)))


def plain(x):
    if isinstance(x, (torch.Tensor, tinytorch.Tensor)):
        return x.detach().numpy()
    if isinstance(x, (list, tuple)):
        return [plain(y) for y in x]
    return {key: plain(y) for key, y in x.items()} if isinstance(x, dict) else x


def near(a, b, where=""):
    if isinstance(a, np.ndarray):
        assert a.shape == b.shape and a.dtype == b.dtype, where
        np.testing.assert_allclose(a, b, 2e-5, 2e-5, err_msg=where)
    elif isinstance(a, (list, dict)):
        assert len(a) == len(b) and type(a) is type(b), where
        if isinstance(a, dict):
            assert list(a) == list(b), where
        for key in a if isinstance(a, dict) else range(len(a)):
            near(a[key], b[key], f"{where}[{key!r}]")
    else:
        assert type(a) is type(b) and (a == b or a == pytest.approx(b, 1e-6, 1e-6)), (where, a, b)


@pytest.mark.parametrize("name", theirs.PROGRAMS)
def test_programs_both_ways(ours, name):
    results = []
    scripted = []
    for t, programs in ((torch, theirs), (tinytorch, ours)):
        make, inputs = programs.PROGRAMS[name]
        t.manual_seed(0)
        scripted.append((t, t.jit.script(make())))
    archives = [module.save_to_buffer() for _, module in scripted]
    for t, module in [*scripted, *[(t, t.jit.load(io.BytesIO(content))) for content in archives for t, _ in scripted]]:
        t.manual_seed(1)
        results.append(plain(module(*arguments(t, inputs))))
    for result in results[1:]:
        near(result, results[0])
