"""An advice of another tool, put beside the labels of the pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

LOADING = ("input_stall", "per_sample_fetch", "slow_transform")
SEVERITIES = ("low", "medium", "high")


@dataclass(frozen=True)
class Advice:
    """`name` as the tool calls it; `covers`: the labels that it is right about, the nearest first."""

    name: str
    covers: tuple[str, ...]
    severity: str = "medium"

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def with_advice(result: Mapping[str, Any], advice: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    """The result of a pair as if these advices (variant → advices) had been our findings, to be judged alike.

    Variants that the tool was not run on are left out, and so are cells that it could not run.
    """
    variants = {
        name: {**recorded, "lines_above": 0, "report": _report(result, name, recorded["report"], advice[name])}
        for name, recorded in result["variants"].items()
        if name in advice and "report" in recorded
    }
    return {**result, "variants": variants}


def _report(
    result: Mapping[str, Any], variant: str, report: Mapping[str, Any], advice: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    labelled = result["label"]["variants"][variant]["rules"]
    findings = [
        {
            "rule": _nearest(each["covers"], labelled),
            "severity": each["severity"],
            "where": {"lines": []},
            "saving": None,
        }
        for each in advice
    ]
    return {**report, "findings": findings, "abstained": []}


def _nearest(covers: Sequence[str], labelled: Sequence[str]) -> str:
    return next((rule for rule in covers if rule in labelled), covers[0])
