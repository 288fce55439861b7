from __future__ import annotations

import pytest
from IPython.core.interactiveshell import InteractiveShell

from gpuprof.magics.execution import compiles, execute


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
    assert execute(shell, "# magic\nkept = 20\nkept + 1", "kept = 20\nkept + 1") == 21
    assert shell.user_ns["kept"] == 20
    assert execute(shell, "# magic\nkept = 5", "kept = 5") is None


def test_a_traceback_counts_lines_from_the_magic_line(shell: InteractiveShell) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        execute(shell, "# magic\nx = 0\n1 / x", "x = 0\n1 / x")
    assert caught.traceback[-1].lineno == 2  # counted from 0
