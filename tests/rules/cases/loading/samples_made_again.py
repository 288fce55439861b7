"""Ten epochs of 40 ms: in each the samples of the dataset are made in 20 ms, the same as before."""

from dataclasses import replace
from typing import Any

from msgspec import structs

from gpuprof.model.context import Loader
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.analyses.accounts.cells import cell, line
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

SOURCE = """class Calls(Dataset):
    def __getitem__(self, index):
        return log_mel(self.clips[index])

for epoch in range(10):
    for x in DataLoader(Calls(clips), batch_size=10):
        step(x)
"""
EXPECTED = Expected(
    Severity.HIGH,
    "`Calls` makes the same samples again in every pass",
    {"making_ms": 200, "making_share": 0.5, "repeated_share": 0.9, "sample_us": 500, "compared_samples": 64},
    lines=(3,),
    # nine of ten passes, but for 10 µs of 500
    saving_share=0.5 * 0.9 * 0.98,
    basis="samples are made once",
    change="The samples take 156 KiB of memory",
)
EPOCHS, BATCHES = 10, 4
FETCH = ("/site/torch/utils/data/_utils/fetch.py", "_MapDatasetFetcher.fetch", 52)


def loader(**changed: Any) -> Loader:
    known: dict[str, Any] = {
        "workers": 0,
        "dataset": "Calls",
        "batch_size": 10,
        "batches": BATCHES,
        "samples": 40,
        "line": 6,
        "iterations_started": EPOCHS,
        "batches_read": EPOCHS * BATCHES,
        "wait_ns": (5_000_000,) * (EPOCHS * BATCHES),
        "wait_start_ns": tuple(10_000_000 * each for each in range(EPOCHS * BATCHES)),
        "samples_compared": 64,
        "samples_same": 64,
        "sample_bytes": 4_000,
    }
    return Loader(**(known | changed))


def epochs(making_ms: float = 5, *loaders: Loader, training_ms: float = 5) -> Trace:
    """Batches of `making_ms` each, and as much training."""
    builder, ends = TraceBuilder(), [0.0]
    for number in range(EPOCHS * BATCHES):
        at = 1000 * (training_ms + making_ms) * number
        builder.stack(at, 1000 * making_ms, line(6), FETCH, line(3, "Calls.__getitem__"))
        builder.stack(at + 1000 * making_ms, 1000 * training_ms, line(7))
        builder.operator("aten::stack", at, 1000 * making_ms).operator(
            "aten::mm", at + 1000 * making_ms, 1000 * training_ms
        )
        ends.append((training_ms + making_ms) * (number + 1))
    trace = cell(builder, ends_ms=tuple(ends), source=SOURCE)
    return replace(trace, context=structs.replace(trace.context, loaders=loaders or (loader(),)))


def fires() -> Trace:
    return epochs()


def stays_quiet() -> Trace:
    """One of the samples differed."""
    return epochs(5, loader(samples_same=63))


def abstains() -> Trace:
    """No stack was sampled."""
    trace = epochs()
    unsampled = {name: table.take([]) if name.startswith("stack_") else table for name, table in trace.tables.items()}
    return replace(trace, context=structs.replace(trace.context, stacks=None), tables=unsampled)
