"""A Python loop goes over the weights one by one in each step, beside the optimizer.

What it finds
    In most steps the same few operators as often in a row as the step trains weights, or as the `state_dict()` taken in
    it has entries, outside forward, backward, optimizer and input: a moving average of the weights, a copy of
    `state_dict()`, norms or checks of every gradient, an update written by hand. On a device that is busy meanwhile it
    costs nothing and is not reported.

Why it costs
    Each weight pays Python, dispatch and (on a GPU) a launch for every operator, though most weights are small; a copy
    of all weights moves all their bytes, and asks for as much memory again.

    An average or copy that is kept on the host also moves all weights there in each step, and the device waits.

What to do
    Keep averages on the device, and copy them to the host once, at the end. Give all weights to one call, as lists and
    under `torch.no_grad()`: `torch._foreach_lerp_(list(ema.parameters()), list(net.parameters()), 1 - decay)`,
    `torch._foreach_norm(gradients)`, `torch._foreach_clamp_min_(weights, low)`; for averages
    `torch.optim.swa_utils.AveragedModel` with `multi_avg_fn=get_ema_multi_avg_fn(0.999)` does that, for clipping
    `torch.nn.utils.clip_grad_norm_`, for updates a `torch.optim` optimizer. Make copies and checks rare: once an epoch,
    or every thousand steps, into tensors that are made once.

When to leave it
    When each weight really is treated in a way of its own, or when the copy must be of every step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.loops.python_loops import Loop, PythonLoops, Repetition
from gpuprof.analyses.training.training_passes import TrainingPasses
from gpuprof.analyses.transfers.copies import Copies
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.kinds import CopyKind
from gpuprof.rules.base.abstentions import without_training
from gpuprof.rules.base.finding import Abstention, Finding, Saving, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.host.loops import is_hidden
from gpuprof.rules.memory.saved_memory import MIB
from gpuprof.rules.saving.retimed import retimed
from gpuprof.rules.saving.scope import Scope, graded, share_of, worst
from gpuprof.whatif.changes.trace_changes import host_time_scaled
from gpuprof.whatif.predict import Range

_COPYING = frozenset(
    f"aten::{name}"
    for name in ("alias", "clone", "copy_", "detach", "empty", "empty_like", "new_empty", "set_", "to", "_to_copy")
)
_CLAMPS = ("aten::clamp", "aten::clip")
# `state_dict()` detaches each of its entries
_STATE_DICT = ("aten::detach",)
# What one call leaves of the loop: averages, norms and updates of 12 and 100 weights of 16 to 1024² elements, written
# out of place and in place, took 5 to 140 % in one `_foreach` call (CPU, one thread, torch 2.13); for weights of up to
# 64² elements 5 to 19 %, norms apart, for large ones, whose bytes have to be moved either way, about as long.
_LEFT_BY_ONE_CALL = (1.0, 0.15, 0.05)
_KEEP_ON_DEVICE = (
    "Keep what the loop updates on the device (tensors made with `.clone()`, not `.cpu()`), and copy it to the host "
    "once, after training. "
)
# A copy that is made every hundred steps.
_LEFT_BY_RARE_COPIES = (0.1, 0.01, 0.0)


@dataclass(frozen=True)
class PythonLoopOverWeights(Rule):
    """See the module."""

    loop_share: float = threshold(0.05, "of the steady steps: less is hardly worth a change")
    high_share: float = threshold(0.30, "of the steady steps: then it is the first thing to mend")
    steps_share: float = threshold(0.5, "of the steady steps have one: what is made rare is mended")
    steps: float = threshold(3, "steady steps: fewer do not show a habit")
    other_share: float = threshold(0.1, "more or fewer turns than weights: some may be left out, or come twice")
    fetched_mib: float = threshold(1, "copied to the host in a step: less does not say that its results are there")
    busy_share: float = threshold(0.80, "of the loop: a device that is busy that long in it is not held up by it")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the loops beside training that have as many turns as there are weights."""
        training = results.get(TrainingPasses)
        if training.unlinked:
            return without_training(self.name, results)
        if not training.parameters or training.steps < self.steps:
            return None
        loops = [(loop, self._over_weights(results, loop)) for loop in results.get(PythonLoops).loops]
        loops = [(loop, runs) for loop, runs in loops if runs]
        inside = intervals.intersect(_ranges([run for _, runs in loops for run in runs]), training.beside)
        share = share_of(inside.total_ns, training.within.total_ns)
        often = training.steps_with(inside) >= self.steps_share * training.steps
        if share < self.loop_share or not often or is_hidden(results, inside, self.busy_share):
            return None
        finding = self._finding(results, loops, inside, share)
        least, usual, most = (host_time_scaled(inside, left) for left in _left(loops))
        return retimed(results, finding, Range(least, usual, most), f"simulated with {_basis(loops)}")

    def _over_weights(self, results: Results, loop: Loop) -> list[Repetition]:
        """The runs beside training that have as many turns as there are weights, or entries of a `state_dict()`."""
        training = results.get(TrainingPasses)
        beside = intervals.contains(training.beside, np.array([run.start_ns for run in loop.runs], np.int64))
        trained = [each.parameters for each in results.context.optimizers] + [training.parameters or 0]
        entries = {
            (run.step, run.turns)
            for other in results.get(PythonLoops).loops
            if other.names == _STATE_DICT and other is not loop
            for run in other.runs
        }

        def fits(run: Repetition) -> bool:
            same = any(abs(run.turns - number) <= self.other_share * number for number in trained)
            return same or (run.step, run.turns) in entries

        return [run for run, out in zip(loop.runs, beside, strict=True) if out and not loop.slices and fits(run)]

    def _finding(
        self, results: Results, loops: list[tuple[Loop, list[Repetition]]], inside: Intervals, share: float
    ) -> Finding:
        training, (costliest, runs) = results.get(TrainingPasses), loops[0]
        names = ", ".join(dict.fromkeys(costliest.names))
        often, fetched = training.steps_with(inside), self._fetched_bytes(results, inside)
        turns = float(np.median([run.turns for run in runs]))
        return Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"A Python loop over the weights{', which copies them to the host,' if fetched else ''} takes "
            f"{units.percent(share)} of the steps’ time, beside training",
            explanation=(
                f"The operators {names} run {turns:.0f} times in a row in {often} "
                f"of {units.plural(training.steps, 'steady step')}, after or before forward, backward and optimizer, "
                f"which train {training.parameters:.0f} weights: {units.duration(inside.total_ns)} in all."
                f"{f' They copy {units.size(fetched // often)} to the host each time.' if fetched else ''}"
            ),
            evidence={
                "loop_ms": units.milliseconds(inside.total_ns),
                "loop_share": round(share, 4),
                "turns_per_loop": turns,
                "weights": training.parameters or 0,
                "operators": names,
                **({"to_host_bytes_per_step": fetched // often} if fetched else {}),
            },
            where=Where(lines=results.get(LinePlaces).cell_lines(inside), ranges_ns=worst(inside)),
            change=(_KEEP_ON_DEVICE if fetched else "") + _change(loops),
            saving=_saving(results, loops, inside),
        )

    def _fetched_bytes(self, results: Results, inside: Intervals) -> int:
        """What the loop copies to the host; 0 where that is little."""
        copies = results.get(Copies).of_direction(CopyKind.D2H)
        fetched = int(np.maximum(copies["bytes"][intervals.contains(inside, copies["start_ns"])], 0).sum())
        return fetched if fetched >= self.fetched_mib * MIB * results.get(TrainingPasses).steps_with(inside) else 0


def _ranges(runs: list[Repetition]) -> Intervals:
    starts, ends = [run.start_ns for run in runs], [run.end_ns for run in runs]
    return intervals.union(Intervals(np.array(starts, np.int64), np.array(ends, np.int64)))


def _copies(loops: list[tuple[Loop, list[Repetition]]]) -> bool:
    return all(_COPYING.issuperset(loop.names) for loop, _ in loops)


def _left(loops: list[tuple[Loop, list[Repetition]]]) -> tuple[float, float, float]:
    return _LEFT_BY_RARE_COPIES if _copies(loops) else _LEFT_BY_ONE_CALL


def _basis(loops: list[tuple[Loop, list[Repetition]]]) -> str:
    usual = units.percent(_left(loops)[1])
    return f"{'a copy every hundred steps' if _copies(loops) else f'one call, which takes {usual} of this time'}"


def _saving(results: Results, loops: list[tuple[Loop, list[Repetition]]], inside: Intervals) -> Saving:
    low, central, high = (inside.total_ns * (1 - left) for left in _left(loops))
    return Scope.of(results).saving(low, central, high, f"estimate: {_basis(loops)}", part_of=inside)


def _change(loops: list[tuple[Loop, list[Repetition]]]) -> str:
    if _copies(loops):
        return (
            "Copy the weights rarely (once an epoch, or every thousand steps), into tensors that are made once: "
            "`with torch.no_grad(): torch._foreach_copy_(kept, list(net.parameters()))`."
        )
    if any(name.startswith(_CLAMPS) for loop, _ in loops for name in loop.names):
        return (
            "Give all weights to one call: `with torch.no_grad(): torch._foreach_clamp_min_(list(net.parameters()), "
            "low)`, and the same with `torch._foreach_clamp_max_` and the upper bound."
        )
    return (
        "Give all weights to one call: `with torch.no_grad(): torch._foreach_lerp_(list(ema.parameters()), "
        "list(net.parameters()), 1 - decay)` for a moving average (or `torch.optim.swa_utils.AveragedModel` with "
        "`multi_avg_fn=get_ema_multi_avg_fn(decay)`), `torch._foreach_norm(gradients)` for norms (a list of tensors), "
        "an optimizer of `torch.optim` for updates; make checks rare."
    )
