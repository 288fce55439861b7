"""The Jinja environment of every view that is HTML: names of kernels, files and ranges are escaped, always."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from gpuprof import units
from gpuprof.views import blocks, wording
from gpuprof.views.diff import diff_lines
from gpuprof.views.rich_text import rich_text

_SHARED = Path(__file__).parent / "templates"


class _Compiled(jinja2.BytecodeCache):
    """Templates compiled earlier in this process: the views share some, each through its own environment."""

    def __init__(self) -> None:
        self._codes: dict[str, tuple[str, Any]] = {}

    def load_bytecode(self, bucket: Any) -> None:
        checksum, code = self._codes.get(bucket.key, ("", None))
        if checksum == bucket.checksum:
            bucket.code = code

    def dump_bytecode(self, bucket: Any) -> None:
        self._codes[bucket.key] = (bucket.checksum, bucket.code)


_compiled = _Compiled()


def environment(folder: Path, shorten: Callable[[str], str] | None = None) -> jinja2.Environment:
    """For the templates of `folder` and those that all views share. What they show goes through `shorten`, keeps its
    numbers with their units, and is escaped; `rich_text` also sets code, and `verbatim` leaves code as it is."""
    return _usual(folder) if shorten is None else _made(folder, shorten)


@functools.cache
def _usual(folder: Path) -> jinja2.Environment:
    """Compiling the templates takes longer than filling them in: each is compiled once."""
    return _made(folder, None)


def _made(folder: Path, shorten: Callable[[str], str] | None) -> jinja2.Environment:
    def told(text: str) -> str:
        return shorten(text) if shorten else text

    def finalize(value: Any) -> Any:
        return units.unbroken(told(value)) if isinstance(value, str) and not isinstance(value, Markup) else value

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, _SHARED]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=finalize,
        # constants of a template go through `finalize` when it is compiled
        bytecode_cache=_compiled if shorten is None else None,
    )
    made.globals.update(words=wording, diff_lines=diff_lines, box=f"0 0 {blocks.WIDTH} {blocks.HEIGHT}")
    made.filters.update(
        duration=units.duration,
        percent=units.percent,
        plural=units.plural,
        sentence_end=wording.sentence_end,
        sentence_start=wording.sentence_start,
        rich_text=lambda text: rich_text(told(text)),
        verbatim=escape,  # Markup is not touched again
    )
    made.tests.update(blocks.TESTS)
    return made
