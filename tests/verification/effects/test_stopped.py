"""No effect happens unasked, however it is spelled: each ends the comparison with one clear line."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuprof.errors import VerificationError
from gpuprof.verification import measure_cells
from tests.verification.effects.programs import Server, fill, prepared, tree
from tests.verification.effects.stopped import ELSEWHERE, STOPPED


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    fill(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    one = Server()
    yield one
    one.close()


@pytest.mark.parametrize("name", STOPPED)
def test_it_is_stopped_before_it_happens(name: str, folder: Path, server: Server) -> None:
    names, cell = prepared(STOPPED[name], server.port)
    before, calls, bound = tree(folder), server.calls, set(names)
    with pytest.raises(VerificationError) as caught:
        measure_cells(cell, f"{cell}\n", names, budget_s=4.0, most_pairs=1, seed=1)
    if name in ("in_a_timer", "in_a_thread_later"):
        time.sleep(1.2)
    assert tree(folder) == before and server.calls == calls and set(names) == bound
    said = str(caught.value)
    assert "\n" not in said and "--allow-effects" in said and "allow_effects=True" in said
    where = ELSEWHERE.get(name, r"line \d of the cell")
    assert re.search(where, said), said


def test_there_are_enough_of_them() -> None:
    assert len(STOPPED) >= 55
