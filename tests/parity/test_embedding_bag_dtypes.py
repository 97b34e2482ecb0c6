"""embedding_bag refuses weights of samples of another dtype in torch's words."""
import pytest
import torch

import tinytorch


def _message(t, rows, weights):
    with pytest.raises(RuntimeError) as caught:
        t.nn.functional.embedding_bag(t.tensor([0, 1]), t.ones(3, 2, dtype=getattr(t, rows)), t.tensor([0]), mode="sum",
                                      per_sample_weights=t.ones(2, dtype=getattr(t, weights)))
    return str(caught.value)


@pytest.mark.parametrize("rows, weights", [("float32", "bfloat16"), ("bfloat16", "float32"), ("float32", "float64")])
def test_dtypes(rows, weights):
    assert _message(tinytorch, rows, weights) == _message(torch, rows, weights)
