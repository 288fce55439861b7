NAME = 'Fits a full-batch one-hidden-layer regressor of odour strength with L-BFGS and strong Wolfe line search.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'The closure evaluates the whole data set many times per step, but the line search needs every value and gradient, and large matrix products fill the time.'
GOOD = r"""
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(55)

n, d, h = 8000, 400, 400
X = torch.randn(n, d)
w = torch.randn(d, 3) / d ** 0.5
y = torch.tanh(X @ w[:, :1]) + 0.5 * (X @ w[:, 1:2]) * (X @ w[:, 2:3]) + 0.05 * torch.randn(n, 1)
Xv, yv = X[7000:], y[7000:]
Xt, yt = X[:7000], y[:7000]

net = nn.Sequential(nn.Linear(d, h), nn.Tanh(), nn.Linear(h, h), nn.Tanh(), nn.Linear(h, 1))
opt = torch.optim.LBFGS(net.parameters(), lr=1.0, max_iter=6, history_size=5, line_search_fn='strong_wolfe')
calls = 0


def closure():
    global calls
    calls += 1
    opt.zero_grad()
    loss = nn.functional.mse_loss(net(Xt), yt)
    for p in net.parameters():
        loss = loss + 1e-5 * p.pow(2).sum()
    loss.backward()
    return loss


for outer in range(6):
    loss = opt.step(closure)
    with torch.no_grad():
        val = nn.functional.mse_loss(net(Xv), yv)
    print(f'round {outer + 1}: train {loss.item():.3f}  val {val.item():.3f}  closure calls {calls}')
"""
