"""A repeated pattern is found with its length, whatever stands around it, and chance makes none."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from gpuprof.analyses.loops.repeated_sequence import RepeatedSequence, repeated_sequence

SEEDS = st.integers(0, 2**32 - 1)


def is_primitive(pattern: list[int]) -> bool:
    """Whether it is no repetition itself."""
    return all(pattern != pattern[shift:] + pattern[:shift] for shift in range(1, len(pattern)))


def found(tokens: list[int]) -> RepeatedSequence | None:
    return repeated_sequence(np.array(tokens, np.int64))


@given(
    st.lists(st.integers(0, 9), min_size=2, max_size=30),
    st.integers(6, 40),
    st.lists(st.integers(50, 60), max_size=20),
    st.lists(st.integers(50, 60), max_size=20),
)
def test_any_repeated_pattern_is_found_between_other_names(pattern, times, before, after):
    assume(is_primitive(pattern) and (times - 1) * len(pattern) >= 40)
    result = found(before + times * pattern + after)
    assert result is not None
    assert result.bounds.tolist() == [len(before) + each * len(pattern) for each in range(times + 1)]
    assert result.alike == 1.0


@given(SEEDS, st.integers(2, 30), st.integers(0, 400))
def test_a_random_sequence_has_none(seed, names, length):
    assert repeated_sequence(np.random.default_rng(seed).integers(0, names, length)) is None


# a name more makes at most a tenth of an iteration, which is what two that are alike may differ by
@given(SEEDS, st.integers(10, 30), st.integers(10, 30), st.integers(1, 3))
def test_a_name_more_now_and_then_changes_nothing(seed, length, times, extra):
    random = np.random.default_rng(seed)
    pattern = [*range(100, 100 + length)]
    logged = set(random.choice(np.arange(1, times - 1), min(extra, times - 2), replace=False).tolist())
    tokens, starts = list[int](), []
    for turn in range(times):
        starts.append(len(tokens))
        tokens += [*pattern, *([7] if turn in logged else [])]
    result = found(tokens)
    assert result is not None and result.count == times
    assert result.bounds[:-1].tolist() == starts


def test_iterations_may_grow():
    tokens, starts = list[int](), []
    for turn in range(30):
        starts.append(len(tokens))
        tokens += [1, 2, 3, 4, 5, 6, *(turn * [8, 9]), 10, 11]
    result = found(tokens)
    assert result is not None
    # the first ones differ too much from one another; where in an iteration the cut lies is the same for all
    assert result.count >= 20
    assert len({start - bound for start, bound in zip(starts[-10:], result.bounds[-11:-1].tolist(), strict=True)}) == 1


def test_the_layers_of_a_model_are_not_its_passes():
    layer, head = [1, 2, 3, 4, 5, 6], [20, 21, 22, 23]
    result = found(10 * (8 * layer + head))
    assert result is not None and set(np.diff(result.bounds).tolist()) == {52}


def test_the_last_one_counts_where_it_is_whole():
    pattern = [1, 2, 3, 4, 5, 6, 7]
    whole, broken_off = found(10 * pattern), found(10 * pattern + pattern[:3] + [50])
    assert whole is not None and broken_off is not None
    assert whole.count == broken_off.count == 10


def test_few_or_short_repetitions_are_none():
    assert found(4 * [*range(20)]) is None
    assert found(6 * [1, 2]) is None
    assert found([]) is None and found([1]) is None
    assert found([*range(100), *(6 * [1, 2, 3, 4])]) is None
