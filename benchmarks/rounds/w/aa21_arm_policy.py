NAME = "Trains a reaching policy for a two-link arm by back-propagation through a simulated rollout."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS = "A Python loop over time calls the policy and the small dynamics step by step, and the states are collected in a list with their graphs: each step needs the state before it, the batch of 1024 arms makes the calls large, and the graphs are needed because the loss is propagated back through the whole rollout."
GOOD = r'''
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(1)

L1, L2, M1, M2, DT, HORIZON, BATCH = 1.0, 0.8, 1.0, 0.7, 0.05, 40, 1024
A = (M1 + M2) * L1 ** 2
B = M2 * L2 ** 2
C = M2 * L1 * L2
DAMP = 0.6


def arm_accel(q1, q2, w1, w2, tau):
    """Forward dynamics of a planar two-link arm without gravity (closed-form 2x2 solve)."""
    cc = C * torch.cos(q2)
    s = C * torch.sin(q2)
    m11, m12 = A + B + 2 * cc, B + cc
    r1 = tau[:, 0] + s * w2 * (2 * w1 + w2) - DAMP * w1
    r2 = tau[:, 1] - s * w1 * w1 - DAMP * w2
    det = m11 * B - m12 * m12
    return (B * r1 - m12 * r2) / det, (m11 * r2 - m12 * r1) / det


def hand(q1, q2):
    q12 = q1 + q2
    return L1 * torch.cos(q1) + L2 * torch.cos(q12), L1 * torch.sin(q1) + L2 * torch.sin(q12)


class Policy(nn.Module):
    def __init__(self, hidden=128, max_torque=4.0):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, hidden), nn.Tanh(),
                                 nn.Linear(hidden, hidden), nn.Tanh(),
                                 nn.Linear(hidden, 2))
        self.max_torque = max_torque

    def forward(self, obs):
        return self.max_torque * torch.tanh(self.net(obs))


def sample_task(n):
    q1 = torch.rand(n) * 2.0 - 1.0
    q2 = torch.rand(n) * 1.5 + 0.3
    g1, g2 = torch.rand(n) * 2.0 - 1.0, torch.rand(n) * 1.5 + 0.3
    return q1, q2, *hand(g1, g2)


def rollout(policy, n):
    q1, q2, gx, gy = sample_task(n)
    w1, w2 = torch.zeros(n), torch.zeros(n)
    dists, efforts = [], []
    for t in range(HORIZON):
        tau = policy(torch.stack([q1, q2, w1, w2, gx, gy], dim=1))
        a1, a2 = arm_accel(q1, q2, w1, w2, tau)
        w1, w2 = w1 + DT * a1, w2 + DT * a2
        q1, q2 = q1 + DT * w1, q2 + DT * w2
        x, y = hand(q1, q2)
        dists.append((x - gx) ** 2 + (y - gy) ** 2)
        efforts.append(tau)
    dist = torch.stack(dists)
    effort = torch.stack(efforts).pow(2).mean()
    return dist, effort


policy = Policy()
opt = torch.optim.Adam(policy.parameters(), lr=4e-3)
log = []
for it in range(60):
    dist, effort = rollout(policy, BATCH)
    loss = dist.mean() + 2.0 * dist[-1].mean() + 1e-3 * effort
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    opt.step()
    log.append(loss.item())
    if (it + 1) % 20 == 0:
        print(f"iter {it + 1:3d}  loss {sum(log[-20:]) / 20:.4f}  effort {effort.item():.3f}")

with torch.no_grad():
    dist, effort = rollout(policy, 4 * BATCH)
final = dist[-1].sqrt()
print(f"median end error {final.median().item() * 100:.1f} cm, within 10 cm: {(final < 0.1).float().mean().item():.3f}")
'''
