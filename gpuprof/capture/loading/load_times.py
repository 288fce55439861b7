"""How long a dataset takes for its samples, and each of its transforms; in forked worker processes as well."""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gpuprof.capture.base.signal import Signal, WatchedCell
from gpuprof.capture.base.tracebacks import leave_out_everywhere
from gpuprof.capture.loading.lengths import LENGTHS
from gpuprof.capture.loading.timed_transforms import Timed, find_transforms, timed_transforms
from gpuprof.capture.process.core_times import own_waits, thread_times, waited_between
from gpuprof.model.loading import Loading, TransformTime

# enough for a mean; what it costs then ends
MOST_BATCHES = 64
_MOST_BYTES = 4_000_000


class LoadTimes(Signal):
    """From `begin` to `end` the first batches of each process that reads from a map-style dataset are timed.

    The one place where torch reads samples is wrapped. Forked workers inherit that, and the open file into which every
    process writes one line a batch; workers that are started afresh, or as threads, are not timed.
    """

    field = "loadings"

    def __init__(self, cell: WatchedCell | None = None):
        super().__init__(cell)
        self._file: Any = None
        self._original: Callable[..., Any] | None = None
        self._installed: Callable[..., Any] | None = None
        self._pid = self._home = os.getpid()
        self._batches = self._written_ns = 0

    def begin(self) -> None:
        """Wrap the reading of a batch; torch is imported here. Without a temporary folder nothing is timed."""
        fetcher = _fetcher()
        try:
            self._file = tempfile.TemporaryFile(mode="a+b", prefix="gpuprof-")  # noqa: SIM115  - closed by `facts`
        except OSError:
            return
        fetch = self._original = fetcher.fetch

        def timed_fetch(reader: Any, indices: Any) -> Any:
            if not self._wanted():
                return fetch(reader, indices)
            try:
                return self._timed(fetch, reader, indices)
            except BaseException as error:
                leave_out_everywhere(error)
                raise

        self._installed = timed_fetch
        fetcher.fetch = timed_fetch

    def pause(self) -> None:
        """Time no further batch on this thread: iterations after the recording are to run as they do without us."""
        self._batches = MOST_BATCHES

    def end(self) -> None:
        """Put torch's own method back, unless somebody has wrapped ours meanwhile."""
        fetcher = _fetcher()
        self._batches = MOST_BATCHES
        if self._installed is not None and fetcher.fetch is self._installed:
            fetcher.fetch = self._original
        self._installed = None

    def facts(self) -> tuple[Loading, ...]:
        """Of every dataset that was timed; to be asked once, after `end`."""
        if self._file is None:
            return ()
        try:
            with self._file as file:
                file.seek(0)
                lines = [json.loads(line) for line in file.read().splitlines()]
        except (OSError, ValueError):  # a worker that was killed may have left half a line
            return ()
        groups: dict[tuple[str, int | None], list[dict[str, Any]]] = defaultdict(list)
        for line in lines:
            size = line["size"] if line["size"] is not None else LENGTHS.by_id(line["identity"])
            groups[line["dataset"], size].append(line)
        return tuple(_loading(*key, _warm(group)) for key, group in groups.items())

    def _wanted(self) -> bool:
        if self._pid != os.getpid():  # a worker of ours: it counts for itself
            self._pid, self._batches = os.getpid(), 0
        return self._batches < MOST_BATCHES and threading.current_thread() is threading.main_thread()

    def _timed(self, fetch: Callable[..., Any], reader: Any, indices: Any) -> Any:
        self._batches += 1
        entered = time.perf_counter_ns()
        transforms, collating = _prepared(reader)
        with timed_transforms(transforms), _replaced(reader, collating):
            cores, blocked = self._core_waits(), _blocked()
            cpu, began = time.process_time_ns(), time.perf_counter_ns()
            batch = fetch(reader, indices)
            wall, cpu = time.perf_counter_ns() - began, time.process_time_ns() - cpu
            waits = _blocked() - blocked if blocked >= 0 else -1
            core_wait = waited_between(cores, self._core_waits())
        # the last line's writing stands for this one's
        own = time.perf_counter_ns() - entered - wall + self._written_ns
        collate_ns = 0 if collating is None else collating.duration_ns
        times = {"wall": wall - collate_ns, "cpu": cpu, "collate": collate_ns, "blocked": waits, "core_wait": core_wait}
        began = time.perf_counter_ns()
        self._write(reader, indices, {**times, "own": own}, transforms)
        self._written_ns = time.perf_counter_ns() - began
        return batch

    def _core_waits(self) -> dict[int, int]:
        """Of all threads of a worker; of the profiled process only the one that reads: its others make no batches."""
        if self._pid != self._home:
            return own_waits()
        times = thread_times(self._home, self._home)
        return {} if times is None else {self._home: times[1]}

    def _write(self, reader: Any, indices: Any, times: dict[str, int | None], transforms: list[Timed]) -> None:
        try:
            source = _source(reader.dataset)
            line = {
                "process": os.getpid(),
                "dataset": type(reader.dataset).__name__,
                "size": LENGTHS.of(reader.dataset),
                "identity": id(reader.dataset),  # of a forked worker the same: what was seen of it is known there
                "samples": len(indices) if reader.auto_collation else 1,
                **times,
                "source": type(source).__name__,
                "batched": bool(getattr(source, "__getitems__", None)),
                "transforms": [(each.name, each.calls, each.duration_ns) for each in transforms],
            }
            descriptor = self._file.fileno()
            if os.fstat(descriptor).st_size < _MOST_BYTES:
                os.write(descriptor, json.dumps(line).encode() + b"\n")
        except Exception:  # noqa: BLE001  - inside the user's loop: whatever fails here is ours, and must not end it
            self._batches = MOST_BATCHES


