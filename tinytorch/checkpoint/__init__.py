"""Checkpoints: the files that torch.save writes and torch.load reads, and memory that processes share.

`tinytorch.serialization` has the public functions, `tinytorch.storage` the storages. The files of this package:
unpickler (reads the pickle of a checkpoint without running code), rebuild (the names that a pickle may contain),
zip_reader, storage_reader, whole_file and old_format (the archives), safetensors, shown (compact copies), sharing.
"""
