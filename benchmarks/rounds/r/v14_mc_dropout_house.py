NAME = 'Trains a dropout regressor on made-up house prices and estimates predictive uncertainty with Monte Carlo dropout.'
FAULT = 'The Monte Carlo passes run with gradients enabled, so every stored draw keeps its whole graph and all activations alive until the draws are stacked.'
CURE = 'Run the Monte Carlo passes under torch.no_grad().'
KIND = 'memory'
FAULT_LINES = ['draws.append(model(x))', 'draws = torch.stack(draws)', 'for _ in range(passes):']
FAULT_CALLS = ['append', 'mc_predict', 'linear', 'Linear', 'relu', 'ReLU', 'dropout', 'Dropout', 'forward', 'addmm']

FAULTY = r'''
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(41)

N_TRAIN, N_TEST, FEATURES, PASSES = 12000, 1500, 24, 30


def houses(n, shift=0.0):
    x = torch.randn(n, FEATURES) + shift
    area = torch.nn.functional.softplus(x[:, 0] + 1)
    location = torch.sin(1.5 * x[:, 1]) + 0.5 * x[:, 2] * x[:, 3]
    age = 0.3 * x[:, 4].abs()
    noise = 0.1 * (1 + x[:, 5].abs()) * torch.randn(n)
    return x, 1.2 * area + location - age + noise


class PriceNet(nn.Module):
    def __init__(self, hidden=512, p=0.15):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(FEATURES, hidden), nn.ReLU(), nn.Dropout(p),
            nn.Linear(hidden, hidden), nn.ReLU(), nn.Dropout(p),
            nn.Linear(hidden, hidden), nn.ReLU(), nn.Dropout(p),
            nn.Linear(hidden, 1))

    def forward(self, x):
        return self.body(x).squeeze(1)


def train(model, x, y, epochs):
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-2)
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for idx in torch.randperm(len(x)).split(128):
            loss = nn.functional.mse_loss(model(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        print(f"epoch {epoch}: mse {total / len(x):.4f}")


def mc_predict(model, x, passes):
    model.train()
    draws = []
    for _ in range(passes):
        draws.append(model(x))
    draws = torch.stack(draws)
    return draws.mean(0).detach(), draws.std(0).detach()


def report(name, mean, std, y):
    error = (mean - y).abs()
    order = std.argsort()
    third = len(y) // 3
    sure, unsure = error[order[:third]].mean().item(), error[order[-third:]].mean().item()
    print(f"{name}: MAE {error.mean().item():.4f}, spread {std.mean().item():.4f}, "
          f"MAE of the surest third {sure:.4f}, of the least sure {unsure:.4f}")


x_train, y_train = houses(N_TRAIN)
x_test, y_test = houses(N_TEST)
x_far, y_far = houses(N_TEST, shift=1.0)

model = PriceNet()
train(model, x_train, y_train, epochs=6)

mean, std = mc_predict(model, x_test, PASSES)
report("in distribution", mean, std, y_test)
mean, std = mc_predict(model, x_far, PASSES)
report("shifted", mean, std, y_far)
'''

CURED = r'''
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(41)

N_TRAIN, N_TEST, FEATURES, PASSES = 12000, 1500, 24, 30


def houses(n, shift=0.0):
    x = torch.randn(n, FEATURES) + shift
    area = torch.nn.functional.softplus(x[:, 0] + 1)
    location = torch.sin(1.5 * x[:, 1]) + 0.5 * x[:, 2] * x[:, 3]
    age = 0.3 * x[:, 4].abs()
    noise = 0.1 * (1 + x[:, 5].abs()) * torch.randn(n)
    return x, 1.2 * area + location - age + noise


class PriceNet(nn.Module):
    def __init__(self, hidden=512, p=0.15):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(FEATURES, hidden), nn.ReLU(), nn.Dropout(p),
            nn.Linear(hidden, hidden), nn.ReLU(), nn.Dropout(p),
            nn.Linear(hidden, hidden), nn.ReLU(), nn.Dropout(p),
            nn.Linear(hidden, 1))

    def forward(self, x):
        return self.body(x).squeeze(1)


def train(model, x, y, epochs):
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-2)
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for idx in torch.randperm(len(x)).split(128):
            loss = nn.functional.mse_loss(model(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        print(f"epoch {epoch}: mse {total / len(x):.4f}")


def mc_predict(model, x, passes):
    model.train()
    draws = []
    with torch.no_grad():
        for _ in range(passes):
            draws.append(model(x))
        draws = torch.stack(draws)
    return draws.mean(0).detach(), draws.std(0).detach()


def report(name, mean, std, y):
    error = (mean - y).abs()
    order = std.argsort()
    third = len(y) // 3
    sure, unsure = error[order[:third]].mean().item(), error[order[-third:]].mean().item()
    print(f"{name}: MAE {error.mean().item():.4f}, spread {std.mean().item():.4f}, "
          f"MAE of the surest third {sure:.4f}, of the least sure {unsure:.4f}")


x_train, y_train = houses(N_TRAIN)
x_test, y_test = houses(N_TEST)
x_far, y_far = houses(N_TEST, shift=1.0)

model = PriceNet()
train(model, x_train, y_train, epochs=6)

mean, std = mc_predict(model, x_test, PASSES)
report("in distribution", mean, std, y_test)
mean, std = mc_predict(model, x_far, PASSES)
report("shifted", mean, std, y_far)
'''
