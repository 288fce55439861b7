"""The doctor tells the truth about this machine, and finds what is planted."""

from __future__ import annotations

import importlib.metadata

import pytest

from gpuprof.doctor import Check, examine, installation, render

STATES = {"works", "absent", "warning", "broken"}


@pytest.fixture(scope="module")
def checks():
    return {check.name: check for check in examine()}


def test_every_check_has_a_state_and_words(checks):
    assert all(check.state in STATES and check.found for check in checks.values())
    assert all(check.mend for check in checks.values() if check.state in {"warning", "broken"})


def test_torch_and_its_profiler_are_tried_for_real(checks):
    import torch

    assert torch.__version__ in checks["torch"].found
    assert checks["torch.profiler"].state == "works"


def test_without_a_device_cupti_is_not_judged(checks):
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a device")
    assert checks["device"].state == "absent"
    assert checks["CUPTI"].state == "absent"


def test_another_package_of_the_same_name_is_found(monkeypatch):
    monkeypatch.setattr(
        importlib.metadata, "packages_distributions", lambda: {"gpuprof": ["jupyter-gpuprof", "gpuprof"]}
    )
    clash = next(check for check in installation.checks() if check.name == "package name")
    assert clash.state == "broken"
    assert "pip uninstall gpuprof" in clash.mend


def test_a_single_core_is_a_warning(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0})
    cores = next(check for check in installation.checks() if check.name == "processor cores")
    assert cores.state == "warning"


def test_the_text_has_a_line_a_check_and_its_mend():
    text = render((Check("one", "works", "fine"), Check("other", "broken", "bad", "do this")))
    assert text.splitlines() == ["✓ one    fine", "✗ other  bad", "         → do this"]
