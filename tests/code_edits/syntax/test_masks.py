from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuprof.code_edits.syntax.masks import Masked

CELL = '''\
# %%gpuprofile
%matplotlib inline
!pip list | grep "torch (
files = !ls
a, b = %time 1, 2
for x in range(3):
    !echo {x} \\
        and more
    %timeit -n1 f(
y = (7
     % 4)
text = """
!not a command
%nor this
"""
help?
?y
z = 5 \\
  % 3
s = "it's" + '"""'
w = [
    x  # ( :
]
'''


def test_what_only_ipython_understands_is_hidden_and_put_back() -> None:
    masked = Masked.of(CELL)
    assert masked is not None
    ast.parse(masked.code)
    assert masked.code.count("\n") == CELL.count("\n")
    assert masked.restore(masked.code) == CELL
    assert [text.split()[0] for text in masked.hidden] == [
        "%matplotlib", "!pip", "files", "a,", "!echo", "and", "%timeit", "help?", "?y",
    ]  # fmt: skip


@pytest.mark.parametrize("code", ["", "gpuprof_masked_0_\ngpuprof_masked_0_\n", "x = 1"])
def test_a_lost_or_doubled_line_is_noticed(code: str) -> None:
    masked = Masked.of("!ls\nx = 1\n")
    assert masked is not None and masked.restore(code) is None


@pytest.mark.parametrize(("magic", "python"), [("%%time", True), ("%%capture out", True), ("%%bash", False)])
def test_other_cell_magics_below_ours(magic: str, python: bool) -> None:
    assert (Masked.of(f"# %%gpuprofile\n{magic}\nls -l\n") is not None) is python


@given(
    st.lists(st.sampled_from(['"', "'", "(", ")", "#", "!", "%", "\\", "\n", "a", '"""', "=", "?", " "]), max_size=40)
)
def test_any_text_comes_back_whole(parts: list[str]) -> None:
    source = "".join(parts)
    masked = Masked.of(source)
    assert masked is None or masked.restore(masked.code) == source
