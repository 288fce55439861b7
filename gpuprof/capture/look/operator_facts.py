"""What is known of an operator before it runs: from its schema and its tags, looked up once for each."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# overwritten without being read: by the name without namespace and overload
_OVERWRITES = re.compile(
    r"^(zero_|fill_|copy_|normal_|uniform_|bernoulli_|exponential_|geometric_|random_|log_normal_|cauchy_"
    r"|resize_|_foreach_zero_|_foreach_copy_)$"
)
# a result that nothing was computed for: made anew, filled with one number or a sequence, or not filled at all
_FILLS = re.compile(
    r"^(new_)?(empty|zeros|ones|full)(_like|_strided|_permuted)?$|^(scalar_tensor|arange|eye|linspace|lift_fresh|resize_)$"
)
_UNFILLED = re.compile(r"^(new_)?empty(_like|_strided|_permuted)?$|^resize_$")
# they share the storage of an argument, which their schema does not say
_HIDDEN_VIEWS = {"_unsafe_view", "_reshape_alias", "lift_fresh"}
# running statistics, in and out, which their schema does not say
_WRITES_STATISTICS = {"native_batch_norm", "cudnn_batch_norm", "miopen_batch_norm"}
_STATISTICS, _TRAINING = (3, 4), 5


@dataclass(frozen=True)
class OperatorFacts:
    """One overload. `arguments` are the names in the schema's order with their defaults; `writes` are the names of
    those it changes, `overwrites` of those it changes without reading them.

    `view`: its result shares an argument's storage; `moved`: and is the argument itself, with another shape. `fill`:
    its result takes no input; `unfilled`: and is not written either. `numbers`: it returns Python numbers, so that what
    it reads leaves torch. `statistics`: it may write running statistics. `flops`: the formula.
    """

    name: str
    arguments: tuple[tuple[str, Any], ...]
    writes: frozenset[str]
    overwrites: frozenset[str]
    view: bool
    moved: bool
    fill: bool
    unfilled: bool
    random: bool
    numbers: bool
    statistics: bool
    flops: Callable[..., Any] | None

    @property
    def reads_content(self) -> bool:
        """Whether its result depends on what its arguments hold, and on nothing else."""
        return not (self.view or self.fill or self.random)


def facts_of(func: Any) -> OperatorFacts:
    """The facts of a torch._ops.OpOverload."""
    import torch

    schema = func._schema
    name = schema.name.partition("::")[2]
    arguments = schema.arguments
    moved = torch.Tag.inplace_view in func.tags or name == "set_"  # another view of the same, nothing is written
    writes = (
        [] if moved else [each.name for each in arguments if each.alias_info is not None and each.alias_info.is_write]
    )
    statistics = name in _WRITES_STATISTICS
    first = arguments[0].name if arguments and _OVERWRITES.match(name) else None
    overwrites = [each.name for each in arguments if each.name in writes and (each.is_out or each.name == first)]
    drawn = torch.Tag.nondeterministic_seeded in func.tags
    aliases = [each.alias_info for each in schema.returns if each.alias_info is not None]
    return OperatorFacts(
        name=func.name(),
        arguments=tuple((each.name, each.default_value) for each in arguments),
        writes=frozenset(writes),
        overwrites=frozenset(overwrites),
        view=moved or name in _HIDDEN_VIEWS or any(not each.is_write for each in aliases),
        moved=moved,
        fill=_FILLS.match(name) is not None,
        unfilled=_UNFILLED.match(name) is not None,
        random=drawn or any("Generator" in str(each.type) for each in arguments),
        numbers=any(str(each.type) in ("number", "Scalar", "bool", "int", "float") for each in schema.returns),
        statistics=statistics,
        flops=_formula(func),
    )


def draws(facts: OperatorFacts, given: dict[str, Any]) -> bool:
    """Whether a call draws random numbers: dropout of nothing does not."""
    if not facts.random:
        return False
    if given.get("train") is False:
        return False
    share = given.get("dropout_p", given.get("dropout"))
    return not (isinstance(share, int | float) and share == 0)


def written(facts: OperatorFacts, given: dict[str, Any]) -> frozenset[str]:
    """The names of the arguments that a call changes."""
    if facts.statistics and given.get(facts.arguments[_TRAINING][0]):
        return facts.writes | {facts.arguments[each][0] for each in _STATISTICS}
    return facts.writes


def _formula(func: Any) -> Callable[..., Any] | None:
    from torch.utils.flop_counter import flop_registry

    return flop_registry.get(func.overloadpacket)
