"""`%gpuprof on`: when a cell is watched, and what is said below it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from gpuprof.capture.session import ambient
from gpuprof.magics import hints
from gpuprof.magics.hints import Hints
from gpuprof.magics.messages import MagicUsageError


class Watch:
    """Stands in for the samplers: how long the cell took is told."""

    made: ClassVar[list[Watch]] = []
    seconds = 6.0

    def __init__(self, cell: Any, namespace: Any) -> None:
        self.state = "made"
        Watch.made.append(self)

    def start(self) -> None:
        self.state = "started"

    def elapsed_s(self) -> float:
        return Watch.seconds

    def stop(self) -> None:
        self.state = "stopped"

    def abandon(self) -> None:
        self.state = "abandoned"


@pytest.fixture(autouse=True)
def watched(monkeypatch: pytest.MonkeyPatch) -> None:
    Watch.made, Watch.seconds = [], 6.0
    monkeypatch.setattr(ambient, "AmbientWatch", Watch)


def shell(**configured: Any) -> SimpleNamespace:
    return SimpleNamespace(
        config={"Gpuprof": configured} if configured else {},
        transform_cell=lambda raw: raw,
        compile=SimpleNamespace(get_code_name=lambda raw, transformed, number: "cell"),
        execution_count=1,
        user_ns={},
    )


def run(made: Hints, raw: str = "train()") -> None:
    made.pre_run_cell(SimpleNamespace(raw_cell=raw))
    made.post_run_cell(SimpleNamespace())


def test_it_is_off_until_it_is_turned_on() -> None:
    made = Hints(shell())
    run(made)
    assert not Watch.made and made.turn("") == "hints are off."
    assert made.turn("on").startswith("hints are on")
    run(made)
    assert [each.state for each in Watch.made] == ["stopped"]
    made.turn("off")
    run(made)
    assert len(Watch.made) == 1


def test_the_configuration_may_turn_it_on() -> None:
    made = Hints(shell(hints=True))
    run(made)
    assert len(Watch.made) == 1 and made.turn("").startswith("hints are on")


def test_another_word_is_one_line() -> None:
    with pytest.raises(MagicUsageError, match="expected `on` or `off`"):
        Hints(shell()).turn("perhaps")


def test_a_profiled_cell_and_one_within_another_are_left_alone() -> None:
    made = Hints(shell(hints=True))
    run(made, "%%gpuprofile\ntrain()")
    assert not Watch.made
    made.pre_run_cell(SimpleNamespace(raw_cell="outer()"))
    run(made, "inner()")
    assert [each.state for each in Watch.made] == ["started"]
    made.post_run_cell(SimpleNamespace())
    assert [each.state for each in Watch.made] == ["stopped"]


def test_a_cancelled_cell_ends_the_watch() -> None:
    made = Hints(shell(hints=True))
    made.pre_run_cell(SimpleNamespace(raw_cell="train()"))
    made.post_run_cell(None)
    assert [each.state for each in Watch.made] == ["stopped"]


def test_a_cell_under_five_seconds_is_dropped_unread() -> None:
    Watch.seconds = 4.9
    run(Hints(shell(hints=True)))
    assert [each.state for each in Watch.made] == ["abandoned"]


def test_a_hint_that_fails_costs_the_cell_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Watch) -> None:
        raise ValueError("broken")

    shown: list[Any] = []
    monkeypatch.setattr(hints, "display", lambda *each, **_: shown.append(each))
    monkeypatch.setattr(Watch, "stop", broken)
    run(Hints(shell(hints=True)))
    monkeypatch.setattr(Watch, "start", broken)
    run(Hints(shell(hints=True)))
    assert not shown


def test_unloading_ends_the_watch() -> None:
    made = Hints(shell(hints=True))
    made.pre_run_cell(SimpleNamespace(raw_cell="train()"))
    made.close()
    assert [each.state for each in Watch.made] == ["abandoned"]
