"""What one iteration of a written loop leaves to the next."""

from __future__ import annotations

import pytest

from gpuprof.analyses.loops.carried_names import carried_names


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("h = f(x[t], h)", ("h",)),
        ("g = d[t] + a * g * m[t]\n  out.append(g)", ("g",)),
        ("x = x + dt * f(x)", ("x",)),
        ("d[t] = d[t - 1] + c[t]", ("d",)),
        ("k = order[0]\n  order = order[order != k]", ("order",)),
        ("d[t] = c[t]\n  d[t - 1] = 0\n  e[t] = f(d[t])", ()),
        ("x += dt * f(x)", ("x",)),
        ("n = n + x[t].item()", ()),
        ("n += x[t].item()", ()),
        ("b = x[t]\n  kept[t] = b\n  n += b.item()", ()),
        ("best = max(best, x[t].item())", ()),
        ("rows = torch.cat([rows, x[t]])", ()),
        ("v = x[i].item()\n  i += 1", ()),
        ("if x[t] > 0:\n    n += 1", ()),
    ],
)
def test_a_recurrence_is_told_from_what_only_gathers(body: str, names: tuple[str, ...]) -> None:
    assert carried_names(f"for t in range(n_t):\n  {body}\n", 1) == names


def test_the_condition_of_a_while_loop_is_read_each_time() -> None:
    assert carried_names("while err > 1e-3:\n  err = f(x).item()\n", 1) == ("err",)


def test_comprehensions_carry_nothing_and_other_lines_are_no_loop() -> None:
    assert carried_names("y = [f(v) for v in x]\n", 1) == ()
    assert carried_names("y = f(x)\n", 1) is None
    assert carried_names("for x in\n", 1) is None
