"""torch.compile breaks its graph in the middle of a function.

What it finds
    Graph breaks that torch counted while it compiled in this run, where the steps then run through several compiled
    pieces. Several pieces alone prove nothing: they may be several functions.

Why it costs
    At a break the compiled function returns to Python, runs what it could not compile, and enters the next piece.
    Nothing is fused across it, and a CUDA graph ends there.

What to do
    Take what breaks the graph out of the function: `print`, `.item()`, data-dependent `if`, calls into libraries that
    torch cannot trace. `torch.compile(fullgraph=True)` makes the first break an error that names its line.

When to leave it
    When there are few, far apart, and the device is the bottleneck anyway.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.compile_events import CompileEvents
from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Compiling
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.base.rule import Rule, threshold

_RESUMED = re.compile(r"torch_dynamo_resume_in_(.+)_at_(\d+)$")
_SHOWN = 3


@dataclass(frozen=True)
class GraphBreaks(Rule):
    """See the module."""

    pieces: float = threshold(2, "compiled pieces a step: with one alone nothing was broken in what the steps run")
    many_pieces: float = threshold(10, "compiled pieces a step: then little is left to fuse")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the breaks of this run."""
        compiling, pieces = results.context.compiling, results.get(CompileEvents).pieces_per_step
        if pieces is None or pieces < self.pieces:
            return None
        if compiling is None or (not compiling.breaks and compiling.earlier_breaks):
            return Abstention(
                self.name,
                "torch.compile’s count of graph breaks while it compiled these pieces",
                "Profile the cell in which it compiles (`torch._dynamo.reset()` makes it do so again).",
            )
        return self._finding(compiling, pieces) if compiling.breaks else None

    def _finding(self, compiling: Compiling, pieces: float) -> Finding:
        number = sum(each.times for each in compiling.breaks)
        reasons = "; ".join(f"{each.reason.rstrip('.')} ({each.times}×)" for each in compiling.breaks[:_SHOWN])
        places = [match for match in map(_RESUMED.search, compiling.resumed) if match]
        where = ", ".join(f"line {match[2]} of the file of `{match[1]}`" for match in places[:_SHOWN])
        return Finding(
            rule=self.name,
            severity=Severity.MEDIUM if pieces >= self.many_pieces else Severity.LOW,
            title=f"torch.compile broke its graphs {units.plural(number, 'time')}; a step runs through {pieces:.3g} "
            "compiled pieces",
            explanation=f"Torch’s reasons: {reasons}." + (f" It goes on at {where}." if where else ""),
            evidence={
                "breaks": number,
                "graphs": compiling.graphs,
                "pieces_per_step": pieces,
                "first_reason": compiling.breaks[0].reason,
            },
            change="Take what breaks the graph out of the compiled function (`print`, `.item()`, `if` on a tensor); "
            "`torch.compile(..., fullgraph=True)` makes the first break an error that names its line.",
        )
