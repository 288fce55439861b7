from __future__ import annotations

import linecache

import pytest

from gpuprof.capture.base.notebook_files import is_users, source_file, user_frames


@pytest.mark.parametrize(
    ("filename", "expected"),
    [
        ("ipykernel_123/4567.py", True),
        (r"C:\Temp\ipykernel_123\4567.py", True),
        ("<ipython-input-3-0a1b2c3d4e5f>", True),
        ("script.py", True),
        ("site-packages/torch/nn/modules/module.py", False),
        ("ipykernel_123/helpers.py", False),
        ("<string>", False),
    ],
)
def test_code_of_cells_and_of_the_profiled_file_is_the_users(filename: str, expected: bool) -> None:
    assert is_users(filename, "script.py") is expected


def test_a_cell_is_found_in_the_history_by_its_text_the_last_one_counts() -> None:
    name, text = "ipykernel_123/9.py", "def f():\n    return 1\n"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    history = ["", "x = 1", text.strip(), "x = 2", text, "y"]
    try:
        found = source_file(name, {"In": history})
        assert (found.source, found.execution_count) == (text, 4)
        assert source_file(name, None).execution_count is None
    finally:
        del linecache.cache[name]
    assert source_file("ipykernel_123/10.py", {"In": ["", ""]}).execution_count is None


def test_the_users_frames_come_outermost_first() -> None:
    names: dict[str, object] = {"user_frames": user_frames, "found": []}
    source = (
        "def f():\n    found.extend((each.f_lineno, each.f_code.co_name) for each in user_frames('cell.py'))\nf()\n"
    )
    exec(compile(source, "cell.py", "exec"), names)
    assert names["found"][:2] == [(3, "<module>"), (2, "f")]  # type: ignore[index]
