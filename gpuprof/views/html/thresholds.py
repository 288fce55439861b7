"""The appendix: every rule, what it came to in this run, and its thresholds with their reasons."""

from __future__ import annotations

from gpuprof.report import Report
from gpuprof.rules.documentation import sections
from gpuprof.rules.registry import all_rules
from gpuprof.views.html.blocks import Cell, TableBlock


def table(report: Report) -> TableBlock:
    """One row a threshold; a rule without one has a row of its own."""
    found = {finding.rule: f"finding {number}" for number, finding in reversed([*enumerate(report.findings, 1)])}
    abstained = {each.rule for each in report.abstained}
    rows: list[tuple[str | Cell, ...]] = []
    for rule in all_rules():
        came_to = found.get(rule.name) or ("not judged" if rule.name in abstained else "nothing found")
        summary = sections(rule)[0].rstrip(".")
        known = rule.thresholds() or [("–", None, "no threshold: it is so or it is not")]
        for row, (name, value, reason) in enumerate(known):
            head = (f"{rule.name}: {summary}", came_to) if row == 0 else ("", "")
            rows.append((*head, name, Cell("" if value is None else f"{value:g}", value), reason))
    note = (
        "A threshold ends with its unit; a share is of 1. Nothing found: the rule could judge, and nothing passed its "
    )
    note += "thresholds, or another finding is the cause of the same time."
    return TableBlock(
        "Every rule and its thresholds", ("rule", "in this run", "threshold", "value", "why"), tuple(rows), note
    )
