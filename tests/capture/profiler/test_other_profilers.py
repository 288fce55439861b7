"""Another profiler is noticed before it starts, and torch is as it was afterwards."""

from __future__ import annotations

import torch
from torch.autograd import profiler

from gpuprof.capture.profiler.other_profilers import OURS, OtherProfilers


def test_each_is_told_before_it_starts_and_ours_is_not() -> None:
    told: list[tuple[str, bool]] = []
    places = (profiler.profile._prepare_trace, profiler.emit_nvtx.__enter__, profiler.emit_itt.__enter__)
    watch = OtherProfilers(lambda who: told.append((who, torch.autograd._profiler_enabled())))
    watch.install()
    try:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
            torch.ones(2)
        with profiler.profile(enabled=False):
            torch.ones(2)
        own = profiler.profile()
        setattr(own, OURS, True)
        with own:
            torch.ones(2)
    finally:
        watch.remove()
        watch.remove()
    assert told == [(f"`{__name__}`", False)]
    assert places == (profiler.profile._prepare_trace, profiler.emit_nvtx.__enter__, profiler.emit_itt.__enter__)


def test_somebody_elses_wrapper_stays() -> None:
    original = profiler.profile._prepare_trace
    watch = OtherProfilers(lambda _: None)
    watch.install()
    ours = profiler.profile._prepare_trace

    def theirs(self: profiler.profile) -> None:
        ours(self)

    profiler.profile._prepare_trace = theirs  # type: ignore[method-assign]
    watch.remove()
    assert profiler.profile._prepare_trace is theirs
    profiler.profile._prepare_trace = original  # type: ignore[method-assign]
