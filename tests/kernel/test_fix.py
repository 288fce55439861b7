"""`%gpufix` in a real kernel."""

from __future__ import annotations

import re

import pytest

from tests.support.kernel import LiveKernel

pytestmark = pytest.mark.kernel

CELL = """\
# what is below is the user's own
%%gpuprofile --display text --name 'first try' --compare nothing
opt = torch.optim.Adam(weights, foreach=False)   # slow
for step in range(12):
    loss = sum((w * w).sum() for w in weights)
    loss.backward()
    opt.step()
    opt.zero_grad()
!echo done
"""


@pytest.fixture(scope="module")
def fixed(kernel: LiveKernel) -> str:
    kernel.run("weights = [torch.ones(8, requires_grad=True) for _ in range(20)]")
    ran = kernel.run(CELL.replace(" --compare nothing", ""))
    assert not ran.failed, ran.traceback
    text = ran.reports[0]["text/plain"]
    number = int(re.search(r"^ *(\d+)\. The optimizer \(Adam\)", text, re.MULTILINE)[1])
    assert f"%gpufix {number}" in text
    ran = kernel.run(f"%gpufix {number}")
    assert not ran.failed and ran.next_input is not None, ran.traceback
    assert f"finding {number} (unfused_optimizer) is below" in ran.stream("stdout")
    return ran.next_input


def test_the_changed_cell_is_the_users_own_with_the_change(fixed: str) -> None:
    changed = CELL.replace("foreach=False", "fused=True").replace("--compare nothing", "--compare last")
    assert fixed == changed.rstrip("\n")


def test_it_runs_and_is_compared(kernel: LiveKernel, fixed: str) -> None:
    ran = kernel.run(fixed)
    assert not ran.failed and "done" in ran.stream("stdout"), ran.traceback
    assert "unfused optimizer gone" in ran.reports[0]["text/plain"].replace("\n", " ")
    assert kernel.value("opt.param_groups[0]['fused']") == "True"


def test_a_finding_without_a_change_says_so_in_one_line(kernel: LiveKernel) -> None:
    kernel.run("maker = lambda: torch.optim.Adam(weights, foreach=False)")
    ran = kernel.run(
        CELL.replace(" --compare nothing", "").replace("torch.optim.Adam(weights, foreach=False)", "maker()")
    )
    text = ran.reports[0]["text/plain"]
    (number,) = map(int, re.findall(r"^ *(\d+)\. The optimizer \(Adam\)", text, re.MULTILINE))
    assert f"%gpufix {number}" not in text
    ran = kernel.run(f"%gpufix {number}")
    said = ran.stream("stderr").splitlines()
    assert not ran.failed and ran.next_input is None and len(said) == 1
    assert said[0].startswith(f"gpuprof: finding {number} (unfused_optimizer) has no change to make for you")


@pytest.mark.parametrize("argument", ["", "0", "99", "first", "1 2"])
def test_anything_but_the_number_of_a_finding_is_one_error(kernel: LiveKernel, argument: str) -> None:
    ran = kernel.run(f"%gpufix {argument}")
    assert ran.failed and "\n" not in ran.traceback
    assert "expected the number of a finding of the last run, 1 to" in ran.traceback


BLOCK = "    " + CELL.split("\n", 2)[2].replace("!echo done", "pass").rstrip("\n ").replace("\n", "\n    ")
NUMBER = "[f.rule for f in gpuprof.last().findings].index('unfused_optimizer') + 1"


def test_a_script_is_changed_by_its_owner(kernel: LiveKernel) -> None:
    head = "import torch, gpuprof\nweights = [torch.ones(8, requires_grad=True) for _ in range(20)]"
    script = f"{head}\nwith gpuprof.profile():\n{BLOCK}"
    kernel.run(f"open('script.py', 'w').write({script!r})")
    ran = kernel.run("%run script.py")
    assert not ran.failed, ran.traceback
    ran = kernel.run(f"%gpufix {kernel.value(NUMBER)}")
    assert ran.next_input is None and "script.py, which is no cell; apply the diff" in ran.stream("stderr")


def test_a_cell_with_the_context_manager_keeps_it(kernel: LiveKernel) -> None:
    cell = f"with gpuprof.profile():\n{BLOCK}"
    ran = kernel.run(cell)
    assert not ran.failed, ran.traceback
    fixed = kernel.run(f"%gpufix {kernel.value(NUMBER)}")
    assert fixed.next_input == cell.replace("foreach=False", "fused=True")
