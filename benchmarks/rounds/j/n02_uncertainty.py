NAME = 'Trains a dropout network and predicts with seventy Monte-Carlo passes inside and outside of the training region.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []

GOOD = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)
torch.set_num_threads(1)

# regression with a region the training data does not cover
def make(n, lo, hi):
    x = torch.rand(n, 32) * (hi - lo) + lo
    y = torch.sin(3 * x[:, :4]).sum(1) + 0.5 * x[:, 4:8].pow(2).sum(1) + 0.1 * torch.randn(n)
    return x, y

x_tr, y_tr = make(6000, -1.0, 1.0)
x_in, y_in = make(2500, -1.0, 1.0)
x_out, y_out = make(2500, 1.0, 2.0)


class Net(nn.Module):
    def __init__(self, d=32, h=512, p=0.1):
        super().__init__()
        self.body = nn.Sequential(
            nn.Dropout(0.02), nn.Linear(d, h), nn.ReLU(),
            nn.Dropout(p), nn.Linear(h, h), nn.ReLU(),
            nn.Dropout(p), nn.Linear(h, h), nn.ReLU(),
            nn.Dropout(p), nn.Linear(h, 1),
        )

    def forward(self, x):
        return self.body(x).squeeze(-1)


net = Net()
opt = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=1e-3)
for epoch in range(5):
    perm = torch.randperm(len(x_tr))
    total = 0.0
    for idx in perm.split(256):
        loss = F.mse_loss(net(x_tr[idx]), y_tr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.detach() * len(idx)
    print(f"epoch {epoch} mse {total / len(x_tr):.4f}")


@torch.no_grad()
def mc_predict(net, x, passes=70, batch=500):
    net.train()          # dropout stays on while predicting
    means, stds = [], []
    for xb in x.split(batch):
        s1 = torch.zeros(len(xb))
        s2 = torch.zeros(len(xb))
        for _ in range(passes):
            p = net(xb)
            s1 += p
            s2 += p * p
        m = s1 / passes
        means.append(m)
        stds.append((s2 / passes - m * m).clamp_min(0).sqrt())
    return torch.cat(means), torch.cat(stds)


for name, x, y in [("inside", x_in, y_in), ("outside", x_out, y_out)]:
    m, s = mc_predict(net, x)
    z = ((y - m).abs() / (s + 0.1))
    print(f"{name:8s} rmse {F.mse_loss(m, y).sqrt().item():.3f}  mean std {s.mean().item():.3f}"
          f"  within 2 std {(z < 2).float().mean().item():.3f}")
"""
