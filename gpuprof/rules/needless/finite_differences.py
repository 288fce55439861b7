"""A gradient that a solver estimates by calling the function once for each parameter."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gpuprof import units
from gpuprof.analyses.accounts.library_callbacks import LibraryCallback, LibraryCallbacks
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.run.main_operators import MainOperators
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.rules.base.finding import Finding, Saving, Severity, Where
from gpuprof.rules.cell.callback_text import callback_text
from gpuprof.rules.host.callback_kinds import given_to
from gpuprof.rules.host.repeated_host_work import line_of, source_of
from gpuprof.rules.saving.scope import share_of, worst

# of one number: of several outputs reverse mode would take a pass for each
_OF_ONE_NUMBER = "scipy.optimize._differentiable_functions.ScalarFunction"
_ESTIMATES = "scipy.optimize._numdiff.approx_derivative"
# In calls of the function, what value and gradient take together by autograd. Measured on a CPU: 4 to 6 where the
# operators are small, 1.4 to 1.9 where they are large.
_CALLS, _CALLS_AT_BEST, _CALLS_AT_WORST = 4, 2, 6
_FEWEST_PARAMETERS = 8


@dataclass(frozen=True)
class Differences:
    """A call of a solver; `parameters` of the function that it calls, `ns` of it for the estimates of the gradient.

    `in_torch`: torch's operators run in the function. `of_model`: its text reads the parameters of a model."""

    call: LibraryCallback
    parameters: int
    ns: float
    in_torch: bool
    of_model: bool = False

    def saved_ns(self, calls: float = _CALLS) -> float:
        """Where value and gradient together take as long as so many calls of the function."""
        return self.ns * max(1 - calls / self.parameters, 0.0)

    @property
    def during(self) -> Intervals:
        """When the solver ran."""
        return intervals.union(Intervals(self.call.starts_ns, self.call.ends_ns))


def differences(results: Results) -> Differences | None:
    """The call in which most time goes into such estimates; None where there is none of enough parameters."""
    found = [_read(results, each) for each in results.get(LibraryCallbacks).callbacks if _ESTIMATES in each.below]
    return max((each for each in found if each is not None), key=lambda each: each.saved_ns(), default=None)


def _read(results: Results, call: LibraryCallback) -> Differences | None:
    if not any(name.startswith(_OF_ONE_NUMBER) for name in call.below):
        return None
    source = source_of(results, call.callback_file)
    text = callback_text(source, call.callback, call.callback_line)
    given = next(iter(given_to(call, text)), None)
    if given is None or given.most_elements is None or given.fewest_elements != given.most_elements:
        return None
    if given.most_elements < _FEWEST_PARAMETERS:
        return None
    found = Differences(call, given.most_elements, call.ns * call.below[_ESTIMATES], in_torch=False)
    in_torch = intervals.intersect(found.during, results.get(MainOperators).inside).total_ns > 0
    return replace(found, in_torch=in_torch, of_model="parameters" in source)


def finding_of(name: str, found: Differences, total_ns: int, severity: Severity) -> Finding:
    """What is said of it; `total_ns` is the cell."""
    call, share = found.call, share_of(found.ns, total_ns)
    solver, function = (each.rpartition(".")[2] for each in (call.call, call.callback))
    return Finding(
        rule=name,
        severity=severity if found.in_torch else Severity.LOW,
        title=f"`{solver}` estimates the gradient by differences: {units.percent(share)} of the cell",
        explanation=f"{_sentence(line_of(call))} gives `{solver}` no gradient. For each gradient it calls `{function}` "
        f"{units.count(found.parameters)} times more, once for each parameter: {units.duration(found.ns)}.",
        evidence={
            "work_ms": units.milliseconds(found.ns),
            "work_share": round(share, 4),
            "parameters": found.parameters,
        },
        where=Where(lines=tuple(sorted(call.cell_lines)), ranges_ns=worst(found.during)),
        during=found.during,
        change=_change(function, solver, found),
        saving=Saving(
            found.saved_ns(_CALLS_AT_WORST),
            found.saved_ns(),
            found.saved_ns(_CALLS_AT_BEST),
            share_of(found.saved_ns(), total_ns),
            "C",
            "estimate: value and gradient together take as long as four calls of the function",
            of_cell=True,
        ),
    )


def _change(function: str, solver: str, found: Differences) -> str:
    if not found.in_torch:
        return (
            f"Give `{solver}` a function for the gradient (`jac=`): a formula, or autograd where `{function}` can be "
            "written with torch or JAX."
        )
    change = (
        f"Have `{function}` return its value and its gradient by autograd, and give `{solver}` `jac=True`: "
        "`p = torch.tensor(p, requires_grad=True)`, then `loss.backward()` and "
        "`return loss.item(), p.grad.numpy()`."
    )
    if not found.of_model:
        return change
    return (
        f"{change} If `{function}` writes `p` into a model (`vector_to_parameters(p, net.parameters())`), `p.grad` is "
        "None: call `net.zero_grad()` before, and return the gradient "
        "`parameters_to_vector([each.grad for each in net.parameters()]).double().numpy()`."
    )


def _sentence(place: str) -> str:
    return f"{place[0].upper()}{place[1:]}"
