"""torch.utils.weak: dictionaries with tensors as keys, which they do not keep alive."""
from __future__ import annotations

import weakref
from collections.abc import Iterator, MutableMapping
from typing import Any

__all__ = ["TensorWeakRef", "WeakIdKeyDictionary", "WeakIdRef", "WeakTensorKeyDictionary"]


class WeakIdRef(weakref.ref):
    """A weak reference that equals other references to the same object, whatever the object's `__eq__` does."""

    __slots__ = ("_id",)

    def __init__(self, key: Any, callback: Any = None) -> None:
        super().__init__(key, callback)
        self._id = id(key)

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        mine, its = self(), other() if isinstance(other, weakref.ref) else None
        return mine is its if mine is not None and its is not None else self is other


class WeakIdKeyDictionary(MutableMapping):
    """A dictionary by the identity of its keys, which it does not keep alive.

    >>> import tinytorch as torch
    >>> from tinytorch.utils.weak import WeakIdKeyDictionary
    >>> x = torch.ones(2); names = WeakIdKeyDictionary({x: "x"})
    >>> names[x], len(names)
    ('x', 1)
    >>> del x; len(names)
    0
    """

    def __init__(self, dict: Any = None, ref_type: type[weakref.ref] = WeakIdRef) -> None:
        self.data: dict = {}
        self.ref_type = ref_type
        owner = weakref.ref(self)

        def remove(reference):
            mine = owner()
            if mine is not None:
                mine.data.pop(reference, None)
        self._remove = remove
        if dict is not None:
            self.update(dict)

    def __getitem__(self, key: Any) -> Any:
        return self.data[self.ref_type(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[self.ref_type(key, self._remove)] = value

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __contains__(self, key: object) -> bool:
        try:
            return self.ref_type(key) in self.data
        except TypeError:                      # an object without weak references
            return False

    def __iter__(self) -> Iterator[Any]:
        for reference in list(self.data):
            key = reference()
            if key is not None:
                yield key

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}>"


class TensorWeakRef:
    """A weak reference to a tensor."""

    def __init__(self, tensor: Any) -> None:
        self.ref = weakref.ref(tensor)

    def __call__(self) -> Any:
        return self.ref()


WeakTensorKeyDictionary = WeakIdKeyDictionary
