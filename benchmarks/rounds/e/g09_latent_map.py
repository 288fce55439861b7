NAME = 'g09_latent_map'
FAULT = 'The latent map is drawn with one plt.scatter call per point, which makes and renders a collection object for each of them.'
CURE = 'Draw all points of the map with one scatter call, passing the labels as colours.'
KIND = 'time'
FAULT_LINES = [
    '        ax.scatter(z[i, 0], z[i, 1], color=cmap(int(digit[i])), s=8, alpha=0.6)',
    '    fig.savefig(buf, format="png", dpi=90)',
    '    for i in range(len(z)):',
]
FAULT_CALLS = ['matplotlib.axes.Axes.scatter', 'matplotlib.figure.Figure.savefig', 'matplotlib.collections.PathCollection.draw']

FAULTY = r'''
import io
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.set_num_threads(1); torch.manual_seed(7)
data = load_digits()
X = torch.tensor(data.data, dtype=torch.float32) / 16
digit = data.target

class VAE(nn.Module):
    def __init__(self, d=64, h=256, k=2):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(d, h), nn.SiLU(), nn.Linear(h, h), nn.SiLU(), nn.Linear(h, 2 * k))
        self.dec = nn.Sequential(nn.Linear(k, h), nn.SiLU(), nn.Linear(h, h), nn.SiLU(), nn.Linear(h, d))
    def forward(self, x):
        mu, lv = self.enc(x).chunk(2, 1)
        z = mu + torch.randn_like(mu) * (0.5 * lv).exp()
        return self.dec(z), mu, lv

def elbo(model, x):
    out, mu, lv = model(x)
    rec = F.binary_cross_entropy_with_logits(out, x, reduction="none").sum(1)
    kl = -0.5 * (1 + lv - mu ** 2 - lv.exp()).sum(1)
    return (rec + kl).mean()

def latent_map(model, epoch):
    with torch.no_grad():
        z = model.enc(X)[:, :2].numpy()
    fig, ax = plt.subplots(figsize=(6, 5))
    cmap = plt.get_cmap("tab10")
    for i in range(len(z)):
        ax.scatter(z[i, 0], z[i, 1], color=cmap(int(digit[i])), s=8, alpha=0.6)
    ax.set_xlabel("z1"); ax.set_ylabel("z2"); ax.set_title(f"epoch {epoch}")
    buf = io.BytesIO()
    fig.savefig(buf, format="png", dpi=90)
    plt.close(fig)
    return buf.getvalue()

vae = VAE()
opt = torch.optim.Adam(vae.parameters(), lr=1e-3)
pictures = []
for epoch in range(1, 41):
    tot = 0
    for b in torch.randperm(len(X)).split(64):
        loss = elbo(vae, X[b])
        opt.zero_grad(); loss.backward(); opt.step()
        tot += loss.item() * len(b)
    if epoch % 20 == 0:
        pictures.append(latent_map(vae, epoch))
        print(epoch, "negative elbo", round(tot / len(X), 2))
print(len(pictures), "maps")
'''

CURED = r'''
import io
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.set_num_threads(1); torch.manual_seed(7)
data = load_digits()
X = torch.tensor(data.data, dtype=torch.float32) / 16
digit = data.target

class VAE(nn.Module):
    def __init__(self, d=64, h=256, k=2):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(d, h), nn.SiLU(), nn.Linear(h, h), nn.SiLU(), nn.Linear(h, 2 * k))
        self.dec = nn.Sequential(nn.Linear(k, h), nn.SiLU(), nn.Linear(h, h), nn.SiLU(), nn.Linear(h, d))
    def forward(self, x):
        mu, lv = self.enc(x).chunk(2, 1)
        z = mu + torch.randn_like(mu) * (0.5 * lv).exp()
        return self.dec(z), mu, lv

def elbo(model, x):
    out, mu, lv = model(x)
    rec = F.binary_cross_entropy_with_logits(out, x, reduction="none").sum(1)
    kl = -0.5 * (1 + lv - mu ** 2 - lv.exp()).sum(1)
    return (rec + kl).mean()

def latent_map(model, epoch):
    with torch.no_grad():
        z = model.enc(X)[:, :2].numpy()
    fig, ax = plt.subplots(figsize=(6, 5))
    cmap = plt.get_cmap("tab10")
    ax.scatter(z[:, 0], z[:, 1], color=cmap(digit), s=8, alpha=0.6)
    ax.set_xlabel("z1"); ax.set_ylabel("z2"); ax.set_title(f"epoch {epoch}")
    buf = io.BytesIO()
    fig.savefig(buf, format="png", dpi=90)
    plt.close(fig)
    return buf.getvalue()

vae = VAE()
opt = torch.optim.Adam(vae.parameters(), lr=1e-3)
pictures = []
for epoch in range(1, 41):
    tot = 0
    for b in torch.randperm(len(X)).split(64):
        loss = elbo(vae, X[b])
        opt.zero_grad(); loss.backward(); opt.step()
        tot += loss.item() * len(b)
    if epoch % 20 == 0:
        pictures.append(latent_map(vae, epoch))
        print(epoch, "negative elbo", round(tot / len(X), 2))
print(len(pictures), "maps")
'''
