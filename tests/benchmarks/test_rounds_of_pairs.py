"""The cells that are made of a labelled pair."""

from __future__ import annotations

import ast

from benchmarks.proving.pair import all_pairs
from benchmarks.rounds.of_pairs import cells_of


def test_every_pair_has_cells_that_can_be_read() -> None:
    for pair in all_pairs():
        cells = list(cells_of(pair, ["bad", "good"]))
        assert [name for name, _, _ in cells] == [f"{pair.name} bad", f"{pair.name} good"]
        for _, before, source in cells:
            for text in (*before, source):
                ast.parse(text)


def test_the_size_for_the_processor_is_given() -> None:
    pair = next(each for each in all_pairs() if each.name == "py_loop")
    (_, (values, _), _), *_ = cells_of(pair, ["bad"])
    given: dict[str, object] = {}
    exec(values, given)
    assert given["device"] == "cpu" and vars(given["size"]) == dict(pair.sizes["cpu"])
