from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.inputtransformer2 import TransformerManager

from gpuprof.errors import UsageError
from gpuprof.magics.transformer import Transformer, comment_out, find_magic_line, has_code


def transform(cell: str, *, nested: bool = False) -> str:
    manager = TransformerManager()
    manager.cleanup_transforms.append(Transformer(lambda line, body: None, lambda: nested))
    return manager.transform_cell(cell)


@pytest.mark.parametrize(
    ("cell", "arguments"),
    [
        ("%%gpuprofile\nx", ""),
        ("%%gpuprofile --steps 3  \nx", "--steps 3"),
        ("%%gpuprofile\t--quiet\nx", "--quiet"),
        ("\n  \n# title\n%%gpuprofile --quiet\nx", "--quiet"),
    ],
)
def test_finds_the_magic_line(cell: str, arguments: str) -> None:
    found = find_magic_line(cell.splitlines(keepends=True))
    assert found is not None and found.arguments == arguments


@pytest.mark.parametrize(
    "cell",
    [
        "",
        "x\n%%gpuprofile\n",
        "%%gpuprofiler\nx",
        "%gpuprofile\nx",
        "%%gpuprofile?\n",
        "'''\n%%gpuprofile\n'''",
        "%%time\n%%gpuprofile\nx",
    ],
)
def test_leaves_other_cells_alone(cell: str) -> None:
    assert find_magic_line(cell.splitlines(keepends=True)) is None


def test_the_line_becomes_a_comment_and_line_numbers_stay() -> None:
    assert transform("%%gpuprofile --steps 3\nx = 1\n!ls\n").splitlines() == [
        "# %%gpuprofile --steps 3",
        "x = 1",
        "get_ipython().system('ls')",
    ]


def test_a_cell_magic_below_still_gets_its_body() -> None:
    assert transform("%%gpuprofile\n%%time -q\nx = 1\n").splitlines() == [
        "# %%gpuprofile",
        r"get_ipython().run_cell_magic('time', '-q', 'x = 1\n')",
    ]


def test_inside_a_running_cell_the_real_magic_is_called() -> None:
    assert transform("%%gpuprofile --quiet\nx = 1\n", nested=True) == (
        "get_ipython().run_cell_magic('gpuprofile', '--quiet', 'x = 1\\n')\n"
    )


def test_what_the_check_raises_keeps_the_cell_from_running() -> None:
    def refuse(line: str, body: list[str]) -> None:
        raise UsageError(f"{line}: {len(body)} lines")

    with pytest.raises(UsageError, match="--bad: 2 lines"):
        Transformer(refuse, lambda: False)(["%%gpuprofile --bad\n", "x\n", "y\n"])


def test_typing_is_never_checked() -> None:
    def refuse(line: str, body: list[str]) -> None:
        raise UsageError("asked too early")

    manager = TransformerManager()
    manager.cleanup_transforms.append(Transformer(refuse, lambda: False))
    assert manager.check_complete("%%gpuprofile --bad\nx = 1")[0] == "incomplete"
    assert manager.check_complete("%%gpuprofile --bad\nx = 1\n\n")[0] == "complete"


@given(
    st.lists(st.sampled_from(["x = 1\n", "\n", "# c\n", "if x:\n", "    y\n", "%%gpuprofile\n", "'''\n"]), max_size=6)
)
def test_no_line_is_lost_added_or_changed_but_the_magic_line(lines: list[str]) -> None:
    found = find_magic_line(lines)
    if found is None:
        assert Transformer(lambda line, body: None, lambda: False)(lines) == lines
        return
    commented = comment_out(lines, found)
    assert len(commented) == len(lines)
    assert [i for i, (a, b) in enumerate(zip(lines, commented, strict=True)) if a != b] == [found.index]
    assert commented[found.index] == "# %%gpuprofile\n"


def test_has_code() -> None:
    assert has_code(["# a\n", "\n", "x\n"])
    assert not has_code(["# a\n", "  \n"])
