NAME = 'Fits a dropout network for the energy use of buildings and estimates its uncertainty by Monte Carlo dropout.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'The repeated passes over the same inputs with dropout switched on are the method: each draws another mask from the first layer on, so nothing can be shared, and a bigger batch is no faster on one core.'

GOOD = r'''import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(2)

N_TRAIN, N_CALIB, N_TEST, N_INPUTS = 8000, 2000, 2000, 24
PASSES = 100


def make_buildings(n, spread=1.0):
    x = spread * torch.randn(n, N_INPUTS)
    y = (
        2.0 * torch.tanh(x[:, 0] + x[:, 1])
        + x[:, 2] * torch.sigmoid(2 * x[:, 3])
        + 0.5 * x[:, 4:8].abs().sum(1)
        + 0.3 * torch.randn(n)
    )
    return x, y


class DropoutNet(nn.Module):
    def __init__(self, width=256, p=0.1):
        super().__init__()
        self.body = nn.Sequential(
            nn.Dropout(p / 4),
            nn.Linear(N_INPUTS, width), nn.ReLU(), nn.Dropout(p),
            nn.Linear(width, width), nn.ReLU(), nn.Dropout(p),
            nn.Linear(width, 2),
        )

    def forward(self, x):
        mean, log_var = self.body(x).unbind(dim=1)
        return mean, log_var.clamp(-6, 4)


def gaussian_nll(mean, log_var, y):
    return 0.5 * (log_var + (y - mean).pow(2) * (-log_var).exp()).mean()


@torch.no_grad()
def mc_predict(model, x, passes):
    model.train()
    mean_sum = torch.zeros(len(x))
    square_sum = torch.zeros(len(x))
    noise_sum = torch.zeros(len(x))
    for _ in range(passes):
        mean, log_var = model(x)
        mean_sum += mean
        square_sum += mean.pow(2)
        noise_sum += log_var.exp()
    mean = mean_sum / passes
    epistemic = (square_sum / passes - mean.pow(2)).clamp(min=0)
    return mean, epistemic, noise_sum / passes


x_train, y_train = make_buildings(N_TRAIN)
x_calib, y_calib = make_buildings(N_CALIB)
x_test, y_test = make_buildings(N_TEST)
x_far, y_far = make_buildings(N_TEST, spread=2.5)

model = DropoutNet()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-4)
for epoch in range(12):
    model.train()
    total = 0.0
    for idx in torch.randperm(N_TRAIN).split(200):
        mean, log_var = model(x_train[idx])
        loss = gaussian_nll(mean, log_var, y_train[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(idx)
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1}: nll {total / N_TRAIN:.3f}")

mean, epistemic, noise = mc_predict(model, x_calib, PASSES)
z = (y_calib - mean).abs() / (epistemic + noise).sqrt()
factor = z.quantile(0.9).item()
print(f"factor for 90% intervals: {factor:.3f}")

for label, x, y in (("test", x_test, y_test), ("shifted", x_far, y_far)):
    mean, epistemic, noise = mc_predict(model, x, PASSES)
    sd = (epistemic + noise).sqrt()
    covered = ((y - mean).abs() < factor * sd).float().mean().item()
    rmse = (y - mean).pow(2).mean().sqrt().item()
    print(
        f"{label}: rmse {rmse:.3f} coverage {covered:.3f} "
        f"model sd {epistemic.mean().sqrt().item():.3f} noise sd {noise.mean().sqrt().item():.3f}"
    )
'''
