"""For each rule that can give a diff: a cell that has its fault, what the run knew, and what must stay the same."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gpuprof.model.context import Environment, Loader, Optimizer
from gpuprof.model.device import Device
from gpuprof.model.memory import Composition, ModuleBytes
from tests.code_edits.data.test_host_work import FILLED, WIDENED
from tests.code_edits.data.test_joined_tensors import GROWN
from tests.code_edits.executed import TRAINING, line_of
from tests.code_edits.loops.test_evaluation import CELL as EVALUATION
from tests.code_edits.loops.test_kept_losses import KEPT
from tests.code_edits.loops.test_kept_results import COLLECTED
from tests.code_edits.loops.test_switches import ANOMALY
from tests.code_edits.models.test_attention import ATTENTION
from tests.code_edits.models.test_biases import NORMED
from tests.code_edits.models.test_modules import DROPPING, IMAGES
from tests.rules.cases.needless.last_result_read import SELDOM


@dataclass(frozen=True)
class ExecutedCell:
    """`same`: names whose values the diff must not change, `within` relatively (0: to the last bit).

    `lines`: the cell's line that every event of the case is in. `instead`: texts of the changed cell, replaced before
    it runs on a CPU. `case`: which function of the rule's case has the diff.
    """

    cell: str
    same: tuple[str, ...]
    context: dict[str, Any] = field(default_factory=dict)
    devices: tuple[Device, ...] | None = None
    lines: int | None = None
    within: float = 0.0
    instead: tuple[tuple[str, str], ...] = ()
    case: str = "fires"


KEPT_RESULTS = COLLECTED.replace("held", "outputs")
LOOP = line_of(TRAINING, "for x, y in loader")
LOADER = Loader(workers=0, line=LOOP, samples=64, batches=4, pin_memory=False)
PINNED = Loader(workers=0, line=LOOP, samples=64, batches=4, pin_memory=True)
ADAM = Optimizer(
    name="Adam",
    parameters=12,
    elements=1200,
    fused=False,
    foreach=False,
    line=line_of(TRAINING, "opt.step()"),
    device="cpu",
)
LINUX = Environment(system="Linux-6.1-x86_64", python="3.12.1", torch="2.13.0", cores_allowed=4)
AMPERE = (Device(id=0, name="NVIDIA A100", compute_capability=(8, 0), memory_bytes=16 << 30),)
SUMS = ("total", "correct", "losses")
ONE_READ = TRAINING.replace("    correct += (out.argmax(1) == y).sum().item()\n    losses.append(loss.item())\n", "")


def calling(statement: str) -> str:
    return (
        "import gc\nseen = 0.0\n"
        + f"for x, y in DataLoader(data, batch_size=16):\n    seen += x.sum()\n    {statement}\n"
    )


PASSES = """\
loader = DataLoader(data, batch_size=16, num_workers=1)
seen = 0.0
for epoch in range(2):
    for x, y in loader:
        seen += x.sum()
"""
BLOCKS = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.ReLU()) for _ in range(4))
        self.head = nn.Linear(8, 4)
    def forward(self, x):
        for block in self.blocks:
            x = block(x)  # large
        return self.head(x)
net = Net()
x, y = data[:16]
loss = criterion(net(x), y)
loss.backward()
grads = [p.grad for p in net.parameters()]
"""
PARTS = Composition(device="cuda:0", modules=(ModuleBytes(name="net.blocks"), ModuleBytes(name="net.head")))
SMALL = Composition(device="cuda:0", parameter_bytes=1 << 30, gradient_bytes=1 << 30, after_steps=3)
COMPILED = ((".compile(", ".compile(backend='eager', "), (', mode="reduce-overhead"', ""))

