NAME = 'Federated averaging of a 1-D CNN over non-iid wearable-sensor clients.'
FAULT = None
CURE = None
KIND = None
SUSPICION = 'The model is deep-copied for every client of every round and its state dict again on the way back; the copies keep clients independent and the averaging right, and the model is tiny compared with local training.'
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r"""
# FedAvg on wearable-sensor windows, non-iid clients
import copy
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(21)
rng = np.random.default_rng(21)

N_CLIENTS, PER_ROUND, ROUNDS, LOCAL_EPOCHS = 20, 8, 14, 2
N_CLASSES, CH, T = 6, 6, 96


class ActivityNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(CH, 32, 7, padding=3), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(64, 64, 3, padding=1), nn.ReLU(),
        )
        self.fc = nn.Linear(64, N_CLASSES)

    def forward(self, x):
        return self.fc(self.conv(x).mean(-1))


base_freq = torch.rand(N_CLASSES, CH) * 6 + 1
base_amp = torch.rand(N_CLASSES, CH) + 0.3
time_axis = torch.linspace(0, 1, T)


def record(n, class_probs, gain):
    y = torch.from_numpy(rng.choice(N_CLASSES, size=n, p=class_probs))
    phase = torch.rand(n, CH, 1) * 6.28
    clean = base_amp[y].unsqueeze(-1) * torch.sin(
        6.28 * base_freq[y].unsqueeze(-1) * time_axis + phase)
    return gain * clean + 0.7 * torch.randn(n, CH, T), y


clients = []
for c in range(N_CLIENTS):
    probs = rng.dirichlet(np.full(N_CLASSES, 2.0))
    clients.append(record(int(rng.integers(150, 350)), probs, 0.8 + 0.4 * rng.random()))
test_x, test_y = record(1000, np.full(N_CLASSES, 1 / N_CLASSES), 1.0)


def local_update(global_model, data):
    x, y = data
    model = copy.deepcopy(global_model)
    model.train()
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for _ in range(LOCAL_EPOCHS):
        order = torch.randperm(len(x))
        for idx in order.split(32):
            opt.zero_grad()
            F.cross_entropy(model(x[idx]), y[idx]).backward()
            opt.step()
    return copy.deepcopy(model.state_dict()), len(x)


def average(states, weights):
    total = float(sum(weights))
    out = copy.deepcopy(states[0])
    for key in out:
        out[key] = sum(s[key] * (w / total) for s, w in zip(states, weights))
    return out


@torch.no_grad()
def accuracy(model):
    model.eval()
    hits = sum((model(xb).argmax(1) == yb).sum().item()
               for xb, yb in zip(test_x.split(250), test_y.split(250)))
    return hits / len(test_y)


server = ActivityNet()
curve = []
for rnd in range(ROUNDS):
    chosen = rng.choice(N_CLIENTS, size=PER_ROUND, replace=False)
    states, sizes = [], []
    for c in chosen:
        state, n = local_update(server, clients[c])
        states.append(state)
        sizes.append(n)
    server.load_state_dict(average(states, sizes))
    curve.append(accuracy(server))

print('accuracy per round:', ' '.join(f'{a:.3f}' for a in curve))
"""
