"""A cross-entropy of 8,192 tokens over a vocabulary, in fp32, on a device of 16 GiB."""

import json

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.rules.memory.memory_runs import allocator, run

EXPECTED = Expected(
    Severity.MEDIUM,
    "The scores given to the loss take 31 % of the memory peak",
    {"logits_bytes": 8192 * 100_000 * 4, "rows": 8192, "classes": 100_000},
    change="in 8 pieces the scores take 391 MiB",
)


def _loss(classes: int, *, shapes: bool = True) -> Trace:
    dims = json.dumps([[8192, classes], [8192]]) if shapes else None
    types = json.dumps(["float", "long int"]) if shapes else None
    builder = run(allocators=(allocator(10, 11),))
    return builder.operator("aten::cross_entropy_loss", 10, 20, dims=dims, types=types).build()


def fires() -> Trace:
    return _loss(100_000)


def stays_quiet() -> Trace:
    """24 % of the peak."""
    return _loss(78_000)


def abstains() -> Trace:
    return _loss(100_000, shapes=False)
