"""StatefulDataLoader, under torchdata's name."""
from .dataloader import DataLoader

__all__ = ["StatefulDataLoader"]


class StatefulDataLoader(DataLoader):
    """A DataLoader whose `state_dict` includes the random streams of its workers, after each
    `snapshot_every_n_steps`-th batch. See DataLoader.state_dict.

    >>> from tinytorch.utils.data.stateful_dataloader import StatefulDataLoader
    >>> loader = StatefulDataLoader(range(6), 2, shuffle=True)
    >>> batches = iter(loader)
    >>> first, state = next(batches), loader.state_dict()
    >>> state["_num_yielded"], state["_iterator_finished"]
    (1, False)
    >>> loader.load_state_dict(state)
    >>> [batch.tolist() for batch in loader] == [batch.tolist() for batch in batches]
    True
    """

    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0,
                 collate_fn=None, pin_memory=False, drop_last=False, timeout=0, worker_init_fn=None,
                 multiprocessing_context=None, generator=None, *, prefetch_factor=None, persistent_workers=False,
                 pin_memory_device="", in_order=True, snapshot_every_n_steps=1, seed_by_index=False):
        super().__init__(
            dataset, batch_size, shuffle, sampler, batch_sampler, num_workers, collate_fn, pin_memory, drop_last,
            timeout, worker_init_fn, multiprocessing_context, generator, prefetch_factor=prefetch_factor,
            persistent_workers=persistent_workers, pin_memory_device=pin_memory_device, in_order=in_order,
            seed_by_index=seed_by_index, snapshot_every_n_steps=snapshot_every_n_steps)

    def load_state_dict(self, state_dict):
        """See DataLoader.load_state_dict. {} makes the next pass a new pass."""
        if state_dict:
            super().load_state_dict(state_dict)
        else:
            self._resume = None
