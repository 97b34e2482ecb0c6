"""For PyInstaller, which finds this by the entry point `pyinstaller40`: where the hook is that says what belongs to a
program with this package."""
import os

__all__ = ["get_hook_dirs"]


def get_hook_dirs():
    """The folders with hooks."""
    return [os.path.dirname(__file__)]
