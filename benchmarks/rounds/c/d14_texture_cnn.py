NAME = 'd14_texture_cnn'
FAULT = 'The singular values of every weight matrix are computed at every step although they are recorded only at every 20th step.'
CURE = 'Compute the spectral norms only inside the branch that records them.'
KIND = 'time'
FAULT_LINES = (29, 42)
FAULT_CALLS = ('spectral_norms', 'svdvals', 'linalg_svdvals')
FAULTY = """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(4)

def make_textures(n):
    labels = torch.randint(0, 4, (n,))
    xs = torch.arange(24) / 24.0
    freq = torch.tensor([2.0, 4.0, 6.0, 8.0])[labels].view(-1, 1, 1)
    phase = torch.rand(n, 1, 1) * 6.28
    img = torch.sin(6.28 * freq * (xs[None, :, None] + 0.5 * xs[None, None, :]) + phase)
    return (img + 2.0 * torch.randn(n, 24, 24)).unsqueeze(1), labels

images, labels = make_textures(1200)

net = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1, stride=2), nn.ReLU(),
    nn.Conv2d(16, 64, 3, padding=1, stride=2), nn.ReLU(),
    nn.Conv2d(64, 128, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
    nn.Flatten(), nn.Linear(512, 384), nn.ReLU(), nn.Linear(384, 4),
)
opt = torch.optim.SGD(net.parameters(), lr=0.03, momentum=0.9)

def spectral_norms(model):
    out = {}
    for name, w in model.named_parameters():
        if w.dim() > 1:
            out[name] = torch.linalg.svdvals(w.detach().flatten(1))[0].item()
    return out

log = []
step = 0
for epoch in range(4):
    perm = torch.randperm(len(images))
    for idx in perm.split(32):
        out = net(images[idx])
        loss = F.cross_entropy(out, labels[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        norms = spectral_norms(net)
        if step % 20 == 0:
            log.append({"step": step, "loss": loss.item(), **norms})
        step += 1

print("records", len(log), "final loss %.3f" % log[-1]["loss"], "largest norm %.3f" % max(norms.values()))
"""
CURED = """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(4)

def make_textures(n):
    labels = torch.randint(0, 4, (n,))
    xs = torch.arange(24) / 24.0
    freq = torch.tensor([2.0, 4.0, 6.0, 8.0])[labels].view(-1, 1, 1)
    phase = torch.rand(n, 1, 1) * 6.28
    img = torch.sin(6.28 * freq * (xs[None, :, None] + 0.5 * xs[None, None, :]) + phase)
    return (img + 2.0 * torch.randn(n, 24, 24)).unsqueeze(1), labels

images, labels = make_textures(1200)

net = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1, stride=2), nn.ReLU(),
    nn.Conv2d(16, 64, 3, padding=1, stride=2), nn.ReLU(),
    nn.Conv2d(64, 128, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
    nn.Flatten(), nn.Linear(512, 384), nn.ReLU(), nn.Linear(384, 4),
)
opt = torch.optim.SGD(net.parameters(), lr=0.03, momentum=0.9)

def spectral_norms(model):
    out = {}
    for name, w in model.named_parameters():
        if w.dim() > 1:
            out[name] = torch.linalg.svdvals(w.detach().flatten(1))[0].item()
    return out

log = []
step = 0
for epoch in range(4):
    perm = torch.randperm(len(images))
    for idx in perm.split(32):
        out = net(images[idx])
        loss = F.cross_entropy(out, labels[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 0:
            norms = spectral_norms(net)
            log.append({"step": step, "loss": loss.item(), **norms})
        step += 1

print("records", len(log), "final loss %.3f" % log[-1]["loss"], "largest norm %.3f" % max(spectral_norms(net).values()))
"""
