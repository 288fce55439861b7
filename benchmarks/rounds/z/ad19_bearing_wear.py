NAME = "Trains a dilated temporal convolution that estimates the remaining life of machines from sensor windows."
FAULT = "All overlapping windows of all runs are materialised as one big tensor although they are slices of the same small series."
CURE = "Keep the concatenated series and the start positions, and gather only the windows of a batch."
KIND = "memory"
FAULT_LINES = ["windows = torch.stack([run[i:i + WIN] for run in runs for i in range(len(run) - WIN + 1)])"]
FAULT_CALLS = ["stack", "cat"]
FAULTY = r'''
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
np.random.seed(19)
torch.manual_seed(19)

WIN = 96
SENSORS = 12
N_MACHINES = 60

# ---- simulate run-to-failure histories ----
def simulate(length):
    t = np.arange(length)
    wear = (t / length) ** np.random.uniform(2, 4)
    load = np.sin(2 * np.pi * t / np.random.uniform(40, 60))
    cols = []
    for k in range(SENSORS):
        gain = 0.0 if k % 4 == 3 else 1.5
        cols.append(gain * wear * (1 + 0.2 * k) + 0.5 * load + 0.4 * np.random.randn(length))
    rul = np.minimum(length - t, 600) / 600
    return np.stack(cols, 1).astype(np.float32), rul.astype(np.float32)

runs, targets = [], []
for _ in range(N_MACHINES):
    x, r = simulate(np.random.randint(1600, 2400))
    runs.append(torch.from_numpy(x))
    targets.append(torch.from_numpy(r))

flat = torch.cat(runs)
mean, std = flat.mean(0), flat.std(0)
runs = [(run - mean) / std for run in runs]

# one sample per time step at which a full window is available
windows = torch.stack([run[i:i + WIN] for run in runs for i in range(len(run) - WIN + 1)])
life = torch.cat([r[WIN - 1:] for r in targets])
machine = torch.cat([torch.full((len(r) - WIN + 1,), m) for m, r in enumerate(targets)])
train_idx = torch.nonzero(machine < 48).squeeze(1)
test_idx = torch.nonzero(machine >= 48).squeeze(1)[::5]
print(f"{len(life)} windows of {WIN} x {SENSORS}, {len(train_idx)} for training")

def get_batch(idx):
    return windows[idx].transpose(1, 2), life[idx]


class TemporalBlock(nn.Module):
    def __init__(self, c_in, c_out, dilation):
        super().__init__()
        self.pad = 2 * dilation
        self.conv = nn.Conv1d(c_in, c_out, 3, dilation=dilation)
        self.skip = nn.Conv1d(c_in, c_out, 1) if c_in != c_out else nn.Identity()

    def forward(self, x):
        return F.relu(self.conv(F.pad(x, (self.pad, 0)))) + self.skip(x)


class TCN(nn.Module):
    def __init__(self, ch=24):
        super().__init__()
        sizes = [SENSORS, ch, ch, ch, ch]
        self.blocks = nn.Sequential(*[TemporalBlock(a, b, 2 ** i) for i, (a, b) in enumerate(zip(sizes, sizes[1:]))])
        self.head = nn.Linear(ch, 1)

    def forward(self, x):
        return torch.sigmoid(self.head(self.blocks(x)[:, :, -1])).squeeze(1)


model = TCN()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(4):
    model.train()
    perm = train_idx[torch.randperm(len(train_idx))[:16_000]]
    losses = []
    for idx in perm.split(64):
        x, y = get_batch(idx)
        loss = F.smooth_l1_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())

    model.eval()
    err = []
    with torch.no_grad():
        for idx in test_idx.split(256):
            x, y = get_batch(idx)
            err.append((model(x) - y).abs())
    print(f"epoch {epoch + 1}: train {np.mean(losses):.4f}, test error {600 * torch.cat(err).mean():.1f} cycles")
'''
CURED = FAULTY.replace('''windows = torch.stack([run[i:i + WIN] for run in runs for i in range(len(run) - WIN + 1)])
''', '''series = torch.cat(runs)
ends = np.cumsum([len(run) for run in runs])
starts = torch.cat([torch.arange(e - len(run), e - WIN + 1) for run, e in zip(runs, ends)])
''').replace("windows[idx].transpose(1, 2), life[idx]", "series[starts[idx][:, None] + torch.arange(WIN)].transpose(1, 2), life[idx]")
