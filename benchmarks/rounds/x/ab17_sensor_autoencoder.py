NAME = "Finds anomalies in a multichannel sensor record with a convolutional autoencoder on sliding windows."
FAULT = "All overlapping windows are written out and then copied once more into a tensor, so each sample is held 128 times over although a view would do."
CURE = "Take the windows as a strided view of the record with Tensor.unfold and copy only the batch in use."
KIND = "memory"
FAULT_LINES = ["windows = np.stack([record[i:i + WIN].T for i in range(len(record) - WIN + 1)])", "X = torch.tensor(windows)"]
FAULT_CALLS = ["stack", "tensor", "<listcomp>", "_stack_dispatcher"]
FAULTY = r'''
# Condition monitoring of a pump: 8 sensors, one record, a few injected faults
import numpy as np
import pandas as pd
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(5)
rng = np.random.default_rng(5)

T, C, WIN = 72_000, 8, 96

t = np.arange(T)
speeds = rng.uniform(0.01, 0.08, C)
phases = rng.uniform(0, 2 * np.pi, C)
signal = np.sin(t[:, None] * speeds + phases) + 0.3 * np.sin(3.1 * t[:, None] * speeds)
signal += 0.1 * rng.normal(size=(T, C))
truth = np.zeros(T, dtype=bool)
for start in rng.choice(np.arange(40_000, T - 500), 12, replace=False):
    ch = rng.integers(C)
    signal[start:start + 120, ch] += rng.choice([-6.0, 6.0]) * np.hanning(120)
    truth[start:start + 120] = True

df = pd.DataFrame(signal, columns=[f"s{i}" for i in range(C)])
df = (df - df.iloc[:30_000].mean()) / df.iloc[:30_000].std()
record = np.ascontiguousarray(df.to_numpy(dtype=np.float32))

windows = np.stack([record[i:i + WIN].T for i in range(len(record) - WIN + 1)])
X = torch.tensor(windows)
print("windows:", tuple(X.shape))

net = nn.Sequential(
    nn.Conv1d(C, 32, 7, stride=2, padding=3), nn.ReLU(),
    nn.Conv1d(32, 48, 5, stride=2, padding=2), nn.ReLU(),
    nn.Conv1d(48, 12, 3, padding=1),
    nn.ConvTranspose1d(12, 48, 4, stride=2, padding=1), nn.ReLU(),
    nn.ConvTranspose1d(48, C, 4, stride=2, padding=1),
)
opt = torch.optim.Adam(net.parameters(), lr=2e-3)

n_clean = 30_000 - WIN
for step in range(300):
    idx = torch.randint(0, n_clean, (128,))
    xb = X[idx]
    loss = ((net(xb) - xb) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 100 == 99:
        print(f"step {step + 1}: mse {loss.item():.4f}")

net.eval()
starts = torch.arange(0, len(X), 4)
scores = []
with torch.no_grad():
    for idx in starts.split(512):
        xb = X[idx]
        err = ((net(xb) - xb) ** 2).mean(-1)
        scores.append(err.amax(1))
scores = torch.cat(scores).numpy()

# a window counts as faulty if its middle lies in an injected fault
middle = truth[starts.numpy() + WIN // 2]
limit = np.quantile(scores[starts.numpy() < n_clean], 0.999)
flag = scores > limit
print(f"limit {limit:.3f}, flagged {flag.mean():.3%} of windows")
print(f"recall {flag[middle].mean():.3f}, false alarms in clean part {flag[starts.numpy() < n_clean].mean():.4f}")
'''
CURED = FAULTY.replace("windows = np.stack([record[i:i + WIN].T for i in range(len(record) - WIN + 1)])\nX = torch.tensor(windows)\n",
    "X = torch.from_numpy(record).unfold(0, WIN, 1)\n")
