"""Times the transforms of a dataset, each for itself, while one batch is made."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, MutableSequence
from contextlib import contextmanager
from typing import Any

_MOST_DATASETS = 4
_MOST_TRANSFORMS = 30
# a Compose of theirs calls each of its transforms with the sample and nothing else
_KNOWN = ("torchvision", "__main__")


class Timed:
    """Stands for a callable while a batch is made: calls it, counts and adds up. Everything else is the callable's."""

    def __init__(self, function: Callable[..., Any], holder: Any = None, place: Any = None):
        self.function, self.holder, self.place = function, holder, place
        self.calls = self.duration_ns = 0

    @property
    def name(self) -> str:
        """`Resize`, or the function's own name."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call it."""
        began = time.perf_counter_ns()
        try:
            return self.function(*arguments, **named)
        finally:
            self.duration_ns += time.perf_counter_ns() - began
            self.calls += 1

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The callable's, so that the user's `isinstance` still holds."""
        return type(self.function)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "function":  # half made, as by `copy`
            raise AttributeError(name)
        return getattr(self.function, name)


def find_transforms(dataset: Any) -> list[Timed]:
    """Those in the attribute `transform` of the dataset, or of the one that it is a part of (`Subset`).

    Of a `Compose` of torchvision or of the notebook its parts, of anything else the whole.
    """
    found: list[Timed] = []
    for _ in range(_MOST_DATASETS):
        fields = getattr(dataset, "__dict__", {})
        transform = fields.get("transform")
        if callable(transform):
            parts = _parts(transform)
            found += [Timed(transform, fields, "transform")] if parts is None else _each(parts)
        if "dataset" not in fields:
            break
        dataset = fields["dataset"]
    return found[:_MOST_TRANSFORMS]


def _parts(transform: Any) -> MutableSequence[Any] | None:
    kind = type(transform)
    parts = getattr(transform, "__dict__", {}).get("transforms")
    known = kind.__name__ == "Compose" and kind.__module__.partition(".")[0] in _KNOWN
    return parts if known and isinstance(parts, list) else None


def _each(parts: MutableSequence[Any]) -> list[Timed]:
    return [Timed(part, parts, row) for row, part in enumerate(parts)]


@contextmanager
def timed_transforms(transforms: list[Timed]) -> Iterator[None]:
    """Let each stand in its place; the user's own are back afterwards, whatever happens."""
    try:
        for each in transforms:
            each.holder[each.place] = each
        yield
    finally:
        for each in transforms:
            # the user's code may have changed the list meanwhile: what is no longer there needs no putting back
            with contextlib.suppress(IndexError, KeyError):
                if each.holder[each.place] is each:
                    each.holder[each.place] = each.function
