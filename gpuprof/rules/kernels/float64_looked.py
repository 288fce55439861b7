"""Double precision on a CPU by the types that the close look has seen: shared by no other rule than float64_compute."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.looked_float64 import LookedFloat64
from gpuprof.analyses.dataflow.looked_lines import LookedLines
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.lines.float64_lines import Float64Lines
from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.rules.base.finding import Finding, Severity, Where
from gpuprof.rules.cell.cell_bindings import dotted
from gpuprof.rules.needless.looked import IN_PART, cell_lines, line_words, without_look
from gpuprof.rules.saving.of_looked_operators import share_of_cell, valued
from gpuprof.rules.saving.scope import graded

# methods that a module has, and a tensor has not
_OF_MODELS = ("parameters", "named_parameters", "train", "eval", "state_dict", "load_state_dict", "zero_grad")
_DOUBLE = re.compile(r"\.double\(\)$|\.to\([^()]*\b(?:torch\.)?(?:float64|double)\b[^()]*\)$")
# of the time in fp64 what fp32 usually saves (0.69 was measured of a cell of round zb, 0.51 of a pair), and of that of
# convolutions, which have no fast fp64 code on a CPU: 0.80 and 0.92 were measured of two cells
_SAVED, _SAVED_OF_CONVOLUTIONS = 0.6, 0.8
_MOST_LINES = 3
_CHANGE = (
    'Keep model and data in fp32: `torch.from_numpy(a).float()` or `a.astype("float32")` for arrays of floats (leave '
    "integer labels as they are), and no `.double()` for the model. Keep fp64 for what needs it, such as long sums."
)
_COMPLEX = " Complex numbers become `.to(torch.complex64)` or `.astype(np.complex64)`: `.float()` drops a part of them."


def judge_look(rule: str, results: Results, least_share: float, high_share: float) -> tuple[bool, Finding | None]:
    """Whether the look shows enough to judge, and what it shows of a model whose weights are fp64, or of fp32 numbers
    that become fp64 since they meet some."""
    lacking = without_look(rule, results)
    found = results.get(LookedFloat64)
    among = np.ones(len(results.get(ValueGraph).operators), bool)
    # of a part of an iteration, by the samples of its lines
    if lacking is not None and (share_of_cell(results, [found.rows], among) or 0.0) < least_share:
        return False, None
    entries = results.get(Float64Lines)
    # what asks for double precision means it
    widened = found.widened if not entries.asked and found.share >= least_share else ()
    if found.solvers or not len(found.rows) or not (found.weights_share >= least_share or widened):
        return True, None
    lines = tuple(sorted({*entries.asked, *entries.from_numpy}))
    where = line_words(results.get(LookedLines).line(found.places[0])) if found.places else "a library"
    finding = Finding(
        rule=rule,
        severity=graded(found.share, high_share),
        title=f"{units.percent(found.share)} of the operators’ time is double precision",
        explanation=(
            f"In the close look, operators on fp64 tensors take {units.percent(found.share)} of the operators’ time, "
            f"most of it at {where}; {_why(results, found, least_share)}."
        ),
        evidence={
            "float64_share": round(found.share, 4),
            "float64_weights_share": round(found.weights_share, 4),
            "widened_lines": len(widened),
            "operators": len(found.rows),
        },
        where=Where(lines=lines or cell_lines(results, (*found.places[:_MOST_LINES], *widened[:_MOST_LINES]))),
        change=_CHANGE + (_COMPLEX if found.complex else ""),
    )
    if lacking is not None:
        finding = replace(finding, explanation=f"{finding.explanation} {IN_PART}")
    saved = _SAVED + (_SAVED_OF_CONVOLUTIONS - _SAVED) * found.convolved
    judged = valued(results, finding, saved * found.share, [found.rows], among, part=saved)
    # a default that is set is a decision
    return True, replace(judged, severity=Severity.LOW) if found.chosen or is_meant(results) else judged


def is_meant(results: Results) -> bool:
    """Whether the cell makes its model double, and has an optimizer or derivatives that lack digits in fp32."""
    cell = results.context.cell
    tree = parsed(cell.source) if cell is not None else None
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)] if tree is not None else []
    named = {each.name for each in results.context.optimizers} | {
        dotted(each.func).rpartition(".")[2] for each in calls
    }
    twice = [key.value for each in calls for key in each.keywords if key.arg == "create_graph"]
    if "LBFGS" not in named and all(isinstance(each, ast.Constant) and not each.value for each in twice):
        return False
    methods = [each.func for each in calls if isinstance(each.func, ast.Attribute)]
    models = {dotted(each.value) for each in methods if each.attr in _OF_MODELS}
    doubled = [each.func for each in calls if _DOUBLE.search(ast.unparse(each))]
    return any(isinstance(each, ast.Attribute) and _is_model(each.value, models) for each in doubled)


def _is_model(node: ast.expr, models: set[str]) -> bool:
    """`net`, of which the text asks for the parameters; `Net()`, `nn.Linear(2, 3).to(device)`."""
    if not isinstance(node, ast.Call):
        return bool(dotted(node)) and dotted(node) in models
    name = dotted(node.func).rpartition(".")[2]
    if name[:1].isupper() and name not in models:
        return not name.endswith("Tensor")
    return isinstance(node.func, ast.Attribute) and _is_model(node.func.value, models)


def _why(results: Results, found: LookedFloat64, least_share: float) -> str:
    if found.weights_share >= least_share:
        return "weights of the model are fp64"
    line = line_words(results.get(LookedLines).line(found.widened[0]))
    return f"at {line} fp32 tensors are combined with fp64 tensors and become fp64"
