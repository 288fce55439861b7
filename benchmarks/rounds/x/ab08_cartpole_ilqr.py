NAME = "Learns cart-pole dynamics with an MLP and swings towards upright with iLQR, linearising the learned dynamics along each trajectory."
FAULT = "torch.autograd.functional.jacobian of the batched dynamics computes the T x T block Jacobian (T times too many backward passes) of which only the diagonal blocks are used."
CURE = "Take the Jacobian of the output summed over the batch (or use vmap(jacrev)), which gives the diagonal blocks with one backward pass per state component."
KIND = "time"
FAULT_LINES = [
    "J = jacobian(dyn, z)",
    "J = torch.einsum(\"tatb->tab\", J)",
    "A, B = linearise(xs[:-1], us)",
]
FAULT_CALLS = ["jacobian", "linearise", "_autograd_grad", "grad", "_engine_run_backward", "run_backward", "backward"]
FAULTY = r'''
import math
import torch
from torch import nn
from torch.autograd.functional import jacobian

torch.set_num_threads(1)
torch.manual_seed(2)

DT, T, NX, NU = 0.05, 50, 4, 1


def cartpole(x, u):
    """True plant: cart position, pole angle (0 = upright) and their rates."""
    p, th, v, w = x.unbind(-1)
    f = 10 * u[..., 0]
    s, c = th.sin(), th.cos()
    tmp = (f + 0.05 * w ** 2 * s) / 1.1
    dw = (9.8 * s - c * tmp) / (0.5 * (4 / 3 - 0.1 * c ** 2 / 1.1))
    dv = tmp - 0.05 * dw * c / 1.1
    return x + DT * torch.stack([v, w, dv, dw], -1)


class Dynamics(nn.Module):
    def __init__(self, h=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(NX + 1 + NU, h), nn.Tanh(), nn.Linear(h, h), nn.Tanh(), nn.Linear(h, NX))

    def forward(self, z):
        x = z[..., :NX]
        feats = torch.cat([x[..., 1:2].sin(), x[..., 1:2].cos(), x[..., 2:], z[..., NX:], x[..., :1]], -1)
        return x + DT * self.net(feats)


dyn = Dynamics()
opt = torch.optim.Adam(dyn.parameters(), lr=3e-3)
X = torch.randn(4096, NX) * torch.tensor([1.0, 1.0, 1.5, 2.5])
U = torch.rand(4096, NU) * 2 - 1
Y = cartpole(X, U)
Z = torch.cat([X, U], -1)
for step in range(1000):
    idx = torch.randint(0, len(Z), (512,))
    loss = ((dyn(Z[idx]) - Y[idx]) / DT).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"dynamics fit: {loss.item():.4f}")

Q = torch.diag(torch.tensor([0.5, 4.0, 0.1, 0.2]))
QF, R = 10 * Q, 0.05 * torch.eye(NU)
Q2, R2 = 2 * Q, 2 * R


def total_cost(xs, us):
    run = torch.einsum("ti,ij,tj->", xs[:-1], Q, xs[:-1]) + R[0, 0] * us.pow(2).sum()
    return (run + xs[-1] @ QF @ xs[-1]).item()


@torch.no_grad()
def rollout(x0, us, xs_ref=None, K=None, k=None, alpha=1.0):
    xs, new_us = [x0], []
    for t in range(T):
        u = us[t]
        if K is not None:
            u = (u + alpha * k[t] + K[t] @ (xs[-1] - xs_ref[t])).clamp(-1, 1)
        new_us.append(u)
        xs.append(dyn(torch.cat([xs[-1], u])))
    return torch.stack(xs), torch.stack(new_us)


def linearise(xs, us):
    z = torch.cat([xs, us], -1)
    J = jacobian(dyn, z)
    J = torch.einsum("tatb->tab", J)
    return J[..., :NX], J[..., NX:]


def backward_pass(xs, us, A, B, mu=1e-3):
    Vx, Vxx = 2 * QF @ xs[-1], 2 * QF
    K, k = [None] * T, [None] * T
    for t in reversed(range(T)):
        Qx, Qu = Q2 @ xs[t] + A[t].T @ Vx, R2 @ us[t] + B[t].T @ Vx
        VA, VB = Vxx @ A[t], Vxx @ B[t]
        Qxx, Qux, Quu = Q2 + A[t].T @ VA, B[t].T @ VA, R2 + B[t].T @ VB + mu
        K[t], k[t] = -Qux / Quu, -Qu / Quu[0]
        Vx, Vxx = Qx + K[t].T @ Qu, Qxx + K[t].T @ Qux
    return K, k


for start in range(14):
    x0 = torch.tensor([0.4 * math.sin(start), 0.2 + 0.04 * start, 0.0, 0.0])
    xs, us = rollout(x0, torch.zeros(T, NU))
    cost = first = total_cost(xs, us)
    for it in range(12):
        A, B = linearise(xs[:-1], us)
        K, k = backward_pass(xs, us, A, B)
        for alpha in (1.0, 0.5, 0.25, 0.1):
            cand_xs, cand_us = rollout(x0, us, xs, K, k, alpha)
            c = total_cost(cand_xs, cand_us)
            if c < cost:
                xs, us, cost = cand_xs, cand_us, c
                break
        else:
            break
    if start % 3 == 0:
        print(f"start {start}: cost {first:.0f} -> {cost:.1f}  final angle {xs[-1, 1]:.2f}")
'''
CURED = (FAULTY.replace("J = jacobian(dyn, z)", "J = jacobian(lambda q: dyn(q).sum(0), z)")
               .replace('J = torch.einsum("tatb->tab", J)', "J = J.transpose(0, 1)"))
