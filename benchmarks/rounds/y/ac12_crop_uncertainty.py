NAME = "Classifies crops from satellite time series with a temporal CNN and gives an uncertainty from repeated passes with dropout."
FAULT = None
CURE = None
KIND = None
LOOKS = "The model is left in train mode at inference and the same fields pass through it 30 times, which looks like a forgotten eval and repeated work, but each pass draws other dropout masks from the input on, as Monte Carlo dropout needs."
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(41)

CROPS = ["wheat", "maize", "rapeseed", "sugar beet", "grass", "potato"]
DATES, BANDS, PASSES = 36, 6, 30


def simulate_fields(n):
    """Reflectance curves with a crop-specific peak date, width and band mix."""
    y = torch.randint(0, len(CROPS), (n,))
    day = torch.linspace(0, 1, DATES)
    peak = 0.3 + 0.08 * y[:, None] + 0.05 * torch.randn(n, 1)
    width = 0.08 + 0.015 * y[:, None] + 0.01 * torch.rand(n, 1)
    green = torch.exp(-0.5 * ((day - peak) / width) ** 2)
    gain = torch.linspace(0.4, 1.4, BANDS)[None, :, None] + 0.1 * torch.randn(n, BANDS, 1)
    x = gain * green[:, None] + 0.15 * torch.randn(n, BANDS, DATES)
    cloudy = torch.rand(n, 1, DATES) < 0.2
    return x.masked_fill(cloudy, 0.0), y


class TempCNN(nn.Module):
    def __init__(self, ch=48, p=0.15):
        super().__init__()
        self.date_drop = nn.Dropout(p)
        self.c1 = nn.Conv1d(BANDS, ch, 5, padding=2)
        self.c2 = nn.Conv1d(ch, ch, 5, padding=2)
        self.c3 = nn.Conv1d(ch, ch, 5, padding=2)
        self.drop = nn.Dropout1d(p)
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(ch * DATES // 4, 96), nn.ReLU(), nn.Linear(96, len(CROPS)))

    def forward(self, x):
        x = x * self.date_drop(torch.ones_like(x[:, :1]))
        x = self.drop(F.relu(self.c1(x)))
        x = self.drop(F.relu(F.max_pool1d(self.c2(x), 2)))
        x = self.drop(F.relu(F.max_pool1d(self.c3(x), 2)))
        return self.head(x)


def fit(model, x, y, epochs=2, batch=64):
    opt = torch.optim.Adam(model.parameters(), lr=1.5e-3)
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for idx in torch.randperm(len(x)).split(batch):
            loss = F.cross_entropy(model(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        print(f"epoch {epoch}: loss {total / len(x):.4f}")


def predict(model, x, passes=PASSES, chunk=128):
    """Mean class probabilities and mutual information per field."""
    model.train()
    probs, info = [], []
    with torch.inference_mode():
        for part in x.split(chunk):
            draws = torch.stack([model(part).softmax(-1) for _ in range(passes)])
            mean = draws.mean(0)
            total = -(mean * mean.clamp_min(1e-9).log()).sum(-1)
            within = -(draws * draws.clamp_min(1e-9).log()).sum(-1).mean(0)
            probs.append(mean)
            info.append((total - within) / math.log(2))
    return torch.cat(probs), torch.cat(info)


x_train, y_train = simulate_fields(7000)
x_region, y_region = simulate_fields(4000)
model = TempCNN()
fit(model, x_train, y_train)

probs, info = predict(model, x_region)
right = probs.argmax(1) == y_region
print(f"region: {len(x_region)} fields, accuracy {right.float().mean():.3f}")
for q in (0.5, 0.8):
    sure = info <= info.quantile(q)
    print(f"accuracy among the surest {q:.0%}: {right[sure].float().mean():.3f}")
for c, name in enumerate(CROPS[:3]):
    print(f"{name}: mean information {info[y_region == c].mean():.3f} bits")
'''
