# Looks suspicious: the loss over all data is evaluated several times per iteration, with gradient recording on although a trial may be thrown away, with an .item()
# for each, and the parameters are copied in every iteration.
# Right: Armijo needs the loss at each trial step, and the trial that is accepted is used for the next backward: under no_grad its forward would have to be done again (slower).
# The copy of the parameters (start of the line) is needed to step back, and is a few parameter-sized copies against 5000-row forwards (not measured by itself). no_grad trials plus a repeated forward: measured, some 30% slower.

NAME = 'Fits a neural regression by full-batch gradient descent with Armijo backtracking line search.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r"""
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(6)

n, d = 5000, 30
X = torch.randn(n, d)
y = torch.sin(X[:, 0] * 2) + X[:, 1] * X[:, 2] + 0.3 * X[:, 3:8].abs().sum(1) + 0.1 * torch.randn(n)
y = (y - y.mean()) / y.std()

net = nn.Sequential(nn.Linear(d, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 1))
params = list(net.parameters())


def objective():
    return nn.functional.mse_loss(net(X).squeeze(-1), y) + 1e-5 * sum(p.pow(2).sum() for p in params)


step, c1 = 1.0, 1e-4
loss = objective()
value = loss.item()
n_eval = 1
for it in range(800):
    grads = torch.autograd.grad(loss, params)
    slope = -sum(g.pow(2).sum() for g in grads).item()
    start = [p.detach().clone() for p in params]

    step = min(step * 1.6, 20.0)
    while True:
        with torch.no_grad():
            for p, s, g in zip(params, start, grads):
                p.copy_(s - step * g)
        loss = objective()              # graph is used by the next iteration
        trial = loss.item()
        n_eval += 1
        if trial <= value + c1 * step * slope or step < 1e-8:
            break
        step *= 0.5
    value = trial
    if it % 100 == 0:
        print(f"{it:4d}  f {value:.5f}  step {step:.4f}  evaluations {n_eval}")
print("final objective", round(value, 5), "evaluations", n_eval)
"""
