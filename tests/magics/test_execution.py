from __future__ import annotations

import pytest
from IPython.core.interactiveshell import InteractiveShell

from gpuprof.magics.execution import Body, compiles


@pytest.fixture
def shell() -> InteractiveShell:
    return InteractiveShell()


@pytest.mark.parametrize("code", ["x = 1", "await f()", "x = 1\nfrom __future__ import annotations", "", "'\\d'"])
def test_what_ipython_runs_compiles(shell: InteractiveShell, code: str, recwarn: pytest.WarningsRecorder) -> None:
    assert compiles(shell, code)
    assert not recwarn.list


@pytest.mark.parametrize("code", ["x =", "return 1", "x = 1\nbreak", "  x", "%%gpuprofile\nx", "x = '\0'"])
def test_what_ipython_refuses_does_not(shell: InteractiveShell, code: str) -> None:
    assert not compiles(shell, code)


def test_a_body_is_executed_in_the_users_namespace_and_gives_its_last_value(shell: InteractiveShell) -> None:
    assert Body(shell, "# magic\nkept = 20\nkept + 1", "kept = 20\nkept + 1").execute() == 21
    assert shell.user_ns["kept"] == 20
    assert Body(shell, "# magic\nkept = 5", "kept = 5").execute() is None


@pytest.mark.parametrize("empty", ["", "\n", "\n  \n\n"])
def test_a_traceback_counts_lines_from_the_magic_line(shell: InteractiveShell, empty: str) -> None:
    body = f"{empty}x = 0\n1 / x"
    with pytest.raises(ZeroDivisionError) as caught:
        Body(shell, f"# magic\n{body}", body).execute()
    assert caught.traceback[-1].lineno == 2 + empty.count("\n")  # counted from 0


def test_a_syntax_error_is_known_before_anything_runs(shell: InteractiveShell) -> None:
    with pytest.raises(SyntaxError) as caught:
        Body(shell, "# magic\nx = 0\nx +", "x = 0\nx +")
    assert caught.value.lineno == 3
