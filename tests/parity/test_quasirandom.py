"""Sobol's points, plain and scrambled: torch's, bit for bit."""
import pytest

from .adapter import same_outcome


def _state(engine):
    return engine.sobolstate, engine.shift, engine.quasi, engine.num_generated, repr(engine)


@pytest.mark.parametrize("scramble", [False, True])
@pytest.mark.parametrize("dimension", [1, 2, 7, 40, 300])
def test_draws(dimension, scramble):
    def program(torch):
        torch.manual_seed(4)
        seeds = [None, 3, None] if scramble else [None]
        answer = []
        for seed in seeds:
            engine = torch.quasirandom.SobolEngine(dimension, scramble, seed)
            answer += [_state(engine), engine.draw(1), engine.draw(5), engine.draw(3, dtype=torch.float64),
                       engine.fast_forward(6).draw(2), engine.draw(0), *_state(engine), engine.reset().draw_base2(3),
                       engine.reset().fast_forward(5).draw(2, out=torch.empty(1)), engine.reset().draw(700)[-3:]]
        return answer
    same_outcome(program, tolerance=0)


def test_the_last_dimensions():
    def program(torch):
        return torch.quasirandom.SobolEngine(torch.quasirandom.SobolEngine.MAXDIM).sobolstate[-1500:]
    same_outcome(program, tolerance=0)


@pytest.mark.parametrize("program", [
    lambda torch: torch.quasirandom.SobolEngine(0),
    lambda torch: torch.quasirandom.SobolEngine(21202),
    lambda torch: torch.quasirandom.SobolEngine(2).draw(0),
    lambda torch: torch.quasirandom.SobolEngine(2).draw(3, dtype=torch.float16),
    lambda torch: torch.quasirandom.SobolEngine(2).draw(1, dtype=torch.bfloat16),
    lambda torch: torch.quasirandom.SobolEngine(2).draw(3, dtype=torch.int64),
    lambda torch: (lambda e: (e.draw(3), e.draw_base2(3)))(torch.quasirandom.SobolEngine(2)),
])
def test_refusals(program):
    same_outcome(program, tolerance=0)
