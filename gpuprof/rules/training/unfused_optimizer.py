"""The optimizer updates the parameters one by one, or all of them in several passes.

What it finds
    An optimizer whose step takes at least 3 % of the time and issues more than two operators (on a GPU: kernels) for
    each single parameter tensor. Without a device only Adam, AdamW, Adagrad and SGD with momentum and small tensors,
    for which fused steps were measured to be faster there. On a GPU also Adam and AdamW as torch makes them by default
    (`foreach`): there are few kernels then, but some ten passes over all parameters and states.

Why it costs
    Each parameter costs some ten small operators, and each operator its Python and dispatch, on a GPU also a launch.
    A fused step reads and writes every parameter once, in one pass.

What to do
    `fused=True` for Adam, AdamW and SGD, on the CPU also for Adagrad. On a GPU `foreach=True` for the others; on the
    CPU that gains little and is often slower. An optimizer written by hand can use the `torch._foreach_` functions on
    lists of tensors, if it runs on a GPU.

When to leave it
When the optimizer needs what fused steps lack (`differentiable=True`, hooks between parameters, sparse gradients), or
when its tensors are few and large. In the latter case the arithmetic is the cost, and it remains. With complex
parameters a fused step raises an error: on the CPU the rule then says nothing, on a GPU it names `foreach=True`.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.run.operators import Operators
from gpuprof.analyses.training.optimizer_steps import OptimizerSteps, OptimizerUse
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.guard import FUSED_TOLERANCE, Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.saving.launch_waits import launch_waits
from gpuprof.rules.saving.plain_parts import PlainParts
from gpuprof.rules.saving.retimed import retimed
from gpuprof.rules.saving.scope import Scope, graded, worst
from gpuprof.whatif.changes.optimizers import optimizer_steps_taking
from gpuprof.whatif.predict import Range

_FUSED = ("Adam", "AdamW", "SGD")
_FUSED_SINCE = {"Adam": "2.0", "AdamW": "2.0", "SGD": "2.3"}
# torch 1.11 put `aten::convolution_backward` in its place
_BEFORE_1_11 = "aten::cudnn_convolution_backward"
_FOREACH = ("RMSprop", "NAdam", "RAdam", "Adamax", "Adadelta", "ASGD", "Rprop", "Adafactor", "Adagrad")
_NEITHER = ("SparseAdam", "LBFGS", "Muon")
# What a step on the CPU takes with `fused=True`, of its time without: about the most, the median and the least of what
# was measured for models of 30 linear layers of 32 × 32, 12 of 256 × 256 and 10 of 1000 × 1000, on one thread and two
# (torch 2.13). SGD without momentum took 48 to 170 % of its time.
_LEFT_ON_CPU = {
    "Adam": (0.4, 0.25, 0.1),
    "AdamW": (0.4, 0.25, 0.1),
    "Adagrad": (0.65, 0.4, 0.3),
    "SGD": (0.7, 0.5, 0.25),  # with momentum, and only with small tensors
}
# Fewer than eight tensors: what a step takes besides its tensors counts for more (2 to 6 of 8 × 8 to 256 × 256: 33 to
# 53 % of their time).
_FEW_TENSORS, _LEFT_OF_FEW = 8, 0.13
_LEFT_ON_DEVICE = (0.7, 0.4, 0.1)
# One pass in place of foreach's: fused moves 28 bytes a parameter (docs/design/whatif.md, formula 6), foreach's ten
# or so operators two to three times as many; at worst the caches hide most of that.
_MANY_PASSES = ("Adam", "AdamW")
_LEFT_OF_PASSES = (0.8, 0.5, 0.3)


@dataclass(frozen=True)
class UnfusedOptimizer(Rule):
    """See the module."""

    guard = Guard.EXACT
    loss_tolerance = FUSED_TOLERANCE

    optimizer_share: float = threshold(0.03, "of the step: less is hardly worth a change")
    high_share: float = threshold(0.20, "of the step: then it is the first thing to mend")
    operators: float = threshold(30, "a step: fewer leave nothing to fuse")
    per_parameter: float = threshold(
        2, "operators or kernels for each parameter tensor: SGD without momentum has no more"
    )

    sgd_elements: float = threshold(
        100_000,
        "for each tensor on the CPU: with larger ones SGD with momentum gained about a third or less, once nothing",
    )

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the costliest optimizer."""
        use, activity = results.get(OptimizerSteps).primary, results.get(DeviceActivity)
        if use is None or use.fused_seen or use.closure_untold or (use.known and use.known.fused):
            return None
        passes = use.foreach_seen or bool(use.known and use.known.foreach)
        if use.name in _NEITHER or use.sparse_seen or (passes and use.name not in _MANY_PASSES):
            return None
        if activity.recorded is False:
            if (use.share or 0) < self.optimizer_share or passes or use.operators_per_step < self.operators:
                return None
            return without_device(self.name, results, "the kernels of the optimizer’s steps")
        scope = Scope.of(results)
        on_device = use.device is not None and activity.primary is not None and (use.kernels_per_step or 0) > 0
        pieces = use.kernels_per_step if on_device and use.kernels_per_step else use.operators_per_step
        device = intervals.union(use.device) if on_device and use.device is not None else intervals.EMPTY
        waits = intervals.intersect(launch_waits(results, use.own), scope.within) if on_device else intervals.EMPTY
        whole = intervals.joined(device, waits) if on_device else intervals.union(use.own)
        cost = intervals.intersect(whole, scope.within)
        parameters = use.known.parameters if use.known else None
        if not passes and (pieces < self.operators or (parameters and pieces <= self.per_parameter * parameters)):
            return None
        if not on_device and (passes or not self._gains_on_cpu(use)):
            return None
        if (passes or not on_device) and not _can_be_fused(results, use):
            return None
        if scope.share(cost.total_ns) < self.optimizer_share:
            return None
        found = self._finding(results, scope, _Case(use, cost, waits, pieces, on_device, passes))
        own_ns = intervals.intersect(device, scope.within).total_ns + use.ns if on_device else cost.total_ns
        # a simulated saving beyond what the optimizer takes at all has another cause
        return None if found.saving and found.saving.central_ns > own_ns else found

    def _gains_on_cpu(self, use: OptimizerUse) -> bool:
        """SGD only where its tensors are counted: without momentum it has two operators for each at most."""
        known = use.known
        if use.name not in _LEFT_ON_CPU or (known is not None and known.device not in (None, "cpu")):
            return False
        if use.name != "SGD":
            return True
        return known is not None and known.elements <= self.sgd_elements * known.parameters

    def _finding(self, results: Results, scope: Scope, case: _Case) -> Finding:
        use, cost, pieces, on_device = case.use, case.cost, case.pieces, case.on_device
        share = _share(results, scope, case)
        what = "kernel" if on_device else "operator"
        known = use.known
        most, middle, least = case.left
        waits_ns = case.waits.total_ns
        waited = f"; it was idle for {units.duration(waits_ns)} of that, waiting for their launches" if waits_ns else ""
        each = f", {pieces / known.parameters:.1f} for each of its {known.parameters} tensors" if known else ""
        found = Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"The optimizer ({use.name}) {case.does}, for {units.percent(share)} of {scope.words}",
            explanation=(
                f"{units.plural(use.count, 'optimizer step')} took {units.duration(cost.total_ns)}"
                f"{' on the device' if on_device else ''}, with {units.plural(round(pieces), what)} in each{each}"
                f"{waited}."
            ),
            evidence={
                "optimizer_ms": units.milliseconds(cost.total_ns),
                "optimizer_share": round(share, 4),
                "optimizer_steps": use.count,
                f"{what}s_per_step": pieces,
                "host_ms": units.milliseconds(use.ns),
                **({"launch_waits_ms": units.milliseconds(waits_ns)} if waits_ns else {}),
                **({"parameters": known.parameters} if known else {}),
            },
            where=Where(lines=_lines(results, use), ranges_ns=worst(cost)),
            change=_change(use.name, on_device=on_device, fusible=_can_be_fused(results, use))
            + (_since(results, use.name) if on_device and results.context.environment is None else ""),
            diff=_diff(results, use),
            saving=scope.saving(
                cost.total_ns * (1 - most),
                cost.total_ns * (1 - middle),
                cost.total_ns * (1 - least),
                f"estimate: such a step takes {100 * least:.0f} to {units.percent(most)} of this time; many small "
                "tensors gain most",
                part_of=cost,
            ),
        )
        return retimed(
            results,
            found,
            Range(*(optimizer_steps_taking(results, use.own, left) for left in case.left)),
            f"simulated with optimizer steps that take {units.percent(most)}, {units.percent(middle)} and "
            f"{units.percent(least)} of their time, on host and device",
            assumed="how fast a fused step is is assumed, not recorded",
        )


