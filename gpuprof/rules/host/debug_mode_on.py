"""A mode that is meant for finding faults was left on.

What it finds
    Launches that wait for their kernel (`CUDA_LAUNCH_BLOCKING=1`: read from the recording itself, in which every
    launch returns only after its kernel has ended), autograd's anomaly detection (by its flag, or by its checks in the
    backward pass), warnings at every synchronisation, and deterministic algorithms, as the flags stood while the steps
    ran. In a sampled cell also the checks that `torch.distributions` makes of every argument and value, which are on by
    default, where they take a noticeable part of the time.

Why it costs
    With blocking launches the host never runs ahead, and the device is idle for the host's part of every operator.
    Anomaly detection formats the whole stack for every forward operator and checks every gradient for NaN. A
    distribution compares all its parameters with their bounds whenever it is created; to check that a matrix is
    positive definite takes a factorization. Deterministic algorithms can be several times slower than the free choice.

What to do
    Switch it off once the fault is found. `CUDA_LAUNCH_BLOCKING` is only read when CUDA starts: restart the kernel.
    `torch.distributions.Distribution.set_default_validate_args(False)` holds for all distributions made after it.

When to leave it
    While the fault is being looked for, or when the result has to be reproducible to the bit (deterministic
    algorithms).
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.run.blocking_launches import BlockingLaunches
from gpuprof.analyses.run.switchable_checks import CheckSource, CheckTime, SwitchableChecks
from gpuprof.analyses.training.anomaly_checks import AnomalyChecks
from gpuprof.model import intervals
from gpuprof.model.context import Environment
from gpuprof.rules.base.finding import Abstention, Finding, Saving, Severity, Where
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.cell.cell_lines import lines_calling
from gpuprof.rules.saving.scope import Scope, graded, worst


@dataclass(frozen=True)
class _Mode:
    """`change` begins in lower case: it stands in a list."""

    name: str
    severity: Severity
    change: str


_BLOCKING = _Mode(
    "blocking launches (`CUDA_LAUNCH_BLOCKING=1`)",
    Severity.HIGH,
    "unset `CUDA_LAUNCH_BLOCKING` and restart the kernel",
)
_ANOMALY = _Mode(
    "autograd’s anomaly detection", Severity.MEDIUM, "`torch.autograd.set_detect_anomaly(False)`, or leave its `with`"
)
_VALIDATION = _Mode(
    "checks of all arguments of `torch.distributions`",
    Severity.LOW,
    "`torch.distributions.Distribution.set_default_validate_args(False)` before the first one is made",
)
_SYNC_DEBUG = _Mode("warnings at every synchronisation", Severity.LOW, '`torch.cuda.set_sync_debug_mode("default")`')
_DETERMINISTIC = _Mode(
    "deterministic algorithms", Severity.LOW, "`torch.use_deterministic_algorithms(False)` if results may differ"
)


@dataclass(frozen=True)
class DebugModeOn(Rule):
    """See the module."""

    guard = Guard.EXACT

    checks_share: float = threshold(0.05, "of the cell, in checks that are on by default: less is hardly seen")
    medium_share: float = threshold(0.15, "of the cell, in checks: less is a minor matter unless somebody asked for it")
    high_share: float = threshold(0.30, "of the cell, in checks: then it is the first thing to change")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the launches and the flags."""
        launches, environment = results.get(BlockingLaunches), results.context.environment
        checks = results.get(AnomalyChecks)
        if environment is None and not launches.mostly and not checks.on:
            return Abstention(
                self.name,
                "torch’s flags during the run",
                "Profile the cell with `%%gpuprofile`; a trace file does not hold them.",
            )
        on_device = results.get(DeviceActivity).recorded is not None
        modes = ([_BLOCKING] if launches.mostly else []) + _flagged(environment, checks.on, on_device)
        validated = results.get(SwitchableChecks).of_check(CheckSource.DISTRIBUTIONS)
        if validated is not None and validated.share >= self.checks_share:
            modes.append(_VALIDATION)
        return self._finding(results, modes, launches.mostly) if modes else None

    def _finding(self, results: Results, modes: list[_Mode], blocking: bool) -> Finding:
        launches, scope = results.get(BlockingLaunches), Scope.of(results)
        names = " and ".join(", ".join(mode.name for mode in modes).rsplit(", ", 1))
        waits = intervals.intersect(intervals.union(launches.waits), scope.within)
        said = (
            f" {units.percent(launches.blocking_share)} of {units.plural(launches.launches, 'launch', 'launches')} "
            f"returned only after their kernel had ended: the host waited for {units.duration(waits.total_ns)} in them."
            if blocking
            else ""
        )
        sampled = _sampled(results, modes)
        share = sum(each.share for each in sampled)
        took = f", about {units.percent(share)} of the cell" if share else ""
        if share:
            said += f" By samples, that takes about {units.percent(share)} of the cell."
        lines = sorted({*_switching_on(results), *(line for each in sampled for line in each.lines)})
        if modes == [_VALIDATION]:
            severity = graded(share, self.high_share, self.medium_share)
            return _by_default(self.name, results, sampled, severity, tuple(lines))
        return Finding(
            rule=self.name,
            severity=max(graded(share, self.high_share, self.medium_share), *(mode.severity for mode in modes)),
            title=f"A mode for finding faults is on: {names}{took}",
            explanation=f"While the steps ran, this was on: {names}. It slows the run down by design.{said}",
            evidence={
                "modes": ", ".join(mode.name.replace("`", "") for mode in modes),
                **({"blocking_launches": len(launches.waits.starts)} if blocking else {}),
                **({"host_blocked_ms": units.milliseconds(waits.total_ns)} if blocking else {}),
                **({"checks_share": round(share, 4)} if share else {}),
            },
            where=Where(lines=tuple(lines), ranges_ns=worst(waits) if blocking else ()),
            diff=cell_diff(results, _edit) if _ANOMALY in modes else None,
            change=f"Switch it off once the fault is found: {'; '.join(mode.change for mode in modes)}.",
            saving=_saving(results, scope, waits.total_ns) if blocking else _of_checks(results, sampled),
        )


