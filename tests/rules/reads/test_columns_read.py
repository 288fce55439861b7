"""Which columns are read of a table that a call copies in full."""

from __future__ import annotations

import pytest

from gpuprof.analyses.lines.statements import expressions_at
from gpuprof.rules.reads.columns_read import columns_read


def read(first: str, *rest: str) -> tuple[str, ...] | None:
    """Of the call in the first line of a function with these lines."""
    source = "\n".join(("def once(table, seed):", *(f"    {each}" for each in (first, *rest)))) + "\n"
    found = [each.columns for each in columns_read(source, expressions_at(source, 2))]
    return found[0] if found else None


@pytest.mark.parametrize(
    ("lines", "columns"),
    [
        (("b = table.sample(9)", "return b.groupby('arm')['revenue'].mean()"), ("arm", "revenue")),
        (("b = table.sample(9)", "return b.groupby(['arm', 'day']).revenue.mean()"), ("arm", "day", "revenue")),
        (("b = table.sample(9)", "return b['x'].mean() / len(b)"), ("x",)),
        (("b = table.sample(9)", "return b[['x', 'y']].to_numpy(), b.index"), ("x", "y")),
        (("b = table.sample(9)", "return b.loc[b.x > 0, 'y'].sum()"), ("x", "y")),
        (("b = table.sample(9)", "return b[(b.x > 0) & ~b.late]['y'].sum()"), ("late", "x", "y")),
        (("b = table.sample(9)", "b['z'] = b['x'] * 2", "return b['z']"), ("x", "z")),
        (("b = table.sample(9)", "return b.groupby('arm').size(), b.x.sum()"), ("arm", "x")),
        (("return table.sample(9)['x'].mean()",), ("x",)),
        (("return table.sort_values('day').reset_index(drop=True)['x']",), ("day", "x")),
        (("return table.sort_values(by=['day', 'hour']).x.values",), ("day", "hour", "x")),
        (("b = self.table.copy()", "return b.x"), ("x",)),
        # of all columns, or of names that the text does not give
        (("b = table.sample(9)", "return b"), None),
        (("b = table.sample(9)", "return b.mean()"), None),
        (("b = table.sample(9)", "return b.values[:, 0]"), None),
        (("b = table.sample(9)", "return b[name]"), None),
        (("b = table.sample(9)", "return b[[*names]]"), None),
        (("b = table.sample(9)", "return b['x'], f(b)"), None),
        (("b = table.sample(9)", "return b.groupby('arm').mean()"), None),
        (("b = table.sample(9)", "return b.groupby(arm)['x'].mean()"), None),
        (("b = table.sample(9)", "return b.groupby('arm')"), None),
        (("b = table.sample(9)", "return b.loc[3]"), None),
        (("b = table.sample(9)", "b = b.x"), None),
        (("b = table.sample(9)", "return 1"), None),
        (("b, c = table.sample(9), 1", "return b['x']"), None),
        (("return table.sort_values(by)['x']",), None),
        (("return table.mean()['x']",), None),
        (("return table[0].copy()['x']",), None),
    ],
)
def test_columns(lines: tuple[str, ...], columns: tuple[str, ...] | None) -> None:
    assert read(*lines) == columns


def test_what_is_no_python_has_none() -> None:
    assert not list(columns_read("b = table.sample(", []))