def _share(results: Results, scope: Scope, case: _Case) -> float:
    """Of the steps' time; what is the host's as it is in iterations that were not recorded."""
    share, plain = scope.share(case.cost.total_ns), PlainParts.of(results)
    if plain is None:
        return share
    if case.on_device:
        return share - scope.share(case.waits.total_ns) * max(1 - plain.optimizer, 0.0)
    return min(share * plain.optimizer * scope.total_ns / (plain.iteration.mean_ns * scope.steps), 1.0)


@dataclass(frozen=True)
class _Case:
    """`waits`: the part of `cost` in which the device waits for launches. `passes`: foreach, over all parameters at
    once; else one by one. `pieces` are kernels or operators a step."""

    use: OptimizerUse
    cost: Intervals
    waits: Intervals
    pieces: float
    on_device: bool
    passes: bool

    @property
    def left(self) -> tuple[float, float, float]:
        """What a fused step takes of this one's time: at most, as a rule, at least."""
        if self.passes:
            return _LEFT_OF_PASSES
        if self.on_device:
            return _LEFT_ON_DEVICE
        few = self.use.known is not None and self.use.known.parameters < _FEW_TENSORS
        most, middle, least = (part + _LEFT_OF_FEW * few for part in _LEFT_ON_CPU[self.use.name])
        return most, middle, least

    @property
    def does(self) -> str:
        return "passes over its parameters several times" if self.passes else "updates parameters one by one"


