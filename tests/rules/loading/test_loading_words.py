"""What is advised against waits for data, by what is known of the loop: to the word."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils.data import BatchSampler, DataLoader, TensorDataset, WeightedRandomSampler

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loading.worker_plan import WorkerPlan
from gpuprof.model.context import Cell, Environment, Loader
from gpuprof.rules.loading.input_stall import _change, _forks, _loader_name
from tests.support.trace_builder import TraceBuilder

MS = 1_000_000
ITERABLE = (
    " If the dataset is an `IterableDataset`, it must share out its samples among the workers "
    "(`torch.utils.data.get_worker_info()`): else each gives all of them."
)
EACH_GIVES_ALL = (
    " Several workers would each give all samples of this `IterableDataset`, unless it shares them out "
    "(`torch.utils.data.get_worker_info()`)."
)
CHEAPER = (
    "Make the batches cheaper: transform whole batches instead of single samples (`__getitems__`, tensor operations), "
    "move transforms to the device, or precompute what does not change"
)
YIELDING = CHEAPER.replace("`__getitems__`, tensor operations", "yield whole batches, with `batch_size=None`")
USE = "Use `num_workers={}, persistent_workers=True` for the DataLoader: so many make a batch in the time of the work"


def plan(
    load_ms: float = 30, *, workers: int = 0, needed: int | None = 3, cores: int | None = 8, **facts: Any
) -> WorkerPlan:
    loader = Loader(workers=workers, **{key: facts.pop(key) for key in ("iterable", "dataset") if key in facts})
    return WorkerPlan(loader, load_ms * MS, 10 * MS, workers, needed, cores, **facts)


@pytest.mark.parametrize(
    ("known", "words"),
    [
        (plan(iterable=False), f"{USE.format(3)} between two waits."),
        (plan(), f"{USE.format(3)} between two waits.{ITERABLE}"),
        (plan(needed=1), f"{USE.format(1)} between two waits."),
        (
            plan(cores=None, iterable=False),
            f"{USE.format(3)} between two waits, if that many cores are free (take at most the cores of this process "
            "less one).",
        ),
        (
            plan(cores=3, iterable=False),
            f"{CHEAPER}; it would take 3 workers to keep up, and this process has 3 cores. Besides, `num_workers=2, "
            "persistent_workers=True` for the DataLoader can hide a part of it.",
        ),
        (
            plan(iterable=True),
            f"{YIELDING}; "
            "it would take 3 workers to keep up. Besides, `num_workers=1, persistent_workers=True` for the DataLoader "
            f"can hide a part of it.{EACH_GIVES_ALL}",
        ),
        (
            plan(slowdown=2.0, needed=6, iterable=False),
            f"{USE.format(6)} between two waits. A worker computes with one thread: it takes about 2.00× as long for a "
            "batch as this process does with several.",
        ),
        (
            plan(load_ms=1),
            f"{CHEAPER}, or keep the data on the device if they fit and take batches by index. Worker processes would "
            "not help: handing over such a small batch takes them as long as making it.",
        ),
        (plan(cores=1), f"{CHEAPER}. Worker processes would compete for the only core of this process."),
        (
            plan(cores=2, slowdown=2.0, needed=6),
            f"{CHEAPER}. Worker processes compute with one thread each: with these cores they would be slower than "
            "this one.",
        ),
        (
            plan(workers=2, cores=3),
            f"{CHEAPER}. This process has 3 cores for 2 workers and the main thread: more workers help only while "
            "they wait (for a disk or a network), not compute.",
        ),
        (plan(workers=2, iterable=True), f"{YIELDING}.{EACH_GIVES_ALL}"),
        (
            plan(workers=2, starved=True),
            f"{CHEAPER}. The workers there are wait for a core themselves, which something else holds: more would "
            "wait, too.",
        ),
        (plan(workers=4), f"{CHEAPER}."),
        (plan(needed=None), f"{CHEAPER}."),
    ],
)  # fmt: skip
def test_on_a_device(known: WorkerPlan, words: str) -> None:
    assert _change(known, on_device=True) == words


@pytest.mark.parametrize(
    ("known", "words"),
    [
        (
            plan(iterable=False, dataset="Photos"),
            "Make the batches of `Photos` cheaper: transform whole batches instead of single samples (`__getitems__`, "
            "tensor operations), or precompute what does not change. Besides, `num_workers=3, persistent_workers=True` "
            "for the DataLoader makes batches while the loop computes, as far as a core is free then: without a device "
            "both share the cores.",
        ),
        (
            plan(load_ms=1),
            "Make the batches cheaper: transform whole batches instead of single samples (`__getitems__`, tensor "
            "operations), or precompute what does not change. Worker processes would not help: handing over such a "
            "small batch takes them as long as making it.",
        ),
    ],
)
def test_without_a_device(known: WorkerPlan, words: str) -> None:
    assert _change(known, on_device=False) == words


@pytest.mark.parametrize(
    ("system", "python", "forks"),
    [
        ("Linux-6.1", "3.11.7", True),
        ("Linux-6.1", "3.13.0", True),
        ("Linux-6.1", "3.12", True),
        ("Linux-6.1", "3.14.0", False),
        ("Linux-6.1", "3", False),
        ("Linux-6.1", "4.0", False),
        ("Linux-6.1", "3.x", False),
        ("macOS-14", "3.11.7", False),
    ],
)
def test_where_worker_processes_are_forked(system: str, python: str, forks: bool) -> None:
    assert _forks(Environment(system=system, python=python)) is forks
    assert _forks(None) is False


DATA = TensorDataset(torch.arange(50.0).reshape(25, 2), torch.arange(25))


@pytest.mark.parametrize(
    "settings",
    [
        {"batch_size": 4},
        {"batch_size": 4, "shuffle": True, "drop_last": True},
        {"batch_size": 4, "sampler": WeightedRandomSampler([1.0] * 25, 30)},
        {"batch_sampler": BatchSampler(range(24, -1, -1), 6, drop_last=False)},
    ],
    ids=["in order", "shuffled", "weighted", "by batches"],
)
def test_the_loader_as_written_gives_the_same_batches(settings: dict[str, Any]) -> None:
    words = _change(plan(needed=None, dataset="TensorDataset"), on_device=True, by_rows=True)
    assert words.startswith("Ask `TensorDataset` for whole batches: `DataLoader(loader.dataset, batch_size=None, ")
    loader = DataLoader(DATA, **settings)
    again = eval(words.split("`")[3], {"DataLoader": DataLoader, "loader": loader})
    both = []
    for each in (loader, again):
        torch.manual_seed(0)
        both.append([tuple(part.tolist() for part in batch) for batch in each])
    assert both[0] == both[1] and again.batch_size is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("for x, y in train_loader:\n    pass", "train_loader"),
        ("for i, (x, y) in enumerate(tqdm(self.loader), 1):\n    pass", "self.loader"),
        ("x, y = next(iter(loaders))", "loaders"),
        ("for x, y in batches_of(data):\n    pass", "loader"),
        ("for a, b in zip(one, two):\n    pass", "loader"),
        ("trainer.fit(model)", "loader"),
        ("for", "loader"),
    ],
)
def test_the_loader_has_its_own_name(text: str, name: str) -> None:
    results = Results(TraceBuilder().context(cell=Cell(source=text)).build())
    known = WorkerPlan(Loader(workers=0, dataset="TensorDataset", line=1), None, None, 0, None, None)
    assert _loader_name(results, known) == name
    assert _loader_name(results, plan()) == "loader"
    assert f"sampler={name}.batch_sampler" in _change(known, on_device=False, name=name, by_rows=True)
