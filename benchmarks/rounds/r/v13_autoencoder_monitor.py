NAME = 'Trains an autoencoder on machine vibration spectra, watches the spectral norms of its layers and scores anomalies.'
FAULT = 'The monitor takes the singular values of every weight matrix after every step although only the values at the end of an epoch are printed.'
CURE = 'Update the monitor only once, at the end of each epoch.'
KIND = 'time'
FAULT_LINES = ['self.latest[name] = torch.linalg.svdvals(p)[0].item()', 'monitor.update()']
FAULT_CALLS = ['update', 'svdvals', 'linalg_svdvals', '_linalg_svd']

FAULTY = r'''
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(31)

BINS, N_TRAIN, N_TEST = 320, 8000, 1000


def spectra(n, broken):
    freqs = torch.arange(BINS).float()
    speed = 20 + 10 * torch.rand(n, 1)
    out = 0.1 * torch.rand(n, BINS)
    for harmonic in range(1, 6):
        out = out + torch.exp(-((freqs - harmonic * speed) ** 2) / 8.0) / harmonic
    if broken:
        out = out + 0.4 * torch.exp(-((freqs - 3.37 * speed) ** 2) / 8.0)
    return torch.log1p(out)


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(BINS, 256), nn.GELU(), nn.Linear(256, 128), nn.GELU(), nn.Linear(128, 8))
        self.dec = nn.Sequential(nn.Linear(8, 128), nn.GELU(), nn.Linear(128, 256), nn.GELU(), nn.Linear(256, BINS))

    def forward(self, x):
        return self.dec(self.enc(x))


class NormMonitor:
    def __init__(self, model):
        self.model = model
        self.latest = {}

    @torch.no_grad()
    def update(self):
        for name, p in self.model.named_parameters():
            if p.ndim == 2:
                self.latest[name] = torch.linalg.svdvals(p)[0].item()

    def line(self):
        return " ".join(f"{v:.2f}" for v in self.latest.values())


def auroc(scores_neg, scores_pos):
    scores = torch.cat([scores_neg, scores_pos])
    ranks = scores.argsort().argsort().double() + 1
    n_neg, n_pos = len(scores_neg), len(scores_pos)
    return ((ranks[n_neg:].sum() - n_pos * (n_pos + 1) / 2) / (n_neg * n_pos)).item()


train = spectra(N_TRAIN, broken=False)
test_ok, test_bad = spectra(N_TEST, broken=False), spectra(N_TEST, broken=True)
mean = train.mean(0)
train, test_ok, test_bad = train - mean, test_ok - mean, test_bad - mean

model = AutoEncoder()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=10)
monitor = NormMonitor(model)

for epoch in range(10):
    total = 0.0
    for batch in train[torch.randperm(N_TRAIN)].split(256):
        loss = (model(batch) - batch).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        monitor.update()
        total += loss.item() * len(batch)
    sched.step()
    print(f"epoch {epoch}: loss {total / N_TRAIN:.5f}, spectral norms {monitor.line()}")

with torch.no_grad():
    err_ok = (model(test_ok) - test_ok).pow(2).mean(1)
    err_bad = (model(test_bad) - test_bad).pow(2).mean(1)
print(f"mean error ok {err_ok.mean().item():.5f}, broken {err_bad.mean().item():.5f}")
print(f"AUROC {auroc(err_ok, err_bad):.3f}")
'''

CURED = r'''
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(31)

BINS, N_TRAIN, N_TEST = 320, 8000, 1000


def spectra(n, broken):
    freqs = torch.arange(BINS).float()
    speed = 20 + 10 * torch.rand(n, 1)
    out = 0.1 * torch.rand(n, BINS)
    for harmonic in range(1, 6):
        out = out + torch.exp(-((freqs - harmonic * speed) ** 2) / 8.0) / harmonic
    if broken:
        out = out + 0.4 * torch.exp(-((freqs - 3.37 * speed) ** 2) / 8.0)
    return torch.log1p(out)


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(BINS, 256), nn.GELU(), nn.Linear(256, 128), nn.GELU(), nn.Linear(128, 8))
        self.dec = nn.Sequential(nn.Linear(8, 128), nn.GELU(), nn.Linear(128, 256), nn.GELU(), nn.Linear(256, BINS))

    def forward(self, x):
        return self.dec(self.enc(x))


class NormMonitor:
    def __init__(self, model):
        self.model = model
        self.latest = {}

    @torch.no_grad()
    def update(self):
        for name, p in self.model.named_parameters():
            if p.ndim == 2:
                self.latest[name] = torch.linalg.svdvals(p)[0].item()

    def line(self):
        return " ".join(f"{v:.2f}" for v in self.latest.values())


def auroc(scores_neg, scores_pos):
    scores = torch.cat([scores_neg, scores_pos])
    ranks = scores.argsort().argsort().double() + 1
    n_neg, n_pos = len(scores_neg), len(scores_pos)
    return ((ranks[n_neg:].sum() - n_pos * (n_pos + 1) / 2) / (n_neg * n_pos)).item()


train = spectra(N_TRAIN, broken=False)
test_ok, test_bad = spectra(N_TEST, broken=False), spectra(N_TEST, broken=True)
mean = train.mean(0)
train, test_ok, test_bad = train - mean, test_ok - mean, test_bad - mean

model = AutoEncoder()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=10)
monitor = NormMonitor(model)

for epoch in range(10):
    total = 0.0
    for batch in train[torch.randperm(N_TRAIN)].split(256):
        loss = (model(batch) - batch).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(batch)
    sched.step()
    monitor.update()
    print(f"epoch {epoch}: loss {total / N_TRAIN:.5f}, spectral norms {monitor.line()}")

with torch.no_grad():
    err_ok = (model(test_ok) - test_ok).pow(2).mean(1)
    err_bad = (model(test_bad) - test_bad).pow(2).mean(1)
print(f"mean error ok {err_ok.mean().item():.5f}, broken {err_bad.mean().item():.5f}")
print(f"AUROC {auroc(err_ok, err_bad):.3f}")
'''
