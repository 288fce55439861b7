NAME = 'Trains a denoising autoencoder for sensor panels with resumable checkpoints.'
FAULT = 'The whole training state (weights and Adam moments) is written to disk after every batch.'
CURE = 'Write the checkpoint once at the end of each epoch.'
KIND = 'time'
FAULT_LINES = ['save_state(epoch, step, model, opt, path)', 'torch.save({"epoch": epoch, "step": step, "model": model.state_dict(), "opt": opt.state_dict()}, tmp)']
FAULT_CALLS = ['save_state', 'torch.save', 'save']
FAULTY = r'''import os
import tempfile

import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(30)

N_PANELS, CHANNELS, LATENT = 6000, 384, 10


def make_panels():
    factors = torch.randn(N_PANELS, LATENT)
    mix1 = torch.randn(LATENT, 64) / LATENT ** 0.5
    mix2 = torch.randn(64, CHANNELS) / 8
    panels = torch.tanh(factors @ mix1) @ mix2
    return panels / panels.std()


class Denoiser(nn.Module):
    def __init__(self, width=768):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(CHANNELS, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(),
                                    nn.Linear(width, 32))
        self.decode = nn.Sequential(nn.Linear(32, width), nn.SiLU(), nn.Linear(width, CHANNELS))

    def forward(self, x):
        return self.decode(self.encode(x))


def save_state(epoch, step, model, opt, path):
    tmp = path + ".tmp"
    torch.save({"epoch": epoch, "step": step, "model": model.state_dict(), "opt": opt.state_dict()}, tmp)
    os.replace(tmp, path)


def corrupt(x):
    noisy = x + 0.5 * torch.randn_like(x)
    return noisy * (torch.rand_like(x) > 0.2)


panels = make_panels()
train, test = panels[:5000], panels[5000:]
test_noisy = corrupt(test)
model = Denoiser()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "denoiser.pt")
    step = 0
    for epoch in range(4):
        model.train()
        running = 0.0
        batches = train[torch.randperm(len(train))].split(50)
        for clean in batches:
            loss = nn.functional.mse_loss(model(corrupt(clean)), clean)
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            running += loss.item()
            save_state(epoch, step, model, opt, path)
        model.eval()
        with torch.no_grad():
            test_mse = nn.functional.mse_loss(model(test_noisy), test).item()
        print(f"epoch {epoch}  train {running / len(batches):.4f}  test {test_mse:.4f}")

    state = torch.load(path)
    restored = Denoiser()
    restored.load_state_dict(state["model"])
    with torch.no_grad():
        final = nn.functional.mse_loss(restored(test_noisy), test).item()
    print(f"restored from step {state['step']}  test {final:.4f}")
'''
CURED = r'''import os
import tempfile

import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(30)

N_PANELS, CHANNELS, LATENT = 6000, 384, 10


def make_panels():
    factors = torch.randn(N_PANELS, LATENT)
    mix1 = torch.randn(LATENT, 64) / LATENT ** 0.5
    mix2 = torch.randn(64, CHANNELS) / 8
    panels = torch.tanh(factors @ mix1) @ mix2
    return panels / panels.std()


class Denoiser(nn.Module):
    def __init__(self, width=768):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(CHANNELS, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(),
                                    nn.Linear(width, 32))
        self.decode = nn.Sequential(nn.Linear(32, width), nn.SiLU(), nn.Linear(width, CHANNELS))

    def forward(self, x):
        return self.decode(self.encode(x))


def save_state(epoch, step, model, opt, path):
    tmp = path + ".tmp"
    torch.save({"epoch": epoch, "step": step, "model": model.state_dict(), "opt": opt.state_dict()}, tmp)
    os.replace(tmp, path)


def corrupt(x):
    noisy = x + 0.5 * torch.randn_like(x)
    return noisy * (torch.rand_like(x) > 0.2)


panels = make_panels()
train, test = panels[:5000], panels[5000:]
test_noisy = corrupt(test)
model = Denoiser()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "denoiser.pt")
    step = 0
    for epoch in range(4):
        model.train()
        running = 0.0
        batches = train[torch.randperm(len(train))].split(50)
        for clean in batches:
            loss = nn.functional.mse_loss(model(corrupt(clean)), clean)
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            running += loss.item()
        save_state(epoch, step, model, opt, path)
        model.eval()
        with torch.no_grad():
            test_mse = nn.functional.mse_loss(model(test_noisy), test).item()
        print(f"epoch {epoch}  train {running / len(batches):.4f}  test {test_mse:.4f}")

    state = torch.load(path)
    restored = Denoiser()
    restored.load_state_dict(state["model"])
    with torch.no_grad():
        final = nn.functional.mse_loss(restored(test_noisy), test).item()
    print(f"restored from step {state['step']}  test {final:.4f}")
'''
