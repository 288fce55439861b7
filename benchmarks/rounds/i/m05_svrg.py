# Looks suspicious: the model is deep-copied each epoch, the whole training set is passed through forward and backward before each epoch, and each batch
# goes through two models with two backward passes.
# Right: that is SVRG: the control variate needs the snapshot's gradient on the same batch and the full gradient at the snapshot. Dropping any of them is plain SGD
# (or, with a stored table, SAGA). One deepcopy per epoch: replacing it by load_state_dict was measured, no gain beyond noise.

NAME = 'Compares the loss of an SVRG-trained classifier over epochs (variance-reduced SGD with a snapshot model and a full gradient per epoch).'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r"""
import copy
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(7)

N, D, C = 12000, 200, 10
X = torch.randn(N, D)
teacher = nn.Sequential(nn.Linear(D, 64), nn.Tanh(), nn.Linear(64, C))
with torch.no_grad():
    Y = (3 * teacher(X)).argmax(1)

model = nn.Sequential(nn.Linear(D, 256), nn.Tanh(), nn.Linear(256, C))
crit = nn.CrossEntropyLoss()
lr, bs = 0.08, 200


def grads(net, xb, yb):
    loss = crit(net(xb), yb)
    return loss, torch.autograd.grad(loss, list(net.parameters()))


history = []
for epoch in range(64):
    anchor = copy.deepcopy(model)

    # full gradient at the anchor point
    mu = [torch.zeros_like(p) for p in anchor.parameters()]
    full_loss = 0.0
    for xb, yb in zip(X.split(2000), Y.split(2000)):
        loss, g = grads(anchor, xb, yb)
        w = len(xb) / N
        full_loss += w * loss.item()
        for m, gi in zip(mu, g):
            m.add_(gi, alpha=w)

    perm = torch.randperm(N)
    for idx in perm.split(bs):
        xb, yb = X[idx], Y[idx]
        _, g_new = grads(model, xb, yb)
        _, g_old = grads(anchor, xb, yb)
        with torch.no_grad():
            for p, a, b, m in zip(model.parameters(), g_new, g_old, mu):
                p.sub_(lr * (a - b + m))
    history.append(full_loss)
    if epoch % 10 == 0:
        print(f"epoch {epoch:2d}  full loss {full_loss:.4f}")

print("history:", [round(h, 4) for h in history[-3:]])
"""
