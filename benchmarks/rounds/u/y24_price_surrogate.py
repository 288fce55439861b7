NAME = 'Trains a surrogate model of a tabular pricing function on both its values and its slopes, and reports the slope error.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'The loss contains the input gradient, so its graph must be created and differentiated again, and the evaluation needs gradients of the inputs to report slopes.'

GOOD = r'''
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(41)

N_TRAIN, N_TEST, DIM, WIDTH = 16_000, 2000, 12, 256
BATCH, EPOCHS, SLOPE_WEIGHT = 200, 12, 0.5

mix = torch.randn(DIM, 6) / DIM ** 0.5
pay = torch.randn(6)


def price(x):
    """The slow pricing function that the surrogate imitates."""
    z = x @ mix
    return (torch.nn.functional.softplus(2 * z) * pay).sum(-1) + torch.sin(z[:, 0] * z[:, 1])


def with_slopes(n):
    x = torch.randn(n, DIM, requires_grad=True)
    y = price(x)
    dy, = torch.autograd.grad(y.sum(), x)
    return x.detach(), y.detach(), dy


x_train, y_train, d_train = with_slopes(N_TRAIN)
x_test, y_test, d_test = with_slopes(N_TEST)
y_mean, y_std = y_train.mean(), y_train.std()
y_train, d_train = (y_train - y_mean) / y_std, d_train / y_std
y_test, d_test = (y_test - y_mean) / y_std, d_test / y_std


class Surrogate(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(DIM, WIDTH), nn.Softplus(),
            nn.Linear(WIDTH, WIDTH), nn.Softplus(),
            nn.Linear(WIDTH, WIDTH), nn.Softplus(),
            nn.Linear(WIDTH, 1),
        )

    def forward(self, x):
        return self.net(x).squeeze(-1)

    def value_and_slope(self, x, create_graph):
        x = x.requires_grad_(True)
        y = self(x)
        dy, = torch.autograd.grad(y.sum(), x, create_graph=create_graph)
        return y, dy


model = Surrogate()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, EPOCHS)

for epoch in range(1, EPOCHS + 1):
    model.train()
    value_sum = slope_sum = 0.0
    for idx in torch.randperm(N_TRAIN).split(BATCH):
        y, dy = model.value_and_slope(x_train[idx], create_graph=True)
        value_loss = (y - y_train[idx]).square().mean()
        slope_loss = (dy - d_train[idx]).square().sum(1).mean()
        loss = value_loss + SLOPE_WEIGHT * slope_loss
        opt.zero_grad()
        loss.backward()
        opt.step()
        value_sum += value_loss.item() * len(idx)
        slope_sum += slope_loss.item() * len(idx)
    sched.step()

    if epoch % 3 == 0:
        model.eval()
        v_err, s_err = 0.0, 0.0
        for xb, yb, db in zip(x_test.split(500), y_test.split(500), d_test.split(500)):
            y, dy = model.value_and_slope(xb.clone(), create_graph=False)
            v_err += (y.detach() - yb).square().sum().item()
            s_err += (dy - db).square().sum().item()
        print(f"epoch {epoch:2d}  train value {value_sum / N_TRAIN:.4f} slope {slope_sum / N_TRAIN:.4f}  "
              f"test value {v_err / N_TEST:.4f} slope {s_err / N_TEST:.4f}")
'''
