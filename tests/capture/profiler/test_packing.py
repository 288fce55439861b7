"""A trace that is packed into its folder after it was read, not before."""

import errno
import gzip
from pathlib import Path

import pytest

from gpuprof.capture.profiler import trace_file
from gpuprof.capture.profiler.trace_file import Packing, save_trace, save_unpacked
from tests.capture.cells import events
from tests.capture.profiler.test_trace_file import ODD_NAMES, recorded


def unpacked(folder: Path, *names: str) -> tuple[trace_file.SavedTrace, Packing]:
    saved, problem = save_unpacked(recorded(*names), folder)
    assert problem is None
    assert saved.packing is not None
    return saved, saved.packing


def test_it_can_be_read_before_it_is_packed(tmp_path: Path) -> None:
    saved, packing = unpacked(tmp_path, "gpuprof.clock")
    text = saved.path.read_bytes()

    packing.begin()

    assert packing.finish() is None
    assert gzip.decompress(packing.packed.read_bytes()) == text
    assert not saved.path.exists() and not saved.path.parent.exists()
    assert packing.finish() is None


def test_the_same_is_known_of_it(tmp_path: Path) -> None:
    saved, packing = unpacked(tmp_path, "gpuprof.clock", "gpuprof.clock")
    packing.finish()
    whole, _ = save_trace(recorded("gpuprof.clock"), tmp_path)

    assert saved.whole and whole.whole
    assert len(saved.clock_marks_ns) == 2
    assert any(saved.events.values()) and any(whole.events.values())


def test_nothing_recorded_is_told_from_something(tmp_path: Path) -> None:
    raw = tmp_path / "raw.json"
    raw.write_text('{"traceEvents": [\n  {"ph": "M"}\n]}')
    facts = trace_file._TraceFacts(count=False)
    facts.add(raw.read_bytes())

    assert facts.of(raw).events == {}


def test_names_are_mended_where_it_is_packed_late(tmp_path: Path) -> None:
    _, packing = unpacked(tmp_path, *ODD_NAMES)

    assert packing.finish() is None

    spans = [event["name"] for event in events(packing.packed) if event["cat"] == "user_annotation"]
    assert spans[0] == 'say "hello"' and len(spans) == len(ODD_NAMES)


@pytest.mark.parametrize("begins", [True, False])
def test_a_full_disk_leaves_no_half_trace(begins: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved, packing = unpacked(tmp_path, "a")

    def full(*_: object, **__: object) -> None:
        packing.packed.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(trace_file.gzip, "open", full)
    if begins:
        packing.begin()
    problem = packing.finish()

    assert problem is not None and problem.errno == errno.ENOSPC
    assert packing.finish() is problem
    assert not packing.packed.exists() and not saved.path.exists()


def test_without_a_further_thread_it_is_packed_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, packing = unpacked(tmp_path, "a")

    def none_left(_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(trace_file.threading.Thread, "start", none_left)
    packing.begin()

    assert packing.finish() is None
    assert events(packing.packed)


def test_it_can_be_dropped(tmp_path: Path) -> None:
    saved, packing = unpacked(tmp_path, "a")

    packing.abandon()

    assert not saved.path.exists()
    assert list(tmp_path.iterdir()) == []
