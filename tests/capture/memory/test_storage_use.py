"""What names hold beyond what they show: storage behind views, copies of parameters."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from gpuprof.capture.memory.tensor_references import held_tensors
from gpuprof.model.memory import HeldTensors

MIB = 1 << 20


def row(name: str, **namespace: Any) -> HeldTensors:
    return next(each for each in held_tensors(namespace, "train()") if each.name == name)


def hidden() -> torch.Tensor:
    return torch.zeros(64, 64, 256)


def test_small_views_keep_what_nothing_shows() -> None:
    found = row("kept", kept=[hidden()[:, 0] for _ in range(3)])
    assert (found.bytes, found.unseen_bytes) == (12 * MIB, 12 * MIB - 3 * MIB // 16)


@pytest.mark.parametrize(
    "kept",
    [
        lambda: [hidden()[:, 0].clone() for _ in range(32)],
        lambda: [hidden() for _ in range(3)],
        lambda: [hidden()[:40]],
        lambda: [hidden().transpose(0, 1).contiguous()[:1].expand(64, 64, 256)],
    ],
    ids=["copies", "wholes", "most of it", "expanded"],
)
def test_what_is_shown_for_the_most_part(kept: Any) -> None:
    found = held_tensors({"kept": kept()}, "train()")
    assert [each.unseen_bytes for each in found] == [0] * len(found)


def test_what_another_name_shows_is_needed() -> None:
    whole = hidden()
    assert row("part", part=whole[:, 0], whole=whole).unseen_bytes == 0


def test_a_view_with_a_graph_needs_what_the_graph_keeps() -> None:
    whole = hidden().requires_grad_()
    assert row("part", part=(whole * 2)[:, 0]).unseen_bytes == 0


def test_parts_of_one_storage_add_up() -> None:
    whole = hidden()
    assert row("parts", parts=list(whole.split(8))).unseen_bytes == 0
    whole = hidden()
    assert row("parts", parts=list(whole.split(8))[:2]).unseen_bytes == 3 * MIB


def net() -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.Linear(512, 512))


def state(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {name: each.detach().clone() for name, each in model.state_dict().items()}


def test_copies_of_the_parameters_are_counted() -> None:
    model = net()
    found = row("snapshots", model=model, snapshots=[state(model) for _ in range(5)])
    assert (found.copies, found.copied_bytes) == (5, 5 * 2 * 4 * (512 * 512 + 512))
    assert row("model", model=model).copies == 0


def test_part_of_the_parameters_is_no_copy() -> None:
    model = net()
    some = [{"0.weight": each["0.weight"]} for each in (state(model) for _ in range(5))]
    assert row("some", model=model, some=some).copies == 0
    assert row("snapshots", snapshots=[state(model) for _ in range(5)]).copies == 0
