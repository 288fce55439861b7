"""Watches every DataLoader: its settings, the line that iterates it, and the wait for each batch."""

from __future__ import annotations

import contextlib
import time
import weakref
from collections.abc import Callable
from typing import Any

import msgspec

from gpuprof.capture.base import exclusive_session
from gpuprof.capture.base.call_site import calling_line
from gpuprof.capture.base.framework_seen import maker_of_loader
from gpuprof.capture.base.tracebacks import leave_out
from gpuprof.capture.loading.lengths import LENGTHS
from gpuprof.capture.loading.loader_facts import known_lengths, loader_facts, watch_lengths
from gpuprof.capture.loading.padding import Padding, padding_of
from gpuprof.capture.loading.sample_repeats import DrawnIndices, SampleRepeats
from gpuprof.model.context import Loader

_MOST_WAITS = 200_000
_MOST_ITERATIONS = 10_000
_MOST_MASKS = 200


class _WatchedLoader:
    """One DataLoader (or, where only its iterator was seen, one iterator)."""

    def __init__(self, line: int | None, maker: str | None):
        self.line = line
        self.maker = maker
        self.facts: Loader | None = None
        self.iterations = 0
        self.iteration_start_ns: list[int] = []
        self.iteration_set_up_ns: list[int] = []
        self.iteration_end_ns: list[int] = []
        self.batches = 0
        self.in_pass = 0
        self.wait_ns: list[int] = []
        self.wait_start_ns: list[int] = []
        self.padding = Padding()
        self.looked_at = 0
        self.repeats = SampleRepeats()
        self.before = 0
        self.over = False

    @property
    def like(self) -> tuple[object, ...]:
        """What one loader for each pass over the same data has in common with the next."""
        facts = self.facts or Loader(workers=0)
        return facts.dataset, facts.batch_size, facts.samples, facts.batches, self.line

    def read(self, start_ns: int, wait_ns: int) -> None:
        self.batches += 1
        self.in_pass += 1
        if len(self.wait_ns) < _MOST_WAITS:
            self.wait_start_ns.append(start_ns)
            self.wait_ns.append(wait_ns)

    def learn_lengths(self, iterator: Any) -> None:
        """Once a batch has come, torch has asked for them."""
        facts = self.facts
        if facts is not None and not facts.iterable and None in (facts.batches, facts.samples):
            self.facts = msgspec.structs.replace(facts, **known_lengths(iterator))

    def exhausted(self, took_ns: int) -> None:
        self.over = True
        if self.facts is not None and not self.facts.iterable and self.facts.batches is None:
            self.facts = msgspec.structs.replace(self.facts, batches=self.in_pass)
        if len(self.iteration_end_ns) < _MOST_ITERATIONS:
            self.iteration_end_ns.append(took_ns)

    def look_at(self, batch: Any) -> None:
        if self.batches <= _MOST_MASKS:
            found = padding_of(batch)
            self.looked_at += found is not None
            self.padding = self.padding.plus(found or Padding())

    def loader(self) -> Loader:
        seen = self.padding if self.padding.real < self.padding.positions else None
        return msgspec.structs.replace(
            self.facts or Loader(workers=0),
            line=self.line,
            maker=self.maker,
            iterations_started=self.iterations,
            iteration_start_ns=tuple(self.iteration_start_ns),
            iteration_set_up_ns=tuple(self.iteration_set_up_ns),
            iteration_end_ns=tuple(self.iteration_end_ns),
            batches_read=self.batches,
            wait_ns=tuple(self.wait_ns),
            wait_start_ns=tuple(self.wait_start_ns),
            tokens=seen.real if seen else None,
            token_positions=seen.positions if seen else None,
            longest_positions=seen.to_longest if seen else None,
            tokens_a_batch=self._tokens_a_batch(),
            samples_compared=self.repeats.compared,
            samples_same=self.repeats.same,
            sample_bytes=self.repeats.sample_bytes,
        )

    def _tokens_a_batch(self) -> float | None:
        """Where at least nine of ten batches told."""
        if self.looked_at < 0.9 * min(self.batches, _MOST_MASKS) or not self.padding.real:
            return None
        return self.padding.real / self.looked_at


