from __future__ import annotations

import ast

from gpuprof.analyses.lines.statements import expressions_at, imported_names

SOURCE = """for x in words:
    if x in seen:
        y = [f(each)
             for each in x]
"""


def names(line: int) -> set[str]:
    return {each.id for each in expressions_at(SOURCE, line) if isinstance(each, ast.Name)}


def test_the_innermost_statement_and_of_a_block_its_head() -> None:
    assert names(1) == {"x", "words"}
    assert names(2) == {"x", "seen"}
    assert names(3) == names(4) == {"y", "f", "each", "x"}


def test_where_nothing_is_known() -> None:
    assert expressions_at(SOURCE, 9) == []
    assert expressions_at("for x in (", 1) == []
    assert expressions_at(f"x = {' + '.join(['y'] * 3000)}\n", 1) == []


def test_imported_names() -> None:
    assert imported_names("import numpy as np, os.path\nfrom a.b import c as d, e\n") == {"np", "os", "d", "e"}
    assert imported_names("import (") == frozenset()