def _lines(results: Results, use: OptimizerUse) -> tuple[int, ...]:
    known = use.known.line if use.known else None
    return (known,) if known else results.get(LinePlaces).cell_lines(use.own)


def _can_be_fused(results: Results, use: OptimizerUse) -> bool:
    """Whether no optimizer of that class has parameters that a fused step does not take, such as complex ones."""
    return all(each.name != use.name or each.floating is not False for each in results.context.optimizers)


def _diff(results: Results, use: OptimizerUse) -> str | None:
    """`fused=True`, else `foreach=True`, on devices and for classes of which every torch ≥ 2.4 has it."""
    known, fusible = use.known, _can_be_fused(results, use)
    if known is None or known.line is None or known.device is None:
        return None
    line, device = known.line, known.device.partition(":")[0]
    if fusible and ((use.name in _LEFT_ON_CPU and device == "cpu") or (use.name in _FUSED and device == "cuda")):
        argument = "fused"
    elif use.name in (*_FOREACH, *_FUSED) and device == "cuda":
        argument = "foreach"
    else:
        return None

    def edit(source: str) -> str | None:
        from gpuprof.code_edits.loops.optimizers import set_optimizer

        return set_optimizer(source, line, use.name, **{argument: "True"})

    return cell_diff(results, edit)


def _since(results: Results, name: str) -> str:
    """Which torch has it. A trace from elsewhere seldom says its version; names that torch has dropped do."""
    if name not in _FUSED_SINCE:
        return ""
    old = any(each.name.startswith(_BEFORE_1_11) for each in results.get(Operators).uses)
    known = "; the recorded torch is older than 1.11" if old else ""
    return f" This needs torch {_FUSED_SINCE[name]} or newer{known}."


def _change(name: str, *, on_device: bool, fusible: bool = True) -> str:
    if name in (_FUSED if on_device else _LEFT_ON_CPU) and fusible:
        return f"Make it `{name}(..., fused=True)`."
    if name in (*_FOREACH, *_FUSED):
        return f"Make it `{name}(..., foreach=True)`, which updates all tensors together."
    return "Update lists of tensors with the `torch._foreach_` functions instead of looping over parameters."
