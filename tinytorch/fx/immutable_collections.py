"""Lists and dicts in the arguments of a node. They cannot be changed, only replaced."""

from ..utils import _pytree as pytree

__all__ = ["immutable_dict", "immutable_list"]


def _unchanging(base, names):
    def refuse(self, *args, **kwargs):
        raise NotImplementedError(
            f"'{type(self).__name__}' object does not support mutation. If you are attempting to modify the kwargs or "
            "args of a torch.fx.Node object,\ninstead create a new copy of it and assign the copy to the node:\n"
            "    new_args = ...  # copy and mutate args\n    node.args = new_args\n")

    return dict.fromkeys(names.split(), refuse) | {"__reduce__": lambda self: (type(self), (base(self),))}


class immutable_list(list):
    """A list that cannot be changed."""

    locals().update(_unchanging(list, """__delitem__ __iadd__ __imul__ __setitem__ append clear extend insert pop remove
        reverse sort"""))

    def __hash__(self):
        return hash(tuple(self))


class immutable_dict(dict):
    """A dict that cannot be changed."""

    locals().update(_unchanging(dict, "__delitem__ __ior__ __setitem__ clear pop popitem setdefault update"))

    def __hash__(self):
        return hash(frozenset(self.items()))


pytree.register_pytree_node(immutable_list, lambda x: (list(x), None), lambda values, _: immutable_list(values))
pytree.register_pytree_node(immutable_dict, lambda x: (list(x.values()), list(x)),
                            lambda values, keys: immutable_dict(zip(keys, values)))
