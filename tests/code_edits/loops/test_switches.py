from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from gpuprof.code_edits.loops.switches import flush_subnormals, leave_anomaly_mode, set_threads, try_out_convolutions
from tests.code_edits.executed import TRAINING, assert_rest_is_kept, run

ANOMALY = "import torch\ntorch.autograd.set_detect_anomaly(True)  # a nan somewhere\n" + TRAINING


@pytest.fixture(autouse=True)
def switches(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(torch.backends.cudnn, "benchmark", False)
    yield
    torch.autograd.set_detect_anomaly(False)


def test_convolutions_are_tried_out_before_the_cells_own_statements() -> None:
    after = try_out_convolutions(TRAINING)
    assert after == TRAINING.replace("loader = D", "torch.backends.cudnn.benchmark = True\nloader = D")
    assert run(after)["losses"] == run(TRAINING)["losses"]
    assert torch.backends.cudnn.benchmark


@pytest.mark.parametrize(
    "line",
    [
        "torch.backends.cudnn.benchmark = False",
        "from torch.backends import cudnn; cudnn.deterministic = True",
        "torch.use_deterministic_algorithms(True)",
        "torch = None",
    ],
)
def test_who_has_decided_is_not_overruled(line: str) -> None:
    assert try_out_convolutions(f"{line}\n{TRAINING}") is None


@pytest.mark.parametrize(
    ("line", "becomes"),
    [
        ("torch.autograd.set_detect_anomaly(True)", "torch.autograd.set_detect_anomaly(False)"),
        ("torch.autograd.set_detect_anomaly(mode=True)", "torch.autograd.set_detect_anomaly(mode=False)"),
        ("with torch.autograd.detect_anomaly(): pass", "with torch.autograd.set_detect_anomaly(False): pass"),
    ],
)
def test_anomaly_detection_ends(line: str, becomes: str) -> None:
    cell = f"import torch\n{line}  # why\nprint(1)\n"
    assert leave_anomaly_mode(cell) == cell.replace(line, becomes)
    torch.autograd.set_detect_anomaly(True)
    run(cell.replace(line, becomes))
    assert torch.is_anomaly_enabled() is line.startswith("with")


def test_the_training_goes_on_without_it() -> None:
    after = leave_anomaly_mode(ANOMALY)
    assert after is not None
    assert_rest_is_kept(ANOMALY, after)
    assert run(after)["losses"] == run(ANOMALY)["losses"]


@pytest.mark.parametrize(
    "cell",
    [
        "torch.autograd.set_detect_anomaly(debug)\n",
        "torch.autograd.set_detect_anomaly(False)\n",
        "with detect_anomaly(): pass\n",
        "torch.autograd.set_detect_anomaly(True)\ntorch.autograd.set_detect_anomaly(False)\n",
        "x = 1\n",
    ],
)
def test_doubt_switches_nothing(cell: str) -> None:
    assert leave_anomaly_mode(cell) is None


@pytest.mark.parametrize(
    ("cell", "becomes"),
    [
        ("import torch\nx = 1\n", "import torch\ntorch.set_num_threads(2)\nx = 1\n"),
        ("x = 1\n", "import torch\ntorch.set_num_threads(2)\nx = 1\n"),
        ("torch.set_num_threads( 8 )\nx = 1\n", "torch.set_num_threads( 2 )\nx = 1\n"),
        (
            "from torch import set_num_threads\nset_num_threads(1)\n",
            "from torch import set_num_threads\nset_num_threads(2)\n",
        ),
    ],
)
def test_threads_are_set(cell: str, becomes: str) -> None:
    assert set_threads(cell, 2) == becomes


@pytest.mark.parametrize(
    "cell",
    ["torch.set_num_threads(n)\n", "torch.set_num_threads(1)\ntorch.set_num_threads(2)\n", "torch = other\nx = 1\n"],
)
def test_who_sets_threads_otherwise_is_left_alone(cell: str) -> None:
    assert set_threads(cell, 4) is None


def test_the_training_computes_the_same_with_other_threads() -> None:
    after = set_threads(TRAINING, 1)
    assert after is not None and run(after)["losses"] == run(TRAINING)["losses"]


@pytest.mark.parametrize(
    ("cell", "becomes"),
    [
        ("import torch\nx = 1\n", "import torch\ntorch.set_flush_denormal(True)\nx = 1\n"),
        ("x = 1\n", "import torch\ntorch.set_flush_denormal(True)\nx = 1\n"),
        ("import torch\ntorch.set_flush_denormal(False)\nx = 1\n", None),
        ("torch = other\nx = 1\n", None),
    ],
)
def test_subnormal_numbers_are_flushed(cell: str, becomes: str | None) -> None:
    assert flush_subnormals(cell) == becomes
