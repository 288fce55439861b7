"""What checks that a switch turns off take of a cell."""

from __future__ import annotations

import sysconfig

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.run.switchable_checks import CheckSource, CheckTime, SwitchableChecks
from gpuprof.model.context import Cell
from tests.support.trace_builder import CELL_FILE, TraceBuilder

TORCH = f"{sysconfig.get_paths()['purelib']}/torch"
MADE = (f"{TORCH}/distributions/distribution.py", "Distribution.__init__", 60)
BOUND = (f"{TORCH}/distributions/constraints.py", "_PositiveDefinite.check", 9)
SAMPLED = (f"{TORCH}/distributions/normal.py", "Normal.rsample", 9)
FORMATS = (f"{TORCH}/fx/traceback.py", "format_stack", 300)


def line(number: int) -> tuple[str, str, int]:
    return CELL_FILE, "<module>", number


def checks(builder: TraceBuilder) -> tuple[CheckTime, ...]:
    built = builder.context(cell=Cell(source="\n" * 9, filename=CELL_FILE)).build()
    return Results(built).get(SwitchableChecks).found


def test_each_has_its_time_its_share_and_its_lines() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 1000)
    builder.stack(0, 200, line(2), MADE).stack(200, 100, line(3), MADE, BOUND).stack(300, 20, line(4), MADE)
    builder.stack(320, 180, line(2), SAMPLED).stack(500, 100, line(5), FORMATS).stack(600, 400, line(5))
    longest, other = checks(builder)
    assert (longest.check, longest.ns, longest.lines) == (CheckSource.DISTRIBUTIONS, 320_000, (2, 3))
    assert longest.share == pytest.approx(0.32)
    assert (other.check, other.ns, other.lines) == (CheckSource.ANOMALY, 100_000, (5,))


def test_code_of_the_user_below_a_check_is_the_users() -> None:
    """A distribution of the user's own is made in a constraint of torch's."""
    builder = TraceBuilder().operator("aten::mm", 0, 100).stack(0, 100, line(2), MADE, line(7))
    assert not checks(builder)


def test_a_cell_that_was_not_sampled_has_none() -> None:
    assert not checks(TraceBuilder().operator("aten::mm", 0, 100))
