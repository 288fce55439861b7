"""A person's own questions, on runs whose answer is known."""

from __future__ import annotations

import math
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.errors import UsageError
from gpuprof.whatif.questions import Question, parts_of
from tests.support.trace_builder import TraceBuilder
from tests.whatif.programs import Program, run

PAGE = Path(__file__).resolve().parents[2] / "docs" / "asking-what-if.md"
STEP: Program = [("work", 300), ("kernel", 7, 300), ("sync_all",)]


def refused(results: Results, asked: Question) -> str:
    with pytest.raises(UsageError) as error:
        parts_of(results, asked)
    return str(error.value)


def test_each_part_has_its_words() -> None:
    asked = Question(kernel_time={"k*": 0.5, "k": 2.0}, no_waits=True)
    words = [part.words for part in parts_of(Results(run(STEP * 10)), asked)]
    assert words == [
        "kernels named k* in 50 % of their time",
        "kernels named k in 200 % of their time",
        "without waits of the host for the device",
    ]


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (Question(), "nothing is asked"),
        (Question(kernel_time={"gemm*": 0.5}), "no kernel of this run is named 'gemm*'; those that take most time: k"),
        (Question(without_lines=(3,)), "no line was followed"),
        (Question(data_ready=True), "no wait for a DataLoader was recorded"),
        (Question(pinned_copies=True), "no copy from pageable memory"),
        (Question(link_speedup=2), "no collective was recorded"),
    ],
)
def test_what_a_run_cannot_be_asked_is_one_line(asked: Question, why: str) -> None:
    said = refused(Results(run(STEP * 10)), asked)
    assert said.startswith("whatif: ") and why in said and "\n" not in said


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"kernel_time": {"k": -1}}, "kernel_time of 'k' is -1; expected a factor of 0 or more"),
        ({"kernel_time": {"k": math.nan}}, "expected a factor of 0 or more"),
        ({"kernel_time": {"k": math.inf}}, "expected a factor of 0 or more"),
        ({"kernel_time": {"k": "0.5"}}, "kernel_time of 'k' is '0.5'; expected a factor"),
        ({"kernel_time": {7: 0.5}}, "kernel_time of 7 is 0.5; expected a factor"),
        ({"kernel_time": "*gemm*"}, """kernel_time is '*gemm*'; expected names and factors: {"*gemm*": 0.5}"""),
        ({"without_lines": 12}, "without_lines is 12; expected numbers of lines, such as [12]"),
        ({"without_lines": "12"}, "without_lines is '12'; expected numbers of lines"),
        ({"without_lines": [1.5]}, "without_lines is [1.5]; expected numbers of lines"),
        ({"link_speedup": 0}, "link_speedup is 0; expected a number above 0"),
        ({"link_speedup": math.inf}, "expected a number above 0"),
        ({"link_speedup": True}, "link_speedup is True; expected a number above 0"),
    ],
)
def test_what_is_no_question_is_one_line(given: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError) as error:
        Question(**given)
    assert str(error.value).startswith("whatif: ") and why in str(error.value) and "\n" not in str(error.value)


def test_numbers_of_numpy_are_numbers() -> None:
    given: dict[str, Any] = {"kernel_time": {"k": np.float32(0.5)}, "link_speedup": np.int64(2)}
    asked = Question(**given, without_lines=range(2, 4))
    assert asked.kernel_time["k"] == 0.5 and list(asked.without_lines) == [2, 3]


@pytest.mark.parametrize("asked", [Question(pinned_copies=True), Question(no_waits=True), Question(link_speedup=3)])
def test_questions_about_a_device_need_one(asked: Question) -> None:
    assert "no device was recorded" in refused(Results(TraceBuilder().operator("aten::mm", 0, 10).build()), asked)


def test_a_line_that_did_not_run_is_named_with_those_that_did() -> None:
    builder = TraceBuilder().line(2, 0).operator("aten::mm", 0, 10).line(4, 10).operator("aten::mm", 10, 10)
    assert "line 3 did not run while the cell was recorded; lines that did: 2, 4" in refused(
        Results(builder.build()), Question(without_lines=(2, 3))
    )


def test_of_a_host_the_time_that_each_part_concerns_is_told() -> None:
    # GIVEN two operators of two lines, one within the other's name pattern
    builder = TraceBuilder().line(2, 0).operator("aten::mm", 0, 10).line(4, 10).operator("aten::add", 10, 30)
    results = Results(builder.build())
    halved, gone = parts_of(results, Question(kernel_time={"aten::mm": 0.5}, without_lines=(4,)))[::-1]
    # THEN
    assert (halved.host.total_ns, halved.left) == (10_000, 0.5)
    assert (gone.host.starts[0] - results.span_start_ns, gone.left) == (10_000, 0.0)


def test_the_page_asks_every_question() -> None:
    page = PAGE.read_text()
    rows = re.findall(r"^\| `(\w+)=(.+?)` \|", page, re.MULTILINE)
    assert {name for name, _ in rows} == {each.name for each in fields(Question)}
    calls = re.findall(r"run\.whatif\((.+?)\)$", page, re.MULTILINE) + re.findall(r"`run\.whatif\((.+?)\)`", page)
    assert len(calls) >= 2
    for given in (*(f"{name}={value}" for name, value in rows), *calls):
        assert isinstance(eval(f"Question({given})"), Question)
