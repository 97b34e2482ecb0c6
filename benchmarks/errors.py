"""Measures the errors of special functions here and in torch, and writes docs/errors.md.

    python benchmarks/errors.py [--numbers 400] [--only NAME,NAME] [--write]

The true values come from mpmath with 140 bits. Errors are in units of the last place (ulp) of the true value: 0.5 is
the largest error of a result that is rounded correctly. `--write` writes the page; without it the table is printed.
"""
import argparse
import math
import pathlib
import warnings

import mpmath as mp
import numpy as np

PAGE = pathlib.Path(__file__).parent.parent / "docs" / "errors.md"
_HEAD = """# Errors of functions, in units of the last place

Written by `python benchmarks/errors.py --write`. Each function is computed at {numbers} numbers, half of them spread
evenly over the interval and half of them over its orders of magnitude; the true values are mpmath's, of 140 bits.
"max" is the largest error and "mean" the average, in units of the last place of the true value. 0.5 is the largest
error of correct rounding. The functions that torch takes from Intel's MKL are rounded almost correctly there. Here
functions of one float32 are computed in double precision and rounded once, all but exp2 and erfinv. exp, expm1, log1p,
the hyperbolic functions, atan and sigmoid of float64 are computed with pairs of numbers (kernels/native/single.h and
functions.h).
{counts}

| function | from | to | dtype | max | mean | torch's max | torch's mean |
|---|---|---|---|---|---|---|---|
"""
_SELU, _SLOPE = mp.mpf("1.0507009873554804934193349852946"), mp.mpf("1.6732632423543772848170429916717")


def _elu(x, slope):
    return x if x > 0 else slope * mp.expm1(x)


#: Name -> (the true function, the begin of the interval, its end).
FUNCTIONS = {
    "exp": (mp.exp, -80, 80), "exp2": (lambda x: mp.mpf(2) ** x, -100, 100), "expm1": (mp.expm1, -20, 20),
    "log": (mp.log, 0, 100), "log2": (lambda x: mp.log(x, 2), 0, 100), "log10": (mp.log10, 0, 100),
    "log1p": (mp.log1p, -.999, 10), "sqrt": (mp.sqrt, 0, 100), "rsqrt": (lambda x: 1 / mp.sqrt(x), 0, 100),
    "sin": (mp.sin, -30, 30), "cos": (mp.cos, -30, 30), "tan": (mp.tan, -30, 30),
    "asin": (mp.asin, -1, 1), "acos": (mp.acos, -1, 1), "atan": (mp.atan, -10, 10),
    "sinh": (mp.sinh, -20, 20), "cosh": (mp.cosh, -20, 20), "tanh": (mp.tanh, -6, 6),
    "asinh": (mp.asinh, -100, 100), "atanh": (mp.atanh, -.999, .999), "acosh": (mp.acosh, 1, 100),
    "sigmoid": (lambda x: 1 / (1 + mp.exp(-x)), -30, 30), "logit": (lambda x: mp.log(x / (1 - x)), .0001, .9999),
    "sinc": (lambda x: mp.sin(mp.pi * x) / (mp.pi * x), -5, 5),
    "erf": (mp.erf, -4, 4), "erfc": (mp.erfc, -3, 5), "erfinv": (mp.erfinv, -.9999, .9999),
    "lgamma": (lambda x: mp.log(abs(mp.gamma(x))), .001, 50), "digamma": (mp.digamma, .001, 50),
    "polygamma(1)": (lambda x: mp.psi(1, x), .01, 20),
    "special.erfcx": (lambda x: mp.exp(x * x) * mp.erfc(x), -3, 20), "special.ndtr": (mp.ncdf, -5, 5),
    "special.log_ndtr": (lambda x: mp.log(mp.ncdf(x)), -10, 5),
    "special.ndtri": (lambda x: mp.sqrt(2) * mp.erfinv(2 * x - 1), .0001, .9999),
    "special.entr": (lambda x: -x * mp.log(x), 0, 10),
    "special.i0": (lambda x: mp.besseli(0, x), -20, 20), "special.i1": (lambda x: mp.besseli(1, x), -20, 20),
    "special.i0e": (lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), -20, 20),
    "special.i1e": (lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), -20, 20),
    "special.modified_bessel_k0": (lambda x: mp.besselk(0, x), .001, 20),
    "special.modified_bessel_k1": (lambda x: mp.besselk(1, x), .001, 20),
    "nn.functional.softplus": (lambda x: mp.log1p(mp.exp(x)), -20, 20),
    "nn.functional.gelu": (lambda x: x * mp.ncdf(x), -5, 5),
    "nn.functional.silu": (lambda x: x / (1 + mp.exp(-x)), -20, 20),
    "nn.functional.mish": (lambda x: x * mp.tanh(mp.log1p(mp.exp(x))), -10, 10),
    "nn.functional.elu": (lambda x: _elu(x, 1), -10, 3),
    "nn.functional.selu": (lambda x: _SELU * _elu(x, _SLOPE), -10, 3),
    "nn.functional.logsigmoid": (lambda x: -mp.log1p(mp.exp(-x)), -20, 20),
}


