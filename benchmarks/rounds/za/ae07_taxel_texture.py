NAME = "Classifies textures from sequences of a tactile sensor array and reports the activity of each layer over the training run."
FAULT = "The hooks keep every batch's full activations of all layers until the end although only a mean and a share of zeros per layer are printed."
CURE = "Reduce the activation to its mean and share of zeros inside the hook and keep only these numbers."
KIND = "memory"
FAULT_LINES = [
    "self.seen[name].append(out.detach())",
    "both = torch.cat(outs)",
    "self.seen = defaultdict(list)",
]
FAULT_CALLS = ["append", "hook", "ActivityProbe", "cat", "relu", "conv2d", "max_pool2d"]
FAULTY = r'''
from collections import defaultdict

import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(40)
rs = np.random.RandomState(40)

TEXTURES = ["cotton", "denim", "cork", "steel", "felt"]


def stroke(kind, frames=12, side=16):
    """Pressure frames while a 16x16 taxel pad slides over a texture."""
    gy, gx = np.mgrid[0:side, 0:side]
    freq = 0.35 + 0.22 * kind
    angle = rs.uniform(0, 0.6)
    speed = rs.uniform(0.5, 1.2)
    press = rs.uniform(0.7, 1.3)
    seq = []
    for t in range(frames):
        phase = freq * ((gx + speed * t) * np.cos(angle) + gy * np.sin(angle))
        seq.append(press * (np.sin(phase) + 0.4 * np.sin(2.3 * phase)))
    return np.stack(seq) + 0.8 * rs.randn(frames, side, side)


class TactileNet(nn.Module):
    def __init__(self, frames=12, n_out=len(TEXTURES)):
        super().__init__()
        self.conv1 = nn.Sequential(nn.Conv2d(frames, 32, 3, padding=1), nn.ReLU())
        self.conv2 = nn.Sequential(nn.Conv2d(32, 32, 3, padding=1), nn.ReLU())
        self.pool = nn.MaxPool2d(2)
        self.conv3 = nn.Sequential(nn.Conv2d(32, 48, 3, padding=1), nn.ReLU())
        self.fc = nn.Linear(48, n_out)

    def forward(self, x):
        x = self.pool(self.conv2(self.conv1(x)))
        x = self.conv3(x)
        return self.fc(x.mean(dim=(2, 3)))


class ActivityProbe:
    """Watches layers during training: mean activity and share of silent units."""

    def __init__(self, model, names):
        self.seen = defaultdict(list)
        self.handles = [
            getattr(model, n).register_forward_hook(self.make_hook(n)) for n in names
        ]

    def make_hook(self, name):
        def hook(module, inputs, out):
            self.seen[name].append(out.detach())
        return hook

    def report(self):
        for name, outs in self.seen.items():
            mean = np.mean([o.mean().item() for o in outs])
            silent = np.mean([(o == 0).float().mean().item() for o in outs])
            print(f"  {name}: mean {mean:.3f}  silent {silent:.3f}")

    def close(self):
        for h in self.handles:
            h.remove()


kinds = rs.randint(0, len(TEXTURES), 960)
X = torch.tensor(np.stack([stroke(k) for k in kinds]), dtype=torch.float32)
Y = torch.tensor(kinds)
Xtr, Ytr, Xte, Yte = X[:768], Y[:768], X[768:], Y[768:]

net = TactileNet()
probe = ActivityProbe(net, ["conv1", "conv2", "conv3"])
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
lossf = nn.CrossEntropyLoss()
for epoch in range(10):
    order = torch.randperm(len(Ytr))
    tot = 0.0
    for idx in order.split(48):
        out = net(Xtr[idx])
        loss = lossf(out, Ytr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(idx)
    print(f"epoch {epoch}: loss {tot / len(Ytr):.4f}")
print("layer activity over the run")
probe.report()
probe.close()

net.eval()
with torch.no_grad():
    acc = (net(Xte).argmax(1) == Yte).float().mean().item()
print(f"test accuracy {acc:.3f}")
'''
CURED = FAULTY.replace('''            self.seen[name].append(out.detach())
''', '''            o = out.detach()
            self.seen[name].append((o.mean().item(), (o == 0).float().mean().item()))
''').replace('''np.mean([o.mean().item() for o in outs])''', '''np.mean([o[0] for o in outs])''').replace(
'''np.mean([(o == 0).float().mean().item() for o in outs])''', '''np.mean([o[1] for o in outs])''')
FAULT_LINES.remove("both = torch.cat(outs)")
FAULT_LINES.append("for name, outs in self.seen.items():")
