"""GPT-2 (124 M) from eager fp32 to fused AdamW, one change at a time: each finding fires before its change, not after.

The argument is the stage; each holds the changes of those before it. Published on an A100, ms a step (Karpathy,
build-nanogpt): fp32 1000, tf32 333, bf16 300, compiled 130, sdpa 96, padded 93, fused 90.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from benchmarks.gpu_check import cells, clocks, recorded
from benchmarks.gpu_check.check import Check

STAGES = ("fp32", "tf32", "bf16", "compiled", "sdpa", "padded", "fused")
# the rules of which one must say it, and the stage that follows their advice
CURES = {
    "tf32": ("fp32_matmul",),
    "compiled": ("unfused_pointwise", "launch_bound"),
    "sdpa": ("eager_attention",),
    "padded": ("unaligned_gemm_shape",),
    "fused": ("unfused_optimizer",),
}
_SETUP = """\
import torch
from torch.nn import functional as F
torch.manual_seed(0)
torch.set_float32_matmul_precision("high" if "tf32" in done else "highest")

class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = torch.nn.Linear(size.width, 3 * size.width)
        self.out = torch.nn.Linear(size.width, size.width)
        self.register_buffer("mask", torch.tril(torch.ones(size.length, size.length)).bool())

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (p.view(b, t, size.heads, c // size.heads).transpose(1, 2) for p in self.qkv(x).chunk(3, -1))
        if "sdpa" in done:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = q @ k.transpose(-2, -1) / (c // size.heads) ** 0.5
            y = F.softmax(scores.masked_fill(~self.mask, float("-inf")), dim=-1) @ v
        return self.out(y.transpose(1, 2).reshape(b, t, c))

class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norms = torch.nn.ModuleList([torch.nn.LayerNorm(size.width) for _ in range(2)])
        self.attention = Attention()
        self.up, self.down = torch.nn.Linear(size.width, 4 * size.width), torch.nn.Linear(4 * size.width, size.width)

    def forward(self, x):
        x = x + self.attention(self.norms[0](x))
        return x + self.down(F.gelu(self.up(self.norms[1](x)), approximate="tanh"))

class GPT(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = torch.nn.Embedding(vocabulary, size.width)
        self.places = torch.nn.Embedding(size.length, size.width)
        self.blocks = torch.nn.Sequential(*[Block() for _ in range(size.layers)])
        self.norm = torch.nn.LayerNorm(size.width)
        self.head = torch.nn.Linear(size.width, vocabulary, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, x):
        return self.head(self.norm(self.blocks(self.tokens(x) + self.places(positions))))

vocabulary = size.padded if "padded" in done else size.vocabulary
positions = torch.arange(size.length, device=device)
model = GPT().to(device)
if "compiled" in done:
    model = torch.compile(model, backend=backend)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True if "fused" in done else None)
text = torch.randint(0, size.vocabulary, (8, size.batch, size.length + 1)).to(device)
losses = []
"""
_CELL = """\
for step in range(steps):
    x, y = text[step % 8, :, :-1], text[step % 8, :, 1:]
    optimizer.zero_grad()
    with torch.autocast(device, dtype=torch.bfloat16, enabled="bf16" in done):
        logits = model(x)
        loss = F.cross_entropy(logits.flatten(0, 1), y.reshape(-1))
    loss.backward()
    optimizer.step()
    losses.append(loss.detach())
"""
_GPT2 = {"layers": 12, "width": 768, "heads": 12, "length": 1024, "batch": 16, "vocabulary": 50257, "padded": 50304}
_MINI = {"layers": 2, "width": 32, "heads": 2, "length": 16, "batch": 2, "vocabulary": 67, "padded": 72}


def run(check: Check) -> None:
    stage = check.arguments[0]
    done = STAGES[: STAGES.index(stage) + 1]
    namespace: dict[str, Any] = {"__name__": "__main__", "device": check.device, "done": done}
    namespace["size"] = SimpleNamespace(**(_MINI if check.small else _GPT2))
    namespace["backend"] = "inductor" if check.on_device else "eager"
    cells.enter(_SETUP, namespace)
    steps = namespace["steps"] = 3
    first_ns = clocks.host_ns(lambda: cells.enter(_CELL, namespace), check.device)
    times = [clocks.host_ns(lambda: cells.enter(_CELL, namespace), check.device) / steps for _ in range(4)]
    check.note(stage=stage, done=done, step_ns=clocks.spread(times), first_steps_ns=first_ns)
    namespace["steps"] = 12
    profiled = cells.play(_CELL, namespace, steps=8, shapes=True).run
    check.note(loss=float(namespace["losses"][-1]), run=recorded.describe(profiled))
    recorded.keep(check, profiled, stage)
    fired = [each.rule for each in profiled.findings]
    check.say(f"{stage}: {clocks.spread(times)['median'] / 1e6:.1f} ms a step; {', '.join(fired) or 'no finding'}")
    for cure, rules in CURES.items():
        told = any(rule in fired for rule in rules)
        if cure in done:
            check.only_on_device(f"after {cure}: no more of {' or '.join(rules)}", not told)
        elif STAGES.index(cure) == len(done):
            check.only_on_device(f"before {cure}: {' or '.join(rules)}", told)
