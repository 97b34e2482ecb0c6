"""The line searches of LBFGS, which libraries call by themselves."""
import importlib

from .test_graph import both_agree


def test_line_searches_of_lbfgs():
    def act(lib):
        module = importlib.import_module(f"{lib.__name__}.optim.lbfgs")
        found = []
        for power, start in ((2, 1.0), (4, 0.1), (4, 30.0)):
            x, d = lib.tensor([3., -1.], dtype=lib.float64), lib.tensor([-6., 2.], dtype=lib.float64)

            def evaluate(x, t, d, power=power):
                y = (x + t * d).requires_grad_()
                loss = (y ** power).sum()
                return float(loss), lib.autograd.grad(loss, y)[0]

            loss, gradient = evaluate(x, 0, d)
            f, g, t, count = module._strong_wolfe(evaluate, x, start, d, loss, gradient, gradient.dot(d))
            found.append((f, g.tolist(), float(t), count))
        number = [lib.tensor(v, dtype=lib.float64) for v in (-3., 2.)]
        return found, float(module._cubic_interpolate(0., 2., number[0], 1., 1., number[1])), float(
            module._cubic_interpolate(0., 2., number[0], 1., 1., number[1], (0.7, 0.9)))
    both_agree(act)
