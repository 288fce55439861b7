"""Places of arguments are those of torch's own schemas."""

from __future__ import annotations

import pytest
import torch

from gpuprof.model.known_operators import (
    ATTENTION_BACKWARDS,
    ATTENTION_FORWARDS,
    CONVOLUTION_BACKWARDS,
    CONVOLUTION_FORWARDS,
)


def arguments(name: str) -> list[str]:
    return [each.name for each in getattr(torch.ops.aten, name.removeprefix("aten::")).default._schema.arguments]


@pytest.mark.parametrize(("name", "place"), [*ATTENTION_FORWARDS.items(), *ATTENTION_BACKWARDS.items()])
def test_attention_says_there_whether_it_is_causal(name: str, place: int) -> None:
    assert arguments(name)[place] == "is_causal"
    assert [each[:1] for each in arguments(name)[name in ATTENTION_BACKWARDS :][:3]] == ["q", "k", "v"]


@pytest.mark.parametrize("name", sorted(CONVOLUTION_FORWARDS))
def test_convolutions_have_these_arguments(name: str) -> None:
    assert arguments(name)[:7] == ["input", "weight", "bias", "stride", "padding", "dilation", "transposed"]


@pytest.mark.parametrize("name", sorted(CONVOLUTION_BACKWARDS))
def test_gradients_of_convolutions_have_these_arguments(name: str) -> None:
    found = arguments(name)
    assert found[:3] == ["grad_output", "input", "weight"]
    assert (found.index("transposed"), found.index("output_mask")) == (7, 10)
