"""Chains of elementwise kernels each read back what the one before has just written.

What it finds
    A device that is the bottleneck, and rows of three or more elementwise kernels, one directly after the other, of
    whose time at least a tenth of the kernel time would go away if each row were one kernel.

Why it costs
    An elementwise kernel does next to no arithmetic: its time is that of reading its inputs from memory and writing
    its output. Of a chain such as `x.float().pow(2) … * w` only the first reading and the last writing are needed.

What to do
    `torch.compile` on the module that has the chain fuses it, small reductions included. Some chains have a ready-made
    operator: `torch.nn.functional.rms_norm`, `layer_norm`, `gelu`, `silu`, `torch.addcmul`, `torch.lerp`.

When to leave it
    When the shapes change all the time (each new one compiles again), or when the run is shorter than compiling takes,
    tens of seconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.kernels.pointwise_chains import PointwiseChains
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff, known_models
from gpuprof.rules.compiler.compilability import can_compile, compiled_already, too_old_for_triton
from gpuprof.rules.saving.kernel_time import KernelTime
from gpuprof.rules.saving.retimed import WAITS_FOR_HOST, retimed
from gpuprof.rules.saving.scope import MOST_RANGES


@dataclass(frozen=True)
class UnfusedPointwise(Rule):
    """See the module."""

    guard = Guard.NUMERIC

    saved_share: float = threshold(0.10, "of the kernel time would go away: less does not pay for compiling")
    high_share: float = threshold(0.30, "of the kernel time would go away: then it is the first thing to mend")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge what fusing the chains would save."""
        compute = KernelTime.of(results)
        if compute is None:
            return without_device(self.name, results, "the device’s kernels")
        found = results.get(PointwiseChains)
        saved = compute.share(found.chosen & ~found.longest)
        if saved < self.saved_share or not compute.limits(compute.rows(found.chosen & ~found.longest)):
            return None
        strengths = compute.taking(found.chosen & ~found.longest, 0.7, 0.2, 0.0)
        finding = self._finding(compute, found, saved)
        basis = "upper bound: simulated with each chain as long as its longest kernel"
        return retimed(results, finding, strengths, basis, rest=WAITS_FOR_HOST)

    def _finding(self, compute: KernelTime, found: PointwiseChains, saved: float) -> Finding:
        spent, kept = compute.sum_ns(found.chosen), compute.sum_ns(found.longest)
        kernels, chains = int((found.chosen & compute.inside).sum()), int((found.longest & compute.inside).sum())
        during = compute.during(found.chosen)
        bound = during.total_ns * (1 - kept / spent)
        names = ", ".join(name.removeprefix("aten::") for name in found.operators)
        return Finding(
            rule=self.name,
            severity=compute.severity(found.chosen, saved, high=self.high_share),
            title=f"Chains of elementwise kernels take {units.percent(compute.share(found.chosen))} of the kernel time",
            explanation=(
                f"{units.plural(kernels, 'kernel')} in {units.plural(chains, 'chain')} take {units.duration(spent)}; "
                f"the longest one of each, about what a fused kernel would need, {units.duration(kept)}. The costliest "
                f"chain begins with {names}."
            ),
            evidence={
                "chains": chains,
                "chain_kernels": kernels,
                "chain_ms": units.milliseconds(spent),
                "chain_share": round(compute.share(found.chosen), 4),
                "longest_kernels_ms": units.milliseconds(kept),
                "saved_share": round(saved, 4),
                "operators": names,
            },
            where=Where(lines=compute.lines(found.chosen), ranges_ns=_costliest(compute, found)),
            during=during,
            change=_change(compute.results, names),
            diff=_diff(compute.results, compute.lines(found.chosen)),
            saving=compute.scope.saving(
                bound * 0.3, bound * 0.8, bound, "upper bound: each chain takes as long as its longest kernel"
            ),
        )


def _costliest(compute: KernelTime, found: PointwiseChains) -> tuple[tuple[int, int], ...]:
    """The chains that lose most, each from its first kernel to the end of its last, in order of time."""
    kernels, chosen = compute.kernels, np.flatnonzero(found.chosen & compute.inside)
    lost = np.bincount(found.chain[chosen], weights=np.where(found.longest, 0, kernels.duration_ns)[chosen])
    ranges = []
    for number in np.argsort(-lost, kind="stable")[:MOST_RANGES]:
        mine = chosen[found.chain[chosen] == number]
        if len(mine):
            start_ns = kernels.start_ns[mine]
            ranges.append((int(start_ns.min()), int((start_ns + kernels.duration_ns[mine]).max())))
    return tuple(sorted(ranges))


def _change(results: Results, names: str) -> str:
    own = "torch’s own operator for it where there is one (`rms_norm`, `layer_norm`, `gelu`, `silu`)"
    if too_old_for_triton(results):
        return f"Replace this chain ({names}) by {own}: `torch.compile` makes no kernels for this device."
    if compiled_already(results):
        return f"Move this chain ({names}) into the module that you compile: it runs outside of it. Or use {own}."
    return f"Compile the module that has this chain ({names}) with `module = torch.compile(module)`, or use {own}."


def _diff(results: Results, lines: tuple[int, ...]) -> str | None:
    """The one model compiled, where the lines say that the chains are its own."""
    if results.context.cell is None or not lines or not can_compile(results):
        return None

    def edit(source: str) -> str | None:
        from gpuprof.code_edits.models.modules import compile_model

        return compile_model(source, lines, known_models(results))

    return cell_diff(results, edit)
