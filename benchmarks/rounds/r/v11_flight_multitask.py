NAME = 'Trains a shared-trunk tabular network for three flight targets (delay, fuel, cancellation) with task weights.'
FAULT = 'backward is called once per task with retain_graph, so the shared trunk is traversed three times per step.'
CURE = 'Sum the weighted losses and call backward once.'
KIND = 'time'
FAULT_LINES = ['for name, task_loss in losses.items():', '(WEIGHTS[name] * task_loss).backward(retain_graph=True)']
FAULT_CALLS = ['backward', 'run_backward', 'addmm', 'mm', 'AddmmBackward0', 'native_layer_norm_backward']

FAULTY = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(17)

N_ROWS, N_NUM, CARRIERS, AIRPORTS = 24000, 30, 12, 200
WEIGHTS = {"delay": 1.0, "fuel": 0.5, "cancel": 2.0}


def flights(n, world):
    num = torch.randn(n, N_NUM)
    carrier = torch.randint(0, CARRIERS, (n,))
    route = torch.randint(0, AIRPORTS, (n, 2))
    signal = torch.tanh(num @ world["mix"]) + world["carrier"][carrier] + world["airport"][route].sum(1)
    delay = signal[:, 0] * signal[:, 1] + 0.3 * torch.randn(n)
    fuel = signal[:, 2] + 0.5 * num[:, 0].abs() + 0.2 * torch.randn(n)
    cancel = (signal[:, 3] + 0.5 * torch.randn(n) > 1.0).float()
    return {"num": num, "carrier": carrier, "route": route}, {"delay": delay, "fuel": fuel, "cancel": cancel}


world = {
    "mix": torch.randn(N_NUM, 4) / N_NUM ** 0.5,
    "carrier": 0.3 * torch.randn(CARRIERS, 4),
    "airport": 0.3 * torch.randn(AIRPORTS, 4),
}
train_x, train_y = flights(N_ROWS, world)
test_x, test_y = flights(3000, world)


class FlightNet(nn.Module):
    def __init__(self, hidden=640):
        super().__init__()
        self.carrier = nn.Embedding(CARRIERS, 8)
        self.airport = nn.Embedding(AIRPORTS, 16)
        self.trunk = nn.Sequential(
            nn.Linear(N_NUM + 8 + 32, hidden), nn.ReLU(), nn.LayerNorm(hidden),
            nn.Linear(hidden, hidden), nn.ReLU(), nn.LayerNorm(hidden),
            nn.Linear(hidden, hidden), nn.ReLU())
        self.heads = nn.ModuleDict({name: nn.Linear(hidden, 1) for name in WEIGHTS})

    def forward(self, batch):
        cats = [self.carrier(batch["carrier"]), self.airport(batch["route"]).flatten(1)]
        h = self.trunk(torch.cat([batch["num"], *cats], dim=1))
        return {name: head(h).squeeze(1) for name, head in self.heads.items()}


def task_losses(pred, target):
    return {
        "delay": F.smooth_l1_loss(pred["delay"], target["delay"]),
        "fuel": F.mse_loss(pred["fuel"], target["fuel"]),
        "cancel": F.binary_cross_entropy_with_logits(pred["cancel"], target["cancel"]),
    }


def take(columns, idx):
    return {key: col[idx] for key, col in columns.items()}


model = FlightNet()
opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)

for epoch in range(4):
    model.train()
    sums = dict.fromkeys(WEIGHTS, 0.0)
    for idx in torch.randperm(N_ROWS).split(256):
        losses = task_losses(model(take(train_x, idx)), take(train_y, idx))
        opt.zero_grad()
        for name, task_loss in losses.items():
            (WEIGHTS[name] * task_loss).backward(retain_graph=True)
        opt.step()
        for name in WEIGHTS:
            sums[name] += losses[name].item() * len(idx)
    model.eval()
    with torch.no_grad():
        test = task_losses(model(test_x), test_y)
    print(f"epoch {epoch}: " + ", ".join(f"{k} {sums[k] / N_ROWS:.2f}/{test[k].item():.1f}" for k in WEIGHTS))
'''

CURED = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(17)

N_ROWS, N_NUM, CARRIERS, AIRPORTS = 24000, 30, 12, 200
WEIGHTS = {"delay": 1.0, "fuel": 0.5, "cancel": 2.0}


def flights(n, world):
    num = torch.randn(n, N_NUM)
    carrier = torch.randint(0, CARRIERS, (n,))
    route = torch.randint(0, AIRPORTS, (n, 2))
    signal = torch.tanh(num @ world["mix"]) + world["carrier"][carrier] + world["airport"][route].sum(1)
    delay = signal[:, 0] * signal[:, 1] + 0.3 * torch.randn(n)
    fuel = signal[:, 2] + 0.5 * num[:, 0].abs() + 0.2 * torch.randn(n)
    cancel = (signal[:, 3] + 0.5 * torch.randn(n) > 1.0).float()
    return {"num": num, "carrier": carrier, "route": route}, {"delay": delay, "fuel": fuel, "cancel": cancel}


world = {
    "mix": torch.randn(N_NUM, 4) / N_NUM ** 0.5,
    "carrier": 0.3 * torch.randn(CARRIERS, 4),
    "airport": 0.3 * torch.randn(AIRPORTS, 4),
}
train_x, train_y = flights(N_ROWS, world)
test_x, test_y = flights(3000, world)


class FlightNet(nn.Module):
    def __init__(self, hidden=640):
        super().__init__()
        self.carrier = nn.Embedding(CARRIERS, 8)
        self.airport = nn.Embedding(AIRPORTS, 16)
        self.trunk = nn.Sequential(
            nn.Linear(N_NUM + 8 + 32, hidden), nn.ReLU(), nn.LayerNorm(hidden),
            nn.Linear(hidden, hidden), nn.ReLU(), nn.LayerNorm(hidden),
            nn.Linear(hidden, hidden), nn.ReLU())
        self.heads = nn.ModuleDict({name: nn.Linear(hidden, 1) for name in WEIGHTS})

    def forward(self, batch):
        cats = [self.carrier(batch["carrier"]), self.airport(batch["route"]).flatten(1)]
        h = self.trunk(torch.cat([batch["num"], *cats], dim=1))
        return {name: head(h).squeeze(1) for name, head in self.heads.items()}


def task_losses(pred, target):
    return {
        "delay": F.smooth_l1_loss(pred["delay"], target["delay"]),
        "fuel": F.mse_loss(pred["fuel"], target["fuel"]),
        "cancel": F.binary_cross_entropy_with_logits(pred["cancel"], target["cancel"]),
    }


def take(columns, idx):
    return {key: col[idx] for key, col in columns.items()}


model = FlightNet()
opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)

for epoch in range(4):
    model.train()
    sums = dict.fromkeys(WEIGHTS, 0.0)
    for idx in torch.randperm(N_ROWS).split(256):
        losses = task_losses(model(take(train_x, idx)), take(train_y, idx))
        opt.zero_grad()
        sum(WEIGHTS[name] * task_loss for name, task_loss in losses.items()).backward()
        opt.step()
        for name in WEIGHTS:
            sums[name] += losses[name].item() * len(idx)
    model.eval()
    with torch.no_grad():
        test = task_losses(model(test_x), test_y)
    print(f"epoch {epoch}: " + ", ".join(f"{k} {sums[k] / N_ROWS:.2f}/{test[k].item():.1f}" for k in WEIGHTS))
'''
