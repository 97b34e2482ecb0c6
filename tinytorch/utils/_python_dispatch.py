"""torch.utils._python_dispatch: modes below the functions, which there are none of here."""


class TorchDispatchMode:
    """Not supported: `__torch_dispatch__` sees the operations that functions are made of, and those are NumPy's here.

    `torch.overrides.TorchFunctionMode` sees the functions. NotImplementedError when it is entered.
    """

    def __enter__(self):
        raise NotImplementedError("TorchDispatchMode is not supported: use torch.overrides.TorchFunctionMode, which "
                                  "sees every public function")

    def __exit__(self, exc_type, exc_val, exc_tb):
        """Never reached."""
