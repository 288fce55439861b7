"""Builds the tables of a close look for tests, tensors by name.

    look = LookBuilder(TraceBuilder())
    look.tensor("x", content=7).operator("aten::mm", 20, reads="x x", makes="y", line=3, iteration=0)
    trace = look.build()

A tensor's `content` stands for its fingerprint; 0 for none. Each tensor covers its storage, but for
those made by `view`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import nan, prod
from typing import Any, Self

from gpuprof.model.kinds import NodeFate, ValueKind
from gpuprof.model.look import Look, LookedPlace
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder


@dataclass
class _Tensor:
    storage: int
    value: int
    view: int
    elements: int
    shape: str
    geometry: str = "0 (1)"
    made_by: int = -1
    grad: bool = False


class LookBuilder:
    """The tables under construction, within a TraceBuilder; see the module."""

    def __init__(self, builder: TraceBuilder | None = None, *, file: str = "") -> None:
        self.builder = builder or TraceBuilder()
        self._file = file
        self._tensors: dict[str, _Tensor] = {}
        self._places: dict[int, int] = {}
        self._paths: dict[tuple[int, ...], int] = {}
        self._values: list[dict[str, Any]] = []
        self._operators = self._storages = self._now_ns = 0
        self._iterations: set[int] = set()

    def tensor(self, name: str, *, content: int = 0, kind: ValueKind = ValueKind.OTHER, **facts: Any) -> Self:
        """One that was there; `facts`: `elements` or `shape`, `dtype`, `device`, `view`, `read_outside`,
        `zeros_share`, `zero_pattern`, `subnormals_share`, `grad`: autograd follows it."""
        self._make(name, -1, content, kind, facts)
        return self

    def detached(self, name: str, of: str) -> Self:
        """The same tensor, not followed by autograd."""
        self._tensors[name] = replace(self._tensors[of], grad=False)
        return self

    def view(self, name: str, of: str, *, view: int, elements: int | None = None) -> Self:
        """Another tensor on the same storage."""
        base = self._tensors[of]
        of_view = elements or base.elements
        self._tensors[name] = replace(base, view=view, elements=of_view, shape=f"[{of_view}]", geometry="0 (1)")
        return self

    def part(
        self, name: str, of: str, *, shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0, view: int = 1
    ) -> Self:
        """A view whose place in the storage is known."""
        base = self._tensors[of]
        laid = f"{offset} {strides}"
        self._tensors[name] = replace(base, view=view, elements=prod(shape), shape=f"{list(shape)}", geometry=laid)
        return self

    def free(self, names: str) -> Self:
        """They are freed now."""
        for each in names.split():
            self._values[self._tensors[each].value]["gone_at"] = self._operators
        return self

    def operator(
        self,
        name: str,
        for_us: float,
        *,
        reads: str = "",
        makes: str = "",
        writes: str = "",
        content: int = 0,
        line: int = 1,
        iteration: int = -1,
        scalars: int = 0,
        kind: ValueKind = ValueKind.OTHER,
        backward: bool = False,
        random: bool = False,
        graph: bool = False,
        forward_line: int = 0,
        arguments: str = "",
        node: NodeFate = NodeFate.UNKNOWN,
        called_line: int = 0,
        by_lines: tuple[int, ...] = (),
        forward_of: str = "",
        optimizer: str = "",
        left_out_share: float = nan,
        **facts: Any,
    ) -> Self:
        """One operator; `reads`, `makes`, `writes`: names of tensors. `content` of what it makes or writes, `facts` as
        in `tensor`. What it writes it reads as well, unless its content is given. Autograd follows what it makes where
        it has a node (`graph`), whose module was called at `called_line`, its own line if 0; `by_lines`: the lines from
        which its own was reached, from the innermost outward; `forward_of`: it runs the node of the operator that made
        that tensor. `left_out_share`: of its mask or target."""
        facts = {"grad": graph, **facts}
        number, self._operators = self._operators, self._operators + 1
        for position, each in enumerate([*reads.split(), *(() if content else writes.split())]):
            self._side("looked_reads", number, position, self._tensors[each])
        for position, each in enumerate(makes.split()):
            self._make(each, number, content, kind, facts)
            self._side("looked_results", number, position, self._tensors[each])
        for position, each in enumerate(writes.split()):
            self._write(each, number, content, kind)
            self._side("looked_results", number, position, self._tensors[each])
        row = {"start_ns": self._now_ns, "duration_ns": round(for_us * 1000), "name": self.builder._name(name)}
        self._now_ns += row["duration_ns"]
        self._iterations |= {iteration} - {-1}
        self.builder._add(
            "looked_operators",
            row
            | {"iteration": iteration, "place": self._place(line), "backward": backward}
            | {"forward_place": self._place(forward_line)}
            | {"arguments": self.builder._name(arguments) if arguments else -1}
            | {"graph": graph, "random": random, "writes": bool(writes), "scalars": scalars, "node": node}
            | {"called_at": self._place(called_line or line) if graph else -1}
            | {"path": self._path(line, *by_lines) if by_lines else -1}
            | {"forward_operator": self._tensors[forward_of].made_by if forward_of else -1}
            | {"optimizer": self.builder._name(optimizer) if optimizer else -1, "left_out_share": left_out_share},
        )
        return self

    def looked(self, name: str, of: str, line: int = 1) -> Self:
        """A view that an operator took: it returns an alias."""
        number, self._operators = self._operators, self._operators + 1
        self._side("looked_reads", number, 0, self._tensors[of])
        self._side("looked_results", number, 0, self._tensors[of])
        row = {"start_ns": self._now_ns, "duration_ns": 0, "name": self.builder._name(name), "scalars": 0}
        self.builder._add("looked_operators", row | {"iteration": -1, "place": self._place(line), "forward_place": -1})
        return self

    def context(self, **facts: Any) -> TraceBuilder:
        """The TraceBuilder, with the look in its context; `facts` as in `Look`."""
        given = {"operators_share": 1.0, "fingerprinted_share": 1.0, "ended_by": "iterations", **facts}
        places = tuple(LookedPlace(self._file, line, "") for line in self._places)
        given = {"paths": tuple(self._paths), **given}
        for value in self._values:
            self.builder._add("looked_values", value)
        self._values = []
        return self.builder.context(look=Look(iterations=len(self._iterations), places=places, **given))

    def build(self, **facts: Any) -> Trace:
        """The Trace; `facts` as in `Look`."""
        return self.context(**facts).build()

    def _place(self, line: int) -> int:
        return self._places.setdefault(line, len(self._places)) if line > 0 else -1

    def _path(self, *lines: int) -> int:
        return self._paths.setdefault(tuple(map(self._place, lines)), len(self._paths))

    def _make(self, name: str, made_by: int, content: int, kind: ValueKind, facts: dict[str, Any]) -> None:
        shape = facts.get("shape", (facts.get("elements", 4096),))
        elements = prod(shape)
        self._storages += 1
        strides = tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))
        view, laid = facts.get("view", 0), f"0 {strides}"
        self._tensors[name] = _Tensor(
            *(self._storages, len(self._values), view, elements, f"{list(shape)}", laid),
            made_by=made_by,
            grad=facts.get("grad", False),
        )
        self._values.append(
            {"storage": self._storages, "made_by": made_by, "gone_at": -1, "bytes": 4 * elements, "elements": elements}
            | {
                "dtype": self.builder._name(facts.get("dtype", "float32")),
                "shape": self.builder._name(f"{list(shape)}"),
            }
            | {"device": self.builder._name(facts.get("device", "cpu")), "fingerprint": content, "kind": kind}
            | {"read_outside": facts.get("read_outside", False)}
            | {"zeros_share": facts.get("zeros_share", nan), "zero_pattern": facts.get("zero_pattern", 0)}
            | {"subnormals_share": facts.get("subnormals_share", nan)}
        )

    def _write(self, name: str, made_by: int, content: int, kind: ValueKind) -> None:
        """A new value of its storage, for all tensors on it."""
        storage = self._tensors[name].storage
        before = self._values[self._tensors[name].value]
        before["gone_at"] = made_by + 1
        self._values.append({**before, "gone_at": -1, "made_by": made_by, "fingerprint": content, "kind": kind})
        for each in self._tensors.values():
            if each.storage == storage:
                each.value = len(self._values) - 1

    def _side(self, table: str, operator: int, position: int, tensor: _Tensor) -> None:
        facts = {"shape": self.builder._name(tensor.shape), "geometry": self.builder._name(tensor.geometry)}
        row = {"operator": operator, "value": tensor.value, "position": position, "elements": tensor.elements}
        grad = {"grad": tensor.grad} if table == "looked_reads" else {}
        self.builder._add(table, {**row, "view": tensor.view, **facts, **grad})
