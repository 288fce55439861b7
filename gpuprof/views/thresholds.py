"""The appendix: every rule, what it came to in this run, and its thresholds with their reasons."""

from __future__ import annotations

from gpuprof.report import Report
from gpuprof.rules.registry import all_rules
from gpuprof.views.blocks import TableBlock, TableCell

_HEADS = ("rule", "in this run", "threshold", "value", "why")
_NOTE = (
    "A threshold ends with its unit; a share of 1 is all of it. Nothing found: the rule judged, and nothing passed "
    "its thresholds, or another finding is the cause of the same time. %gpuexplain prints the page of a rule."
)


def table(report: Report) -> TableBlock:
    """One row a threshold; a rule without one has a row of its own."""
    found = {finding.rule: f"finding {number}" for number, finding in reversed([*enumerate(report.findings, 1)])}
    abstained = {each.rule for each in report.abstained}
    rows: list[tuple[str | TableCell, ...]] = []
    for rule in all_rules():
        came_to = found.get(rule.name) or ("not judged" if rule.name in abstained else "nothing found")
        for name, value, reason in rule.thresholds() or [("–", None, "none: it is so or it is not")]:
            rows.append((rule.name, came_to, name, TableCell("" if value is None else f"{value:g}", value), reason))
    return TableBlock("Every rule and its thresholds", _HEADS, tuple(rows), _NOTE)
