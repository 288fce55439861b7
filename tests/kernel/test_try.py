"""`%gputry` in a real kernel: it measures, and nothing of the user's is changed by it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.kernel import ANY_LOAD, LiveKernel, live_kernel

pytestmark = pytest.mark.kernel

SETUP = """
import hashlib, pickle, random, numpy
torch.manual_seed(0)
model = torch.nn.Sequential(*[torch.nn.Linear(8, 8) for _ in range(20)])
schedule_of = lambda o: torch.optim.lr_scheduler.StepLR(o, 5)
seen, board = [], {"steps": 0}

def fingerprint():
    found = hashlib.sha256()
    for name, value in sorted(state().items()):
        found.update(repr((name, id(value) if name in ("model", "opt") else None)).encode())
        found.update(pickle.dumps(value.state_dict() if hasattr(value, "state_dict") else value))
    return found.hexdigest()

def state():
    kept = {n: globals()[n] for n in ("model", "opt", "schedule", "seen", "board")}
    grads = [None if p.grad is None else p.grad.tolist() for p in model.parameters()]
    return {**kept, "grads": grads, "torch": torch.get_rng_state().tolist(),
            "numpy": str(numpy.random.get_state()), "python": str(random.getstate()), "training": model.training}
"""
CELL = """\
%%gpuprofile --display text
opt = torch.optim.Adam(model.parameters(), foreach=False)
schedule = schedule_of(opt)
for step in range(40):
    x = torch.randn(4, 8) + random.random() + numpy.random.rand()
    loss = model(x).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    schedule.step()
    seen.append(loss.item())
    board["steps"] += 1
    print(step)
