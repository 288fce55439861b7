"""HTML of the dashboard from Jinja2 templates: names of kernels, files and ranges are escaped, always."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2

from gpuprof.units import count, duration, percent, plural, rate, size
from gpuprof.views import wording
from gpuprof.views.paper.diff import diff_lines
from gpuprof.views.prose import prose

if TYPE_CHECKING:
    from gpuprof.report import Report

_FOLDER = Path(__file__).parent


def fragment(name: str, report: Report, **values: Any) -> str:
    """The template `templates/<name>.html.jinja`, filled."""
    return _environment().get_template(f"{name}.html.jinja").render(report=report, **values)


@functools.cache
def style() -> str:
    """The style element of the dashboard; every selector in it begins with a class of ours."""
    return f"<style>{(_FOLDER / 'dashboard.css').read_text(encoding='utf-8')}</style>"


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(words=wording, diff_lines=diff_lines)
    environment.filters.update(
        duration=duration,
        percent=percent,
        size=size,
        rate=rate,
        counted=count,
        plural=plural,
        sentence_end=wording.sentence_end,
        prose=prose,
    )
    return environment
