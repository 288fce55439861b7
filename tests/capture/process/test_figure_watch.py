"""Figures are counted, and matplotlib is not imported for it."""

from __future__ import annotations

import sys
from collections import OrderedDict
from types import SimpleNamespace
from typing import Any

import pytest

from gpuprof.capture.process.figure_watch import FigureWatch
from gpuprof.model.context import PyplotFigures


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> OrderedDict[int, object]:
    kept: OrderedDict[int, object] = OrderedDict()
    monkeypatch.setitem(sys.modules, "matplotlib._pylab_helpers", SimpleNamespace(Gcf=SimpleNamespace(figs=kept)))
    return kept


def test_those_that_the_cell_opens(figures: OrderedDict[int, object]) -> None:
    figures[1] = object()
    watch = FigureWatch()
    watch.begin()
    for number in range(2, 14):
        figures[number] = object()
        watch.tick(0)
    for number in range(5, 14):
        del figures[number]
    watch.end()
    assert watch.facts() == PyplotFigures(left=3, most=12)


def test_a_number_that_is_used_again_is_another_figure(figures: OrderedDict[int, object]) -> None:
    earlier = figures[1] = object()
    watch = FigureWatch()
    watch.begin()
    figures[1] = object()
    watch.end()
    assert earlier is not figures[1] and watch.facts() == PyplotFigures(left=1, most=1)


def test_a_list_that_changes_meanwhile(figures: OrderedDict[int, object], monkeypatch: pytest.MonkeyPatch) -> None:
    watch = FigureWatch()
    watch.begin()

    class Changing(dict[int, object]):
        def values(self) -> Any:
            raise RuntimeError("dictionary changed size during iteration")

    monkeypatch.setattr(sys.modules["matplotlib._pylab_helpers"].Gcf, "figs", Changing())
    watch.tick(0)
    assert watch.facts() == PyplotFigures()


@pytest.mark.parametrize("module", [None, SimpleNamespace(), SimpleNamespace(Gcf=SimpleNamespace(figs=None))])
def test_without_pyplot(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if module is None:
        monkeypatch.delitem(sys.modules, "matplotlib._pylab_helpers", raising=False)
    else:
        monkeypatch.setitem(sys.modules, "matplotlib._pylab_helpers", module)
    watch = FigureWatch()
    watch.begin()
    watch.tick(0)
    watch.end()
    assert watch.facts() == PyplotFigures()
    assert module is not None or "matplotlib._pylab_helpers" not in sys.modules
