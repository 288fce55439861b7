"""`%%gpuprofile --try` in a real kernel: the best changes are measured after the run, alone and together."""

from __future__ import annotations

import re

import pytest

from tests.support.kernel import LiveKernel

pytestmark = pytest.mark.kernel

SETUP = """
torch.manual_seed(0)
model = torch.nn.Sequential(*[torch.nn.Linear(8, 8) for _ in range(40)])
seen = []
"""
CELL = """\
%%gpuprofile {options}
torch.autograd.set_detect_anomaly(True)
opt = torch.optim.Adam(model.parameters())
for step in range(60):
    loss = model(torch.ones(4, 8)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    seen.append(loss.item())
"""
CHANGES = "print([(n, f.rule) for n, f in enumerate(gpuprof.last().findings, 1) if f.diff and f.severity > 1])"


@pytest.fixture(scope="module")
def tried(kernel: LiveKernel) -> tuple[str, LiveKernel]:
    ran = kernel.run(SETUP)
    assert not ran.errors
    ran = kernel.run(CELL.format(options="--display text --try --try-seconds 40"))
    assert not ran.errors, ran.traceback
    return ran.stream("stdout") + ran.stream("stderr"), kernel


def test_each_change_is_measured_and_said(tried: tuple[str, LiveKernel]) -> None:
    said, kernel = tried
    changes = kernel.run(CHANGES).stream("stdout")
    assert "debug_mode_on" in changes, changes
    for number in re.findall(r"\((\d+), ", changes)[:3]:
        assert re.search(rf"gpuprof: measuring finding {number}, for about", said), said
        assert re.search(rf"finding {number}: .*(measured|no effect|inconclusive)", said) or (
            f"finding {number} not measured" in said
        )
    assert int(kernel.value("len(gpuprof.last().measured)")) >= 1


def test_what_the_cell_left_is_as_it_was(tried: tuple[str, LiveKernel]) -> None:
    _, kernel = tried
    assert kernel.value("len(seen)") == "60"


def test_the_best_of_them_is_inserted_without_a_number(tried: tuple[str, LiveKernel]) -> None:
    said, kernel = tried
    best = re.search(r"measured best: findings? ([\d +]+); %gpufix", said)
    if best is None:
        assert kernel.run("%gpufix").failed
        return
    ran = kernel.run("%gpufix")
    assert ran.next_input is not None
    assert "--try" not in ran.next_input and "--compare last" in ran.next_input
    numbers = best[1].split(" + ")
    assert ("findings " if len(numbers) > 1 else f"finding {numbers[0]}") in ran.stream("stdout")


def test_without_a_change_one_line_says_so(kernel: LiveKernel) -> None:
    ran = kernel.run("%%gpuprofile --display text --try\nsum(range(1000))")
    said = ran.stream("stdout") + ran.stream("stderr")
    assert "--try: no" in said and not ran.errors


def test_a_cell_that_raised_is_not_measured(kernel: LiveKernel) -> None:
    ran = kernel.run(CELL.format(options="--display text --try").replace("opt.step()", "raise ValueError('mine')"))
    assert ran.failed and "--try: nothing measured, since the cell did not run to its end" in ran.stream("stderr")


STOP_LATER = """
import signal
def stop_later():
    if seen and seen[-1] is None:
        signal.raise_signal(signal.SIGINT)
"""


def test_an_interrupt_keeps_the_cell_and_what_it_left(kernel: LiveKernel) -> None:
    kernel.run(SETUP + STOP_LATER)
    # the first run leaves a None behind, by which a measurement is known
    cell = CELL.format(options="--display text --try").replace("opt = ", "stop_later()\nopt = ")
    ran = kernel.run(f"{cell}seen.append(None)\n")
    said = ran.stream("stderr")
    assert "--try was interrupted; your variables are as the cell left them" in said, said
    assert ran.failed and "the report was interrupted" not in said
    assert kernel.value("(len(seen), seen[-1])") == "(61, None)"
