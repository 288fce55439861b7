NAME = "Tags videos with several labels from frame features by a NetVLAD pooling model, with a health report of the layers."
FAULT = "The per-layer report (quantiles of weights and gradients, which sort every parameter) is computed at every step, though only one in fifty is ever printed."
CURE = "Compute the report only at the steps at which it is printed."
KIND = "time"
FAULT_LINES = [
    "report = layer_report(model)",
    "w_lo, w_hi = torch.quantile(p.detach().flatten(), q).tolist()",
    "g_lo, g_hi = torch.quantile(p.grad.flatten(), q).tolist()",
]
FAULT_CALLS = ["layer_report", "quantile", "sort", "tolist", "norm"]
FAULTY = r'''
import math
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
g = torch.Generator().manual_seed(8)
torch.manual_seed(8)

N_VIDEOS, N_FRAMES, FEAT, N_TAGS = 1600, 24, 128, 40


def make_videos():
    """Each video shows 1-4 tags; a frame shows one of them plus noise."""
    proto = torch.randn(N_TAGS, FEAT, generator=g)
    tags = torch.zeros(N_VIDEOS, N_TAGS)
    frames = torch.empty(N_VIDEOS, N_FRAMES, FEAT)
    for v in range(N_VIDEOS):
        k = int(torch.randint(1, 5, (1,), generator=g))
        own = torch.randperm(N_TAGS, generator=g)[:k]
        tags[v, own] = 1
        shown = own[torch.randint(0, k, (N_FRAMES,), generator=g)]
        frames[v] = proto[shown]
    frames += 1.0 * torch.randn(frames.shape, generator=g)
    return frames, tags


class NetVLAD(nn.Module):
    def __init__(self, dim, clusters):
        super().__init__()
        self.assign = nn.Linear(dim, clusters)
        self.centers = nn.Parameter(0.1 * torch.randn(clusters, dim))

    def forward(self, x):
        a = self.assign(x).softmax(-1)                          # B T K
        vlad = a.transpose(1, 2) @ x                            # B K D
        vlad = vlad - a.sum(1).unsqueeze(-1) * self.centers
        return F.normalize(vlad, dim=-1).flatten(1)


class Tagger(nn.Module):
    def __init__(self, clusters=16, hidden=192):
        super().__init__()
        self.frame = nn.Sequential(nn.Linear(FEAT, 128), nn.ReLU())
        self.pool = NetVLAD(128, clusters)
        self.fc = nn.Linear(128 * clusters, hidden)
        self.out = nn.Linear(hidden, N_TAGS)

    def forward(self, x):
        return self.out(F.relu(self.fc(self.pool(self.frame(x)))))


def layer_report(model):
    q = torch.tensor([0.05, 0.95])
    rows = []
    for name, p in model.named_parameters():
        w_lo, w_hi = torch.quantile(p.detach().flatten(), q).tolist()
        g_lo, g_hi = torch.quantile(p.grad.flatten(), q).tolist()
        ratio = p.grad.norm().item() / (p.detach().norm().item() + 1e-12)
        rows.append((name, w_hi - w_lo, g_hi - g_lo, ratio))
    return rows


@torch.no_grad()
def average_precision(model, x, y):
    model.eval()
    s = model(x)
    aps = []
    for c in range(N_TAGS):
        hit = y[:, c][s[:, c].argsort(descending=True)]
        prec = hit.cumsum(0) / torch.arange(1, len(hit) + 1)
        aps.append((prec * hit).sum() / hit.sum().clamp(min=1))
    model.train()
    return torch.stack(aps).mean().item()


frames, tags = make_videos()
train_x, train_y = frames[:1400], tags[:1400]
val_x, val_y = frames[1400:], tags[1400:]
model = Tagger()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: 0.5 * (1 + math.cos(math.pi * s / 150)))

for step in range(1, 151):
    idx = torch.randint(0, len(train_x), (256,))
    loss = F.binary_cross_entropy_with_logits(model(train_x[idx]), train_y[idx])
    opt.zero_grad()
    loss.backward()
    report = layer_report(model)
    opt.step()
    sched.step()
    if step % 50 == 0:
        widest = max(report, key=lambda r: r[1])
        steep = max(report, key=lambda r: r[3])
        print(f"step {step}: loss {loss.item():.4f}  widest {widest[0]} ({widest[1]:.3f})  steepest {steep[0]}")

print("validation mAP %.3f" % average_precision(model, val_x, val_y))
'''
CURED = (FAULTY
         .replace("    report = layer_report(model)\n    opt.step()\n", "    if step % 50 == 0:\n        report = layer_report(model)\n    opt.step()\n"))
