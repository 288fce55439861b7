from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from gpuprof.capture.lines.line_calls import METHODS, LineCalls
from gpuprof.capture.lines.line_log import LineLog

CELL = "ipykernel_1/100.py"
OTHER = "ipykernel_1/200.py"


@pytest.fixture
def calls() -> Iterator[LineCalls]:
    made = LineCalls(LineLog(CELL))
    made.install()
    yield made
    made.remove()


def run(source: str, names: dict[str, Any], filename: str = CELL) -> None:
    exec(compile(source, filename, "exec"), names)


def test_waiting_methods_have_their_lines_and_the_line_of_the_cell(calls: LineCalls) -> None:
    names: dict[str, Any] = {"x": torch.ones(3, requires_grad=True)}
    run("def read(t):\n    return (\n        t.item())\n", names, OTHER)

    calls.begin()
    run("loss = x.sum()\nread(loss)\nloss.backward()\nif loss > 1:\n    v = loss.tolist()\n", names)
    calls.remove()

    table = calls.log.table()
    begun = table.take(table["begins"] & (table["source_file"] >= 0))
    assert list(zip(begun["source_file"], begun["line"], begun["cell_line"], strict=True)) == [
        (0, 2, 2), (1, 3, 2), (0, 3, 3), (0, 4, 4), (0, 5, 5),
    ]  # fmt: skip
    assert table["line"][-1] == -1


def test_a_tensor_that_is_an_index_is_read_on_its_line(calls: LineCalls) -> None:
    calls.begin()
    run("rows = []\nrows += x[at:at + 2]\nlast = [4, 5][at]\n", {"x": torch.arange(4), "at": torch.tensor(1)})
    calls.remove()

    table = calls.log.table()
    assert set(table.take(table["begins"])["line"]) == {2, 3}
    assert [7, 8][torch.tensor(1)] == 8


def test_torch_has_its_own_methods_back() -> None:
    before = {name: torch.Tensor.__dict__.get(name) for name in METHODS}
    calls = LineCalls(LineLog(CELL))
    calls.install()
    assert torch.Tensor.item is not before["item"]
    calls.remove()

    assert {name: torch.Tensor.__dict__.get(name) for name in METHODS} == before
    assert torch.ones(1).item() == 1 and bool(torch.ones(1)) and int(torch.ones(1)) == 1


def test_a_foreign_wrapper_around_ours_stays() -> None:
    calls = LineCalls(LineLog(CELL))
    calls.install()
    ours = torch.Tensor.tolist
    torch.Tensor.tolist = lambda tensor: ours(tensor)  # type: ignore[method-assign]
    try:
        theirs = torch.Tensor.tolist
        calls.remove()
        assert torch.Tensor.tolist is theirs
        assert torch.ones(2).tolist() == [1, 1]
    finally:
        del torch.Tensor.tolist


def test_calls_from_elsewhere_leave_no_rows(calls: LineCalls) -> None:
    calls.begin()
    torch.ones(1).item()
    calls.pause()

    assert len(calls.log.table()) == 0


def test_it_ends_by_itself_where_too_many_calls_come(calls: LineCalls, monkeypatch: pytest.MonkeyPatch) -> None:
    now_ns = time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: now_ns)  # no time for them to be spread over
    calls.begin()
    run("for _ in range(20_000):\n    t.item()\n", {"t": torch.ones(1)})
    calls.remove()

    assert calls.ended_ns > 0
    assert len(calls.notes) == 1 and "so many came" in calls.notes[0]
    assert len(calls.log.table()) < 40_000
