"""A derivative takes many passes where few would do.

What it finds
    Lines that compute a full derivative and take 10% of the cell or more, by samples of the stack, where 4 times as
    many passes run as are needed, or more: a Jacobian in reverse mode (`torch.func.jacrev`,
    `torch.autograd.functional.jacobian`) of a function with many more outputs than inputs, one in forward mode
    (`torch.func.jacfwd`) of many more inputs than outputs, and a Jacobian or Hessian that the text only multiplies
    with one vector. Inputs and outputs are the elements of the tensors by those names. Where those are not known,
    nothing is said. A solver of SciPy that is given no gradient, and estimates it by differences of a function of 8
    parameters or more.

Why it costs
    Reverse mode takes one pass for each output, forward mode one for each input. The product of a derivative with one
    vector takes one pass or two, and never holds the matrix. Differences take one call of the function for each
    parameter; autograd takes as long as about four.

What to do
    Use the other mode (`torch.func.jacfwd`, `torch.func.jacrev`). For one product use `torch.func.jvp` or
    `torch.func.vjp`, for one with a Hessian `torch.func.jvp(torch.func.grad(f), (w,), (g,))[1]`. Give a solver the
    gradient (`jac=True`).

When to leave it
    When the function has operators without a derivative in the other mode, or when the matrix is needed elsewhere; for
    a solver when the function has no useful derivative: it rounds, counts, or is noisy.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.accounts.run_kind import KindOfRun
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.demand.full_derivatives import DerivativeKind, FullDerivative, FullDerivatives
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.rules.base.finding import Abstention, Finding, Saving, Severity, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.derivative_text import DerivativeText, derivative_text
from gpuprof.rules.host.repeated_host_work import line_of, source_of
from gpuprof.rules.needless.finite_differences import differences, finding_of
from gpuprof.rules.saving.scope import graded, share_of, worst

# the gradient, and its derivative along the vector
_HESSIAN_PASSES = 2
# Passes that run as one go through passes × passes numbers. With fewer than these the calls take the time themselves,
# and one call in the other mode takes about half as long (measured on a CPU).
_VECTORIZED_NUMBERS, _AT_MOST_HALF = 300_000, 0.5
# a single product takes about as long as so many passes of a loop
_PASSES_OF_A_CALL = 20
_AT_WORST = 0.6


@dataclass(frozen=True)
class _Excess:
    """More passes than needed. `change`: what to call instead; `for_product`: for one product with a vector."""

    call: FullDerivative
    text: DerivativeText
    inputs: int
    outputs: int
    made: int
    needed: int
    change: str
    for_product: bool

    @property
    def saved_ns(self) -> float:
        """Of the time of the call."""
        calls = _VECTORIZED_NUMBERS / self.made**2 if self.call.vectorized else _PASSES_OF_A_CALL / self.made
        return self.call.ns * (1 - max(self.needed / self.made, min(calls, _AT_MOST_HALF)))

    @property
    def name(self) -> str:
        return "Hessian" if self.call.kind is DerivativeKind.HESSIAN else "Jacobian"


@dataclass(frozen=True)
class DerivativeInFull(Rule):
    """See the module."""

    not_for = frozenset({KindOfRun.CAPTURE})

    work_share: float = threshold(0.10, "of the cell: less is not worth a change")
    medium_share: float = threshold(0.20, "of the cell, saved: less matters little")
    high_share: float = threshold(0.40, "of the cell, saved: then it is the first thing to change")
    passes_factor: float = threshold(4, "times the passes that are needed: a pass in the other mode may take longer")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the calls that compute a derivative in full."""
        found = results.get(FullDerivatives)
        if not found.total_ns:
            return Abstention(
                self.name,
                "samples of the cell’s stack",
                "Profile the cell with `%%gpuprofile`; `gpuprof doctor` tells why none were taken.",
            )
        judged = [each for call in found.calls if (each := _excess(results, call)) is not None]
        many = [
            each
            for each in judged
            if each.made >= self.passes_factor * each.needed and each.call.share >= self.work_share
        ]
        most = max(many, key=lambda each: each.saved_ns, default=None)
        estimated = differences(results)
        if estimated is not None and estimated.saved_ns() > (most.saved_ns if most else 0):
            share = share_of(estimated.saved_ns(), found.total_ns)
            if share >= self.work_share:
                return finding_of(self.name, estimated, found.total_ns, self._severity(share))
        return self._finding(most, found.total_ns) if most is not None else None

    def _severity(self, share: float) -> Severity:
        return graded(share, self.high_share, self.medium_share)

    def _finding(self, found: _Excess, total_ns: int) -> Finding:
        call, share = found.call, share_of(found.saved_ns, total_ns)
        during = intervals.union(Intervals(call.starts_ns, call.ends_ns))
        made, needed = units.plural(found.made, "pass", "passes"), units.count(found.needed)
        return Finding(
            rule=self.name,
            severity=self._severity(share),
            title=f"A full {found.name} takes {made} where {needed} would do: {units.percent(call.share)} of the cell",
            explanation=_explanation(found),
            evidence={
                "work_ms": units.milliseconds(call.ns),
                "work_share": round(call.share, 4),
                "inputs": found.inputs,
                "outputs": found.outputs,
                "passes": found.made,
                "passes_needed": found.needed,
            },
            where=Where(lines=tuple(sorted(call.cell_lines)), ranges_ns=worst(during)),
            during=during,
            change=found.change,
            saving=Saving(
                _AT_WORST * found.saved_ns,
                found.saved_ns,
                max(call.ns * (1 - found.needed / found.made), found.saved_ns),
                share,
                "C",
                "estimate: the sampled time of the call without the passes that are not needed",
                of_cell=True,
            ),
        )


