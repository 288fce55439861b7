"""The pages of the rules: their parts in order, whole."""

from __future__ import annotations

import pytest

from gpuprof.errors import UsageError
from gpuprof.rules.base.rule import HEADINGS
from gpuprof.rules.documentation import describe_rules, explain, page, rules_as_dicts, rules_table
from gpuprof.rules.registry import all_rules, rule


def test_a_page_has_its_parts_in_order() -> None:
    known = rule("graph_breaks")
    lines = page(known).splitlines()
    headings = [line.removeprefix("## ") for line in lines if line.startswith("## ")]
    assert headings == [*HEADINGS, "Thresholds"]
    assert lines[:3] == ["# graph_breaks", "", known.sections()[0]]
    assert lines[-4:] == [
        "| threshold | value | why |",
        "|---|---|---|",
        "| `pieces` | 2 | compiled pieces a step: with one alone nothing was broken in what the steps run |",
        "| `many_pieces` | 10 | compiled pieces a step: then little is left to fuse |",
    ]


def test_the_same_as_plain_text() -> None:
    told = explain("graph_breaks")
    assert told.startswith(f"graph_breaks: {rule('graph_breaks').sections()[0]}\n\nWhat it finds\n    ")
    assert told.endswith(
        "\nThresholds\n    pieces = 2\n"
        "        compiled pieces a step: with one alone nothing was broken in what the steps run\n"
        "    many_pieces = 10\n        compiled pieces a step: then little is left to fuse\n"
    )
    with pytest.raises(UsageError, match="there is no rule 'nothing'; the rules are activations_dominate_peak, "):
        explain("nothing")


def test_what_a_rule_yields_to_is_said() -> None:
    yielding = next(each for each in all_rules() if each.yields_to)
    named = ", ".join(yielding.yields_to)
    assert page(yielding).endswith(f": `{'`, `'.join(yielding.yields_to)}`.\n")
    assert explain(yielding.name).endswith(f"\nYields to\n    {named}\n")


def test_a_rule_without_thresholds_has_no_table() -> None:
    bare = next(each for each in all_rules() if not each.thresholds())
    assert "Thresholds" not in page(bare) and "Thresholds" not in explain(bare.name)


def test_every_rule_is_in_the_lists() -> None:
    rules = all_rules()
    table, told, dicts = rules_table().splitlines(), describe_rules().splitlines(), rules_as_dicts()
    assert table[:4] == ["# Rules", "", "| rule | finds |", "|---|---|"]
    assert table[4:] == [f"| [`{each.name}`]({each.name}.md) | {each.sections()[0]} |" for each in rules]
    width = max(len(each.name) for each in rules)
    assert told == [f"{each.name:<{width}}  {each.sections()[0]}" for each in rules]
    assert [each["rule"] for each in dicts] == [each.name for each in rules]
    for each, known in zip(dicts, rules, strict=True):
        assert each["sections"] == known.sections()[1] and each["yields_to"] == list(known.yields_to)
        assert [tuple(one.values()) for one in each["thresholds"]] == known.thresholds()
