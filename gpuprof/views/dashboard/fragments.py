"""HTML of the dashboard from Jinja2 templates: names of kernels, files and ranges are escaped, always."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
from markupsafe import Markup

from gpuprof.units import duration, percent, plural
from gpuprof.views import theme, wording
from gpuprof.views.html.blocks import Block, register
from gpuprof.views.paper.diff import diff_lines
from gpuprof.views.prose import prose

if TYPE_CHECKING:
    from gpuprof.report import Report

_FOLDER = Path(__file__).parent
_PAGE_BLOCKS = _FOLDER.parent / "html" / "blocks.html.jinja"


def fragment(name: str, **values: Any) -> str:
    """The template `templates/<name>.html.jinja`, filled."""
    return _environment().get_template(f"{name}.html.jinja").render(**values)


def blocks(shown: Sequence[Block]) -> str:
    """Blocks as the page shows them."""
    return fragment("blocks", blocks=shown)


def head(report: Report) -> str:
    """Facts, verdict and the budget bar, with the style of the whole dashboard."""
    return f"<style>{style()}</style>{fragment('head', report=report)}"


@functools.cache
def style() -> str:
    """Every selector in it begins with a class of ours, or ends in a cell that holds one (the box of Notebook 7)."""
    own = (_FOLDER / "dashboard.css").read_text(encoding="utf-8")
    meters = [f".gpuprof-sheet .area-{kind.key}{{fill:{kind.light};opacity:.7}}" for kind in theme.EVENTS.values()]
    return "\n".join((own, *meters))


@functools.cache
def _environment() -> jinja2.Environment:
    loaders = [
        jinja2.FileSystemLoader(_FOLDER / "templates"),
        jinja2.DictLoader({"page_blocks.html.jinja": _PAGE_BLOCKS.read_text(encoding="utf-8")}),
    ]
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(loaders),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.globals.update(words=wording, diff_lines=diff_lines)
    environment.filters.update(
        duration=duration, percent=percent, plural=plural, sentence_end=wording.sentence_end, prose=prose
    )
    register(environment)
    return environment


def _finalize(value: Any) -> Any:
    return wording.unbroken(value) if isinstance(value, str) and not isinstance(value, Markup) else value
