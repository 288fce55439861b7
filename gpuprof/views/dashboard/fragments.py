"""HTML of the dashboard from Jinja2 templates: names of kernels, files and ranges are escaped, always."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2

from gpuprof.views import theme, thresholds
from gpuprof.views.blocks import Block
from gpuprof.views.card import cards
from gpuprof.views.run_card import RunCard, caution_rest, detail_cards
from gpuprof.views.skin import Skin
from gpuprof.views.templating import environment

if TYPE_CHECKING:
    from gpuprof.report import Report

# JupyterLab and Notebook 7, VS Code, Colab: how each says that it is dark
_DARK = ':is(body[data-jp-theme-light="false"],body[data-vscode-theme-kind*="dark"],html[theme="dark"])'
_FOLDER = Path(__file__).parent
_SKIN = Skin(box="article", prefix="gpuprof-", asks='data-ask="show {number}"')


def fragment(name: str, **values: Any) -> str:
    """The template `templates/<name>.html.jinja`, filled."""
    return _environment().get_template(f"{name}.html.jinja").render(skin=_SKIN, **values)


def findings(report: Report, *, below_card: bool = False) -> str:
    """A card per finding, what could not be judged, and every rule with its thresholds.

    `below_card`: what the run's card says of the first finding is not said again.
    """
    every = detail_cards(report) if below_card else cards(report)
    return fragment(
        "findings",
        report=report,
        cards=every,
        advice="" if below_card and not every else str(report.verdict),
        caution_rest=caution_rest(report) if below_card else "",
        thresholds=thresholds.table(report),
    )


def section(blocks: Sequence[Block]) -> str:
    """Blocks as the page shows them."""
    return fragment("section", blocks=blocks)


def live_card(run_card: RunCard, report: Report, **values: Any) -> str:
    """The run's card with its buttons, with the style of the whole dashboard."""
    return f"<style>{style()}</style>{fragment('live_card', run_card=run_card, report=report, **values)}"


def export_link() -> str:
    """What stands above the tabs where the card stands above them."""
    return f"<style>{style()}</style>{fragment('export')}"


def head(report: Report, *, exports: bool) -> str:
    """Facts, verdict and the budget bar, with the style of the whole dashboard; `exports`: with that button."""
    return f"<style>{style()}</style>{fragment('head', report=report, exports=exports)}"


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
        f"{sheet}.area-{kind.key}{{fill:{colour};opacity:.7}}{sheet}.line-{kind.key}{{stroke:{colour}}}"
    )


@functools.cache
def _environment() -> jinja2.Environment:
    return environment(_FOLDER / "templates")
