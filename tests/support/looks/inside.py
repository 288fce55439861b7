"""What the analyses of demand work out on their way, operator by operator and value by value, as plain JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.product_chains import product_chains
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.demand.cancellation import Cancelled
from gpuprof.analyses.demand.flow import Flow
from gpuprof.analyses.demand.looked import operators_of, values_of
from gpuprof.analyses.demand.selections import selections
from gpuprof.analyses.rows.filled_rows import FilledRows
from gpuprof.analyses.rows.idle_rows import _masks
from gpuprof.analyses.rows.row_flow import RowFlow
from gpuprof.analyses.rows.row_selections import RowSelections
from gpuprof.analyses.training.loss_graphs import LossGraph, LossGraphs
from gpuprof.analyses.training.piled_gradients import piled_up
from tests.support.figures import Plain, plain


def of_demand(results: Results) -> dict[str, dict[str, Plain]]:
    """By step: what is needed, what cancels out, which rows and masks leave something out, which products follow one
    another."""
    trace, graph = results.trace, results.get(ValueGraph)
    operators, values = operators_of(trace), values_of(trace)
    cancelled = Cancelled.of(operators, values)
    found = RowSelections(operators, values, *_masks(trace, graph))
    forward = graph.operators["forward_operator"].tolist()
    rows = RowFlow(operators, values, forward, found.found, frozenset())
    unread = {row: each.unread for row, each in selections(operators, values).items()}
    flows = {
        "needed": Flow(operators, values),
        "needed unless kept": Flow(operators, values, kept_needed=False),
        "needed where sums cancel": Flow(operators, values, cancelled=cancelled),
        "needed by masks": Flow(operators, values, unread=unread),
        "needed of what piles up": Flow(operators, values, passed_on=piled_up(trace, operators, values)),
    }
    return {
        **{name: _of_flow(flow, len(values)) for name, flow in flows.items()},
        "cancelled": _by_row(vars(cancelled)),
        "selections": _by_row(selections(operators, values)),
        "rows left out": _by_row(found.found),
        "rows decided by": _by_row({row: sorted(found.decided_by(each)) for row, each in found.found.items()}),
        "rows followed": _by_row(
            {row: [each.kept, each.rows, sorted(map(str, each.of))] for row, each in rows.parts.items()}
        ),
        "filled": _of_filled(FilledRows(operators, values)),
        "losses": {str(each.start): _of_loss(each) for each in LossGraphs(trace, graph)},
        "products": {"chains": plain(product_chains(trace, graph, operators))},
    }


def _of_filled(rows: FilledRows) -> dict[str, Plain]:
    """Operators that keep zeros, and how much of each value may be other than zero."""
    filled = {str(value): need.elements for value, need in rows._filled.items()}
    stays = [rows.stays(range(first, first + 8)) for first in range(0, len(rows._operators), 8)]
    return {"kept": plain(rows._kept), "filled": plain(filled), "full": plain(rows._full), "stays": plain(stays)}


def _of_loss(loss: LossGraph) -> Plain:
    told = {name: plain(getattr(loss, name)) for name in ("end", "joining", "backward_at", "added_at", "path_of_pass")}
    return told | {
        "parts": plain(loss.parts),
        "kinds": plain([loss.kind(part) for part in loss.parts]),
        "kept": [plain(loss.kept(part)) for part in loss.parts],
        "paths": plain([loss.path(part[-1]) for part in loss.parts]),
    }


def _of_flow(flow: Flow, values: int) -> dict[str, Plain]:
    names = ("share", "elements", "made", "taken_by")
    told = {name: plain([getattr(each, name) for each in flow.needed]) for name in names}
    return told | {"of_values": plain([flow.need_of(value).elements for value in range(values)])}


def _by_row(found: Mapping[Any, Any]) -> dict[str, Plain]:
    return {str(key): plain(each) for key, each in found.items()}
