"""The settings of one DataLoader, read without side effects."""

from __future__ import annotations

from typing import Any

from gpuprof.capture.loading.lengths import LENGTHS
from gpuprof.model.context import Loader


def loader_facts(loader: Any | None, iterator: Any) -> Loader:
    """Of a DataLoader and its iterator; of the iterator alone (made before the cell) what it still knows.

    Lengths are what is known by now of map-style data (see Lengths), None before anybody has asked.
    """
    dataset = iterator._dataset if loader is None else loader.dataset
    sampler = getattr(iterator, "_index_sampler", None) if loader is None else loader._index_sampler
    map_style = _is_map_style(dataset)
    return Loader(
        workers=int(getattr(iterator, "_num_workers", 0)) if loader is None else int(loader.num_workers),
        batch_size=_batch_size(loader, sampler),
        batches=LENGTHS.batches(sampler) if map_style else None,
        samples=LENGTHS.of(dataset) if map_style else None,
        pin_memory=_boolean(iterator, "_pin_memory") if loader is None else bool(loader.pin_memory),
        prefetch_factor=getattr(iterator, "_prefetch_factor", None) if loader is None else loader.prefetch_factor,
        persistent_workers=(
            _boolean(iterator, "_persistent_workers") if loader is None else bool(loader.persistent_workers)
        ),
        dataset=type(dataset).__name__,
        iterable=not map_style,
        inner_dataset=_inner(dataset),
        collated_by=_collated_by(iterator if loader is None else loader),
    )


def _inner(dataset: Any) -> str | None:
    from torch.utils.data import Subset

    inner = dataset
    while type(inner) is Subset:
        inner = inner.dataset
    return None if inner is dataset else type(inner).__name__


def _collated_by(holder: Any) -> str | None:
    from torch.utils.data import default_collate

    if _boolean(holder, "_auto_collation") is False:
        return "nobody"
    function = getattr(holder, "collate_fn", getattr(holder, "_collate_fn", None))
    return None if function is None else "torch" if function is default_collate else "own"


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


def watch_lengths(loader: Any) -> None:
    """Note the lengths of what this DataLoader reads from, when its loop asks for them."""
    samplers = [loader.sampler, loader.batch_sampler, getattr(loader.batch_sampler, "sampler", None)]
    sources = [getattr(sampler, "data_source", None) for sampler in samplers]
    LENGTHS.watch(loader.dataset, *(each for each in (*samplers, *sources) if each is not None))


def known_lengths(iterator: Any) -> dict[str, int | None]:
    """The fields `batches` and `samples` of a map-style loader, as far as they are known by now."""
    return {"batches": LENGTHS.batches(iterator._index_sampler), "samples": LENGTHS.of(iterator._dataset)}
