"""A rule's page, made from its own docstring and thresholds."""

from __future__ import annotations

from typing import Any

from gpuprof.rules.base.rule import Rule
from gpuprof.rules.registry import all_rules
from gpuprof.rules.registry import rule as rule_named


def page(rule: Rule) -> str:
    """The rule's page in Markdown."""
    summary, parts = rule.sections()
    lines = [f"# {rule.name}", "", summary, ""]
    for heading, prose in parts.items():
        lines += [f"## {heading}", "", prose, ""]
    if rule.thresholds():
        lines += ["## Thresholds", "", "| threshold | value | why |", "|---|---|---|"]
        lines += [f"| `{name}` | {value:g} | {reason} |" for name, value, reason in rule.thresholds()]
        lines.append("")
    if rule.yields_to:
        causes = ", ".join(f"`{name}`" for name in rule.yields_to)
        lines += [f"Says nothing where one of these found the cause of the same time: {causes}.", ""]
    return "\n".join(lines).rstrip() + "\n"


def explain(name: str) -> str:
    """A rule's page as plain text; UsageError where there is no such rule."""
    rule = rule_named(name)
    summary, parts = rule.sections()
    lines = [f"{rule.name}: {summary}", ""]
    for heading, prose in parts.items():
        lines += [heading, *(f"    {line}".rstrip() for line in prose.splitlines()), ""]
    if rule.thresholds():
        lines.append("Thresholds")
        for field, value, reason in rule.thresholds():
            lines += [f"    {field} = {value:g}", f"        {reason}"]
        lines.append("")
    if rule.yields_to:
        lines += ["Yields to", f"    {', '.join(rule.yields_to)}", ""]
    return "\n".join(lines).rstrip() + "\n"


def rules_table() -> str:
    """The table of all rules in Markdown, one line a rule."""
    rows = [f"| [`{rule.name}`]({rule.name}.md) | {rule.sections()[0]} |" for rule in all_rules()]
    return "\n".join(["# Rules", "", "| rule | finds |", "|---|---|", *rows]) + "\n"


def describe_rules() -> str:
    """The rules as plain text, one line a rule."""
    width = max((len(rule.name) for rule in all_rules()), default=0)
    return "".join(f"{rule.name:<{width}}  {rule.sections()[0]}\n" for rule in all_rules())


def rules_as_dicts() -> list[dict[str, Any]]:
    """The rules for JSON: name, summary, sections by heading, thresholds, and what it yields to."""
    return [
        {
            "rule": rule.name,
            "summary": rule.sections()[0],
            "sections": rule.sections()[1],
            "thresholds": [{"name": n, "value": value, "reason": reason} for n, value, reason in rule.thresholds()],
            "yields_to": list(rule.yields_to),
        }
        for rule in all_rules()
    ]
