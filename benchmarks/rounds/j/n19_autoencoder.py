NAME = 'Trains an autoencoder on vibration spectra with a resumable checkpoint and tests it on broken machines.'
FAULT = 'The checkpoint with weights and optimiser state is written after each batch, each time over the one before.'
CURE = 'Write the checkpoint once at the end of the epoch.'
KIND = 'time'
FAULT_LINES = [
    'self.save()',
    'torch.save({"net": self.net.state_dict(), "opt": self.opt.state_dict(),',
]
FAULT_CALLS = ['save', 'torch.save', 'state_dict', 'fit']

FAULTY = r"""
import os
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(23)
torch.set_num_threads(1)

# machine vibration spectra; faults appear as unknown peaks
D, N = 600, 6000
freq = torch.arange(D).float()


def spectra(n, extra=False):
    base = torch.zeros(n, D)
    for c in (60, 120, 240, 410):
        amp = 0.5 + torch.rand(n, 1)
        base += amp * torch.exp(-((freq - c - 3 * torch.randn(n, 1)) / 6) ** 2)
    if extra:
        base += 0.8 * torch.exp(-((freq - 320) / 5) ** 2)
    return base + 0.05 * torch.randn(n, D)


train, normal, broken = spectra(N), spectra(800), spectra(800, extra=True)


class AutoEncoder(nn.Module):
    def __init__(self, h=512, z=16):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(D, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, z))
        self.dec = nn.Sequential(nn.Linear(z, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, D))

    def forward(self, x):
        return self.dec(self.enc(x))


class Trainer:
    def __init__(self, net, folder, lr=1e-3):
        self.net, self.folder = net, folder
        self.opt = torch.optim.Adam(net.parameters(), lr=lr)
        self.epoch, self.step = 0, 0

    def save(self):
        path = os.path.join(self.folder, "latest.pt")
        torch.save({"net": self.net.state_dict(), "opt": self.opt.state_dict(),
                    "epoch": self.epoch, "step": self.step}, path + ".tmp")
        os.replace(path + ".tmp", path)

    def train_step(self, x):
        loss = F.mse_loss(self.net(x), x)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.step += 1
        return loss.item()

    def fit(self, data, epochs, batch=128):
        for self.epoch in range(epochs):
            total = 0.0
            for idx in torch.randperm(len(data)).split(batch):
                total += self.train_step(data[idx]) * len(idx)
                self.save()
            print(f"epoch {self.epoch} mse {total / len(data):.5f}")


folder = tempfile.mkdtemp()
trainer = Trainer(AutoEncoder(), folder)
trainer.fit(train, epochs=7)
state = torch.load(os.path.join(folder, "latest.pt"))
net = AutoEncoder()
net.load_state_dict(state["net"])
with torch.no_grad():
    e_n = (net(normal) - normal).pow(2).mean(1)
    e_b = (net(broken) - broken).pow(2).mean(1)
cut = e_n.quantile(0.99)
print(f"step {state['step']}  normal {e_n.mean().item():.5f}  broken {e_b.mean().item():.5f}  caught {(e_b > cut).float().mean().item():.3f}")
"""

CURED = r"""
import os
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(23)
torch.set_num_threads(1)

# machine vibration spectra; faults appear as unknown peaks
D, N = 600, 6000
freq = torch.arange(D).float()


def spectra(n, extra=False):
    base = torch.zeros(n, D)
    for c in (60, 120, 240, 410):
        amp = 0.5 + torch.rand(n, 1)
        base += amp * torch.exp(-((freq - c - 3 * torch.randn(n, 1)) / 6) ** 2)
    if extra:
        base += 0.8 * torch.exp(-((freq - 320) / 5) ** 2)
    return base + 0.05 * torch.randn(n, D)


train, normal, broken = spectra(N), spectra(800), spectra(800, extra=True)


class AutoEncoder(nn.Module):
    def __init__(self, h=512, z=16):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(D, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, z))
        self.dec = nn.Sequential(nn.Linear(z, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, D))

    def forward(self, x):
        return self.dec(self.enc(x))


class Trainer:
    def __init__(self, net, folder, lr=1e-3):
        self.net, self.folder = net, folder
        self.opt = torch.optim.Adam(net.parameters(), lr=lr)
        self.epoch, self.step = 0, 0

    def save(self):
        path = os.path.join(self.folder, "latest.pt")
        torch.save({"net": self.net.state_dict(), "opt": self.opt.state_dict(),
                    "epoch": self.epoch, "step": self.step}, path + ".tmp")
        os.replace(path + ".tmp", path)

    def train_step(self, x):
        loss = F.mse_loss(self.net(x), x)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.step += 1
        return loss.item()

    def fit(self, data, epochs, batch=128):
        for self.epoch in range(epochs):
            total = 0.0
            for idx in torch.randperm(len(data)).split(batch):
                total += self.train_step(data[idx]) * len(idx)
            self.save()
            print(f"epoch {self.epoch} mse {total / len(data):.5f}")


folder = tempfile.mkdtemp()
trainer = Trainer(AutoEncoder(), folder)
trainer.fit(train, epochs=7)
state = torch.load(os.path.join(folder, "latest.pt"))
net = AutoEncoder()
net.load_state_dict(state["net"])
with torch.no_grad():
    e_n = (net(normal) - normal).pow(2).mean(1)
    e_b = (net(broken) - broken).pow(2).mean(1)
cut = e_n.quantile(0.99)
print(f"step {state['step']}  normal {e_n.mean().item():.5f}  broken {e_b.mean().item():.5f}  caught {(e_b > cut).float().mean().item():.3f}")
"""
