NAME = 'h21_maml_glyphs'
FAULT = 'The query losses of all 16 tasks of a meta-batch are collected and differentiated with one backward at the end, so the second-order graphs of all tasks are alive at once.'
CURE = "Backward each task's loss (divided by the number of tasks) right away; gradients add up to the same."
KIND = 'memory'
FAULT_LINES = [
    '        task_losses.append(q_loss)',
    '    meta_loss = torch.stack(task_losses).mean()',
    '    meta_loss.backward()',
]
FAULT_CALLS = ['adapt', 'torch.func.functional_call', 'functional_call', 'aten::convolution', 'aten::mkldnn_convolution', 'torch.autograd.grad', 'aten::convolution_backward', 'aten::native_group_norm', 'torch.stack']
FAULTY = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call

torch.set_num_threads(1)
torch.manual_seed(64)

WAYS, SHOTS, QUERY, SIZE = 5, 2, 4, 28
INNER_STEPS, INNER_LR, META_BATCH = 3, 0.05, 16

# glyph classes: strokes between random anchor points, jittered per drawing
grid = torch.stack(torch.meshgrid(torch.linspace(-1, 1, SIZE), torch.linspace(-1, 1, SIZE), indexing='ij'), -1)

def draw(anchors, n):
    pts = anchors[None] + 0.08 * torch.randn(n, *anchors.shape)
    a, b = pts[:, :-1], pts[:, 1:]
    ab = b - a
    rel = grid[None, None] - a[:, :, None, None]
    u = (rel * ab[:, :, None, None]).sum(-1) / (ab * ab).sum(-1).clamp(min=1e-3)[:, :, None, None]
    nearest = u.clamp(0, 1)[..., None] * ab[:, :, None, None]
    dist = (rel - nearest).norm(dim=-1).amin(1)
    return torch.exp(-(dist / 0.08) ** 2)[:, None]

alphabet = [torch.rand(4, 2) * 1.6 - 0.8 for _ in range(60)]

def sample_task(pool):
    classes = torch.randperm(len(pool))[:WAYS].tolist()
    images = torch.stack([draw(pool[c], SHOTS + QUERY) for c in classes])
    target = torch.arange(WAYS)
    xs, xq = images[:, :SHOTS].flatten(0, 1), images[:, SHOTS:].flatten(0, 1)
    return xs, target.repeat_interleave(SHOTS), xq, target.repeat_interleave(QUERY)

def conv_block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.GroupNorm(4, cout), nn.ReLU(), nn.MaxPool2d(2))

net = nn.Sequential(conv_block(1, 32), conv_block(32, 32), conv_block(32, 32), nn.Flatten(), nn.Linear(32 * 9, WAYS))

def adapt(params, xs, ys, create_graph):
    fast = dict(params)
    for _ in range(INNER_STEPS):
        loss = F.cross_entropy(functional_call(net, fast, (xs,)), ys)
        grads = torch.autograd.grad(loss, list(fast.values()), create_graph=create_graph)
        fast = {k: v - INNER_LR * g for (k, v), g in zip(fast.items(), grads)}
    return fast

params = dict(net.named_parameters())
opt = torch.optim.Adam(net.parameters(), lr=2e-3)

for it in range(1, 7):
    opt.zero_grad()
    task_losses, hits = [], 0
    for _ in range(META_BATCH):
        xs, ys, xq, yq = sample_task(alphabet[:45])
        fast = adapt(params, xs, ys, create_graph=True)
        out = functional_call(net, fast, (xq,))
        q_loss = F.cross_entropy(out, yq)
        task_losses.append(q_loss)
        hits += (out.argmax(1) == yq).sum().item()
    meta_loss = torch.stack(task_losses).mean()
    meta_loss.backward()
    opt.step()
    print(f"meta step {it}: query loss {meta_loss.item():.4f}  acc {hits / (META_BATCH * WAYS * QUERY):.3f}")

