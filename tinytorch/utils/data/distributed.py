"""DistributedSampler: every `num_replicas`-th sample, one part for each process."""
from ... import distributed
from ...ops.random.factories import randperm
from ...random import Generator
from .sampler import Resumable

__all__ = ["DistributedSampler"]


class DistributedSampler(Resumable):
    """The part of a dataset's indices that process `rank` of `num_replicas` reads; all parts have one length.

    By default both come from the default process group. `set_epoch` makes the next passes shuffle differently.
    RuntimeError if they are not passed and mpi4py is not installed, ValueError if there is no process group, and for a
    rank out of range.

    >>> from tinytorch.utils.data import DistributedSampler
    >>> [list(DistributedSampler(range(5), 2, rank, shuffle=False)) for rank in (0, 1)]
    [[0, 2, 4], [1, 3, 0]]
    """

    _drawn_again = True

    def __init__(self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False):
        if num_replicas is None or rank is None:
            if not distributed.is_available():
                raise RuntimeError("Requires distributed package to be available")
            num_replicas = distributed.get_world_size() if num_replicas is None else num_replicas
            rank = distributed.get_rank() if rank is None else rank
        if not 0 <= rank < num_replicas:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        self.shuffle = shuffle
        self.seed = seed
        n = len(dataset)
        self.num_samples = n // num_replicas if drop_last else -(-n // num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self):
        self._epoch = self.epoch               # the epoch of this pass
        return super().__iter__()

    def _draw(self, generator, number):
        if number:
            return None
        n = len(self.dataset)
        if self.shuffle:
            indices = randperm(n, generator=Generator().manual_seed(self.seed + self._epoch)).tolist()
        else:
            indices = list(range(n))
        repeats = -(-self.total_size // max(n, 1))
        indices = (indices * repeats)[:self.total_size]        # the first indices again, if some are missing
        return indices[self.rank::self.num_replicas]

    def state_dict(self):
        """The position of the latest pass, and its epoch. See RandomSampler."""
        return {**super().state_dict(), "epoch": self.epoch}

    def load_state_dict(self, state_dict):
        """Makes the next pass, and only this pass, continue from the position and in the epoch of a state. KeyError for
        an object that is not a state."""
        super().load_state_dict(state_dict)
        self.set_epoch(state_dict["epoch"])

    def __len__(self):
        return self.num_samples

    def set_epoch(self, epoch):
        """Sets the number that decides the order together with the seed."""
        self.epoch = epoch
