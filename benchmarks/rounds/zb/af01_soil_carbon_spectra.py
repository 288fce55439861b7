NAME = "Predicts soil organic carbon from vis-NIR spectra with a 1-D CNN fed by a Dataset."
FAULT = "The deterministic spectral preprocessing (absorbance, Savitzky-Golay derivative, SNV) is redone for each sample on every access, so in every epoch again."
CURE = "Preprocess all spectra once in the Dataset's __init__ and only index in __getitem__."
KIND = "time"
FAULT_LINES = [
    "        return self.pretreat(self.reflectance[i]), self.soc[i]",
    "        deriv = savgol_filter(absorb, window_length=15, polyorder=2, deriv=1, axis=-1)",
    "    def pretreat(self, refl):",
    "    def __getitem__(self, i):",
]
FAULT_CALLS = ["savgol_filter", "pretreat", "__getitem__", "convolve1d", "correlate1d"]
FAULTY = r'''import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader
from scipy.signal import savgol_filter

torch.set_num_threads(1)
torch.manual_seed(11)
rng = np.random.default_rng(11)

# --- synthetic spectral library: 400-2500 nm in 4 nm steps ---
wl = np.arange(400, 2500, 4.0)
n = 2400

def gauss(center, width):
    return np.exp(-0.5 * ((wl - center) / width) ** 2)

soc = rng.gamma(2.0, 1.1, n)
clay = rng.uniform(5, 55, n)
water = rng.uniform(0, 1, n)
base = 0.12 + 0.35 * (1 - np.exp(-(wl - 350) / 700))
spectra = np.tile(base, (n, 1)) * rng.uniform(0.8, 1.2, (n, 1))
spectra -= 0.018 * soc[:, None] * (gauss(650, 160) + 0.4 * gauss(2310, 30))
spectra -= 0.0015 * clay[:, None] * gauss(2205, 22)
spectra -= 0.06 * water[:, None] * (gauss(1415, 35) + 1.3 * gauss(1915, 45))
spectra += rng.normal(0, 0.0015, spectra.shape)
spectra = np.clip(spectra, 0.01, 0.99)


class SoilSpectra(Dataset):
    """vis-NIR spectra with laboratory SOC (%)."""

    def __init__(self, reflectance, soc):
        self.soc = torch.tensor(soc, dtype=torch.float32)
        self.reflectance = reflectance

    def pretreat(self, refl):
        absorb = np.log10(1.0 / refl)
        deriv = savgol_filter(absorb, window_length=15, polyorder=2, deriv=1, axis=-1)
        snv = (deriv - deriv.mean(-1, keepdims=True)) / deriv.std(-1, keepdims=True)
        return torch.from_numpy(snv.astype(np.float32))

    def __len__(self):
        return len(self.soc)

    def __getitem__(self, i):
        return self.pretreat(self.reflectance[i]), self.soc[i]


perm = rng.permutation(n)
tr, te = perm[:1900], perm[1900:]
train_set = SoilSpectra(spectra[tr], soc[tr])
test_set = SoilSpectra(spectra[te], soc[te])
train_dl = DataLoader(train_set, batch_size=64, shuffle=True)
test_dl = DataLoader(test_set, batch_size=250)

model = nn.Sequential(
    nn.Unflatten(1, (1, -1)),
    nn.Conv1d(1, 16, 15, stride=3), nn.ReLU(),
    nn.Conv1d(16, 32, 9, stride=2), nn.ReLU(),
    nn.MaxPool1d(2),
    nn.Conv1d(32, 32, 5, padding=2), nn.ReLU(),
    nn.AdaptiveAvgPool1d(12), nn.Flatten(),
    nn.Linear(384, 64), nn.ReLU(), nn.Linear(64, 1), nn.Flatten(0),
)
EPOCHS = 12
opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-3)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, 4e-3, total_steps=EPOCHS * len(train_dl))

for epoch in range(EPOCHS):
    model.train()
    running = 0.0
    for x, y in train_dl:
        loss = nn.functional.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        running += loss.item() * len(y)
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1:2d}  train RMSE {np.sqrt(running / len(train_set)):.3f} % SOC")

model.eval()
with torch.no_grad():
    pred = torch.cat([model(x) for x, _ in test_dl])
resid = pred - test_set.soc
rmse = resid.pow(2).mean().sqrt()
print(f"test RMSE {rmse:.3f}  R2 {1 - resid.var() / test_set.soc.var():.3f}  RPD {test_set.soc.std() / rmse:.2f}")
'''
CURED = FAULTY.replace("        self.reflectance = reflectance", "        self.x = self.pretreat(reflectance)").replace(
    "        return self.pretreat(self.reflectance[i]), self.soc[i]", "        return self.x[i], self.soc[i]")
