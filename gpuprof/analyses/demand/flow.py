"""Walks the looked-at operators from the last to the first: what is needed of each value, and so of each operator."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from gpuprof.analyses.demand import operator_names as names
from gpuprof.analyses.demand.cancellation import Cancelled
from gpuprof.analyses.demand.geometry import Geometry, contiguous
from gpuprof.analyses.demand.looked import LookedOperator, LookedValue, Taken
from gpuprof.analyses.demand.need import Need, both, everything, in_view, in_whole, nothing
from gpuprof.analyses.demand.transfer import Applied, decomposed_share, needs_of, worked_share
from gpuprof.model.kinds import ValueKind

_OF_A_MODEL = frozenset({ValueKind.PARAMETER, ValueKind.BUFFER, ValueKind.OPTIMIZER_STATE})


@dataclass(frozen=True)
class Needed:
    """Of one operator: `share` of its results that is needed, 0..1, `elements` of `made`, and `taken_by`: the operator
    that takes only a part (-1: none, or nothing takes any)."""

    share: float
    elements: int
    made: int
    taken_by: int


_ALL, _NOTHING = Needed(1.0, 0, 0, -1), Needed(0.0, 0, 0, -1)


class Flow:
    """What is needed of each value. `kept_needed`: what is there at the end is needed, since it may be read later.
    `cancelled`: by operator what its result follows from, where that is less than it reads, and what a factor of 0
    makes of a backward pass. `unread`: by operator the reads, by position, of which it takes no element. `passed_on`:
    storages of which nothing is needed but what operators of the look need, though they are there at the end."""

    def __init__(
        self,
        operators: Sequence[LookedOperator],
        values: Sequence[LookedValue],
        kept_needed: bool = True,
        cancelled: Cancelled | None = None,
        unread: Mapping[int, Collection[int]] | None = None,
        passed_on: Collection[int] = (),
    ) -> None:
        self._operators, self._values, self._kept_needed = operators, values, kept_needed
        self._cancelled = cancelled or Cancelled()
        self._unread, self._passed_on = unread or {}, passed_on
        self._forms = forms_of(operators, values)
        self._opaque = opaque(operators, values)
        self._needs: dict[int, Need] = {}
        self._taken_by: dict[int, int] = {}
        self._from_outside = written_elsewhere(operators, values)
        self.needed = [_ALL] * len(operators)
        for row in range(len(operators) - 1, -1, -1):
            self.needed[row] = self._back_through(row)

    def need_of(self, value: int) -> Need:
        """What is needed of that value, in the form it was made in."""
        form, known = self._forms[value], self._values[value]
        held = known.kind in _OF_A_MODEL or self._kept_needed
        if known.storage in self._passed_on and not known.read_outside:
            return self._needs.get(value, nothing(form.shape))
        if known.read_outside or (known.kept and held) or known.storage in self._from_outside:
            return everything(form.shape)
        return self._needs.get(value, nothing(form.shape))

    def form_of(self, value: int) -> Geometry:
        """The tensor that stands for all of that value."""
        return self._forms[value]

    def _back_through(self, row: int) -> Needed:
        operator = self._operators[row]
        made = [taken for taken in operator.results if taken.value >= 0 and self._makes(row, taken)]
        if not made:
            if operator.writes or not operator.results or any(taken.value < 0 for taken in operator.results):
                self._all_of(operator.reads)
            return _ALL
        if len(made) != len(operator.results) or any(taken.geometry is None for taken in made):
            self._all_of(operator.reads)
            return _ALL
        needs = tuple(self._of_result(taken) for taken in made)
        if row in self._cancelled.zeros:
            return _NOTHING
        if row in self._cancelled.instead:
            return self._through(row, made[0], needs[0])
        if names.acts(operator.name):
            self._all_of(operator.reads)
            return _ALL
        self._pass_on(row, operator, needs)
        self._keep_rest(operator, made)
        return self._share(operator, made, needs)

    def _through(self, row: int, made: Taken, need: Need) -> Needed:
        """Past what cancels: the operator itself counts as needed, it is a small one."""
        for value, geometry in self._cancelled.instead[row]:
            if self._was_made(value):
                self._add(value, self._of_read(Taken(value, geometry.elements, geometry), need), -1)
        return _ALL if need.elements else Needed(0.0, 0, made.elements, -1)

    def _makes(self, row: int, taken: Taken) -> bool:
        return self._values[taken.value].made_by == row

    def _was_made(self, value: int) -> bool:
        """Whether an operator made it: of a whole data set that was there before, nobody asks which part is needed."""
        return value >= 0 and self._values[value].made_by >= 0

    def _of_result(self, taken: Taken) -> Need:
        assert taken.geometry is not None
        need = self.need_of(taken.value)
        if self._values[taken.value].storage in self._opaque:
            return everything(taken.geometry.shape) if need.elements else nothing(taken.geometry.shape)
        return in_view(need, taken.geometry, self._forms[taken.value])

    def _of_read(self, taken: Taken, need: Need) -> Need:
        form = self._forms[taken.value]
        if taken.geometry is None or self._values[taken.value].storage in self._opaque:
            return everything(form.shape) if need.elements else nothing(form.shape)
        return in_whole(need, taken.geometry, form)

    def _pass_on(self, row: int, operator: LookedOperator, needs: tuple[Need, ...]) -> None:
        shapes = tuple(taken.geometry.shape if taken.geometry else () for taken in operator.reads)
        if any(taken.geometry is None for taken in operator.reads):
            if any(need.elements for need in needs):
                self._all_of(operator.reads)
            return
        by = next((self._taken_by[taken.value] for taken in operator.results if taken.value in self._taken_by), row)
        partly = any(not need.whole for need in needs)
        wanted = needs_of(Applied(operator.name, shapes, operator.arguments, needs))
        unread = self._unread.get(row, ())
        for position, (taken, need) in enumerate(zip(operator.reads, wanted, strict=True)):
            if position not in unread and taken.geometry is not None and self._was_made(taken.value):
                self._add(taken.value, self._of_read(taken, need), by if partly else row)

    def _keep_rest(self, operator: LookedOperator, made: Sequence[Taken]) -> None:
        """What is not written over of a storage comes from the content before."""
        for taken in made:
            known = self._values[taken.value]
            if taken.geometry is None or taken.geometry.distinct >= known.elements:
                continue
            for read in operator.reads:
                if read.value >= 0 and self._values[read.value].storage == known.storage:
                    self._add(read.value, self.need_of(taken.value), -1)

    def _all_of(self, reads: Sequence[Taken]) -> None:
        for taken in reads:
            if self._was_made(taken.value):
                shape = taken.geometry.shape if taken.geometry else self._forms[taken.value].shape
                self._add(taken.value, self._of_read(taken, everything(shape)), -1)

    def _add(self, value: int, need: Need, by: int) -> None:
        if not self._was_made(value) or not need.elements:
            return
        before = self._needs.get(value)
        self._needs[value] = need if before is None else both(before, need)
        if not need.whole:
            self._taken_by.setdefault(value, by)

    def _share(self, operator: LookedOperator, made: Sequence[Taken], needs: tuple[Need, ...]) -> Needed:
        plain = names.plain(operator.name)
        shares = [worked_share(plain, need) for need in needs]
        if plain in names.DECOMPOSITIONS:
            shares = [decomposed_share(operator.arguments, needs)]
        # the gradients of input and weight of a convolution cost about the same, that of a bias nearly nothing
        share = sum(shares[:2]) / len(shares[:2]) if plain == "convolution_backward" else max(shares)
        most = max(range(len(needs)), key=lambda at: (made[at].elements, needs[at].elements))
        by = self._taken_by.get(made[most].value, -1)
        return Needed(share, needs[most].elements, made[most].elements, by)


HELD = _OF_A_MODEL | {ValueKind.GRADIENT}
"""What a model or optimizer holds is written by torch alone."""


def forms_of(operators: Sequence[LookedOperator], values: Sequence[LookedValue]) -> list[Geometry]:
    """For each value the tensor that stands for it: the one that was made with its storage, else all of it, flat."""
    of_storage = dict[int, Geometry]()
    for operator in operators:
        for taken in operator.results:
            if taken.value < 0 or taken.geometry is None:
                continue
            known = values[taken.value]
            if taken.geometry.elements == known.elements and taken.geometry.distinct == known.elements:
                of_storage.setdefault(known.storage, taken.geometry)
    return [of_storage.get(value.storage, contiguous((value.elements,))) for value in values]


def written_elsewhere(operators: Sequence[LookedOperator], values: Sequence[LookedValue]) -> set[int]:
    """Storages from outside of torch, or from before the look, that something else may read: not those of a model, and
    not gradients, into which only backward passes write."""
    held = {value.storage for value in values if value.kind in HELD}
    found = {value.storage for value in values if value.made_by < 0} - held
    written = {value.storage for value in values if value.made_by >= 0 and not operators[value.made_by].backward}
    return found & written


def opaque(operators: Sequence[LookedOperator], values: Sequence[LookedValue]) -> set[int]:
    """Storages whose views count in elements of another size: which of theirs a view takes is not followed."""
    found = {value.storage for value in values if value.complex}
    for operator in operators:
        if operator.name in _OTHER_TYPE:
            found |= {values[taken.value].storage for taken in operator.results if taken.value >= 0}
    return found


_OTHER_TYPE = frozenset({"aten::view.dtype", "aten::view_as_real", "aten::view_as_complex"})