# the product stands at line 3
PRODUCTS = """import torch; torch.manual_seed(0)
a, b, x = torch.rand(40, 40), torch.rand(40, 40), torch.rand(40, 1)
y = a @ b @ x
"""
NEIGHBORS = """import torch; torch.manual_seed(0); h = torch.rand(40, 8)
adj = (torch.rand(40, 40) < 0.02).float()
y = adj @ h
"""
SOLVED = """import torch; torch.manual_seed(0)
A, b = torch.rand(40, 40) + 40 * torch.eye(40), torch.rand(40, 2)
y = torch.linalg.inv(A) @ b
"""
FIRST_OF_SORT = """import torch; torch.manual_seed(0)
scores = torch.rand(40, 100)
y = scores.argsort(dim=1, descending=True)[:, :5]
"""
DECIDED = """import torch; token = torch.arange(4); done, out = token < 0, token.new_zeros(4, 9)
for place in range(9):
    best = token + 1
    token = torch.where(done, 0, best)
    done = done | (token == 4)
    out[:, place] = token
"""
LISTED = """import numpy as np; import torch; games = [[np.arange(3.0) * n, np.ones(3)] for n in range(4)]
for rows in games:
    x = torch.tensor(rows)
    y = x.sum().item()
"""
DECAYED = """import torch
trace = torch.full((2000,), 1e-30)
for step in range(90):
    trace.mul_(0.8)
y = trace.sum() + 1
"""
PARTS_SUMMED = """model = nn.Linear(8, 4); opt = torch.optim.SGD(model.parameters(), lr=0.1)
opt.zero_grad()
loss = 0.0
for x, y in DataLoader(data, batch_size=16):
    loss = loss + criterion(model(x), y) / 4
loss.backward()
opt.step()
shown, weight = loss.item(), model.weight.detach()
"""
REPEATED = """K, rows = torch.rand(5, 5) + 5 * torch.eye(5), torch.rand(4, 5)
for x in rows:
    inverse = torch.linalg.inv(K)
    y = inverse @ x
"""
MADE_AGAIN = """table, scores = torch.rand(9, 9), []
def trial(rates):
    for rate in rates:
        x = torch.linalg.svdvals(table)
        scores.append((x * rate).sum())

trial([1.0, 2.0, 3.0])
y = torch.stack(scores)
"""
# the other model's gradients of the first loss are zeroed before they are read
TWO_MODELS = """G, D, z = nn.Linear(8, 8), nn.Linear(8, 4), torch.rand(8, 8); opt = torch.optim.SGD(D.parameters(), 0.1)
for x, y in DataLoader(data, batch_size=16):
    fake = G(z)
    loss = D(fake).exp().sum() - D(x).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
shown, weight = loss.item(), D.weight.detach()
"""
GUIDED = """net, scale, kept = nn.Linear(8, 4), 1.0, []
for x, _ in data:
    c = net(x)
    u = net(x * 0)
    y = u + scale * (c - u)
    kept.append(y)
y = torch.stack(kept)
"""
CONVERTED = """kept = []
for x in torch.rand(5, 9):
    y = x.double().float() * 2
    kept.append(y)
y = torch.stack(kept)
"""
RANKED = """kept = []
for x in torch.rand(5, 9):
    ranks = x.argsort()
    kept.append(x.exp())
y = torch.stack(kept)
"""
EXECUTED = {
    "activations_dominate_peak": ExecutedCell(BLOCKS, ("loss", "grads"), {"compositions": (PARTS,)}),
    "blocking_h2d_copy": ExecutedCell(TRAINING, SUMS, {"loaders": (PINNED,)}),
    "cancelled_results": ExecutedCell(GUIDED, ("y",), within=1e-5, case="a_line_below"),
    "conv_autotune_off": ExecutedCell(IMAGES, ("grad",)),
    "conv_bias_before_norm": ExecutedCell(NORMED, ("out",), within=1e-5),
    "costly_algorithm": ExecutedCell(SOLVED, ("y",), within=1e-5, case="inverted"),
    "costly_call_per_item": ExecutedCell(LISTED, ("x", "y"), case="lists_of_arrays"),
    "debug_mode_on": ExecutedCell(ANOMALY, SUMS, {"environment": Environment(anomaly_mode=True)}),
    "eager_attention": ExecutedCell(ATTENTION, ("out",), within=1e-5),
    "empty_cache_in_step": ExecutedCell(calling("torch.cuda.empty_cache()"), ("seen",)),
    "explicit_synchronize": ExecutedCell(calling("torch.cuda.synchronize()"), ("seen",)),
    "fp32_matmul": ExecutedCell(
        TRAINING, SUMS, {"environment": Environment(matmul_precision="highest")}, within=1e-3
    ),
    "gc_pauses": ExecutedCell(calling("gc.collect()"), ("seen",)),
    "grad_in_inference": ExecutedCell(
        EVALUATION, ("correct",), {"loaders": (Loader(workers=0, line=line_of(EVALUATION, "# here")),)}
    ),
    "gradients_zeroed_in_place": ExecutedCell(TRAINING, SUMS),
    "hardly_read": ExecutedCell(FIRST_OF_SORT, ("y",), case="first_of_sort"),
    "host_filled_then_copied": ExecutedCell(FILLED, ("total",)),
    "input_stall": ExecutedCell(TRAINING, SUMS, {"loaders": (LOADER,), "environment": LINUX}),
    "last_result_read": ExecutedCell(SELDOM, ("y",), case="seldom"),
    "launch_bound": ExecutedCell(
        DROPPING, SUMS, {"environment": LINUX}, AMPERE, within=1e-5, instead=COMPILED
    ),
    "losses_summed": ExecutedCell(PARTS_SUMMED, ("shown", "weight"), within=1e-4),
    "memory_grows_per_step": ExecutedCell(KEPT, SUMS),
    "memory_kept_by_hooks_or_graphs": ExecutedCell(KEPT_RESULTS, ("shown",)),
    "memory_near_limit": ExecutedCell(
        "import torch\n" + TRAINING,
        ("losses",),
        {"compositions": (SMALL,)},
        AMPERE,
        within=0.05,
        instead=(('autocast("cuda"', 'autocast("cpu"'),),
    ),
    "nchw_convolution": ExecutedCell(IMAGES, ("grad",), within=1e-4),
    "pageable_h2d_copy": ExecutedCell(TRAINING, SUMS, {"loaders": (LOADER,)}),
    "masked_results": ExecutedCell(DECIDED, ("out",)),
    "mostly_zeros": ExecutedCell(NEIGHBORS, ("y",), within=1e-5),
    "product_order": ExecutedCell(PRODUCTS, ("y",), within=1e-5),
    "subnormal_numbers": ExecutedCell(DECAYED, ("y",)),
    "round_trips": ExecutedCell(CONVERTED, ("y",)),
    "repeated_work": ExecutedCell(REPEATED, ("y",)),
    "sync_in_step": ExecutedCell(ONE_READ.replace(", losses[-1]", ""), ("total",)),
    "tensor_grown_by_cat": ExecutedCell(GROWN, ("scores", "kinds", "right")),
    "unfused_optimizer": ExecutedCell(TRAINING, SUMS, {"optimizers": (ADAM,)}, within=1e-4),
    "unfused_pointwise": ExecutedCell(
        TRAINING,
        SUMS,
        {"environment": LINUX},
        AMPERE,
        line_of(TRAINING, "out = model(x)"),
        within=1e-5,
        instead=COMPILED,
    ),
    "unread_gradients": ExecutedCell(TWO_MODELS, ("shown", "weight"), case="one_statement"),
    "unread_results": ExecutedCell(RANKED, ("y", "ranks")),
    "value_made_again": ExecutedCell(MADE_AGAIN, ("y",), case="in_a_loop"),
    "widened_before_copy": ExecutedCell(WIDENED, ("total",)),
    "workers_restarted": ExecutedCell(PASSES, ("seen",)),
}  # fmt: skip
