"""Signals are found by scan, and run together."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gpuprof.capture.base.signal import Signal, WatchedCell
from gpuprof.capture.session.signals import Signals, all_signals
from gpuprof.model.context import RunContext

HEARD: list[str] = []


class Early(Signal):
    field = "garbage"
    ends_first = True

    def tick(self, resident_bytes: int) -> None:
        HEARD.append("early looks")

    def end(self) -> None:
        HEARD.append("early ends")

    def facts(self) -> str:
        return "early"


class Late(Signal):
    field = "held"

    def begin(self) -> None:
        HEARD.append(f"late begins in {self.cell.source}")

    def after_step(self, optimizer: Any, times: int) -> None:
        HEARD.append(f"step {times}")

    def end(self) -> None:
        HEARD.append("late ends")
        raise RuntimeError("its own fault")

    def facts(self) -> str:
        return "late"

    def notes(self) -> tuple[str, ...]:
        return ("a doubt",)


def test_every_signal_fills_a_field_of_its_own() -> None:
    fields = [kind.field for kind in all_signals()]
    assert {"allocators", "compiling", "compositions", "garbage", "held", "loadings", "operands", "step_memory"} <= set(
        fields
    )
    assert len(set(fields)) == len(fields)
    assert set(fields) <= {field.name for field in msgspec.structs.fields(RunContext)}


def test_signals_begin_are_told_of_steps_and_end_in_two_parts() -> None:
    HEARD.clear()
    signals = Signals(WatchedCell(source="the cell"), (Early, Late))
    signals.begin()
    signals.after_step(None, 3)
    signals.tick(0)
    signals.end(first=True)
    with pytest.raises(RuntimeError, match="its own fault"):
        signals.end(first=False)
    assert HEARD == ["late begins in the cell", "step 3", "early looks", "early ends", "late ends"]
    assert signals.facts() == {"garbage": "early", "held": "late"}
    assert signals.notes == ("a doubt",)


def test_what_finds_nothing_in_iterations_is_not_called_in_them() -> None:
    class Idle(Late):
        def begin(self) -> None:
            self.follows_iterations = False

    HEARD.clear()
    signals = Signals(WatchedCell(), (Early, Idle))
    signals.begin()
    signals.after_step(None, 3)
    signals.tick(0)
    assert HEARD == ["early looks"]


def test_giving_up_ends_all_whatever_one_of_them_raises() -> None:
    HEARD.clear()
    Signals(WatchedCell(), (Late, Early)).abandon()
    assert HEARD == ["late ends", "early ends"]
