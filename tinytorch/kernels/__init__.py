"""Plain ndarray -> ndarray routines behind the heavy ops. Nothing here knows a Tensor."""
