NAME = 'h10_crop_yield_mcdropout'
FAULT = 'Monte-Carlo dropout repeats the whole network 50 times per batch although dropout sits only in the regression head: the deterministic image encoder gives the same features each time.'
CURE = 'Encode the batch once and repeat only the head under dropout.'
KIND = 'time'
FAULT_LINES = [
    '        draws = torch.stack([model(xb) for _ in range(T)])',
]
FAULT_CALLS = ['aten::convolution', 'aten::mkldnn_convolution', 'torch.nn.functional.conv2d', 'self.encoder', 'forward', 'aten::native_batch_norm', 'aten::batch_norm']
FAULTY = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import TensorDataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(2024)

# multispectral field tiles -> yield (t/ha) with input dependent noise
def make_tiles(n, size=32, bands=5):
    vigour = torch.rand(n)
    patch = F.interpolate(torch.rand(n, 1, 6, 6), size=size, mode='bilinear', align_corners=False)
    tiles = torch.cat([vigour[:, None, None, None] * patch * (0.5 + 0.1 * b) for b in range(bands)], 1)
    tiles = tiles + 0.05 * torch.randn(n, bands, size, size)
    y = 3 + 5 * vigour * patch.mean((1, 2, 3)) + (0.1 + 0.3 * vigour) * torch.randn(n)
    return tiles, (y - 4.2) / 0.8

x_train, y_train = make_tiles(640)
x_test, y_test = make_tiles(480)

def conv(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU(), nn.MaxPool2d(2))

class YieldNet(nn.Module):
    def __init__(self, p=0.2):
        super().__init__()
        self.encoder = nn.Sequential(conv(5, 16), conv(16, 32), conv(32, 48))
        self.fc1 = nn.Linear(48 * 16, 64)
        self.fc2 = nn.Linear(64, 2)
        self.drop1, self.drop2 = nn.Dropout(p), nn.Dropout(p)

    def forward(self, x):
        z = self.encoder(x).flatten(1)
        return self.head(z)

    def head(self, z):
        h = self.drop2(F.relu(self.fc1(self.drop1(z))))
        mu, log_var = self.fc2(h).unbind(1)
        return torch.stack([mu, log_var.clamp(-6, 3)], 1)

def nll(out, y):
    mu, log_var = out.unbind(1)
    return 0.5 * (log_var + (y - mu) ** 2 * torch.exp(-log_var)).mean()

model = YieldNet()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-3)
loader = DataLoader(TensorDataset(x_train, y_train), batch_size=64, shuffle=True)

for epoch in range(6):
    model.train()
    total = 0.0
    for xb, yb in loader:
        loss = nll(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    if epoch % 2 == 1:
        print(f"epoch {epoch} nll {total / len(loader):.3f}")

model.eval()
for m in model.modules():
    if isinstance(m, nn.Dropout):
        m.train()

T = 50
mus, epis, alea = [], [], []
with torch.no_grad():
    for xb, yb in DataLoader(TensorDataset(x_test, y_test), batch_size=80):
        draws = torch.stack([model(xb) for _ in range(T)])
        mus.append(draws[..., 0].mean(0))
        epis.append(draws[..., 0].var(0))
        alea.append(draws[..., 1].exp().mean(0))
mu, ep, al = torch.cat(mus), torch.cat(epis), torch.cat(alea)

sd = (ep + al).sqrt()
inside = ((y_test - mu).abs() < 1.645 * sd).float().mean()
print(f"rmse {(mu - y_test).pow(2).mean().sqrt():.3f}  90% interval coverage {inside:.3f}")
print(f"epistemic {ep.mean():.4f}  aleatoric {al.mean():.4f}")
'''
CURED = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import TensorDataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(2024)

# multispectral field tiles -> yield (t/ha) with input dependent noise
def make_tiles(n, size=32, bands=5):
    vigour = torch.rand(n)
    patch = F.interpolate(torch.rand(n, 1, 6, 6), size=size, mode='bilinear', align_corners=False)
    tiles = torch.cat([vigour[:, None, None, None] * patch * (0.5 + 0.1 * b) for b in range(bands)], 1)
    tiles = tiles + 0.05 * torch.randn(n, bands, size, size)
    y = 3 + 5 * vigour * patch.mean((1, 2, 3)) + (0.1 + 0.3 * vigour) * torch.randn(n)
    return tiles, (y - 4.2) / 0.8

x_train, y_train = make_tiles(640)
x_test, y_test = make_tiles(480)

def conv(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU(), nn.MaxPool2d(2))

class YieldNet(nn.Module):
    def __init__(self, p=0.2):
        super().__init__()
        self.encoder = nn.Sequential(conv(5, 16), conv(16, 32), conv(32, 48))
        self.fc1 = nn.Linear(48 * 16, 64)
        self.fc2 = nn.Linear(64, 2)
        self.drop1, self.drop2 = nn.Dropout(p), nn.Dropout(p)

    def forward(self, x):
        z = self.encoder(x).flatten(1)
        return self.head(z)

    def head(self, z):
        h = self.drop2(F.relu(self.fc1(self.drop1(z))))
        mu, log_var = self.fc2(h).unbind(1)
        return torch.stack([mu, log_var.clamp(-6, 3)], 1)

def nll(out, y):
    mu, log_var = out.unbind(1)
    return 0.5 * (log_var + (y - mu) ** 2 * torch.exp(-log_var)).mean()

model = YieldNet()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-3)
loader = DataLoader(TensorDataset(x_train, y_train), batch_size=64, shuffle=True)

for epoch in range(6):
    model.train()
    total = 0.0
    for xb, yb in loader:
        loss = nll(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    if epoch % 2 == 1:
        print(f"epoch {epoch} nll {total / len(loader):.3f}")

model.eval()
for m in model.modules():
    if isinstance(m, nn.Dropout):
        m.train()

T = 50
mus, epis, alea = [], [], []
with torch.no_grad():
    for xb, yb in DataLoader(TensorDataset(x_test, y_test), batch_size=80):
        z = model.encoder(xb).flatten(1)
        draws = torch.stack([model.head(z) for _ in range(T)])
        mus.append(draws[..., 0].mean(0))
        epis.append(draws[..., 0].var(0))
        alea.append(draws[..., 1].exp().mean(0))
mu, ep, al = torch.cat(mus), torch.cat(epis), torch.cat(alea)

sd = (ep + al).sqrt()
inside = ((y_test - mu).abs() < 1.645 * sd).float().mean()
print(f"rmse {(mu - y_test).pow(2).mean().sqrt():.3f}  90% interval coverage {inside:.3f}")
print(f"epistemic {ep.mean():.4f}  aleatoric {al.mean():.4f}")
'''
