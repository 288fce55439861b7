NAME = 'd13_digit_latents'
FAULT = 'The latent map is drawn with one scatter call per digit, which makes 1797 artists.'
CURE = 'Draw all points (or one call per class) with a single scatter call and a colour array.'
KIND = 'time'
FAULT_LINES = (28, 32)
FAULT_CALLS = ('scatter', 'savefig', 'draw')
FAULTY = """\
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import torch
import torch.nn as nn
from sklearn.datasets import load_digits

torch.manual_seed(0)
digits = load_digits()
X = torch.tensor(digits.data / 16.0, dtype=torch.float32)
y = digits.target

enc = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
dec = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64))
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=3e-3)
for epoch in range(150):
    opt.zero_grad()
    loss = nn.functional.mse_loss(dec(enc(X)), X)
    loss.backward()
    opt.step()

with torch.no_grad():
    z = enc(X).numpy()

cmap = plt.get_cmap("tab10")
fig, ax = plt.subplots(figsize=(8, 8))
for i in range(len(z)):
    ax.scatter(z[i, 0], z[i, 1], color=cmap(int(y[i])), s=14, alpha=0.8)
ax.set_xlabel("z1")
ax.set_ylabel("z2")
ax.set_title("Autoencoder latent space")
fig.savefig("/tmp/roundc_latent.png", dpi=100)
plt.close(fig)
print("reconstruction mse %.4f" % loss.item())
"""
CURED = """\
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import torch
import torch.nn as nn
from sklearn.datasets import load_digits

torch.manual_seed(0)
digits = load_digits()
X = torch.tensor(digits.data / 16.0, dtype=torch.float32)
y = digits.target

enc = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
dec = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64))
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=3e-3)
for epoch in range(150):
    opt.zero_grad()
    loss = nn.functional.mse_loss(dec(enc(X)), X)
    loss.backward()
    opt.step()

with torch.no_grad():
    z = enc(X).numpy()

cmap = plt.get_cmap("tab10")
fig, ax = plt.subplots(figsize=(8, 8))
ax.scatter(z[:, 0], z[:, 1], color=cmap(y), s=14, alpha=0.8)
ax.set_xlabel("z1")
ax.set_ylabel("z2")
ax.set_title("Autoencoder latent space")
fig.savefig("/tmp/roundc_latent.png", dpi=100)
plt.close(fig)
print("reconstruction mse %.4f" % loss.item())
"""
