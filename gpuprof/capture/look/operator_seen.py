"""One operator before and after it runs: what it reads, makes and writes, from where."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from math import nan
from types import FrameType
from typing import Any, NamedTuple

from gpuprof.capture.look.graph_nodes import GraphNodes
from gpuprof.capture.look.left_out import Left
from gpuprof.capture.look.masks import selecting
from gpuprof.capture.look.operator_facts import OperatorFacts, draws, facts_of, written
from gpuprof.capture.look.operator_log import OperatorLog, frozen
from gpuprof.capture.look.places import COMPILED, Places
from gpuprof.capture.look.subnormals import SubnormalCounter
from gpuprof.capture.look.values import KnownStorage, Values, parts_of
from gpuprof.capture.look.zeros import ZeroCounter
from gpuprof.model.look_schema import PARTS

# what formulas raise where an operator is called in a way that they do not know
_NO_FORMULA = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
# operators whose schema says what they write
_TRUSTED = ("aten::", "prims::")
# marks of ranges: they neither read nor make anything
_MARKS = "profiler::"
_SEQUENCES = (list, tuple)
# where a row of the log has the line
_PLACE = 4

_Read = tuple[int, int, int, int, int, bool]


class BegunOperator(NamedTuple):
    """What is known of an operator before it runs. `reads` are `(value, elements, view, shape, geometry, grad)` in
    order, `parts` those of what sparse ones consist of; `derived`: what it makes follows from what it reads;
    `recording`: autograd makes a node where it returns numbers that can have gradients, and `called_at` is then where
    its module was called. `path`: the number of the lines by which it was reached. `forward`: the operator whose node
    runs. `left_out`: by its mask or target."""

    facts: OperatorFacts
    given: list[Any]
    kwargs: dict[str, Any]
    reads: list[_Read]
    parts: list[_Read]
    arguments: tuple[int, int]
    iteration: int
    place: int
    path: int
    called_at: int
    forward: int
    recording: bool
    backward: bool
    random: bool
    writes: list[Any]
    derived: bool
    left_out: Left


class OperatorWatch:
    """Fills the log. `iteration` is the one that runs, `optimizer` the number of the name of the optimizer that steps
    (-1: none), `nodes` what autograd records, `cost_ns` what all of it took, `compiled` counts operators in code that
    torch.compile made, which are left out. `lock` is held while rows are added: a backward pass may run on
    several threads."""

    def __init__(self, log: OperatorLog, values: Values, places: Places, ident: int):
        import torch

        self._torch: Any = torch
        self._log, self._values, self._places, self._ident = log, values, places, ident
        self._facts: dict[Any, OperatorFacts] = {}
        self._flops: dict[tuple[Any, ...], float] = {}
        self._in_backward = self._on_device = False
        self._epoch_ns = time.time_ns() - time.perf_counter_ns()
        self.lock = threading.RLock()
        self.nodes = GraphNodes()
        self.iteration = self.optimizer = -1
        self.cost_ns = 0
        self.compiled = 0

    def before(
        self, func: Any, types: Any, args: Any, kwargs: dict[str, Any], frame: FrameType | None
    ) -> BegunOperator | None:
        """Note what it reads; None where it is not to be looked at."""
        torch = self._torch
        backward = torch._C._current_graph_task_id() != -1
        here = threading.get_ident() == self._ident
        if not here and not backward:
            return None
        with self.lock:
            place = self._places.of(frame) if here else self._places.of_thread(self._ident)
            path = self._places.note_path(frame) if here else -1
            if not isinstance(func, torch._ops.OpOverload) or place == COMPILED or self._captures():
                self._left_out(args, backward=backward)
                return None
            self._values.sweep()
            if self._in_backward and not backward:
                self._values.mark_gradients()
            self._in_backward = backward
            facts = self._facts.get(func)
            if facts is None:
                facts = self._facts[func] = facts_of(func)
            if facts.name.startswith(_MARKS):
                return None
            given = [
                args[at] if at < len(args) else kwargs.get(name, default)
                for at, (name, default) in enumerate(facts.arguments)
            ]
            return self._noted(facts, given, kwargs, (place, path, frame), backward, plain=not types)

    def after(self, seen: BegunOperator, made: Any, started: int, ended: int) -> None:
        """Note what it made and wrote, and the operator itself. Times are `perf_counter_ns`."""
        torch = self._torch
        with self.lock:
            self._values.sweep()
            number = self._log.count()
            rows: list[tuple[Any, ...]] = []
            of_parts: list[tuple[Any, ...]] = []
            fresh = set[int]()
            for tensor in seen.writes:
                parts = parts_of(tensor)
                for each in parts or (tensor,):
                    (of_parts if parts else rows).extend(self._written(seen, each, number, fresh))
            recorded = False
            for tensor in self._tensors(made):
                recorded = recorded or tensor.is_floating_point() or tensor.is_complex()
                parts = parts_of(tensor)
                if parts:
                    rows.append((*self._log.seen_in_parts(tensor), False))
                for each in parts or (tensor,):
                    (of_parts if parts else rows).extend(self._returned(seen, each, number, fresh))
            graph = recorded and seen.recording
            if graph:
                self.nodes.made(torch.autograd._get_sequence_nr() - 1, number)
            self._log.operators.append(self._row(seen, made, started, ended, graph))
            for first, taken, made_rows in ((0, seen.reads, rows), (PARTS, seen.parts, of_parts)):
                self._log.reads.extend((number, row[0], first + at, *row[1:]) for at, row in enumerate(taken))
                self._log.results.extend((number, row[0], first + at, *row[1:]) for at, row in enumerate(made_rows))

    def _written(self, seen: BegunOperator, tensor: Any, number: int, fresh: set[int]) -> Iterator[tuple[Any, ...]]:
        """The row of a tensor that it wrote to; none where its storage is not known, or has one."""
        known = self._values.find(tensor)
        if known is not None and known.number not in fresh:
            fresh.add(known.number)
            value = self._values.write(known, tensor, number, derived=seen.derived)
            yield (*self._log.seen(tensor, value), False)

    def _returned(self, seen: BegunOperator, tensor: Any, number: int, fresh: set[int]) -> Iterator[tuple[Any, ...]]:
        """The row of a tensor that it returned, unless it wrote to that."""
        known, alias = self._values.find_made(tensor, number)
        if known is not None and known.number in fresh:
            return
        if known is not None and not alias:
            known.unfilled, known.derived = seen.facts.unfilled, seen.derived
        yield (*self._log.seen(tensor, -1 if known is None else known.value), alias)

    def _noted(
        self,
        facts: OperatorFacts,
        given: list[Any],
        kwargs: dict[str, Any],
        at: tuple[int, int, FrameType | None],
        backward: bool,
        *,
        plain: bool,
    ) -> BegunOperator:
        place, path, frame = at
        changed, random = facts.writes, facts.random
        if random or facts.statistics:
            named = {name: value for (name, _), value in zip(facts.arguments, given, strict=True)}
            changed, random = written(facts, named), draws(facts, named)
        content = not (facts.view or facts.fill or random)
        trusted = facts.name.startswith(_TRUSTED)
        multiplied, masks = ((), ()) if backward else (ZeroCounter.operands(facts.name), selecting(facts.name))
        reads, of_parts, writes, followed = list[_Read](), list[_Read](), [], False
        for (name, _), value in zip(facts.arguments, given, strict=True):
            for tensor in self._tensors(value):
                grad = tensor.requires_grad
                followed = followed or grad
                if grad and plain and not backward:
                    self.nodes.follow(tensor)
                if parts := parts_of(tensor) if plain else ():
                    reads.append((*self._log.seen_in_parts(tensor), grad))
                    of_parts += self._parts_read(parts, content=content, outside=not trusted or facts.numbers)
                    writes += [tensor] if name in changed else []
                    continue
                known = self._values.find(tensor) if plain else None
                if name in changed and known is not None:
                    writes.append(tensor)
                if known is not None:
                    self._on_device = self._on_device or tensor.is_cuda
                    if not trusted or facts.numbers:
                        self._values.read_outside(tensor, may_write=not facts.numbers)
                if name in facts.overwrites and known is not None and self._whole(known, tensor):
                    continue
                wanted = content and name not in facts.overwrites
                row = -1 if known is None else self._values.read(known, tensor, content=wanted)
                if name in multiplied and known is not None:
                    self._values.count_zeros(known, tensor, (place, name))
                if name in masks and known is not None:
                    self._values.count_mask(known, tensor, facts.name)
                if wanted and known is not None and SubnormalCounter.may_have(tensor):
                    self._values.count_subnormals(known, tensor, (place, facts.name, name))
                if facts.moved and known is not None:
                    known.seen = None  # its version goes up, and nothing is written
                reads.append((*self._log.seen(tensor, row), grad))
        arguments = self._log.arguments(tuple(frozen(value) for value in given))
        recording = followed and not backward and facts.name != "aten::detach" and self._torch.is_grad_enabled()
        called_at = self._places.of_call(frame) if recording else -1
        forward = self.nodes.running(self._torch._C._current_autograd_node()) if backward else -1
        return BegunOperator(
            *(facts, given, kwargs, reads, of_parts, arguments, self.iteration, place, path, called_at, forward),
            *(recording, backward, random, writes),
            trusted and not random and all(read[0] >= 0 or read[2] for read in reads),
            self._log.left_out.count(facts.name, given) if recording and plain else nan,
        )

    def _parts_read(self, parts: Sequence[Any], *, content: bool, outside: bool) -> Iterator[_Read]:
        """What a sparse tensor that it reads consists of."""
        for each in parts:
            known = self._values.find(each)
            if known is None:
                continue
            self._on_device = self._on_device or each.is_cuda
            if outside:
                self._values.read_outside(each, may_write=True)
            known.seen = None  # the tensor that stands for the part is another one each time
            row = self._values.read(known, each, content=content)
            known.seen = None
            yield (*self._log.seen(each, row), False)

    def _row(self, seen: BegunOperator, made: Any, started: int, ended: int, graph: bool) -> tuple[Any, ...]:
        forward_place = self._log.operators[seen.forward][_PLACE] if seen.forward >= 0 else -1
        return (
            *(self._unix_ns(started), ended - started, self._log.names.number(seen.facts.name), seen.iteration),
            *(seen.place, forward_place, seen.backward, graph, seen.random, bool(seen.writes)),
            *(*seen.arguments, self._flops_of(seen, made), 0),
            *(seen.forward, seen.called_at if graph else -1, seen.path, 0, self.optimizer, seen.left_out),
        )

    def _unix_ns(self, counter_ns: int) -> int:
        return self._epoch_ns + counter_ns

    def _whole(self, known: KnownStorage, tensor: Any) -> bool:
        """Whether a tensor covers all of its storage."""
        nbytes = self._values.nbytes(known)
        return bool(tensor.numel() * tensor.element_size() >= nbytes)

    def _flops_of(self, seen: BegunOperator, made: Any) -> float:
        if seen.facts.flops is None:
            return float("nan")
        key = (seen.facts.name, seen.arguments[0], *(read[3] for read in seen.reads))
        if key not in self._flops:
            count = len(seen.given) - len(seen.kwargs)
            try:
                self._flops[key] = float(seen.facts.flops(*seen.given[:count], **seen.kwargs, out_val=made))
            except _NO_FORMULA:
                self._flops[key] = float("nan")
        return self._flops[key]

    def _captures(self) -> bool:
        return self._on_device and bool(self._torch.cuda.is_current_stream_capturing())

    def _left_out(self, args: Any, *, backward: bool) -> None:
        """What it writes is not known, and it may read all that it is given."""
        self.compiled += 1
        if backward and self._torch._C._current_autograd_node() is None:
            self.nodes.lose_track()
        self._values.sweep()
        self._values.doubt()
        for tensor in self._tensors(list(args)):
            if type(tensor) in (self._torch.Tensor, self._torch.nn.Parameter):
                self._values.read_outside(tensor)

    def _tensors(self, value: Any) -> list[Any]:
        """The tensors in an argument or a result."""
        if isinstance(value, self._torch.Tensor):
            return [value]
        if isinstance(value, _SEQUENCES):
            return [tensor for each in value for tensor in self._tensors(each)]
        return []