class LoaderWatch:
    """From `install` to `remove` every DataLoader of the process is watched; loaders are only held weakly.

    `before_batch(batches)` is called when a batch is asked for, before the loader does anything, with the number of
    batches that the loader has given so far, and those like it that were exhausted before it: some make a new one for
    every pass. A call that only finds the loader exhausted is no wait.
    """

    def __init__(self, filename: str | None, before_batch: Callable[[int], None]):
        self._filename = filename
        self._before_batch = before_batch
        self._watched: list[_WatchedLoader] = []
        self._loaders: weakref.WeakKeyDictionary[Any, _WatchedLoader] = weakref.WeakKeyDictionary()
        self._iterators: weakref.WeakKeyDictionary[Any, _WatchedLoader] = weakref.WeakKeyDictionary()
        self._repeats: dict[int, tuple[weakref.ref[Any], SampleRepeats]] = {}
        self._indices = DrawnIndices()
        self._originals: tuple[Any, Any, Any] | None = None
        self._installed: tuple[Any, Any, Any] | None = None
        self._latest: _WatchedLoader | None = None
        self._last_like: dict[tuple[object, ...], _WatchedLoader] = {}
        self._watching = False
        self._looking = True

    def install(self) -> None:
        """Wrap `DataLoader.__iter__`, and the iterators' `__next__` and `_next_index`; torch is imported here."""
        dataloader = _dataloader()
        LENGTHS.forget()
        start, advance = dataloader.DataLoader.__iter__, dataloader._BaseDataLoaderIter.__next__
        draw = dataloader._BaseDataLoaderIter._next_index

        def __iter__(loader: Any) -> Any:  # noqa: N807
            try:
                self._starting(loader)
                start_ns, began = time.time_ns(), time.perf_counter_ns()
                iterator = start(loader)
                self._started(loader, iterator, start_ns, time.perf_counter_ns() - began)
                return iterator
            except BaseException as error:
                leave_out(error)
                raise

        def __next__(iterator: Any) -> Any:  # noqa: N807
            try:
                watched = self._asked(iterator)
                if watched is None:
                    return advance(iterator)
                start_ns, began = time.time_ns(), time.perf_counter_ns()
                try:
                    batch = advance(iterator)
                except StopIteration:
                    watched.exhausted(time.perf_counter_ns() - began)
                    raise
                watched.read(start_ns, time.perf_counter_ns() - began)
                self._read(watched, batch, iterator)
                return batch
            except BaseException as error:
                leave_out(error)
                raise

        def _next_index(iterator: Any) -> Any:
            try:
                indices = draw(iterator)
            except BaseException as error:
                leave_out(error)
                raise
            self._draws(iterator, indices)
            return indices

        self._originals, self._installed = (start, advance, draw), (__iter__, __next__, _next_index)
        self._watching = True
        dataloader.DataLoader.__iter__ = __iter__
        dataloader._BaseDataLoaderIter.__next__ = __next__
        dataloader._BaseDataLoaderIter._next_index = _next_index

    def remove(self) -> None:
        """Put torch's own methods back; what somebody else wrapped around ours meanwhile stays."""
        dataloader = _dataloader()
        self._watching = False
        LENGTHS.end()
        if self._originals is None or self._installed is None:
            return
        if dataloader.DataLoader.__iter__ is self._installed[0]:
            dataloader.DataLoader.__iter__ = self._originals[0]
        if dataloader._BaseDataLoaderIter.__next__ is self._installed[1]:
            dataloader._BaseDataLoaderIter.__next__ = self._originals[1]
        if dataloader._BaseDataLoaderIter._next_index is self._installed[2]:
            dataloader._BaseDataLoaderIter._next_index = self._originals[2]
        self._originals = None

    def place(self) -> tuple[int | None, int | None]:
        """The batch that the loader that was asked last is at, in its pass, from 1, and how many a pass has."""
        watched = self._latest
        if watched is None:
            return None, None
        return watched.in_pass, watched.facts.batches if watched.facts else None

    def facts(self) -> tuple[Loader, ...]:
        """Every DataLoader that was iterated, in the order of its first iteration."""
        return tuple(watched.loader() for watched in self._watched)

    def _starting(self, loader: Any) -> None:
        try:
            if self._watching and not exclusive_session.forked():
                watch_lengths(loader)
                if (kept := getattr(loader, "_iterator", None)) is not None:
                    self._indices.starts_anew(kept)
        except Exception:  # noqa: BLE001  - as below; lengths are then unknown
            LENGTHS.end()

    def _started(self, loader: Any, iterator: Any, start_ns: int, took_ns: int) -> None:
        if not self._watching or exclusive_session.forked():
            return
        try:
            watched = self._loaders.get(loader)
            if watched is None:
                self._loaders[loader] = watched = self._new(loader)
                watched.facts = loader_facts(loader, iterator)
                watched.repeats = self._repeats_of(loader.dataset)
            watched.iterations += 1
            watched.in_pass, watched.over = 0, False
            if len(watched.iteration_start_ns) < _MOST_ITERATIONS:
                watched.iteration_start_ns.append(start_ns)
                watched.iteration_set_up_ns.append(took_ns)
            self._iterators[iterator] = watched
        except Exception:  # noqa: BLE001  - inside the user's loop: whatever fails here is ours, and must not end it
            self._watching = False

    def _asked(self, iterator: Any) -> _WatchedLoader | None:
        if not self._watching or exclusive_session.forked():
            return None
        try:
            watched = self._iterators.get(iterator)
            if watched is None:  # the iterator was made before the cell
                self._iterators[iterator] = watched = self._new()
                watched.facts = loader_facts(None, iterator)
            self._latest = watched
            self._before_batch(watched.before + watched.batches)
        except Exception:  # noqa: BLE001  - as above
            self._watching = False
            return None
        return watched

    def _follows(self, watched: _WatchedLoader) -> None:
        """Once its first batch has come, its lengths are known."""
        earlier = self._last_like.get(watched.like)
        if earlier is not None and earlier is not watched and earlier.over:
            watched.before = earlier.before + earlier.batches
        self._last_like[watched.like] = watched

    def _draws(self, iterator: Any, indices: Any) -> None:
        if not self._watching or not self._looking or exclusive_session.forked():
            return
        try:
            watched = self._iterators.get(iterator)
            if watched is None or watched.repeats.wanted:
                self._indices.draws(iterator, indices)
        except Exception:  # noqa: BLE001  - the sampler is the user's own object and may do anything
            self._looking = False

    def _repeats_of(self, dataset: Any) -> SampleRepeats:
        """One for all loaders of a dataset: some make a new one for every pass."""
        known = self._repeats.get(id(dataset))
        if known is not None and known[0]() is dataset:
            return known[1]
        found = SampleRepeats()
        with contextlib.suppress(TypeError):  # a list cannot be held weakly
            self._repeats[id(dataset)] = weakref.ref(dataset), found
        return found

    def _read(self, watched: _WatchedLoader, batch: Any, iterator: Any) -> None:
        try:
            if watched.in_pass == 1:
                watched.learn_lengths(iterator)
            if watched.batches == 1:
                self._follows(watched)
            if self._looking:
                watched.look_at(batch)
                if watched.repeats.wanted and (indices := self._indices.next_of(iterator)) is not None:
                    watched.repeats.read(indices, batch)
        except Exception:  # noqa: BLE001  - the batch is the user's own object and may do anything
            self._looking = False

    def _new(self, loader: Any | None = None) -> _WatchedLoader:
        watched = _WatchedLoader(calling_line(self._filename), maker_of_loader(loader))
        self._watched.append(watched)
        return watched


def _dataloader() -> Any:
    from torch.utils.data import dataloader

    return dataloader