def _excess(results: Results, call: FullDerivative) -> _Excess | None:
    """None where the text or the sizes do not tell."""
    text = derivative_text(source_of(results, call.file), call.line, transform=call.transform)
    inputs = _elements(call, text.given) if text else None
    if text is None or not inputs:
        return None
    whole, vector = _elements(call, text.result), _elements(call, text.vector)
    if call.kind is DerivativeKind.HESSIAN:
        return _of_hessian(call, text, inputs, whole, vector)
    if not whole or whole % inputs:
        return None
    outputs = whole // inputs
    made, other = (outputs, inputs) if call.kind is DerivativeKind.REVERSE else (inputs, outputs)
    if vector and vector == (outputs if text.from_left else inputs):
        return _Excess(call, text, inputs, outputs, made, 1, _product_change(text), for_product=True)
    mode = "jacfwd" if call.kind is DerivativeKind.REVERSE else "jacrev"
    change = (
        f"Compute the Jacobian in the other mode: `torch.func.{mode}({text.function})({text.given})` takes one pass "
        f"for each of {units.plural(other, 'input' if mode == 'jacfwd' else 'output')}."
    )
    return _Excess(call, text, inputs, outputs, made, other, change, for_product=False)


def _of_hessian(
    call: FullDerivative, text: DerivativeText, inputs: int, whole: int | None, vector: int | None
) -> _Excess | None:
    """Of one that is only multiplied with a vector; a Hessian is symmetric."""
    if vector != inputs or whole not in (None, inputs * inputs):
        return None
    change = (
        "Compute the product without the matrix: "
        f"`torch.func.jvp(torch.func.grad({text.function}), ({text.given},), ({text.vector},))[1]`."
    )
    return _Excess(call, text, inputs, 1, inputs, _HESSIAN_PASSES, change, for_product=True)


def _product_change(text: DerivativeText) -> str:
    product = (
        f"torch.func.vjp({text.function}, {text.given})[1]({text.vector})[0]"
        if text.from_left
        else f"torch.func.jvp({text.function}, ({text.given},), ({text.vector},))[1]"
    )
    return f"Compute the product without the matrix: `{product}`."


def _explanation(found: _Excess) -> str:
    call, text = found.call, found.text
    sizes = units.plural(found.inputs, "input")
    if call.kind is not DerivativeKind.HESSIAN:
        sizes = f"{units.plural(found.outputs, 'output')} and {sizes}"
    each = "output" if call.kind is DerivativeKind.REVERSE else "input"
    why = (
        f"The result is only multiplied with `{text.vector}`."
        if found.for_product
        else f"It runs in {call.kind} mode, with one pass for each {each}."
    )
    lasted = units.duration(call.ns)
    return f"In {line_of(call)}, `{text.function}` has {sizes}, and its {found.name} takes {lasted}. {why}"


def _elements(call: FullDerivative, name: str) -> int | None:
    """Of the tensor by that name, where it had the same size in all looks."""
    found = [each for each in call.operands if name and each.name == name]
    sizes = {(each.fewest_elements, each.most_elements) for each in found}
    fewest, most = sizes.pop() if len(sizes) == 1 else (None, None)
    return most if fewest == most else None
