"""`python -m tinytorch.environment install | uninstall | status`: see distribution.py."""
import sys

from .distribution import main

sys.exit(main(sys.argv[1:]))
