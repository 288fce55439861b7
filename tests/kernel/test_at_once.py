"""The verdict is on screen before the rest is made, and an executed notebook holds the whole report."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.kernel import LiveKernel

pytestmark = pytest.mark.kernel

CELL = "%%gpuprofile\nfor _ in range(5):\n    (torch.ones(64, 64) @ torch.ones(64, 64)).sum().item()"


def messages_of(kernel: LiveKernel, code: str) -> list[dict[str, Any]]:
    """What the kernel sends for a cell, up to and with its being idle."""
    client = kernel.client.kc
    found: list[dict[str, Any]] = []

    sent = client.execute(code, allow_stdin=False)
    while not found or found[-1]["content"].get("execution_state") != "idle":
        message = client.get_iopub_msg(timeout=60)
        if message["parent_header"].get("msg_id") == sent:
            found.append(message)
    return found


def test_text_first_and_the_rest_in_its_place_before_the_kernel_is_idle(kernel: LiveKernel) -> None:
    sent = [each for each in messages_of(kernel, CELL) if "display" in each["msg_type"]]

    assert [each["msg_type"] for each in sent] == ["display_data", "update_display_data"]
    first, last = (each["content"] for each in sent)
    assert first["transient"]["display_id"] == last["transient"]["display_id"]
    assert set(first["data"]) == {"text/plain"} and set(last["data"]) == {"text/plain", "text/html"}
    assert first["data"]["text/plain"] == last["data"]["text/plain"]


def test_names_that_break_the_json_are_mended_in_the_report_and_on_disk(kernel: LiveKernel) -> None:
    ran = kernel.run(
        "%%gpuprofile --into run\nwith torch.profiler.record_function('say \"x\"'):\n    torch.ones(3).sum().item()"
    )

    assert len(ran.reports) == 1 and not ran.stream("stderr")
    assert kernel.value("('say \"x\"' in run.trace.names, run.trace.source.repaired)") == "(True, False)"
    assert kernel.value("gpuprof.last().folder.joinpath('kineto.json.gz').exists()") == "True"
    assert kernel.value("type(run).load(run.folder).trace.names == run.trace.names") == "True"
