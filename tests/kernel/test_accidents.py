"""What goes wrong in the user's own cell looks as it does without gpuprof, and gpuprof says its part in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.kernel import OWN_FRAMES, LiveKernel

pytestmark = pytest.mark.kernel

BROKEN = """from torch.utils.data import DataLoader, Dataset
class Broken(Dataset):
    def __len__(self): return 3
    def __getitem__(self, index): raise ValueError("a broken sample")
"""
TRAIN = """net = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(10):
    net(torch.randn(4, 8)).sum().backward()
    optimizer.step()
"""


def files_of(traceback: str) -> list[str]:
    return [line.split(":")[0] for line in traceback.splitlines() if line.startswith("File ")]


def test_a_failing_dataset_has_the_traceback_of_the_plain_cell(kernel: LiveKernel) -> None:
    kernel.run(BROKEN)
    plain = kernel.run("next(iter(DataLoader(Broken())))")
    ran = kernel.run("%%gpuprofile --quiet\nnext(iter(DataLoader(Broken())))")
    assert files_of(ran.traceback) == files_of(plain.traceback) != []
    assert "hidden" not in ran.traceback


def test_a_ctrl_c_at_the_end_of_the_recording_shows_only_the_users_code(kernel: LiveKernel) -> None:
    kernel.run(
        "import signal\nfrom gpuprof.capture.profiler.kineto import KinetoRecording\nstop = KinetoRecording.stop\n"
        "def interrupted(self):\n    signal.raise_signal(signal.SIGINT)\n    return stop(self)\n"
        "KinetoRecording.stop = interrupted"
    )
    ran = kernel.run(f"%%gpuprofile --quiet --steps 2 --skip 0\n{TRAIN}")
    kernel.run("KinetoRecording.stop = stop")
    assert [error.ename for error in ran.errors] == ["KeyboardInterrupt"]
    assert "optimizer.step()" in ran.traceback
    assert OWN_FRAMES not in ran.traceback and "contextlib" not in ran.traceback and "hidden" not in ran.traceback


def test_in_a_deleted_folder_every_magic_is_one_line(kernel: LiveKernel, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    kernel.run(f"import os\nhome = os.getcwd()\nos.chdir({str(gone)!r})\nos.rmdir({str(gone)!r})")
    try:
        for source in ("%gpuhistory", "%%gpuprofile --compare mine\n1", "%%gpuprofile --report a.html\n1"):
            ran = kernel.run(source)
            assert ran.failed and ran.traceback.startswith("UsageError: "), ran.traceback
            assert "\n" not in ran.traceback and "the working directory has been deleted" in ran.traceback
        ran = kernel.run("%%gpuprofile --display text\ntorch.ones(3) + 1")
        assert not ran.failed and len(ran.reports) == 1 and "the run was not saved" in ran.stream("stderr")
    finally:
        kernel.run("os.chdir(home)")


def test_a_cell_that_changes_the_folder_is_saved_where_it_began(kernel: LiveKernel) -> None:
    kernel.run("home = os.getcwd()\nos.makedirs('sub', exist_ok=True)")
    ran = kernel.run("%%gpuprofile --quiet --name moved\nos.chdir('sub')\ntorch.ones(3) + 1")
    assert not ran.failed
    compared = kernel.run("%%gpuprofile --quiet --compare moved\ntorch.ones(3) + 1")
    kernel.run("saved = gpuprof.history()\nos.chdir(home)")
    assert not compared.failed, compared.traceback
    assert kernel.value("'moved' in [run.name for run in gpuprof.history()]") == "True"
    assert kernel.value("'moved' in [run.name for run in saved]") == "False"


def test_training_on_a_thread_is_said_to_be_missing(kernel: LiveKernel) -> None:
    kernel.run("import threading\ndef train():\n" + "".join(f"    {line}\n" for line in TRAIN.splitlines()))
    ran = kernel.run(
        "%%gpuprofile --display text\nthread = threading.Thread(target=train)\nthread.start()\nthread.join()"
    )
    assert "an optimizer stepped on another thread" in ran.reports[0]["text/plain"]


RESIZED = """import time
rows, seen, total, begin = torch.arange(48).reshape(6, 8), torch.ones(2000), 0, time.monotonic()
while time.monotonic() - begin < 2:
    picked = rows.sin()
    total += float(picked.sum()) + float(seen.exp().sum())
seen.resize_(8_000)
rows.untyped_storage().resize_(0)
"""


def test_tensors_that_gpuprof_looked_at_can_still_be_resized(kernel: LiveKernel) -> None:
    """Its looks at variables went by `Tensor.numpy`, which forbids that for good."""
    kernel.run("import torch")
    ran = kernel.run(f"%%gpuprofile --quiet\n{RESIZED}")
    assert not ran.failed, ran.traceback
    assert kernel.value("picked.untyped_storage().resizable()") == "True"
