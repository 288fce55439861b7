"""What a look does before the first operator and after the last one, with a GPU that is made up."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from gpuprof.capture.look import fingerprint_taker
from gpuprof.capture.look.close_look import CloseLook
from gpuprof.capture.look.device_hash import DeviceHash
from gpuprof.capture.look.fingerprint_taker import FingerprintTaker


@pytest.fixture
def hashes(monkeypatch: pytest.MonkeyPatch) -> list[DeviceHash]:
    """Those that are made for the GPU, which the host stands in for."""
    made: list[DeviceHash] = []

    def on_host(device: Any) -> DeviceHash:
        made.append(DeviceHash(torch.device("cpu")))
        return made[-1]

    monkeypatch.setattr(fingerprint_taker, "DeviceHash", on_host)
    monkeypatch.setattr(fingerprint_taker, "_current_stream", lambda index: 7)
    for name, answer in {"is_available": True, "is_initialized": True, "current_device": 0}.items():
        monkeypatch.setattr(torch.cuda, name, lambda answer=answer: answer)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    return made


def _taken(taker: FingerprintTaker) -> Any:
    values = torch.arange(300.0)
    where = {"is_cpu": False, "is_cuda": True, "get_device": lambda: 0}
    tensor: Any = SimpleNamespace(**where, dtype=values.dtype, is_quantized=False)
    return taker.take(tensor, values.untyped_storage())


@pytest.fixture
def taker(monkeypatch: pytest.MonkeyPatch) -> FingerprintTaker:
    monkeypatch.setattr(fingerprint_taker, "lazily_copied", lambda tensor: False)
    return FingerprintTaker(1 << 30, lambda: 10**10)


def test_a_gpu_that_the_cell_uses_is_warmed_up(hashes: list[DeviceHash], taker: FingerprintTaker) -> None:
    taker.warm_up()
    assert len(hashes) == 1 and taker.failure is None
    first, second = _taken(taker), _taken(taker)
    taker.rest()
    assert not hashes[0]._stages
    assert len(hashes) == 1 and taker.number(first) == taker.number(second) != 0


@pytest.mark.parametrize("name", ["is_available", "is_initialized"])
def test_no_other_is(
    hashes: list[DeviceHash], taker: FingerprintTaker, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, name, lambda: False)
    taker.warm_up()
    taker.rest()
    assert hashes == []


def test_nothing_is_asked_of_it_while_a_graph_is_captured(
    hashes: list[DeviceHash], taker: FingerprintTaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = _taken(taker)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    taker.warm_up()
    taker.rest()
    assert _taken(taker) is None
    assert hashes[0]._stages and taker.number(first) != 0


def test_without_memory_for_it_there_are_no_fingerprints(
    hashes: list[DeviceHash], taker: FingerprintTaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise torch.cuda.OutOfMemoryError("out of memory")

    monkeypatch.setattr(torch, "zeros", refuse)
    taker.warm_up()
    assert taker.failure == "out of memory"
    assert _taken(taker) is None


def test_a_look_warms_up_before_and_gives_back_after_its_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    look = CloseLook(__file__)
    monkeypatch.setattr(FingerprintTaker, "warm_up", lambda self: seen.append(look.installed))
    monkeypatch.setattr(FingerprintTaker, "rest", lambda self: seen.append(look.seen[1]))
    with look:
        torch.ones(3) + 1
    assert seen == [False, 2]


def test_a_long_set_up_counts_and_leaves_most_of_the_time_to_operators() -> None:
    look = CloseLook(__file__, most_seconds=1000)
    with look:
        look.set_up_ns = 5000 * 10**9
        torch.ones(3) + 1
        assert look.active and look.cost_ns >= look.set_up_ns
        look._watch.cost_ns += 599 * 10**9
        torch.ones(3)
        assert look.active
        look._watch.cost_ns += 10**9
        torch.ones(3)
    assert look.ended_by == "seconds"
