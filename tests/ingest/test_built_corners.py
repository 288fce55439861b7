"""Corners of reading that were first seen in public recordings."""

from __future__ import annotations

import pickle
import queue
from pathlib import Path

from gpuprof.ingest.load import load_trace
from gpuprof.ingest.stream import ByteStream
from gpuprof.report import Report

MIB = 1 << 20
LIBRARY = {"name": "_call_impl", "filename": "/x/site-packages/torch/nn/modules/module.py", "line": 1}


def test_a_snapshot_says_what_it_held_at_most(tmp_path: Path) -> None:
    """Its only allocation was made by a library, so no line of the user's stands beside it."""
    made = {"action": "alloc", "addr": 2, "size": 3 * MIB, "stream": 0, "time_us": 100, "frames": [LIBRARY]}
    held = {"device": 0, "address": 1, "total_size": 20 * MIB, "allocated_size": 3 * MIB}
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(pickle.dumps({"segments": [held], "device_traces": [[made]]}))
    trace = load_trace(path)
    headline = Report.of(trace).verdict.headline
    assert headline.startswith("In this memory snapshot at most 3.00 MiB are allocated and 20.0 MiB reserved.")
    assert "module.py" not in " ".join(trace.source.notes)


def test_a_reader_that_is_ahead_waits(tmp_path: Path) -> None:
    """GIVEN no room for the next piece, the first time THEN it is put again, and nothing is lost."""

    class Narrow(queue.Queue[bytes | None]):
        refused = False

        def put(self, item: bytes | None, block: bool = True, timeout: float | None = None) -> None:
            if not self.refused:
                self.refused = True
                raise queue.Full
            super().put(item, block, timeout)

    path = tmp_path / "trace.json"
    path.write_bytes(b"0123456789")
    stream = ByteStream(path, chunk_bytes=4)
    stream._pieces = Narrow(4)
    assert b"".join(stream) == b"0123456789"
    assert stream._pieces.refused