hits = n = 0
for _ in range(20):
    xs, ys, xq, yq = sample_task(alphabet[45:])
    fast = adapt(params, xs, ys, create_graph=False)
    with torch.no_grad():
        hits += (functional_call(net, fast, (xq,)).argmax(1) == yq).sum().item()
    n += len(yq)
print(f"unseen glyphs: {WAYS}-way {SHOTS}-shot accuracy {hits / n:.3f}")
'''
CURED = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call

torch.set_num_threads(1)
torch.manual_seed(64)

WAYS, SHOTS, QUERY, SIZE = 5, 2, 4, 28
INNER_STEPS, INNER_LR, META_BATCH = 3, 0.05, 16

# glyph classes: strokes between random anchor points, jittered per drawing
grid = torch.stack(torch.meshgrid(torch.linspace(-1, 1, SIZE), torch.linspace(-1, 1, SIZE), indexing='ij'), -1)

def draw(anchors, n):
    pts = anchors[None] + 0.08 * torch.randn(n, *anchors.shape)
    a, b = pts[:, :-1], pts[:, 1:]
    ab = b - a
    rel = grid[None, None] - a[:, :, None, None]
    u = (rel * ab[:, :, None, None]).sum(-1) / (ab * ab).sum(-1).clamp(min=1e-3)[:, :, None, None]
    nearest = u.clamp(0, 1)[..., None] * ab[:, :, None, None]
    dist = (rel - nearest).norm(dim=-1).amin(1)
    return torch.exp(-(dist / 0.08) ** 2)[:, None]

alphabet = [torch.rand(4, 2) * 1.6 - 0.8 for _ in range(60)]

def sample_task(pool):
    classes = torch.randperm(len(pool))[:WAYS].tolist()
    images = torch.stack([draw(pool[c], SHOTS + QUERY) for c in classes])
    target = torch.arange(WAYS)
    xs, xq = images[:, :SHOTS].flatten(0, 1), images[:, SHOTS:].flatten(0, 1)
    return xs, target.repeat_interleave(SHOTS), xq, target.repeat_interleave(QUERY)

def conv_block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.GroupNorm(4, cout), nn.ReLU(), nn.MaxPool2d(2))

net = nn.Sequential(conv_block(1, 32), conv_block(32, 32), conv_block(32, 32), nn.Flatten(), nn.Linear(32 * 9, WAYS))

def adapt(params, xs, ys, create_graph):
    fast = dict(params)
    for _ in range(INNER_STEPS):
        loss = F.cross_entropy(functional_call(net, fast, (xs,)), ys)
        grads = torch.autograd.grad(loss, list(fast.values()), create_graph=create_graph)
        fast = {k: v - INNER_LR * g for (k, v), g in zip(fast.items(), grads)}
    return fast

params = dict(net.named_parameters())
opt = torch.optim.Adam(net.parameters(), lr=2e-3)

for it in range(1, 7):
    opt.zero_grad()
    meta_loss, hits = 0.0, 0
    for _ in range(META_BATCH):
        xs, ys, xq, yq = sample_task(alphabet[:45])
        fast = adapt(params, xs, ys, create_graph=True)
        out = functional_call(net, fast, (xq,))
        q_loss = F.cross_entropy(out, yq)
        (q_loss / META_BATCH).backward()
        meta_loss += q_loss.item() / META_BATCH
        hits += (out.argmax(1) == yq).sum().item()

    opt.step()
    print(f"meta step {it}: query loss {meta_loss:.4f}  acc {hits / (META_BATCH * WAYS * QUERY):.3f}")

hits = n = 0
for _ in range(20):
    xs, ys, xq, yq = sample_task(alphabet[45:])
    fast = adapt(params, xs, ys, create_graph=False)
    with torch.no_grad():
        hits += (functional_call(net, fast, (xq,)).argmax(1) == yq).sum().item()
    n += len(yq)
print(f"unseen glyphs: {WAYS}-way {SHOTS}-shot accuracy {hits / n:.3f}")
'''
