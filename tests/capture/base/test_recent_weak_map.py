"""A map with weak keys answers as a plain one does, and keeps no key alive."""

from __future__ import annotations

import gc
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuprof.capture.base.recent_weak_map import RecentWeakMap


class Key:
    pass


@given(st.lists(st.tuples(st.sampled_from(("set", "get", "forget")), st.integers(0, 3))))
def test_it_answers_as_a_plain_map_does(calls: list[tuple[str, int]]) -> None:
    keys, found, plain = [Key() for _ in range(4)], RecentWeakMap[int](), dict[int, int]()
    for value, (call, number) in enumerate(calls):
        if call == "set":
            found.set(keys[number], value)
            plain[number] = value
        elif call == "forget":
            found.forget(keys[number])
            plain.pop(number, None)
        assert [found.get(key) for key in keys] == [plain.get(each) for each in range(4)]


def test_no_key_is_kept_alive() -> None:
    found, key = RecentWeakMap[int](), Key()
    found.set(key, 1)
    assert found.get(key) == 1
    reference = weakref.ref(key)
    del key
    gc.collect()
    assert reference() is None and found.get(Key()) is None


def test_what_cannot_be_held_weakly_is_refused() -> None:
    with pytest.raises(TypeError):
        RecentWeakMap[int]().set(1, 1)
