"""When a text takes single items of what it has collected, and nothing else."""

from __future__ import annotations

import pytest

from gpuprof.analyses.containers.chosen_items import ChosenItems, chosen_items

FILLED = """
kept = []
for epoch in range(60):
    loss = train()
    kept.append({"loss": loss, "model": copy.deepcopy(net.state_dict())})
"""


@pytest.mark.parametrize(
    ("reads", "calls"),
    [
        ('best = min(kept, key=lambda c: c["loss"])\nnet.load_state_dict(best["model"])', ("min(kept, …)",)),
        ("net.load_state_dict(kept[-1]['model'])", ("kept[-1]",)),
        ('best = sorted(kept, key=score)[0]\nnet.load_state_dict(best["model"])', ("sorted(kept, …)[0]",)),
        (
            'best = max(kept, key=score)\nlast = kept[-1]\nuse(best["model"], last["model"])\nprint(len(kept))',
            ("max(kept, …)", "kept[-1]"),
        ),
        (
            'best = min(kept, key=score)\nuse(best["model"])\nplot([c["loss"] for c in kept])',
            ("min(kept, …)",),
        ),
    ],
)
def test_one_is_taken(reads: str, calls: tuple[str, ...]) -> None:
    found = chosen_items(f"{FILLED}{reads}\n", "kept")
    assert found is not None and found.calls == calls
    assert min(found.lines) > 5


@pytest.mark.parametrize(
    "reads",
    [
        "",
        "print(len(kept))",
        "for each in kept:\n    evaluate(each['model'])",
        "average(kept)",
        "min(kept, other)",
        "best = min(kept, key=score)\nothers = kept[:5]",
        "best = min(kept, key=score)\nmodels = [c['model'] for c in kept]\nuse(best['model'])",
        "best = min(kept, key=score)\nsave(best)\nplot([c['loss'] for c in kept])",
        "use(min(kept, key=score)['model'])\nplot([c['loss'] for c in kept])",
        "first = sorted(kept)[:3]",
        "def f(:",
    ],
)
def test_all_may_be_read(reads: str) -> None:
    assert chosen_items(f"{FILLED}{reads}\n", "kept") is None


def test_lines_are_those_that_take() -> None:
    assert chosen_items("kept.append(1)\n\nx = kept[0]\n", "kept") == ChosenItems(("kept[0]",), (3,))
