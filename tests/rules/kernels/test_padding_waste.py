"""Batches that no loader made: their padding by the close look."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.kinds import ZeroPattern
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.registry import rule
from tests.rules.cases.kernels.padding_waste import _steps, looked


def check(trace: Trace) -> Finding | Abstention | None:
    return rule("padding_waste").check(Results(trace))


def found(trace: Trace) -> Finding:
    answer = check(trace)
    assert isinstance(answer, Finding)
    return answer


def plain(text: str) -> str:
    return text.replace("\xa0", " ").replace("\u202f", " ")


def test_a_fixed_length() -> None:
    finding = found(looked(0.6, 90))
    assert plain(finding.title) == "60 % of the positions in the batches at line 3 are padding"
    assert "In 3 batches of up to 32×300 positions 60 % lie beyond the longest sequence" in plain(finding.explanation)
    assert "The batch is made at line 2." in finding.explanation
    assert finding.where.lines == (2, 3) and finding.severity is Severity.HIGH
    assert finding.evidence["padding_share"] == 0.6 and finding.evidence["operator_share"] == 0.9
    assert "`ids[:, :longest]`), unless layers depend on the length" in finding.change
    assert finding.saving is not None and finding.saving.central_ns == pytest.approx(0.6 * 0.9 * 1_000_000, rel=0.01)


def test_sequences_that_differ_in_length() -> None:
    finding = found(looked(0.6, pattern=ZeroPattern.PADDED_ROWS))
    assert "differ much in length" in finding.explanation and finding.change.startswith("Sort the sequences")
    assert "`ids[:, :longest]`), unless layers depend on the length" in finding.change


@pytest.mark.parametrize(("padded", "layer_us"), [(0.19, 90), (0.6, 5)])
def test_too_little_padding_or_too_little_that_works_on_it(padded: float, layer_us: float) -> None:
    assert check(looked(padded, layer_us)) is None


def test_what_a_loader_is_known_to_give_is_known_better() -> None:
    assert check(looked(0.6, loader=True)) is None


def test_the_batches_of_a_loader_are_cut_only_where_no_layer_depends_on_the_length() -> None:
    change = found(_steps(4000)).change
    assert "`batch[:, :longest]`), unless layers depend on the length (a linear layer over all positions" in change
    assert "`group_by_length=True` in Hugging Face’s Trainer, a bucketing sampler elsewhere" in change


@pytest.mark.parametrize("packed", [False, True])
def test_layers_that_take_packed_sequences_compute_no_padding(packed: bool) -> None:
    assert (check(_steps(4000, packed=packed)) is None) is packed
