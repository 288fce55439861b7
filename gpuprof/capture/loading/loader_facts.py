"""The settings of one DataLoader, read without side effects."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

from gpuprof.model.context import Loader


def loader_facts(loader: Any | None, iterator: Any) -> Loader:
    """Of a DataLoader and its iterator; of the iterator alone (made before the cell) what it still knows.

    Lengths are only asked of map-style data: asking an iterable dataset changes how torch warns later.
    """
    dataset = iterator._dataset if loader is None else loader.dataset
    sampler = getattr(iterator, "_index_sampler", None) if loader is None else loader._index_sampler
    map_style = _is_map_style(dataset)
    return Loader(
        workers=int(getattr(iterator, "_num_workers", 0)) if loader is None else int(loader.num_workers),
        batch_size=_batch_size(loader, sampler),
        batches=_length(sampler) if map_style else None,
        samples=_length(dataset) if map_style else None,
        pin_memory=_boolean(iterator, "_pin_memory") if loader is None else bool(loader.pin_memory),
        prefetch_factor=getattr(iterator, "_prefetch_factor", None) if loader is None else loader.prefetch_factor,
        persistent_workers=(
            _boolean(iterator, "_persistent_workers") if loader is None else bool(loader.persistent_workers)
        ),
        dataset=type(dataset).__name__,
        iterable=not map_style,
    )


def _is_map_style(dataset: Any) -> bool:
    from torch.utils.data import IterableDataset

    return not isinstance(dataset, IterableDataset)


def _batch_size(loader: Any | None, sampler: Any) -> int | None:
    size = getattr(loader, "batch_size", None)
    if size is None:  # a batch sampler of the user's own
        size = getattr(sampler, "batch_size", None)
    return int(size) if isinstance(size, int) else None


def _boolean(holder: Any, name: str) -> bool | None:
    value = getattr(holder, name, None)
    return None if value is None else bool(value)


def _length(sized: Any) -> int | None:
    if not isinstance(sized, Sized):
        return None
    try:
        return len(sized)
    except Exception:  # noqa: BLE001  - the user's own __len__ may raise anything; the length is then unknown
        return None
