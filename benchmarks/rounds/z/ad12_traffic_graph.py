NAME = "Forecasts road sensor speeds with a graph network whose adjacency matrix is learnt."
FAULT = None
CURE = None
KIND = None
LOOKS = "The dense adjacency matrix of all sensors is built anew in every training step: it comes from trained node embeddings that change with every step and must get gradients; evaluation builds it once for all batches."
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(9)
rng = np.random.default_rng(9)

NODES, HOURS, PAST, AHEAD = 700, 900, 12, 3


def simulate_speeds():
    """Congestion waves that travel along random corridors, with daily peaks."""
    upstream = rng.integers(0, NODES, (NODES, 3))
    base = rng.uniform(40, 70, NODES)
    demand = rng.uniform(0.2, 1.0, NODES)
    jam = np.zeros((HOURS, NODES), dtype=np.float32)
    for t in range(1, HOURS):
        peak = np.exp(-0.5 * ((t % 24 - 8) / 1.5) ** 2) + np.exp(-0.5 * ((t % 24 - 17) / 2) ** 2)
        inflow = jam[t - 1, upstream].mean(1)
        jam[t] = 0.5 * jam[t - 1] + 0.4 * inflow + 0.6 * demand * peak + rng.normal(0, 0.05, NODES)
    return (base * np.exp(-0.35 * np.clip(jam, 0, None))).T.astype(np.float32)


speeds = torch.from_numpy(simulate_speeds())            # (nodes, hours)
train_hours = 700
mean, std = speeds[:, :train_hours].mean(), speeds[:, :train_hours].std()
series = (speeds - mean) / std


def windows(starts):
    past = series[:, starts[:, None] + torch.arange(PAST)]
    future = series[:, starts[:, None] + PAST + torch.arange(AHEAD)]
    return past, future                                  # (nodes, batch, PAST), (nodes, batch, AHEAD)


class AdaptiveGraphNet(nn.Module):
    def __init__(self, hidden=48, rank=12, layers=2):
        super().__init__()
        self.source = nn.Parameter(torch.randn(NODES, rank) * 0.5)
        self.sink = nn.Parameter(torch.randn(NODES, rank) * 0.5)
        self.encode = nn.Linear(PAST, hidden)
        self.own = nn.ModuleList([nn.Linear(hidden, hidden) for _ in range(layers)])
        self.mixed = nn.ModuleList([nn.Linear(hidden, hidden, bias=False) for _ in range(layers)])
        self.decode = nn.Linear(hidden, AHEAD)

    def adjacency(self):
        return torch.softmax(torch.relu(self.source @ self.sink.T), dim=1)

    def forward(self, past, adj):
        h = torch.relu(self.encode(past))
        for own, mixed in zip(self.own, self.mixed):
            neighbours = (adj @ h.flatten(1)).view_as(h)
            h = h + torch.relu(own(h) + mixed(neighbours))
        return self.decode(h)


model = AdaptiveGraphNet()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
train_starts = torch.arange(0, train_hours - PAST - AHEAD)
test_starts = torch.arange(train_hours, HOURS - PAST - AHEAD)

for epoch in range(3):
    model.train()
    total = 0.0
    for starts in train_starts[torch.randperm(len(train_starts))].split(16):
        past, future = windows(starts)
        loss = (model(past, model.adjacency()) - future).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(starts)
    print(f"epoch {epoch + 1}: train mae {total / len(train_starts) * std.item():.2f} km/h")

model.eval()
errors = []
with torch.no_grad():
    adj = model.adjacency()
    for starts in test_starts.split(32):
        past, future = windows(starts)
        errors.append((model(past, adj) - future).abs().mean((0, 2)) * std)
print(f"test mae {torch.cat(errors).mean().item():.2f} km/h")
print(f"mean strongest link {adj.max(1).values.mean().item():.3f}")
'''
