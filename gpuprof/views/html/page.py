"""The report as one HTML file: opens from disk with the network blocked, under a strict content security policy.

Names, paths and user text are data, never markup: Jinja escapes them, the payload of the timeline is JSON in an element
that is not executed, with `<` escaped, and the script sets text only as text.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from markupsafe import Markup

from gpuprof._version import __version__
from gpuprof.report import Report
from gpuprof.views import tables, theme, thresholds, wording
from gpuprof.views.blocks import Block, Sentence, SourceBlock
from gpuprof.views.card import Card, cards
from gpuprof.views.html.lanes_table import lanes_table
from gpuprof.views.html.redact import redact_all, redactor
from gpuprof.views.sections.registry import sections_of
from gpuprof.views.skin import Skin
from gpuprof.views.templating import environment
from gpuprof.views.timeline import bundle, encode
from gpuprof.views.timeline.build import build
from gpuprof.views.timeline.lanes import Timeline
from gpuprof.views.timeline.reduce import reduced

_FOLDER = Path(__file__).parent
_SKIN = Skin(box="article", heading="h3", asks='data-finding="{index}" hidden')
_WITHOUT_SOURCE = Sentence("Source code is left out of this page.")
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
        shown = reduced(whole, limit, hint=hint)
        packed = encode.packed(shown)
        if len(packed[1]) > most_bytes and limit != _SMALLER[-1]:
            continue  # the page holds it, and more
        page = _render(report, whole, shown, redact, embedded, packed)
        if len(page.encode()) <= most_bytes:
            break
    return page


def _render(
    report: Report,
    whole: Timeline,
    shown: Timeline,
    redact: bool,
    embedded: bool,
    packed: tuple[dict[str, Any], str] | None = None,
) -> str:
    payload, buffer = packed or encode.packed(shown)
    shorten = redactor(report.trace) if redact else None
    if shorten:
        payload = redact_all(payload, shorten)
    style, script = _style(report), _script()
    return (
        environment(_FOLDER, shorten)
        .get_template("page.html.jinja")
        .render(
            report=report,
            cards=_cards(report, redact),
            skin=_SKIN,
            redacted=redact,
            embedded=embedded,
            version=__version__,
            policy=Markup(_policy(style, script)),
            style=Markup(style),
            script=Markup(script),
            payload=Markup(_inert(payload)),
            buffer=Markup(buffer),
            timeline=shown,
            lanes=lanes_table(whole),
            panels=[(each.key, each.title, _shown(each.blocks(report), redact)) for each in sections_of(report)],
            rows=wording.budget_rows(report),
            thresholds=None if embedded else thresholds.table(report),
        )
    )


def _cards(report: Report, redact: bool) -> tuple[Card, ...]:
    made = cards(report)
    return tuple(card.without_source() for card in made) if redact else made


def _shown(blocks: Sequence[Block], redact: bool) -> list[Block]:
    """The blocks; where source must not be seen, one sentence says so in its place."""
    if not redact:
        return list(blocks)
    kept = [_WITHOUT_SOURCE if isinstance(block, SourceBlock) else block for block in blocks]
    return [block for at, block in enumerate(kept) if block is not _WITHOUT_SOURCE or kept.index(block) == at]


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
