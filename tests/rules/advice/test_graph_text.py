"""The state that a loop carries from turn to turn, and derivatives that need a graph, by the text."""

import pytest

from gpuprof.rules.advice.graph_text import CarriedState, carried_behind, carried_into, derives

ROLLOUT = """
def rollout(model, z, steps):
    path = [z]
    for _ in range(steps):
        z = model(z)
        path.append(z)
    return torch.stack(path)
"""


def test_each_result_is_computed_from_the_one_before() -> None:
    assert carried_into(ROLLOUT, "path") == CarriedState("z", 5)
    assert carried_into(ROLLOUT.replace("append(z)", "append(energy(z).mean())"), "path") == CarriedState("z", 5)
    assert carried_into(ROLLOUT.replace("z = model(z)", "y, z = model(z, 1)"), "path") == CarriedState("z", 5)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("z = model(z)", "z = model(z.detach())"),
        ("z = model(z)", "z = model(x)"),
        ("z = model(z)", "y = model(z)"),
        ("append(z)", "append(loss)"),
        ("path.append", "other.append"),
    ],
)
def test_results_that_have_nothing_to_do_with_each_other(old: str, new: str) -> None:
    assert old in ROLLOUT and carried_into(ROLLOUT.replace(old, new), "path") is None


def test_what_is_no_text() -> None:
    assert carried_into("for x in (", "path") is None and not derives("for x in (")


def test_derivatives() -> None:
    assert derives("dH = torch.autograd.grad(h.sum(), z)[0]") and derives("jacobian(f, x)")
    assert not derives("loss.backward()\ngrad = w.grad")


def test_what_a_function_gives_from_such_a_list() -> None:
    assert carried_behind(ROLLOUT + "pred = rollout(net, start, 60)", "pred") == CarriedState("z", 5)
    assert carried_behind(ROLLOUT + "pred = other(net, start, 60)", "pred") is None
