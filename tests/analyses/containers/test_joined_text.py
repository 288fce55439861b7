"""How the text makes a tensor longer."""

from __future__ import annotations

import pytest

from gpuprof.analyses.containers.joined_text import JoinedText, joined_text

LOOP = "for x in xs:\n    {}\n"


def of(join: str, begin: str = "v = start()") -> JoinedText | None:
    return joined_text(f"{begin}\n{LOOP.format(join)}", (3,))


@pytest.mark.parametrize(
    ("join", "wanted"),
    [
        ("v = torch.cat([v, x])", JoinedText("v", "torch.cat", "", False, False)),
        ("v = torch.cat((v, x, y), dim=1)", JoinedText("v", "torch.cat", ", dim=1", False, False)),
        ("v = torch.cat(tensors=[x, v], dim=-1)", JoinedText("v", "torch.cat", ", dim=-1", True, False)),
        ("self.v = torch.vstack([x, self.v])", JoinedText("self.v", "torch.vstack", "", True, False)),
        ("v = x if v is None else torch.cat([v, x], 0)", JoinedText("v", "torch.cat", ", 0", False, False)),
        ("v = torch.cat([x, y, v])", None),
        ("v = torch.cat([x, v, y])", None),
        ("v = torch.cat([v, v])", None),
        ("v = torch.cat([v])", None),
        ("v = torch.cat(parts)", None),
        ("v = v + x", None),
        ("v = (", None),
    ],
)
def test_the_function_and_the_end(join: str, wanted: JoinedText | None) -> None:
    assert of(join) == wanted


@pytest.mark.parametrize(
    ("begin", "empty"),
    [
        ("v = torch.empty(0, 3)", True),
        ("v = torch.zeros((0,), device=d)", True),
        ("v = x.new_zeros(2, 0)", True),
        ("v = torch.tensor([])", True),
        ("v = torch.Tensor()", True),
        ("v = torch.empty(0).to(d)", True),
        ("v = x[:0]", True),
        ("v = None", True),
        ("u, v = 1, torch.empty(0, 3)", True),
        ("u, v = torch.empty(0, 3), x", False),
        ("v = torch.zeros(1, 3)", False),
        ("v = torch.tensor(0)", False),
        ("v = x[:1]", False),
        ("u, v = f()", False),
        ("pass", False),
    ],
)
def test_what_it_begins_with(begin: str, empty: bool) -> None:
    found = of("v = torch.cat([v, x])", begin)
    assert found is not None and found.empty is empty


@pytest.mark.parametrize(
    ("second", "agree"),
    [("w = torch.cat([w, y])", True), ("w = torch.cat([w, y], 1)", False), ("w = torch.cat([y, w])", False)],
)
def test_lines_that_differ_have_no_words_in_common(second: str, agree: bool) -> None:
    source = f"v, w = None, None\n{LOOP.format('v = torch.cat([v, x])')}    {second}\n"
    assert (joined_text(source, (3, 4)) is not None) is agree
