NAME = "An autoencoder learns normal network flows and then scores a stream of flow windows for intrusions against a drifting threshold, with a short refit now and then."
FAULT = "The scores in the stream are computed with autograd on and flow into a running mean, which thereby holds the graphs (with activations) of all windows so far."
CURE = "Score under torch.no_grad()."
KIND = "memory"
FAULT_LINES = ["err = reconstruction_error(flows)", "level = 0.95 * level + 0.05 * err.median()", "spread = 0.95 * spread + 0.05 * (err - level).abs().median()", "return (model(x) - x).pow(2).mean(dim=1)"]
FAULT_CALLS = ["reconstruction_error", "linear", "forward", "addmm", "gelu", "median"]
FAULTY = r'''
import torch
import torch.nn as nn
from sklearn.metrics import roc_auc_score

torch.set_num_threads(1)
torch.manual_seed(40)

N_FEAT = 40
mix = torch.randn(8, N_FEAT) / 3
gain = torch.rand(N_FEAT) + 0.5


def flows_normal(n, drift=0.0):
    z = torch.randn(n, 8)
    z[:, 0] += drift
    return torch.tanh(z @ mix) * gain + 0.05 * torch.randn(n, N_FEAT)


def flows_attack(n):
    """port scans and exfiltration: some features off the normal manifold"""
    x = flows_normal(n)
    cols = torch.randint(0, N_FEAT, (n, 4))
    return x.scatter_add(1, cols, 0.35 * torch.randn(n, 4))


class FlowAE(nn.Module):
    def __init__(self, d, h=160, code=10):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(d, h), nn.GELU(), nn.Linear(h, h), nn.GELU(), nn.Linear(h, code))
        self.dec = nn.Sequential(nn.Linear(code, h), nn.GELU(), nn.Linear(h, h), nn.GELU(), nn.Linear(h, d))

    def forward(self, x):
        return self.dec(self.enc(x))


model = FlowAE(N_FEAT)
opt = torch.optim.Adam(model.parameters(), lr=1.5e-3)


def reconstruction_error(x):
    return (model(x) - x).pow(2).mean(dim=1)


def fit(x, epochs, batch=256):
    model.train()
    for _ in range(epochs):
        for idx in torch.randperm(len(x)).split(batch):
            loss = reconstruction_error(x[idx]).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    return loss.item()


history = flows_normal(16_000)
print(f"initial fit, last loss {fit(history, epochs=10):.5f}")

model.eval()
with torch.no_grad():
    base = reconstruction_error(history)
level, spread = base.median(), (base - base.median()).abs().median()

WINDOWS, SIZE = 120, 1500
alarms, scores, truth = 0, [], []
buffer = []
for w in range(WINDOWS):
    flows = flows_normal(SIZE, drift=w / 300)
    n_bad = int(torch.randint(0, 60, (1,)))
    is_bad = torch.zeros(SIZE, dtype=torch.bool)
    if n_bad:
        is_bad[:n_bad] = True
        flows[:n_bad] = flows_attack(n_bad)

    err = reconstruction_error(flows)
    z = (err - level) / spread
    alarms += int((z > 6.0).sum())
    scores += z.tolist()
    truth += is_bad.tolist()

    # follow slow changes of the traffic
    level = 0.95 * level + 0.05 * err.median()
    spread = 0.95 * spread + 0.05 * (err - level).abs().median()

    buffer.append(flows[z < 3.0])
    if len(buffer) == 30:
        last = fit(torch.cat(buffer), epochs=1)
        buffer.clear()
        model.eval()
        print(f"window {w}: refit loss {last:.5f}, level {level.item():.5f}, spread {spread.item():.5f}")

print(f"alarms {alarms}, attacks {sum(truth)} of {len(truth)} flows")
print(f"AUC {roc_auc_score(truth, scores):.4f}")
'''
CURED = FAULTY.replace("    err = reconstruction_error(flows)\n", "    with torch.no_grad():\n        err = reconstruction_error(flows)\n")
