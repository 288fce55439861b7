"""The report as one HTML file: opens from disk with the network blocked, under a strict content security policy.

Names, paths and user text are data, never markup: Jinja escapes them, the payload of the timeline is JSON in an element
that is not executed, with `<` escaped, and the script sets text only as text.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from gpuprof import units
from gpuprof._version import __version__
from gpuprof.report import Report
from gpuprof.views import tables, theme, wording
from gpuprof.views.html import (
    blocks,
    device,
    environment,
    kernels,
    lanes_table,
    lines_tab,
    memory,
    thresholds,
    transfers,
)
from gpuprof.views.html.blocks import Section
from gpuprof.views.html.redact import redact_all, redactor
from gpuprof.views.notebook_report.diff import diff_lines
from gpuprof.views.timeline import bundle, encode
from gpuprof.views.timeline.build import build
from gpuprof.views.timeline.lanes import Timeline
from gpuprof.views.timeline.reduce import reduced

_FOLDER = Path(__file__).parent
# A number and its unit stay on one line.
_UNIT = re.compile(r"(?<=\d) (?=%|(?:ns|µs|ms|s|min|B|KiB|MiB|GiB|TiB|[kMG]?B/s|W|°C|MHz)\b)")
MOST_EVENTS = 1_000_000
_SMALLER = (100_000, 75_000, 56_000, 42_000, 31_000, 23_000, 17_000, 12_000, 8_000, 5_000)


def render_page(report: Report, *, redact: bool = False, most_bytes: int | None = None, embedded: bool = False) -> str:
    """The whole page as text.

    `redact` leaves out source code, and shortens paths and blanks user and host names. `embedded`: tabs alone, for a
    place where verdict, findings and trust line stand already. With `most_bytes` the timeline holds at
    most 100,000 events and shrinks until the page is no larger, and says so; without, at most 1,000,000.
    """
    whole = build(report.trace, report.results, findings=report.findings, title=report.title, with_source=not redact)
    if most_bytes is None:
        return _render(report, whole, reduced(whole, MOST_EVENTS), redact, embedded)
    hint = 'run.write_html("report.html") writes the whole.'
    page = ""
    for limit in _SMALLER:
        page = _render(report, whole, reduced(whole, limit, hint=hint), redact, embedded)
        if len(page.encode()) <= most_bytes:
            break
    return page


def _render(report: Report, whole: Timeline, shown: Timeline, redact: bool, embedded: bool) -> str:
    payload, buffer = encode.packed(shown)
    shorten = redactor(report.trace) if redact else None
    if shorten:
        payload = redact_all(payload, shorten)
    style, script = _style(report), _script()
    return (
        _environment(shorten)
        .get_template("page.html.jinja")
        .render(
            report=report,
            redacted=redact,
            embedded=embedded,
            version=__version__,
            policy=Markup(_policy(style, script)),
            style=Markup(style),
            script=Markup(script),
            payload=Markup(_inert(payload)),
            buffer=Markup(buffer),
            timeline=shown,
            lane_blocks=lanes_table.blocks(whole, report.results),
            sections=_sections(report, redact=redact),
            rows=wording.budget_rows(report),
            thresholds=None if embedded else thresholds.table(report),
        )
    )


def _sections(report: Report, *, redact: bool) -> tuple[Section, ...]:
    results = report.results
    return (
        lines_tab.section(report, with_source=not redact),
        transfers.section(results),
        memory.section(results),
        kernels.section(results),
        device.section(results),
        environment.section(report.trace),
    )


def _environment(shorten: Any) -> jinja2.Environment:
    def finalize(value: Any) -> Any:
        if not isinstance(value, str) or isinstance(value, Markup):
            return value
        return _UNIT.sub("\u00a0", shorten(value) if shorten else value)

    made = jinja2.Environment(
        loader=jinja2.PackageLoader("gpuprof.views.html", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=finalize,
    )
    made.globals.update(words=wording, diff_lines=diff_lines)
    made.filters.update(
        duration=units.duration, percent=units.percent, plural=units.plural, sentence_end=wording.sentence_end
    )
    made.filters["code"] = lambda text: _code(finalize(text))
    blocks.register(made)
    return made


def _code(text: str) -> Markup:
    """Text whose `backticked` parts are code; everything in it is escaped."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    return Markup("").join(Markup("<code>{}</code>").format(p) if i % 2 else escape(p) for i, p in enumerate(parts))


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _inert(payload: dict[str, Any]) -> str:
    """JSON that can hold no markup and no end of its own element."""
    text = json.dumps(payload, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026").replace("\u2028", "\\u2028")


@cache
def _script() -> str:
    return f"\n{bundle.script()}\n{tables.script()}\n{(_FOLDER / 'page.js').read_text(encoding='utf-8')}"


def _style(report: Report) -> str:
    light, dark, inks = [], [], []
    for kind in {**theme.EVENTS, **theme.BUDGET}.values():
        light.append(f"--k-{kind.key}:{kind.light};--i-{kind.key}:{kind.ink()};")
        dark.append(f"--k-{kind.key}:{kind.dark};--i-{kind.key}:{kind.ink(dark=True)};")
        inks.append(
            f".k-{kind.key}{{background:var(--k-{kind.key});color:var(--i-{kind.key})}}"
            f".edge-{kind.key}{{border-left-color:var(--k-{kind.key})}}"
            f".line-{kind.key}{{stroke:var(--k-{kind.key})}}.area-{kind.key}{{fill:var(--k-{kind.key})}}"
        )
    parts = [f".part-{row.kind.key}{{flex-grow:{row.share:.6f}}}" for row in wording.budget_rows(report)]
    own = (_FOLDER / "page.css").read_text(encoding="utf-8")
    night = f"{''.join(dark)}{_block(own, 'night')}"
    return "\n".join(
        (
            "",
            f":root{{{''.join(light)}}}",
            own,
            tables.style(),
            f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{night}}}}}",
            f":root[data-theme=dark]{{{night}}}",
            *inks,
            *parts,
            bundle.style(),
        )
    )


def _block(style: str, name: str) -> str:
    """The declarations of the rule `.name` in a style sheet."""
    return style.partition(f".{name} {{")[2].partition("}")[0].replace("\n", "")
