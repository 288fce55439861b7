from __future__ import annotations

import pytest

from gpuprof.analyses.training.measuring_lines import lines_that_measure

SOURCE = """%%time
features = []
with torch.no_grad():
    for x, _ in loader:
        features.append(net(x))
head = fit(features)
for x, y in loader:
    out = head(x)
    correct += (out.argmax(1) == y).sum()
for step in range(9):
    if step % every == 0:
        answers = net(x)
    total = step
for x, y in loader:
    out = net(x)
    criterion(out, y).backward()
"""


def test_a_block_measures_that_has_a_measure_and_trains_nothing() -> None:
    found = lines_that_measure(SOURCE)
    assert found is not None
    assert {7, 8, 9} <= found and found.isdisjoint({2, 3, 4, 5, 6, 10, 11, 12, 13, 14})


def test_what_is_measured_later_is_measured() -> None:
    assert lines_that_measure("with no_grad():\n    preds.append(f(x))\nshow(accuracy(preds, y))\n") == {2, 3}
    assert lines_that_measure("z = embed(x)\nloss, acc = probe(z, y)\n") == {2}
    assert lines_that_measure("out = f(x)\nassert (out == y).all()\nsame = out == y\n") == {1, 3}


@pytest.mark.parametrize("compared", ["step % 10 == 0", "mode == 'x'", "self.a == self.b"])
def test_not_everything_that_is_compared_is_a_result(compared: str) -> None:
    assert lines_that_measure(f"flag = {compared}\n") == frozenset()


def test_to_set_a_mode_measures_nothing() -> None:
    assert lines_that_measure("def embed(x):\n    model.eval()\n    return model(x)\n") == frozenset()
    assert lines_that_measure("metric.update(out, y)\nevaluate(model)\n") == {1, 2}


@pytest.mark.parametrize("source", ["", "def broken(:", "\0", "%%time"])
def test_of_a_source_that_is_none_nothing_is_known(source: str) -> None:
    assert lines_that_measure(source) is None
