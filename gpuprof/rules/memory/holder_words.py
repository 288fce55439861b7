"""What a name holds, in words: how many tensors, in which containers."""

from __future__ import annotations

from collections.abc import Sequence

from gpuprof import units
from gpuprof.analyses.memory.kept_memory import KeptTensors
from gpuprof.model.memory import HolderLevel

_EACH = "[…]"
_TENSORS = {"Tensor": "tensor", "Parameter": "tensor", "ndarray": "array"}
_CONTAINERS = {"list", "tuple", "dict", "set", "frozenset", "deque", "defaultdict", "OrderedDict"}


def number_held(kept: KeptTensors) -> str:
    """`12 tensors and 2 arrays`."""
    number = {"tensor": kept.tensors - kept.arrays, "array": kept.arrays}
    about = "about " if kept.estimated else ""
    return about + " and ".join(units.plural(count, name) for name, count in number.items() if count)


def holder(kept: KeptTensors) -> str:
    """`` `kept` ``, with the containers inside it: `` `kept` (a dict of 3 lists of 36 tensors)``."""
    inside = _made_up(kept.levels) if len(kept.levels) > 2 else ""
    return f"`{kept.name}` ({inside})" if inside else f"`{kept.name}`"


def _made_up(levels: Sequence[HolderLevel]) -> str:
    """From the inside out."""
    text = ""
    for at in range(len(levels) - 1, -1, -1):
        level, many = levels[at], at > 0 and levels[at - 1].step == _EACH
        own = units.plural(levels[at - 1].items, _noun(level)) if many else _one(_noun(level))
        if level.step == _EACH:
            text = f"{own} of {text}" if at + 1 < len(levels) else own
        elif level.step.startswith((".", '["')):
            text = f"{own} with `{_part(level)}`" + (f", {text}" if text else "")
        else:
            text = f"{own} with {text}" if text else own
    return text


def _part(level: HolderLevel) -> str:
    return level.step.strip('.[]"')


def _noun(level: HolderLevel) -> str:
    if level.kind in _TENSORS:
        return _TENSORS[level.kind]
    return level.kind if level.kind in _CONTAINERS else f"`{level.kind}` object"


def _one(noun: str) -> str:
    return f"{'an' if noun.lstrip('`')[:1].lower() in 'aeiou' else 'a'} {noun}"
