"""Deques, columns and parts of items: what more the table of operations knows of names."""

from __future__ import annotations

import pytest
from msgspec import structs

from gpuprof.model.operands import Operand
from tests.rules.cases.host.whole_collection_per_item import SOURCE, lookups, operand
from tests.rules.host.test_operations import ARRAY, LIST, TABLE, of_all, told

DEQUE = "collections.deque"


@pytest.mark.parametrize(
    ("line", "over", "told_of"),
    [
        ("return random.sample(memory, 32)", operand("memory", DEQUE, 9000), True),
        ("return [memory[i] for i in picked]", operand("memory", DEQUE, 9000), True),
        ("return random.choice(memory)", operand("memory", DEQUE, 9000), True),
        ("return memory[0], memory[-1]", operand("memory", DEQUE, 9000), False),
        ("return random.sample(memory, 32)", operand("memory", DEQUE, 900), False),
        ("return random.sample(memory, 32)", operand("memory", LIST, 9000), False),
        ("return [memory[i] for i in picked]", operand("memory", DEQUE, 9000, same=False), False),
    ],
)
def test_places_in_the_middle_of_a_deque(line: str, over: Operand, told_of: bool) -> None:
    found = of_all(line, over)
    assert (found is not None) is told_of
    if found is not None:
        assert found.title.startswith("A deque of 9,000 items is read at random positions")
        assert "ring buffer" in found.change


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("return table[table.user == user]", "`user`"),
        ("return table[table['shop'] == user]", "`shop`"),
        ("return table[(user == table['shop']) & (table.day >= 3)]", "`shop`"),
        ("return table[(table.user == user) & (table.day == 3)]", "that key"),
        ("return table[table.values == user]", "that key"),
        ("return table[other.user == user]", ""),
    ],
)
def test_the_column_to_group_by_is_named(line: str, key: str) -> None:
    found = of_all(line, operand("table", TABLE, 5000))
    assert (found is not None) is bool(key)
    assert found is None or f"Group `table` by {key} once" in found.change


@pytest.mark.parametrize(
    ("line", "told_of"),
    [
        ("x = torch.tensor([row['wave'] for row in rows])", True),
        ("x = torch.tensor([row['label'] for row in rows])", False),
        ("x = torch.tensor([row['other'] for row in rows])", False),
        ("x = torch.tensor([row[1] for row in rows])", True),
        ("x = torch.tensor([row[0] for row in rows])", False),
        ("x = torch.tensor([wave for label, wave in rows])", True),
        ("x = torch.tensor([label for label, wave in rows])", False),
        ("x = torch.tensor([wave for *label, wave in rows])", False),
        ("x = torch.tensor([other['wave'] for row in rows])", False),
    ],
)
def test_arrays_that_are_parts_of_the_items(line: str, told_of: bool) -> None:
    parts = (("'wave'", ARRAY), ("'label'", "builtins.int"), ("0", "builtins.int"), ("1", ARRAY))
    over = structs.replace(operand("rows", LIST, 256, same=False), items="builtins.tuple", parts=parts)
    source = SOURCE.replace(SOURCE.splitlines()[1], f"    {line}")
    assert (told("costly_call_per_item", lookups(source=source, over=over)) is not None) is told_of
