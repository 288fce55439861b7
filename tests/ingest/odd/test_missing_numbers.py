"""Numbers that a file does not give are -1 in a table, whichever number it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpuprof.ingest.event import NO_ARGS, Args, Event
from gpuprof.ingest.linking import match_correlation
from gpuprof.ingest.load import load_trace
from gpuprof.model.schema import CALLS
from gpuprof.model.table import Table
from tests.ingest.kineto_text import compact, operator, save
from tests.ingest.test_mtia import DEVICE, on_device

OTHERWISE = {"memory_bytes": 0}


@pytest.mark.parametrize("name", Args.__struct_fields__)
def test_what_an_event_does_not_say(name: str) -> None:
    value = getattr(NO_ARGS, name)
    assert value == OTHERWISE.get(name, -1) if isinstance(value, int) else not value or not bytes(value)


def test_an_event_without_a_process() -> None:
    assert (Event().pid, Event().tid, Event().dur) == (-1, -1, 0)


def test_a_request_without_its_size(tmp_path: Path) -> None:
    events = [operator("aten::mm", 0, 5), on_device("dma_request", 20, 10, direction="HOST_TO_DEVICE")]
    trace = load_trace(save(tmp_path, compact(events, {"deviceProperties": [{"id": DEVICE, "name": "ARTEMIS"}]})))
    assert trace.device_events["bytes"].tolist() == [-1]


@pytest.mark.parametrize("ids", [[], [0], [-1, 3]])
def test_no_call_has_that_correlation(ids: list[int]) -> None:
    calls = Table(CALLS, {"start_ns": list(range(len(ids))), "correlation": ids, "kind": [1] * len(ids)})
    assert match_correlation(calls, np.array([7, 0, -1]), np.zeros(3, np.int64)).tolist() == [-1, -1, -1]
