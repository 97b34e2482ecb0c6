"""What PyInstaller collects: all modules, for most are loaded by name when they are first asked for, the libraries of
native kernels and the files of data.

Modules of the folder standins are collected as tinytorch.standins.NAME: at run time the folder is a second place of
the package, and PyInstaller's finder looks there for NAME under the name of the folder.
"""
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_FILES = [path.relative_to(_PACKAGE.parent) for path in sorted(_PACKAGE.rglob("*"))
          if path.is_file() and path.suffix not in (".pyc", ".pyi", ".c", ".h") or path.name == "functions.c"]
#: Files of Python that are no modules of this package: what an environment gets in which it stands in for torch.
_COPIED = [path for path in _FILES if "_installed" in path.parts or "_children" in path.parts]
_MODULES = [path.with_suffix("") for path in _FILES
            if path.suffix == ".py" and path not in _COPIED and "__pyinstaller" not in path.parts]

hiddenimports = [".".join(path.parts[:-1] if path.name == "__init__" else path.parts) for path in _MODULES]
binaries = [(str(_PACKAGE.parent / path), str(path.parent)) for path in _FILES if path.name.startswith("library_")]
datas = [(str(_PACKAGE.parent / path), str(path.parent)) for path in _FILES
         if path in _COPIED or path.suffix != ".py" and not path.name.startswith("library_")]
#: What a program may use beside it, and has to import itself then.
excludedimports = ["IPython", "igraph", "matplotlib", "mpi4py", "onnx", "onnxruntime", "pytest", "resvg_py",
                   "tensorboard", "torch", "torchvision"]
