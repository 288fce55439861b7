"""Pairs of sentences, as the translation notebook reads them."""

from __future__ import annotations

import random

_BEGINNINGS = ("i am", "he is", "she is", "you are")


def sentence_pairs(count: int) -> str:
    """A line per pair: random words after one of the beginnings that the notebook keeps, a tab, other random words."""
    draw = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(draw.choices(letters, k=draw.randint(2, 8))) for _ in range(800)]
    pairs = []
    for _ in range(count):
        english = f"{draw.choice(_BEGINNINGS)} {' '.join(draw.choices(words, k=draw.randint(2, 5)))} ."
        french = f"{' '.join(draw.choices(words, k=draw.randint(3, 7)))} ."
        pairs.append(f"{english}\t{french}")
    return "\n".join(pairs)
