"""Padded batches that index an embedding, and what works on all of their positions, in programs that really run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.padded_positions import PaddedPositions
from gpuprof.model.trace import Trace
from tests.support.look_builder import LookBuilder
from tests.support.looked_runs import looked_at

torch = pytest.importorskip("torch")
DIM = 24


def batch(lengths: tuple[int, ...], length: int) -> Any:
    ids = torch.zeros(len(lengths), length, dtype=torch.long)
    for row, each in enumerate(lengths):
        ids[row, :each] = torch.arange(1, each + 1)
    return ids


def found(turn: Callable[[], Any], turns: int = 3) -> tuple[PaddedPositions, set[str]]:
    """With the names of the operators that work on positions."""

    def code(look: Any) -> list[Any]:
        kept = []
        for _ in range(turns):
            kept.append(turn())
            look.iteration_ended()
        return kept

    trace: Trace = looked_at(code, iterations=turns)
    padded = Results(trace).get(PaddedPositions)
    names = trace.names_of(trace.looked_operators)
    return padded, {str(names[row]).partition("::")[2].partition(".")[0] for row in padded.rows}


def test_nothing_without_a_look() -> None:
    assert not Results(LookBuilder().builder.build()).get(PaddedPositions).batches


def test_convolutions_over_a_fixed_length() -> None:
    table, conv = torch.nn.Embedding(100, DIM), torch.nn.Conv1d(DIM, 8, 5)
    head = torch.nn.Linear(8, 3)

    def turn() -> Any:
        ids = batch((10, 20, 25, 8), 100)
        with torch.no_grad():
            return head(conv(table(ids).transpose(1, 2)).relu().amax(-1)).sum().item()

    padded, names = found(turn)
    assert (padded.batches, padded.sequences, padded.length) == (2, 4, 100)
    assert padded.fixed and padded.padded_share == 0.75
    assert {"embedding", "convolution", "relu", "amax"} <= names
    # the head has samples alone, and the batch is made before
    assert not names & {"addmm", "zeros", "copy_", "sum"}


def test_layers_over_all_positions_of_the_batch_at_once() -> None:
    table, layer = torch.nn.Embedding(100, DIM), torch.nn.Linear(DIM, DIM)

    def turn() -> Any:
        ids = batch((10, 20, 25, 8), 40)
        layer(table(ids)).relu().mean(1).sum().backward()
        return None

    padded, names = found(turn)
    assert padded.padded_share == 15 / 40
    # forward and backward
    assert {"addmm", "mm", "threshold_backward"} & names >= {"threshold_backward"}
    assert names & {"addmm", "mm"}


def test_a_batch_as_long_as_its_longest() -> None:
    table = torch.nn.Embedding(100, DIM)

    def turn() -> Any:
        return table(batch((10, 20, 40, 10), 40)).exp().sum().item()

    padded, names = found(turn)
    assert not padded.fixed and padded.padded_share == 0.5
    assert "exp" in names


def test_no_padding() -> None:
    table = torch.nn.Embedding(100, DIM)

    def turn() -> Any:
        return table(torch.randint(1, 100, (8, 40))).exp().sum().item()

    padded, _ = found(turn)
    assert padded.padded_share == 0 and not padded.batches


def test_of_two_embeddings_the_one_with_most_positions() -> None:
    words, kinds = torch.nn.Embedding(100, DIM), torch.nn.Embedding(100, DIM)
    short, long = batch((10, 16, 12, 9), 16), batch((30, 20, 25, 8), 90)

    def turn() -> Any:
        few = kinds(short).exp().sum().item()
        return words(long).exp().sum().item() + few

    padded, _ = found(turn)
    assert padded.length == 90
