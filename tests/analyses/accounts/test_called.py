"""Which call on a line can take the time that no function of Python was seen in."""

from __future__ import annotations

import pytest

from gpuprof.analyses.accounts.called import called_by_text


@pytest.mark.parametrize(
    ("line", "below", "named"),
    [
        ("index = torch.cat([index, encoder(bits)])", (), "torch.cat"),  # a model's code has lines of its own
        ("index = torch.cat([index, other(bits)])", (), ""),  # one or the other
        ("index = torch.cat([index, other(bits)])", ("other",), "torch.cat"),
        ("out = encoder(bits)", (), "encoder"),  # nothing else is there
        ("out = len(torch.unique(bits))", (), "torch.unique"),
        ("scores[row, index] = float('-inf')", (), ""),  # it is the assignment
        ("total += float(loss)", (), "float"),
        ("total += bits[len(index)] @ bits", (), ""),
        ("rows.append(1)", (), "rows.append"),
    ],
)
def test_the_one_call_that_is_built_in(line: str, below: tuple[str, ...], named: str) -> None:
    assert called_by_text(f"encoder = Encoder()\nindex = 0\n{line}\n", 3, below) == named
