"""How tinytorch stands in for torch: in a process (finder, likeness, names), or in an environment (distribution).

`python -m tinytorch.environment install` puts a distribution named torch into an environment of Python.
"""
