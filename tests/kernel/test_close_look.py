"""A cell that is looked at closely, in a real kernel."""

from __future__ import annotations

import pytest

from tests.support.kernel import LiveKernel

pytestmark = pytest.mark.kernel

TRAIN = """
torch.manual_seed(7)
net = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.Dropout(0.3), torch.nn.Linear(16, 2))
optimizer = torch.optim.Adam(net.parameters())
for step in range(60):
    optimizer.zero_grad()
    net(torch.randn(8, 16)).square().mean().backward()
    optimizer.step()
state = [float(each.double().sum()) for each in net.parameters()] + [int(torch.get_rng_state().sum())]
"""
STACK = "torch._C._len_torch_dispatch_stack()"


def test_the_cell_computes_what_it_computes_without(kernel: LiveKernel) -> None:
    kernel.run("import torch\n" + TRAIN)
    plain = kernel.value("state")
    ran = kernel.run(f"%%gpuprofile --close-look --steps 5 --skip 1 --quiet\n{TRAIN}")
    assert not ran.failed
    assert kernel.value("state") == plain
    assert kernel.value(STACK) == "0"
    assert kernel.value("gpuprof.last().trace.context.look.ended_by") == "'iterations'"
    # the lines of the cell: forward, backward, optimizer
    places = "{each.line for each in gpuprof.last().trace.context.look.places if not each.file}"
    assert kernel.value(f"{places} >= {{7, 8, 9}}") == "True"


def test_a_cell_that_raises_while_it_is_looked_at_leaves_nothing_behind(kernel: LiveKernel) -> None:
    kernel.run("import torch")
    raising = TRAIN.replace("    optimizer.step()\n", f"    optimizer.step()\n    assert not {STACK}, 'looked at'\n")
    ran = kernel.run(f"%%gpuprofile --close-look --steps 5 --skip 1 --quiet\n{raising}")
    assert ran.failed and "looked at" in ran.traceback
    assert kernel.value(STACK) == "0"


def test_a_cell_without_steps_that_works_evenly_is_looked_at_too(kernel: LiveKernel) -> None:
    # GIVEN inference in a loop, for longer than its recording needs
    ran = kernel.run(
        "%%gpuprofile --quiet\n"
        "import time\n"
        "end = time.monotonic() + 12\n"
        "w, rows = torch.randn(300, 300), torch.randn(64, 300)\n"
        "while time.monotonic() < end:\n"
        "    inverse = torch.linalg.inv(w @ w.T + torch.eye(300))\n"
        "    out = (rows @ inverse).relu().sum()\n"
    )
    assert not ran.failed
    window = "gpuprof.last().trace.context.window"
    assert kernel.value(f"{window}.ended_by") == "'even work'"
    assert kernel.value(f"({window}.end_ns - {window}.start_ns) / 1e9 < 10") == "True"
    assert kernel.value("gpuprof.last().trace.context.look.skipped") == "None"
    assert kernel.value("len(gpuprof.last().trace.tables['looked_operators']) > 50") == "True"


def test_work_that_follows_what_was_recorded_is_recorded_instead(kernel: LiveKernel) -> None:
    kernel.run("import torch")
    # GIVEN a loop that prepares, for longer than is recorded, and then another one, without steps
    ran = kernel.run(
        "%%gpuprofile --quiet\n"
        "import time\n"
        "end = time.monotonic() + 8\n"
        "texts = []\n"
        "while time.monotonic() < end:\n"
        "    texts = [*texts[-3_000:], str(len(texts)) * 9]\n"
        "    texts.sort()\n"
        "x = torch.randn(200, 200)\n"
        "end = time.monotonic() + 12\n"
        "while time.monotonic() < end:\n"
        "    x = torch.linalg.qr(x)[0]\n"
        "    y = (x @ x).relu()\n"
    )
    assert not ran.failed
    window = "gpuprof.last().trace.context.window"
    assert kernel.value(f"{window}.started_late") == "True"
    assert kernel.value("len(gpuprof.last().trace.operators) > 100") == "True"
    assert kernel.value("len(gpuprof.last().trace.looked_operators) > 10") == "True"


TABLES = """
table, head = torch.nn.Embedding(200_000, 32), torch.nn.Linear(32, 1)
optimizer = torch.optim.SGD([*table.parameters(), *head.parameters()], lr=0.1)
for step in range(40):
    optimizer.zero_grad()
    head(table(torch.randint(0, 200_000, (256,)))).square().mean().backward()
    optimizer.step()
"""
FOUND = """
from gpuprof.analyses.basics.result import Results
from gpuprof.rules.registry import rule
def found(name):
    return rule(name).check(Results(gpuprof.last().trace))
"""


def test_the_look_tells_the_sizes_of_tables_in_a_recording_without_shapes(kernel: LiveKernel) -> None:
    kernel.run("import torch\n" + FOUND)
    ran = kernel.run(f"%%gpuprofile --close-look --steps 10 --skip 1 --quiet\n{TABLES}")
    assert not ran.failed
    assert kernel.value("found('dense_embedding_gradients').evidence['rows']") == "200000"
    sparse = TABLES.replace("200_000, 32)", "200_000, 32, sparse=True)")
    ran = kernel.run(f"%%gpuprofile --close-look --steps 10 --skip 1 --quiet\n{sparse}")
    assert not ran.failed
    assert kernel.value("found('dense_embedding_gradients')") == "None"


EVALUATED = """
import time
net = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(4000, 16)
def evaluate(seconds):
    end, total = time.monotonic() + seconds, 0.0
    while time.monotonic() < end:
        total += net(x).square().mean().item()
    return total
for epoch in range(2):
    for step in range(30):
        optimizer.zero_grad()
        net(x[:64]).square().mean().backward()
        optimizer.step()
    evaluate(6)
"""


def test_an_evaluation_after_the_recording_is_seen_to_make_graphs_for_nothing(kernel: LiveKernel) -> None:
    kernel.run("import torch\n" + FOUND)
    ran = kernel.run(f"%%gpuprofile --steps 10 --skip 1 --quiet\n{EVALUATED}")
    assert not ran.failed
    title = "The forward pass at line 10 records graphs for gradients, and no backward pass follows"
    assert kernel.value("found('grad_in_inference').title") == repr(title)
    quiet = EVALUATED.replace("def evaluate", "@torch.no_grad()\ndef evaluate")
    ran = kernel.run(f"%%gpuprofile --steps 10 --skip 1 --quiet\n{quiet}")
    assert not ran.failed
    assert kernel.value("found('grad_in_inference')") == "None"