def _by_default(
    name: str, results: Results, sampled: list[CheckTime], severity: Severity, lines: tuple[int, ...]
) -> Finding:
    """Checks that are on unless somebody switches them off."""
    share = sum(each.share for each in sampled)
    return Finding(
        rule=name,
        severity=severity,
        title=f"Distributions check all of their arguments: about {units.percent(share)} of the cell",
        explanation=(
            "`torch.distributions` checks the arguments of every distribution and of every `log_prob` by default. By "
            f"samples, that takes about {units.percent(share)} of the cell."
        ),
        evidence={"modes": _VALIDATION.name.replace("`", ""), "checks_share": round(share, 4)},
        where=Where(lines=lines),
        change=(
            f"Switch them off: {_VALIDATION.change}. It holds for the whole kernel; `validate_args=False` is for one "
            "distribution."
        ),
        saving=_of_checks(results, sampled),
        leave_it="Leave them on while parameters may be out of range.",
    )


def _sampled(results: Results, modes: list[_Mode]) -> list[CheckTime]:
    """What the checks of these modes were seen to take."""
    found = results.get(SwitchableChecks)
    known = {CheckSource.ANOMALY: _ANOMALY in modes, CheckSource.DISTRIBUTIONS: _VALIDATION in modes}
    return [each for each in found.found if known[each.check]]


def _of_checks(results: Results, sampled: list[CheckTime]) -> Saving | None:
    ns, share = sum(each.ns for each in sampled), sum(each.share for each in sampled)
    basis = "estimate: these checks alone, by sampled stacks"
    return Saving(0.7 * ns, 0.95 * ns, ns, 0.95 * share, "C", basis, of_cell=True) if ns else None


def _switching_on(results: Results) -> tuple[int, ...]:
    """Not the lines that switch a mode off."""
    named = lines_calling(results, "set_detect_anomaly", "detect_anomaly", "use_deterministic_algorithms")
    text = results.context.cell.source.splitlines() if results.context.cell else []
    return tuple(line for line in named if "False" not in text[line - 1])


def _flagged(environment: Environment | None, checked: bool, on_device: bool) -> list[_Mode]:
    modes = [_ANOMALY] if checked or (environment is not None and environment.anomaly_mode) else []
    if environment is None:
        return modes
    if on_device and environment.sync_debug_mode in ("warn", "error"):
        modes.append(_SYNC_DEBUG)
    if on_device and environment.deterministic:
        modes.append(_DETERMINISTIC)
    return modes


def _saving(results: Results, scope: Scope, waited_ns: int) -> Saving | None:
    """docs/design/whatif.md, formula 3: what waits give back is at most the device's idle time."""
    device = results.get(DeviceActivity).primary
    if device is None:
        return None
    idle_ns = intervals.subtract(scope.within, device.busy).total_ns
    bound = min(waited_ns, idle_ns)
    return scope.saving(0, bound, bound, "upper bound: the host runs ahead, and the device is never idle for it")


def _edit(source: str) -> str | None:
    from gpuprof.code_edits.loops.switches import leave_anomaly_mode

    return leave_anomaly_mode(source)
