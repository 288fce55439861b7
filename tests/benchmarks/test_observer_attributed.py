"""Whose a stack is."""

from __future__ import annotations

import pytest

from benchmarks.observer.attributed import HOOKS, LOOKS, ONCE, READINGS, USER, kind_of, shares

CELL, TORCH = "<module> (main.py:3)", "__next__ (torch/utils/data/dataloader.py:700)"
HOOK = "__next__ (gpuprof/capture/loading/loaders.py:144)"


@pytest.mark.parametrize(
    ("stack", "kind"),
    [
        ((CELL, TORCH), USER),
        ((CELL, HOOK), HOOKS),
        ((CELL, HOOK, TORCH), USER),
        ((CELL, HOOK, "isinstance (abc.py:119)"), HOOKS),
        ((CELL, HOOK, "ToTensor.__call__ (observer/stand_ins.py:71)"), USER),
        ((CELL, "Values._row (gpuprof/capture/look/values.py:220)"), ONCE),
        ((CELL, HOOK, "timed_fetch (gpuprof/capture/loading/load_times.py:55)"), USER),
        ((CELL, TORCH, "_run_one (gpuprof/capture/base/main_thread.py:81)", "walk (ast.py:390)"), LOOKS),
        (("_run (gpuprof/capture/process/host_sampler.py:98)", "wait (threading.py:331)"), READINGS),
        ((CELL, "stop (gpuprof/capture/session/session.py:99)", "write (gzip.py:289)"), ONCE),
        ((CELL, HOOK, "_load (<frozen importlib._bootstrap>:241)"), ONCE),
    ],
)
def test_whose_it_is(stack: tuple[str, ...], kind: str) -> None:
    assert kind_of(list(stack)) == kind


def test_shares_are_of_what_goes_on() -> None:
    lines = [f"{CELL};{TORCH} 96", f"{CELL};{HOOK} 4", f"{CELL};stop (gpuprof/capture/session/session.py:9) 900"]
    lines.append("_run (gpuprof/capture/process/host_sampler.py:98);wait (threading.py:331) 900")
    assert shares(lines) == {HOOKS: 0.04, LOOKS: 0.0}
    assert shares([]) == {}
