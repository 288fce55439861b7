"""A Python loop handles one element at a time and waits for the device in each iteration.

What it finds
    The same short sequence of operators runs at least ten times in a row on parts of a tensor. Each iteration waits for
    the device (`.item()`, `.cpu()`, `if tensor:`, a boolean mask, a tensor made from Python numbers), and the device is
    mostly idle. The waits, copies and launches have one cause, so they are one finding. Loops that run a model or draw
    random numbers are left out: generation, sampling and training need one iteration after another. So are loops whose
    source shows that each iteration needs the one before.

Why it costs
    Each iteration pays for Python, dispatch, launches and a round trip to the device. The work itself is far too small
    for a GPU.

What to do
    Process all elements in one call and read the results once, after the loop. If an iteration needs the one before,
    copy the data to the CPU once, before the loop, and loop there.

When to leave it
    When it runs once, for a result that needs no second run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from gpuprof import units
from gpuprof.analyses.accounts.run_kind import KindOfRun
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.loops.host_loops import HostLoop, HostLoops
from gpuprof.analyses.transfers.sync_waits import SyncWaits
from gpuprof.model import intervals
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.source_loops import independent_lines
from gpuprof.rules.host.loops import shortened
from gpuprof.rules.saving.retimed import retimed
from gpuprof.rules.saving.scope import Scope, graded, worst
from gpuprof.whatif.changes.host_loops import loop_read_once

_PARTS = frozenset(f"aten::{name}" for name in ("select", "slice", "narrow", "index", "index_select", "masked_select"))
# What only reads, or relabels what is read: such iterations cannot need one another.
_READS = frozenset(
    f"aten::{name}"
    for name in (
        *("item", "_local_scalar_dense", "is_nonzero", "to", "_to_copy", "copy_", "detach", "resolve_conj"),
        *("resolve_neg", "empty_strided", "squeeze", "view", "reshape", "contiguous", "clone", "empty_like"),
    )
) | {"detach"}
# Signs of a model, of solving, of sampling and of training: these need one iteration after the other.
_OF_A_MODEL = re.compile(
    r"(^|_)(linear|b?mm|addb?mm|baddbmm|(add)?mv|matmul|einsum|conv|lstm|gru|rnn|embedding|(batch|layer|group)_norm|"
    r"attention|cholesky|solve|eigh?|inv|svd|lu|qr|fft|multinomial|bernoulli|randn?|randint|randperm|normal|uniform|"
    r"exponential|dropout|backward)(_|\d|$|olution)"
)

_NAMED = 3


@dataclass(frozen=True)
class LoopOnHost(Rule):
    """See the module."""

    not_for = frozenset({KindOfRun.CAPTURE})

    loop_share: float = threshold(0.05, "of the step: less is not worth a change")
    high_share: float = threshold(0.20, "of the step: then fix it first")
    busy_share: float = threshold(0.50, "of the loop: a device that is busy that long has work enough in it")
    even_share: float = threshold(
        0.50, "of the loop, if all iterations took as long as the median: else one is special"
    )

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the costliest loop whose iterations handle elements."""
        if results.get(DeviceActivity).primary is None:
            return without_device(self.name, results, "the device’s activity within loops")
        if not results.get(SyncWaits).calls_recorded:
            return Abstention(self.name, "the host’s runtime calls", "Record the CPU activity together with CUDA’s.")
        scope = Scope.of(results)
        for loop in results.get(HostLoops).loops:
            share = scope.share(intervals.intersect(loop.within, scope.within).total_ns)
            even = loop.usual_ns * loop.count >= self.even_share * loop.within.total_ns
            if (
                share >= self.loop_share
                and loop.busy_share < self.busy_share
                and even
                and _handles_elements(results, loop)
            ):
                return self._finding(results, loop, share)
        return None

    def _finding(self, results: Results, loop: HostLoop, share: float) -> Finding:
        scope, inside = Scope.of(results), intervals.intersect(loop.within, Scope.of(results).within)
        runs, each = len(loop.turns), loop.count / len(loop.turns)
        around = f" in {loop.function}" if loop.function else ""
        names = ", ".join(loop.waiting[:_NAMED])
        spent = inside.total_ns
        found = Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"A Python loop waits for the device in each iteration and takes {units.percent(share)} of "
            f"{scope.words}",
            explanation=(
                f"{units.count(loop.count)} iterations{around}, in {units.plural(runs, 'place')} of the run, take "
                f"{units.duration(spent)}, {units.duration(loop.usual_ns)} each. They wait for the device "
                f"{units.count(loop.wait_count)} times, in {names}, and launch {units.plural(loop.kernels, 'kernel')} "
                f"and {units.plural(loop.copies, 'copy', 'copies')}; the device is busy for "
                f"{units.percent(loop.busy_share)} of that time."
            ),
            evidence={
                "iterations": loop.count,
                "iterations_per_loop": round(each, 1),
                "loops": runs,
                "loop_ms": units.milliseconds(spent),
                "loop_share": round(share, 4),
                "waits": loop.wait_count,
                "kernels": loop.kernels,
                "copies": loop.copies,
                "device_busy_share": round(loop.busy_share, 4),
                "operators": shortened(loop.names),
                **({"function": loop.function} if loop.function else {}),
            },
            where=Where(lines=_lines(results, loop), ranges_ns=worst(inside)),
            change="If no iteration needs the one before, process all elements in one call (an index, broadcasting, "
            "`torch.where`, padding) and read the results once, after the loop. Otherwise copy the data to the CPU "
            "once, before the loop (`.cpu()`, `.tolist()`), and loop there.",
            saving=scope.saving(
                spent * 0.5, spent * (1 - 1 / each), spent, "upper bound: all iterations as one", part_of=inside
            ),
        )
        strengths = loop_read_once(results, each, inside, loop.waits)
        basis = "simulated with the host’s work of one iteration for all, and one wait; at worst with half the work"
        return replace(retimed(results, found, strengths, basis), during=inside)


def _handles_elements(results: Results, loop: HostLoop) -> bool:
    """Whether its iterations only handle parts of tensors, or only read, or need one another by no sign of the text."""
    if loop.carried:
        return False
    cell = results.context.cell
    if cell is not None and independent_lines(cell.source, loop.names):
        return True
    # torch records some of its own also by their bare names; what else has none is compiled, or the user's
    if not all(_is_plain(name) if "::" in name else f"aten::{name}" in loop.every for name in loop.every):
        return False
    reading = loop.reads >= loop.count and set(loop.names) <= _READS
    return loop.unbound or reading or not _PARTS.isdisjoint(loop.names)


def _is_plain(name: str) -> bool:
    """Whether it is one of torch's operators that no model is made of; what is not torch's may do anything."""
    room, _, own = name.rpartition("::")
    return room == "aten" and not _OF_A_MODEL.search(own)


def _lines(results: Results, loop: HostLoop) -> tuple[int, ...]:
    """The loop's own line, where it is in the profiled cell, and those that take longest."""
    lines = results.get(LinePlaces).cell_lines(loop.within)
    written = loop.written
    return tuple(sorted({written.line, *lines})) if written is not None and not written.file else lines
