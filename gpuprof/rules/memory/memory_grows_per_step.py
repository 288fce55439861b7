"""Memory that stays grows from step to step.

What it finds
    In training, after warm-up, nearly every step leaves more allocated than the one before, fast enough that ten
    thousand more such steps would fill the memory. Where a name of the notebook is seen to hold a tensor with its
    autograd graph for each step, the cause is known and a hundred thousand steps count. With the cell's source known,
    the lines that keep a loss with its graph, or fill what holds the tensors.

Why it costs
    The run ends with an out-of-memory error, hours later; until then each step has less room.

What to do
    Keep numbers, not tensors: `losses.append(loss.item())`, or `total += loss.detach()`, which does not make the host
    wait. A loss or output that is kept as it is keeps the graph of its step, activations and all. Of a part of a larger
    tensor keep `part.detach().clone()`, else all of that stays. Empty lists and caches that grow, and remove hooks
    that store their inputs.

When to leave it
    When the growth is meant and ends: a replay buffer or a cache that fills up on the device.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.kept_graphs import KeptGraphs
from gpuprof.analyses.memory.memory_growth import MemoryGrowth
from gpuprof.rules.base.finding import Abstention, Finding, Severity, Where
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.memory.device_memory import trains


@dataclass(frozen=True)
class MemoryGrowsPerStep(Rule):
    """See the module."""

    guard = Guard.EXACT

    levels: float = threshold(6, "steps after warm-up, so five differences: fewer do not show a trend")
    rising_share: float = threshold(0.9, "of the steps leave more than the one before: a cache that refills does not")
    steps_until_full: float = threshold(10_000, "more steps would fill the memory: slower growth rarely matters")
    steps_until_full_by_graphs: float = threshold(
        100_000, "more steps, where a graph of each step is seen to be held: an ordinary training run makes as many"
    )
    high_steps: float = threshold(1_000, "more steps would fill it: within one epoch of many runs")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the levels of the steps."""
        growth = results.get(MemoryGrowth)
        if not trains(results):
            return None
        if growth.per_step_bytes is None or growth.levels < self.levels:
            # a few steps that do not grow at all need no further question
            if growth.per_step_bytes is not None and growth.per_step_bytes <= 0:
                return None
            if results.get(DeviceActivity).recorded is None and not growth.levels:
                how = "A GPU’s memory is always recorded; the CPU’s only with `%%gpuprofile --memory`."
                return Abstention(self.name, "the memory after each recorded step", how)
            on_device = results.get(DeviceActivity).recorded is not None
            return Abstention(
                self.name,
                f"memory after at least {self.levels + 2:.0f} steps of training",
                f"Profile the cell with `%%gpuprofile{'' if on_device else ' --memory'}`, and let it make more steps.",
            )
        if growth.per_step_bytes <= 0 or (growth.rising_share or 0) < self.rising_share:
            return None
        if growth.steps_until_full is None:
            return Abstention(
                self.name,
                "how much memory is free, to say whether its growth matters",
                "The trace has no `deviceProperties`; `%%gpuprofile` records what is free.",
            )
        kept = _kept_each_step(results)
        if growth.steps_until_full > (self.steps_until_full_by_graphs if kept else self.steps_until_full):
            return None
        return self._finding(results, growth, growth.per_step_bytes, growth.steps_until_full)

    def _finding(self, results: Results, growth: MemoryGrowth, each: float, left: int) -> Finding:
        kept = results.get(KeptGraphs)
        where = "the host" if growth.device is None else f"device {growth.device}"
        begin, end = growth.from_ns, growth.to_ns
        return Finding(
            rule=self.name,
            severity=Severity.HIGH if left <= self.high_steps else Severity.MEDIUM,
            title=f"Every step leaves {units.size(each)} more in the memory of {where}",
            explanation=(
                f"Over {units.plural(growth.levels, 'level')} after warm-up ({growth.source}) it grew by "
                f"{units.size(growth.grown_bytes)}; at this rate it is full in {units.count(left)} steps."
                f"{_holders(kept)}"
            ),
            evidence={
                "growth_per_step_bytes": round(each, 1),
                "grown_bytes": growth.grown_bytes or 0,
                "levels": growth.levels,
                "rising_share": round(growth.rising_share or 0.0, 4),
                "free_bytes": growth.free_bytes or 0,
                "steps_until_full": left,
                **({"kept_in": ", ".join(kept.containers)} if kept.containers else {}),
            },
            where=Where(
                lines=kept.lines or kept.filling,
                ranges_ns=((begin, end),) if begin is not None and end is not None else (),
            ),
            change=_change(kept, _kept_each_step(results)),
            diff=_diff(results, kept.lines),
        )


def _kept_each_step(results: Results) -> dict[str, int]:
    """The names that held about as many tensors with a graph at the end as the busiest optimizer made steps, in the
    memory that grows."""
    context, device = results.context, results.get(MemoryGrowth).device
    steps = max((optimizer.steps for optimizer in context.optimizers), default=0)
    there = {each.name for each in context.held or () if (each.device == "cpu") is (device is None)}
    kept = results.get(KeptGraphs).keeping_each(steps)
    return {name: number for name, number in kept.items() if name in there}


def _holders(kept: KeptGraphs) -> str:
    if not kept.holders:
        return ""
    named = [f"`{name}` ({units.count(number)})" for name, number in kept.holders.items()]
    return f" At the end tensors with an autograd graph were held by {', '.join(named)}."


def _change(kept: KeptGraphs, each_step: dict[str, int]) -> str:
    if kept.lines:
        into = ", ".join(f"`{name}`" for name in kept.containers)
        return (
            f"Put `loss.detach()` (or `loss.item()`, which waits for the device) into {into} instead of the loss "
            "itself, which keeps the graph of its step."
        )
    if each_step:
        names = ", ".join(f"`{name}`" for name in each_step)
        return (
            f"Put tensors without their graph into {names}: `.detach()`, or computed under `torch.no_grad()`, and with "
            "`.clone()` where they are a part of a larger one."
        )
    return (
        "Look for what outlives the step: a loss or output that is collected with its graph (collect `.detach()` or "
        "`.item()`), a list or cache that grows, a hook that stores its inputs."
    )


def _diff(results: Results, lines: tuple[int, ...]) -> str | None:
    if not lines:
        return None

    def edit(source: str) -> str | None:
        from gpuprof.code_edits.loops.kept_losses import detach_kept

        return detach_kept(source, lines)

    return cell_diff(results, edit)
