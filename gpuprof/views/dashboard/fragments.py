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
from gpuprof.views.notebook_report.diff import diff_lines
from gpuprof.views.rich_text import rich_text

if TYPE_CHECKING:
    from gpuprof.report import Report

# JupyterLab and Notebook 7, VS Code, Colab: how each says that it is dark
_DARK = ':is(body[data-jp-theme-light="false"],body[data-vscode-theme-kind*="dark"],html[theme="dark"])'
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
    kinds = {**theme.EVENTS, **theme.BUDGET}.values()
    light = [_rules("", kind, kind.light, kind.ink()) for kind in kinds]
    dark = [_rules(f"{_DARK} ", kind, kind.dark, kind.ink(dark=True)) for kind in kinds if kind.dark != kind.light]
    return "\n".join((own, *light, *dark))


def _rules(where: str, kind: theme.Kind, colour: str, ink: str) -> str:
    sheet = f"{where}.gpuprof-sheet "
    return (
        f"{sheet}.k-{kind.key}{{background:{colour};color:{ink}}}{sheet}.edge-{kind.key}{{border-left-color:{colour}}}"
        f"{sheet}.area-{kind.key}{{fill:{colour};opacity:.7}}"
    )


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
        duration=duration, percent=percent, plural=plural, sentence_end=wording.sentence_end, rich_text=rich_text
    )
    register(environment)
    return environment


def _finalize(value: Any) -> Any:
    return wording.unbroken(value) if isinstance(value, str) and not isinstance(value, Markup) else value
