from __future__ import annotations

import pytest

from gpuprof.code_edits.syntax.moved_lines import moved_line

BEFORE = "import torch\nloader = make()\nfor x in loader:\n    step(x)\n"


@pytest.mark.parametrize(
    ("after", "line", "moved"),
    [
        (BEFORE, 3, 3),
        ("import torch\ntorch.set_num_threads(1)\nloader = make()\nfor x in loader:\n    step(x)\n", 3, 4),
        (BEFORE.replace("make()", "make(2)"), 2, 2),
        (BEFORE.replace("    step(x)\n", ""), 4, None),
        (BEFORE.replace("loader = make()\n", "a = 1\nb = 2\nloader = make(2)\n"), 2, None),
        (BEFORE.replace("loader = make()\n", "a = 1\nb = 2\nloader = make(2)\n"), 3, 5),
    ],
)
def test_a_line_is_found_again(after: str, line: int, moved: int | None) -> None:
    assert moved_line(BEFORE, after, line) == moved
