"""What was not judged, in a few lines."""

from __future__ import annotations

from gpuprof.report import Report
from gpuprof.rules.base.finding import Abstention
from gpuprof.views.abstentions import abstention_lines


def missing(rule: str, how: str) -> Abstention:
    return Abstention(rule, f"what {rule} needs", how)


MANY = (
    *(missing(name, "Profile the cell with `%%gpuprofile`; a trace has none.") for name in "abcdefgh"),
    *(missing(name, "Profile the cell with `%%gpuprofile --memory`.") for name in "ij"),
    missing("k", "Record longer (`%%gpuprofile --steps 200`)."),
    missing("l", "Load the folder of all ranks."),
)


def test_of_a_trace_from_elsewhere_by_what_would_record_it() -> None:
    assert abstention_lines(MANY, foreign=True) == [
        "`%%gpuprofile` records what is missing for a, b, c and 5 other rules.",
        "`%%gpuprofile --memory` records what is missing for i, j.",
        "Something else is missing for k, l.",
        "What each one needs: `gpuprof findings --json PATH`.",
    ]


def test_a_few_reasons_and_those_of_a_recording_are_said_in_full() -> None:
    said = abstention_lines(MANY, foreign=False)
    assert len(said) == 12
    assert said[-1] == "l: needs what l needs. Load the folder of all ranks."
    assert abstention_lines(MANY[-2:], foreign=True) == said[-2:]


def test_of_every_trace_it_takes_a_few_lines(any_shared_trace) -> None:  # type: ignore[no-untyped-def]
    abstained = Report.of(any_shared_trace).abstained
    assert len(abstention_lines(abstained, foreign=True)) <= 4
