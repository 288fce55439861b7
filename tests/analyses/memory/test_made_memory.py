"""What the peak would be without a tensor and the statement that makes it."""

from __future__ import annotations

import msgspec
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.made_memory import made_bytes
from gpuprof.model.trace import Trace
from tests.analyses.accounts.cells import line
from tests.analyses.accounts.test_cell_memory import MIB, read
from tests.analyses.accounts.test_sample_phases import libraries
from tests.support.trace_builder import TraceBuilder

__all__ = ["libraries"]  # a fixture
# it is made from 0.5 to 1 s, with twice as much beside it for a while, and held to the end
HELD = [300.0] * 5 + [500, 700, 900, 800, 600] + [400.0] * 10


def made(held: list[float] = HELD, *, start_mib: int | None = 250, at: int = 7) -> Trace:
    builder = TraceBuilder().stack(0, 500_000, line(5)).stack(500_000, 500_000, line(at))
    trace = read(builder.stack(1_000_000, 1_000_000, line(12)), held)
    start = {} if start_mib is None else {"resident_bytes": start_mib * MIB}
    object.__setattr__(trace, "context", msgspec.structs.replace(trace.context, host_start=start))
    return trace


@pytest.mark.parametrize(
    ("held", "held_mib", "peak_mib"),
    [
        # without the making the most was what it was before
        (HELD, 100, 300),
        # after it all but the tensor is still there
        ([*HELD[:-2], 850.0, 450.0], 100, 750),
        # it was not written to: no more can go than what there is above the beginning
        ([*HELD[:-2], 320.0, 320.0], 4000, 300),
        # the peak came before it
        ([300.0, 300.0, 300.0, 950.0, *HELD[4:]], 100, 950),
    ],
)
def test_without_the_lines_and_what_they_made(held: list[float], held_mib: int, peak_mib: int) -> None:
    trace = made(held)
    found = made_bytes(trace, Results(trace), range(7, 8), held_mib * MIB)
    assert found == (max(held) - peak_mib) * MIB


def test_without_samples_of_the_lines_nothing_is_known() -> None:
    trace = made()
    assert made_bytes(trace, Results(trace), range(8, 9), MIB) is None
    assert made_bytes(made(HELD[:3]), Results(made(HELD[:3])), range(7, 8), MIB) is None


def test_in_an_older_recording_the_lowest_reading_is_the_beginning() -> None:
    trace = made(start_mib=None)
    assert made_bytes(trace, Results(trace), range(7, 8), 4000 * MIB) == 600 * MIB
