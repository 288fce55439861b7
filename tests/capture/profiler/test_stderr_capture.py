from __future__ import annotations

import os

import pytest

from gpuprof.capture.profiler.stderr_capture import Heard, sort_lines, stderr_captured

KINETO = "USDT:2026-11-20 08:59:05 10558:10558 SyncActivityProfilerHandler.cpp:52] profiler_start\n"
CUPTI = (
    "ERROR:2026-03-01 10:00:00 1:1 CuptiActivityApi.cpp:200] "
    "function cbapi_->getCuptiStatus() failed with error CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35)\n"
)
GLOG = "[W1120 09:19:58.697831230 profiler_kineto.cpp:942] disableProfiler called but no active session\n"


def test_the_profilers_lines_are_kept_the_others_go_on(capfd: pytest.CaptureFixture[str]) -> None:
    heard = Heard()
    with stderr_captured(heard):
        os.write(2, (KINETO + "mine\n" + CUPTI + GLOG + "no newline").encode())
    assert capfd.readouterr().err == "mine\nno newline"
    assert heard.messages == [
        "function cbapi_->getCuptiStatus() failed with error CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35)",
        "disableProfiler called but no active session",
    ]


def test_it_is_put_back_after_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="inside"), stderr_captured(Heard()):
        raise ValueError("inside")
    os.write(2, b"after")
    assert capfd.readouterr().err == "after"


def test_where_it_cannot_be_redirected_kineto_is_silenced(monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(_: int) -> int:
        raise OSError(9, "Bad file descriptor")

    monkeypatch.setattr(os, "dup", closed)
    monkeypatch.delenv("KINETO_LOG_LEVEL", raising=False)
    with stderr_captured(Heard()):
        assert os.environ["KINETO_LOG_LEVEL"] == "99"
    assert "KINETO_LOG_LEVEL" not in os.environ
    monkeypatch.setenv("KINETO_LOG_LEVEL", "2")
    with stderr_captured(Heard()):
        assert os.environ["KINETO_LOG_LEVEL"] == "2"
    assert os.environ["KINETO_LOG_LEVEL"] == "2"


def test_a_line_that_only_looks_like_it_goes_on() -> None:
    heard = Heard()
    assert (
        sort_lines("ERROR: my own message\nWARNING:root:hello\n", heard)
        == "ERROR: my own message\nWARNING:root:hello\n"
    )
    assert heard.messages == []
