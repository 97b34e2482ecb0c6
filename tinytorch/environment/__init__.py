"""tinytorch in the place of torch: in a process (finder, likeness, names), or in an environment (distribution).

`python -m tinytorch.environment install` puts a distribution named torch into a Python environment.
"""
