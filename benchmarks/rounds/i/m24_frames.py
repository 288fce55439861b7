NAME = 'Trains a small autoencoder and renders a diagnostic frame of reconstructions at regular steps for an animation.'
FAULT = 'A new pyplot figure is opened for every frame and never closed, so pyplot keeps all figures with their image data and canvases alive.'
CURE = 'Close the figure with plt.close(fig) after the frame has been rendered.'
KIND = 'memory'
FAULT_LINES = [
    'fig, axes = plt.subplots(2, 3, figsize=(11, 7), dpi=150)',
    'fig.savefig(buf, format="png")',
]
FAULT_CALLS = [
    'subplots',
    'savefig',
    'figure',
    'render_frame',
    'imshow',
    'print_png',
    'draw',
    'plt.subplots',
]
FAULTY = r"""
import io
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(19)

S = 40
yy, xx = torch.meshgrid(torch.linspace(-1, 1, S), torch.linspace(-1, 1, S), indexing="ij")


def blobs(n):
    c = 1.2 * torch.rand(n, 2, 1, 1) - 0.6
    w = 0.1 + 0.3 * torch.rand(n, 1, 1)
    return torch.exp(-((xx - c[:, 0]) ** 2 + (yy - c[:, 1]) ** 2) / w ** 2).flatten(1)


model = nn.Sequential(nn.Linear(S * S, 128), nn.ReLU(), nn.Linear(128, 6), nn.Linear(6, 128), nn.ReLU(), nn.Linear(128, S * S))
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
fixed = blobs(3)


def render_frame(step, loss):
    with torch.no_grad():
        rec = model(fixed)
    fig, axes = plt.subplots(2, 3, figsize=(11, 7), dpi=150)
    for k in range(3):
        axes[0, k].imshow(fixed[k].view(S, S).numpy(), cmap="magma", vmin=0, vmax=1)
        axes[1, k].imshow(rec[k].view(S, S).numpy(), cmap="magma", vmin=0, vmax=1)
        axes[0, k].set_title(f"input {k}")
        axes[1, k].set_title(f"error {float((rec[k] - fixed[k]).abs().mean()):.3f}")
    fig.suptitle(f"step {step}, loss {loss:.4f}")
    buf = io.BytesIO()
    fig.savefig(buf, format="png")
    return buf.getvalue()


frames = []
for step in range(200):
    x = blobs(128)
    loss = nn.functional.mse_loss(model(x), x)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 6 == 0:
        frames.append(render_frame(step, loss.item()))
print(len(frames), "frames,", sum(map(len, frames)) // 1000, "kB, final loss", round(loss.item(), 6))
"""
CURED = r"""
import io
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(19)

S = 40
yy, xx = torch.meshgrid(torch.linspace(-1, 1, S), torch.linspace(-1, 1, S), indexing="ij")


def blobs(n):
    c = 1.2 * torch.rand(n, 2, 1, 1) - 0.6
    w = 0.1 + 0.3 * torch.rand(n, 1, 1)
    return torch.exp(-((xx - c[:, 0]) ** 2 + (yy - c[:, 1]) ** 2) / w ** 2).flatten(1)


model = nn.Sequential(nn.Linear(S * S, 128), nn.ReLU(), nn.Linear(128, 6), nn.Linear(6, 128), nn.ReLU(), nn.Linear(128, S * S))
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
fixed = blobs(3)


def render_frame(step, loss):
    with torch.no_grad():
        rec = model(fixed)
    fig, axes = plt.subplots(2, 3, figsize=(11, 7), dpi=150)
    for k in range(3):
        axes[0, k].imshow(fixed[k].view(S, S).numpy(), cmap="magma", vmin=0, vmax=1)
        axes[1, k].imshow(rec[k].view(S, S).numpy(), cmap="magma", vmin=0, vmax=1)
        axes[0, k].set_title(f"input {k}")
        axes[1, k].set_title(f"error {float((rec[k] - fixed[k]).abs().mean()):.3f}")
    fig.suptitle(f"step {step}, loss {loss:.4f}")
    buf = io.BytesIO()
    fig.savefig(buf, format="png")
    plt.close(fig)
    return buf.getvalue()


frames = []
for step in range(200):
    x = blobs(128)
    loss = nn.functional.mse_loss(model(x), x)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 6 == 0:
        frames.append(render_frame(step, loss.item()))
print(len(frames), "frames,", sum(map(len, frames)) // 1000, "kB, final loss", round(loss.item(), 6))
"""
