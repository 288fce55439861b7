"""`%gputune` in a real kernel: it finds what a slow DataLoader needs, and changes nothing of the user's."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.support.kernel import LiveKernel

pytestmark = pytest.mark.kernel

SETUP = """
import hashlib, random, numpy
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
data = TensorDataset(torch.randn(40000, 8), torch.randn(40000, 1))
kept = []
def state():
    names = sorted(name for name in globals() if name[0] != "_")
    return str((names, [id(globals()[n]) for n in names], len(kept), torch.get_num_threads(), random.getstate(),
                str(numpy.random.get_state()), torch.get_rng_state().tolist()))
"""
CELL = """\
%%gpuprofile --display text --no-close-look
loader = DataLoader(data, batch_size=1000, shuffle=True)
model = torch.nn.Linear(8, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for x, y in loader:
        loss = (model(x) - y).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        kept.append(loss.item())
"""


@pytest.fixture(scope="module")
def profiled(kernel: LiveKernel) -> LiveKernel:
    for source in (SETUP, CELL):
        ran = kernel.run(source)
        assert not ran.failed, ran.traceback
    return kernel


def _fingerprint(kernel: LiveKernel) -> str:
    return hashlib.sha256(kernel.value("state()").encode()).hexdigest()


def test_the_best_setting_is_found_proven_and_inserted(profiled: LiveKernel) -> None:
    before = _fingerprint(profiled)
    ran = profiled.run("%gputune --seconds 80 --only batches,threads")
    assert not ran.failed and not ran.errors, ran.traceback
    said = ran.stream("stdout")
    assert "gpuprof: trying " in said and " of the cell for about 80" in said and "turn " in said
    assert ran.stream("stderr") == ""
    (shown,) = ran.displays
    text, page = shown["text/plain"], shown["text/html"]
    assert "batches fetched whole" in text.splitlines()[0] and "loss identical over 20 steps" in text.splitlines()[0]
    assert "the unchanged cell against itself" in text and "confidence 95%" in text
    assert "+loader = DataLoader(data, batch_size=None, sampler=BatchSampler(" in text and "set_num_threads(" in text
    assert text.endswith("Insert with %gpufix") and "<code>%gpufix</code>" in page and "<script" not in page
    assert _fingerprint(profiled) == before
    ratio = float(profiled.value("gpuprof.last().tuned.ratio"))
    assert ratio > 1.2
    inserted = profiled.run("%gpufix")
    assert inserted.next_input is not None and "sampler=BatchSampler(RandomSampler(data), 1000" in inserted.next_input
    assert inserted.next_input.splitlines()[0].endswith("--compare last")
    assert "batches fetched whole" in inserted.stream("stdout")


def test_what_was_found_is_read_with_the_run(profiled: LiveKernel) -> None:
    loaded = profiled.value("gpuprof.load(gpuprof.last().folder).tuned.settings")
    assert "batches fetched whole" in loaded


FLAG = """
def raise_flag():
    with open({flag!r} + ".runs", "a") as runs:
        runs.write(".")
    if os.path.getsize({flag!r} + ".runs") > {runs}:
        open({flag!r}, "a").close()
"""


@pytest.mark.parametrize(("runs", "known"), [(1, False), (24, True)])
def test_an_interrupt_ends_it_with_what_is_known(profiled: LiveKernel, flag: Path, runs: int, known: bool) -> None:
    profiled.run("raise_flag = lambda: None")
    ran = profiled.run(CELL.replace("model =", "raise_flag()\nmodel ="))
    assert not ran.failed, ran.traceback
    profiled.run(FLAG.format(flag=str(flag), runs=runs))
    before = _fingerprint(profiled)
    profiled.interrupt_when(flag)
    ran = profiled.run("%gputune --seconds 300 --only batches,threads --allow-effects")
    assert not ran.failed, ran.traceback
    if known:
        (shown,) = ran.displays
        assert "interrupted after " in shown["text/plain"]
    else:
        assert ran.stream("stderr") == (
            "gpuprof: interrupted before any setting was measured; your variables are as they were\n"
        )
    assert _fingerprint(profiled) == before


def test_effects_are_refused_in_one_line(profiled: LiveKernel, tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    ran = profiled.run(CELL.replace("opt =", f"torch.save(model.state_dict(), {str(path)!r})\nopt ="))
    assert not ran.failed, ran.traceback
    path.unlink()
    ran = profiled.run("%gputune --seconds 60 --only batches")
    said = ran.stream("stderr")
    assert not ran.failed and said.count("\n") == 1, said
    assert "gpuprof: not tuned: line 4 of the cell writes the file" in said and "--allow-effects" in said
    assert not path.exists()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("--seconds 0", "expected 5 s or more"),
        ("--seconds soon", "invalid float value"),
        ("--only workes", "expected one of batches, workers"),
        ("--only autocast", "it changes results; add --allow-autocast"),
        ("7", "unrecognized arguments"),
    ],
)
def test_a_wrong_line_is_one_error(profiled: LiveKernel, line: str, reason: str) -> None:
    ran = profiled.run(f"%gputune {line}")
    assert ran.failed and "\n" not in ran.traceback and "UsageError" in ran.traceback and reason in ran.traceback


def test_a_cell_without_settings_is_one_line(profiled: LiveKernel) -> None:
    profiled.run("%%gpuprofile --display text\nsum(range(1000))")
    ran = profiled.run("%gputune --seconds 10 --only batches")
    assert not ran.failed and "no setting of batches that could be tried" in ran.stream("stderr")
