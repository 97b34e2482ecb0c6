"""The package functorch where tinytorch stands in for it: it becomes tinytorch when it is imported."""
try:
    import tinytorch.environment.finder as _finder
except ModuleNotFoundError as _error:
    if _error.name != "tinytorch":
        raise
    # tinytorch is not installed: its folder follows from the path of this file.
    import sys as _sys
    from pathlib import Path as _Path
    _sys.path.append(str(_Path(__file__).parents[4]))
    import tinytorch.environment.finder as _finder

_finder.become(__name__)