"""
# the inverse is the same in each iteration
REPEATING = """\
%%gpuprofile --close-look --steps 5 --skip 1 --display text
K = torch.rand(160, 160) + 160 * torch.eye(160)
model = torch.nn.Linear(160, 160)
opt = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(60):
    x = torch.randn(32, 160)
    loss = (model(x) - x @ torch.linalg.inv(K)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
REPEATED = "[f.rule for f in gpuprof.last().findings].index('repeated_work') + 1"
NUMBER = "[f.rule for f in gpuprof.last().findings].index('unfused_optimizer') + 1"
QUICK = "--budget 4 --pairs 2"


def beginning_with(code: str) -> str:
    """The cell, with this below its magic line."""
    magic, rest = CELL.split("\n", 1)
    return f"{magic}\n{code}\n{rest}"


@pytest.fixture(scope="module")
def number(kernel: LiveKernel) -> str:
    ran = kernel.run(SETUP)
    assert not ran.failed, ran.traceback
    ran = kernel.run(CELL)
    assert not ran.failed, ran.traceback
    return kernel.value(NUMBER)


def test_it_measures_and_harms_nothing(kernel: LiveKernel, number: str) -> None:
    kernel.run("'the last value'")
    before, names = kernel.value("fingerprint()"), kernel.value("sorted(n for n in globals() if n[0] != '_')")
    ran = kernel.run(f"%gputry {number} {QUICK}")
    assert not ran.failed and not ran.errors, ran.traceback
    assert f"measuring the change of finding {number} (unfused_optimizer)" in ran.stream("stdout")
    assert ran.stream("stderr") == "" and "39" not in ran.stream("stdout")
    (shown,) = ran.displays
    assert "predicted " in shown["text/plain"] and "loss" in shown["text/plain"] and "<script" not in shown["text/html"]
    assert ran.values == []
    assert kernel.value("_") == "'the last value'"
    assert kernel.value("fingerprint()") == before
    assert kernel.value("sorted(n for n in globals() if n[0] != '_')") == names
    assert kernel.value("torch.autograd.backward.__qualname__") == "'backward'"


def test_the_report_of_that_run_shows_it_also_when_loaded_again(kernel: LiveKernel, number: str) -> None:
    assert "Measured: " in kernel.run("print(gpuprof.last().text())").stream("stdout")
    loaded = kernel.run(
        "again = gpuprof.load(gpuprof.last().folder)\nprint(again.text(), again.measured[-1].measurement['pairs'])"
    )
    assert "Measured: " in loaded.stream("stdout"), loaded.traceback


def test_an_arm_that_raises_leaves_all_as_it_was(kernel: LiveKernel, number: str) -> None:
    kernel.run(
        "schedule_before = schedule_of\ndef schedule_of(o):\n    board.clear()\n    raise ValueError('not this time')"
    )
    before = kernel.value("fingerprint()")
    ran = kernel.run(f"%gputry {number} {QUICK}")
    said = ran.stream("stderr")
    assert not ran.failed and said.startswith("gpuprof: not measured: the cell raised ValueError: not this time")
    assert "schedule = schedule_of(opt)" in said and "in schedule_of" in said and "verification" not in said
    assert kernel.value("fingerprint()") == before
    kernel.run("schedule_of = schedule_before")


def test_an_interrupt_stops_it_and_leaves_all_as_it_was(kernel: LiveKernel, number: str, flag: Path) -> None:
    kernel.run(f"import pathlib\nraise_flag, schedule_before = pathlib.Path({str(flag)!r}).touch, schedule_of")
    kernel.run("def schedule_of(o):\n    board.clear()\n    raise_flag()\n    time.sleep(60)")
    before = kernel.value("fingerprint()")
    kernel.interrupt_when(flag)
    ran = kernel.run(f"%gputry {number} {QUICK} --allow-effects")
    assert ran.failed and ran.errors[-1].ename == "KeyboardInterrupt"
    assert kernel.value("fingerprint()") == before
    kernel.run("schedule_of = schedule_before")


@pytest.mark.parametrize("line", ["", "99", "first", "1 --budget none", "1 --pairs 0"])
def test_a_wrong_line_is_one_error(kernel: LiveKernel, number: str, line: str) -> None:
    ran = kernel.run(f"%gputry {line}")
    assert ran.failed and "\n" not in ran.traceback and "UsageError" in ran.traceback


def test_a_cell_that_cannot_be_repeated_is_refused_in_one_line(kernel: LiveKernel) -> None:
    kernel.run("batches = iter([torch.randn(4, 8)] * 1000)")
    ran = kernel.run(CELL.replace("torch.randn(4, 8)", "next(batches)"))
    assert not ran.failed, ran.traceback
    ran = kernel.run(f"%gputry {kernel.value(NUMBER)}")
    said = ran.stream("stderr")
    assert not ran.failed and said.count("\n") == 1
    assert "`batches` cannot be put back as it was" in said and "gpuprof.verify(a, b)" in said


EFFECTS = {
    "shell": ("!touch {folder}/new.txt", "line 4 of the cell runs a shell command, 'touch "),
    "magic": ("%alias_magic t timeit", "line 4 of the cell runs a magic, %alias_magic"),
    "file": ("torch.save(model.state_dict(), '{folder}/new.txt')", "line 4 of the cell writes the file '"),
    "task": ("asyncio.ensure_future(asyncio.sleep(0))", "line 4 of the cell leaves work to the event loop"),
    "input": ("input('?')", "line 4 of the cell waits for the user"),
    "swallowed": ("try: open('{folder}/new.txt', 'w')\nexcept: pass", "line 4 of the cell opens a file to write"),
}


@pytest.mark.parametrize("name", EFFECTS)
def test_an_effect_is_stopped_in_one_line(kernel: LiveKernel, number: str, tmp_path: Path, name: str) -> None:
    line, said = EFFECTS[name]
    line = line.format(folder=tmp_path)
    # profiled without it: a question would wait here, and a file would be made. It stands before the loop, since a
    # measurement may end before the cell does
    off = "if not measuring: pass\nelse:\n    " + line.replace("\n", "\n    ")
    kernel.run("measuring = False")
    ran = kernel.run(beginning_with(off))
    assert not ran.failed, ran.traceback
    kernel.run("measuring = True")
    before = kernel.value("fingerprint()")
    ran = kernel.run(f"%gputry {kernel.value(NUMBER)} {QUICK}")
    stderr = ran.stream("stderr")
    assert not ran.failed and stderr.count("\n") == 1, stderr
    assert said in stderr and "--allow-effects" in stderr, stderr
    assert kernel.value("fingerprint()") == before and not [*tmp_path.iterdir()]


def test_an_effect_can_be_allowed(kernel: LiveKernel, number: str, tmp_path: Path) -> None:
    kernel.run(f"import pathlib\nlog = pathlib.Path({str(tmp_path / 'log.txt')!r})")
    assert not kernel.run(beginning_with("log.write_text('x')")).failed
    asked = f"%gputry {kernel.value(NUMBER)} {QUICK}"
    ran = kernel.run(f"log.unlink()\n{asked}")
    assert "opens a file to write" in ran.stream("stderr") and not (tmp_path / "log.txt").exists()
    ran = kernel.run(f"{asked} --allow-effects")
    assert ran.stream("stderr") == "" and ran.displays and (tmp_path / "log.txt").exists()


def test_the_change_of_repeated_work_is_offered_and_measured(tmp_path: Path) -> None:
    with live_kernel(tmp_path) as kernel:
        assert not kernel.run(
            f"import gpuprof\nimport torch\n%load_ext gpuprof\ntorch.manual_seed(0)\n{ANY_LOAD}"
        ).failed
        ran = kernel.run(REPEATING)
        assert not ran.failed, ran.traceback
        number = kernel.value(REPEATED)
        ran = kernel.run(f"%gputry {number} --budget 6 --pairs 2")
        assert not ran.failed and not ran.errors, ran.traceback
        assert f"measuring the change of finding {number} (repeated_work)" in ran.stream("stdout")
        (shown,) = ran.displays
        assert "predicted " in shown["text/plain"] and "loss" in shown["text/plain"]
        fixed = kernel.run(f"%gpufix {number}")
        assert not fixed.failed and fixed.next_input is not None, fixed.traceback
        assert "\nfixed_inv = torch.linalg.inv(K)\nfor step in range(60):\n" in fixed.next_input
        assert "x @ fixed_inv)" in fixed.next_input
