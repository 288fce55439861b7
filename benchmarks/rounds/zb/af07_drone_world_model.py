NAME = "Learns a planar-drone dynamics model from logged flights and checks it with long open-loop rollouts."
FAULT = "The validation rollouts run with autograd on and their losses are summed as tensors, so the graphs of all rollouts (activations of every time step) stay alive until the end of validation."
CURE = "Decorate the validation function with torch.no_grad() (or sum loss.item() under no_grad)."
KIND = "memory"
FAULT_LINES = [
    "def validate(model, flights, horizon):",
    "        total = total + err.mean() * len(s)",
    "        for t in range(horizon):",
    "            s = model(s, act[:, t])",
    "    return (total / n).item(), (final / n).item()",
]
FAULT_CALLS = ["validate", "linear", "addmm", "silu", "forward", "cat"]
FAULTY = r'''import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(42)

DT, G = 0.02, 9.81


def fly(n, steps, gen):
    """Planar quadrotor (x, z, pitch and rates) under smooth random thrust commands."""
    knots = torch.randn(n, 2, steps // 10 + 2, generator=gen)
    cmd = nn.functional.interpolate(knots, size=steps, mode="linear", align_corners=True).transpose(1, 2)
    s = torch.zeros(n, 6)
    s[:, :3] = 0.3 * torch.randn(n, 3, generator=gen)
    states = [s]
    for t in range(steps):
        x, z, th, vx, vz, om = s.unbind(1)
        lift = G + 2.0 * cmd[:, t, 0]
        drag = 0.25
        acc = torch.stack([-lift * th.sin() - drag * vx * vx.abs(),
                           lift * th.cos() - G - drag * vz * vz.abs(),
                           6.0 * cmd[:, t, 1] - 8.0 * th - 3.0 * om], 1)
        v = s[:, 3:] + DT * acc
        s = torch.cat([s[:, :3] + DT * v, v], 1)
        states.append(s)
    return torch.stack(states, 1), cmd


class Dynamics(nn.Module):
    def __init__(self, hidden=128):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, hidden), nn.SiLU(),
                                 nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, 3))

    def forward(self, s, a):
        # position does not enter the forces
        acc = self.net(torch.cat([s[:, 2:], a], 1)) * 5.0
        v = s[:, 3:] + DT * acc
        return torch.cat([s[:, :3] + DT * v, v], 1)


gen = torch.Generator().manual_seed(1)
train_s, train_a = fly(400, 150, gen)
val_s, val_a = fly(1600, 150, gen)
val_flights = list(zip(val_s.split(200), val_a.split(200)))
print("train", tuple(train_s.shape), "val", tuple(val_s.shape))


def train_epoch(model, opt, window=8, batches=60, bs=256):
    model.train()
    log = []
    for _ in range(batches):
        i = torch.randint(0, len(train_s), (bs,))
        t0 = torch.randint(0, train_a.shape[1] - window, (bs,))
        s, loss = train_s[i, t0], 0.0
        for k in range(window):
            s = model(s, train_a[i, t0 + k])
            loss = loss + (s - train_s[i, t0 + k + 1]).pow(2).sum(1).mean() * 100
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        opt.step()
        log.append(loss.item() / window)
    return float(np.mean(log))


def validate(model, flights, horizon):
    model.eval()
    total, final, n = 0.0, 0.0, 0
    for ref, act in flights:
        s, err = ref[:, 0], 0.0
        for t in range(horizon):
            s = model(s, act[:, t])
            err = err + (s[:, :2] - ref[:, t + 1, :2]).norm(dim=1) / horizon
        total = total + err.mean() * len(s)
        final = final + (s[:, :2] - ref[:, horizon, :2]).norm(dim=1).mean() * len(s)
        n += len(s)
    return (total / n).item(), (final / n).item()


model = Dynamics()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.85)
for epoch in range(10):
    loss = train_epoch(model, opt)
    sched.step()
    if epoch % 2:
        mean_err, end_err = validate(model, val_flights, horizon=150)
        print(f"epoch {epoch + 1:2d}  loss {loss:.4f}  3 s rollout: mean error {mean_err:.3f} m, final {end_err:.3f} m")
'''
CURED = FAULTY.replace("def validate(", "@torch.no_grad()\ndef validate(")