def numbers(count, low, high):
    """Evenly spaced numbers of the interval, and as many numbers of different orders of magnitude."""
    random = np.random.default_rng(0)
    even = random.uniform(low, high, count // 2)
    least = max(low, high * 1e-6)
    orders = 10 ** random.uniform(math.log10(least), math.log10(high), count // 2)
    if low < 0:
        orders = orders * min(1, -low / high) * np.sign(random.uniform(-1, 1, count // 2))
    return np.concatenate([even, orders])


def function(module, name):
    if name == "polygamma(1)":
        return lambda x: module.polygamma(1, x)
    for part in name.split("."):
        module = getattr(module, part)
    return module


def errors(found, true, dtype):
    """(the largest error, the mean error) in units of the last place."""
    info, all_errors = np.finfo(dtype), []
    for value, right in zip(found, true):
        if abs(right) < info.tiny or abs(right) > info.max:
            continue
        unit = mp.mpf(2) ** (mp.floor(mp.log(abs(right), 2)) - info.nmant)
        all_errors.append(float(abs(mp.mpf(float(value)) - right) / unit))
    return max(all_errors), sum(all_errors) / len(all_errors)


def rows(count, only):
    """(name, low, high, dtype, our largest error, our mean, torch's largest, torch's mean)."""
    import torch

    import tinytorch
    mp.mp.prec = 140
    for name, (true, low, high) in FUNCTIONS.items():
        if only and name not in only:
            continue
        for dtype in (np.float32, np.float64):
            x = numbers(count, low, high).astype(dtype)
            x = x[(x > low) & (x < high)]
            right = [mp.mpf(true(mp.mpf(float(value)))) for value in x]
            found = [errors(function(m, name)(m.tensor(x)).numpy(), right, dtype) for m in (tinytorch, torch)]
            yield name, low, high, np.dtype(dtype).name, *found[0], *found[1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--numbers", type=int, default=400)
    parser.add_argument("--only", default="")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    lines, nearer, total = [], 0, 0
    for name, low, high, dtype, *figures in rows(options.numbers, [n for n in options.only.split(",") if n]):
        lines.append(f"| {name} | {low} | {high} | {dtype} | " + " | ".join([f"{x:.2f}" for x in figures]) + " |")
        total += 1
        nearer += figures[0] <= max(figures[2], .51)
        print(lines[-1], flush=True)
    counts = (f"Of {total} rows {nearer} are at least as near to the true values as torch's, by the largest error "
              f"(or at\nmost .51).")
    print(counts)
    if options.write:
        PAGE.write_text(_HEAD.format(numbers=options.numbers, counts=counts) + "\n".join(lines) + "\n",
                        encoding="utf-8")


if __name__ == "__main__":
    main()
