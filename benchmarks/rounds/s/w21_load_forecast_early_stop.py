NAME = 'Forecasts hourly electricity load with an LSTM, with early stopping and restoring of the best weights.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'The deepcopy of the state dict after each improvement is needed (state_dict returns references) and cheap, and so is the validation of each epoch.'

GOOD = r'''import copy
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)

HOURS, CONTEXT, HORIZON, BATCH = 24 * 400, 72, 24, 64


def simulate_load():
    t = torch.arange(HOURS, dtype=torch.float32)
    daily = torch.sin(2 * math.pi * t / 24 - 1.2) + 0.4 * torch.sin(4 * math.pi * t / 24)
    weekend = ((t // 24) % 7 >= 5).float()
    shocks = 0.06 * torch.randn(HOURS)
    drift = torch.zeros(HOURS)
    for i in range(1, HOURS):
        drift[i] = 0.98 * drift[i - 1] + shocks[i]
    load = daily * (1 - 0.4 * weekend) - 0.5 * weekend + drift + 0.1 * torch.randn(HOURS)
    calendar = torch.stack(
        [torch.sin(2 * math.pi * t / 24), torch.cos(2 * math.pi * t / 24), weekend], dim=1
    )
    return load, calendar


load, calendar = simulate_load()
inputs = torch.cat([load[:, None], calendar], dim=1)
starts = torch.arange(0, HOURS - CONTEXT - HORIZON, 3)
train_starts = starts[starts < HOURS * 0.7]
valid_starts = starts[(starts >= HOURS * 0.7) & (starts < HOURS * 0.85)]
test_starts = starts[starts >= HOURS * 0.85]


def get_batch(begin):
    past = begin[:, None] + torch.arange(CONTEXT)
    future = begin[:, None] + CONTEXT + torch.arange(HORIZON)
    return inputs[past], calendar[future], load[future]


class LoadForecaster(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.lstm = nn.LSTM(4, hidden, batch_first=True)
        self.head = nn.Sequential(
            nn.Linear(hidden + HORIZON * 3, 128), nn.ReLU(), nn.Linear(128, HORIZON)
        )

    def forward(self, past, known):
        _, (h, _) = self.lstm(past)
        return self.head(torch.cat([h[-1], known.flatten(1)], dim=1))


model = LoadForecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)


@torch.no_grad()
def evaluate(which):
    model.eval()
    error = 0.0
    for begin in which.split(256):
        past, known, target = get_batch(begin)
        error += (model(past, known) - target).abs().mean(dim=1).sum().item()
    return error / len(which)


best_error, best_state, bad_epochs, patience = float("inf"), None, 0, 6
for epoch in range(24):
    model.train()
    for begin in train_starts[torch.randperm(len(train_starts))].split(BATCH):
        past, known, target = get_batch(begin)
        loss = F.l1_loss(model(past, known), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    error = evaluate(valid_starts)
    if error < best_error:
        best_error, bad_epochs = error, 0
        best_state = copy.deepcopy(model.state_dict())
    else:
        bad_epochs += 1
    print(f"epoch {epoch:2d} valid mae {error:.3f} best {best_error:.3f}")
    if bad_epochs >= patience:
        break

model.load_state_dict(best_state)
naive = (load[CONTEXT:] - load[:-CONTEXT])[: len(load) - CONTEXT].abs().mean().item()
print(f"test mae {evaluate(test_starts):.3f}, three-day persistence {naive:.3f}")
'''
