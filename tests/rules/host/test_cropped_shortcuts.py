"""Work on all of an array of which a part is taken: what it says, and where the part is too large to tell."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs

from gpuprof.analyses.basics.result import Results
from gpuprof.model.operands import Operand, Operands
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.registry import rule
from tests.rules.cases.host.costly_call_per_item import calls
from tests.support.trace_builder import CELL_FILE

SOURCE = """for photo in photos:
    {work}
    {part}
    model(patch)
    print(patch)
"""
POWER = (f"{CELL_FILE}", "<module>", 2)


def told(
    seen: tuple[Operand, ...], *, work: str = "x = np.power(photo, 0.8)", part: str = "patch = x[a:a + 96, b:b + 96]"
) -> Finding | None:
    trace = calls(500, POWER, source=SOURCE.format(work=work, part=part), line=2)
    trace = replace(trace, context=structs.replace(trace.context, operands=Operands(looks=9, seen=seen)))
    answer = rule("costly_call_per_item").judge(Results(trace))
    assert answer is None or isinstance(answer, Finding)
    return answer


def array(name: str, least: int, most: int, length: int) -> Operand:
    return Operand(
        file=CELL_FILE,
        first=1,
        last=5,
        name=name,
        kind="numpy.ndarray",
        looks=9,
        same=False,
        least=length,
        most=length,
        fewest_elements=least,
        most_elements=most,
    )


PHOTO = array("photo", 196_608, 196_608, 256)
PATCH = array("patch", 27_648, 27_648, 96)


def test_by_the_sizes_of_both() -> None:
    found = told((PHOTO, PATCH))
    assert found is not None and found.severity is Severity.HIGH
    assert found.title == "`np.power` works on all of `photo`, of which a part is taken afterwards: 50 % of the cell"
    assert found.change.startswith("Take the part first, and compute on that alone: `photo[a:a + 96, b:b + 96]`")
    assert "Line 3 takes it afterwards." in found.change
    assert found.saving is not None and found.saving.central_ns == pytest.approx(0.5e9 * 6 / 7, rel=0.01)


def test_by_the_length_of_the_part_where_its_size_was_not_seen() -> None:
    found = told((PHOTO,))
    assert found is not None and found.saving is not None
    assert found.saving.central_ns == pytest.approx(0.5e9 / 2, rel=0.01)


def test_a_name_that_stands_for_both() -> None:
    whole = {"work": "photo = np.power(photo, 0.8)", "part": "photo = photo[a:a + 96, b:b + 96]"}
    both = structs.replace(array("photo", 27_648, 196_608, 256), least=96)
    assert told((both,), **whole) is not None
    # photos of several sizes, and a part of nearly all
    assert told((both,), **(whole | {"part": "photo = photo[2:-2]"})) is None


@pytest.mark.parametrize(
    "seen",
    [
        (array("photo", 27_648, 196_608, 150), PATCH),  # some photos are no larger
        (array("photo", 40_000, 40_000, 150), PATCH),
        (),
        (structs.replace(PHOTO, kind="builtins.list"), PATCH),
    ],
)
def test_where_the_part_is_most_of_it_or_nothing_is_known(seen: tuple[Operand, ...]) -> None:
    assert told(seen) is None


def test_what_needs_its_neighbours() -> None:
    assert told((PHOTO, PATCH), work="x = gaussian_filter(photo, 3)") is None