def _prepared(reader: Any) -> tuple[list[Timed], Timed | None]:
    try:
        return find_transforms(reader.dataset), Timed(reader.collate_fn)
    except Exception:  # noqa: BLE001  - the dataset is the user's own object and may do anything
        return [], None


def _source(dataset: Any) -> Any:
    """What a `Subset` is of: it takes whole batches only if that does."""
    from torch.utils.data import Subset

    while isinstance(dataset, Subset):
        dataset = dataset.dataset
    return dataset


@contextmanager
def _replaced(reader: Any, collating: Timed | None) -> Iterator[None]:
    if collating is None:
        yield
        return
    original, reader.collate_fn = reader.collate_fn, collating
    try:
        yield
    finally:
        reader.collate_fn = original


def _blocked() -> int:
    """How often this thread has waited for something else than a processor; −1 where the system does not say."""
    try:
        import resource

        return resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
    except (ImportError, AttributeError, OSError):
        return -1


def _warm(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without the first batch of each process, which opens files and imports modules; all where there is no other."""
    seen: set[int] = set()
    later = []
    for line in lines:
        if line["process"] in seen:
            later.append(line)
        seen.add(line["process"])
    return later or lines


def _loading(dataset: str, size: int | None, lines: list[dict[str, Any]]) -> Loading:
    spent: dict[tuple[int, str], list[int]] = defaultdict(lambda: [0, 0])
    for line in lines:
        for row, (name, calls, duration_ns) in enumerate(line["transforms"]):
            spent[row, name][0] += calls
            spent[row, name][1] += duration_ns
    blocked = [line["blocked"] for line in lines]
    core_waits = [line["core_wait"] for line in lines]
    return Loading(
        dataset=dataset,
        source=lines[0]["source"],
        dataset_samples=size,
        batches=len(lines),
        samples=sum(line["samples"] for line in lines),
        processes=len({line["process"] for line in lines}),
        sample_ns=sum(line["wall"] for line in lines),
        collate_ns=sum(line["collate"] for line in lines),
        cpu_ns=sum(line["cpu"] for line in lines),
        blocked=sum(blocked) if min(blocked) >= 0 else None,
        core_wait_ns=None if None in core_waits else sum(core_waits),
        batched=any(line["batched"] for line in lines),
        own_ns=sum(line["own"] for line in lines if line["process"] == os.getpid()),
        transforms=tuple(TransformTime(name=name, calls=c, duration_ns=ns) for (_, name), (c, ns) in spent.items()),
    )


def _fetcher() -> Any:
    from torch.utils.data._utils import fetch

    return fetch._MapDatasetFetcher
