NAME = 'Trains a dilated convolutional speech denoiser on made-up waveforms and validates it after each epoch.'
FAULT = 'The validation loop records gradients and adds up the loss tensors, so the graphs and activations of all validation batches stay in memory together.'
CURE = 'Run the validation function under torch.no_grad().'
KIND = 'memory'
FAULT_LINES = ['def validate(model, noisy, clean):', 'total = total + snr_loss(model(a), b) * len(a)', 'return (total / len(noisy)).item()']
FAULT_CALLS = ['validate', 'forward', 'conv1d']
FAULTY = r'''import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(19)

SR, SAMPLES, N_TRAIN, N_VAL, BATCH = 8000, 4096, 192, 96, 8


def voiced(n):
    t = torch.arange(SAMPLES) / SR
    pitch = 90 + 140 * torch.rand(n, 1)
    glide = 1 + 0.1 * torch.sin(2 * math.pi * (1 + 2 * torch.rand(n, 1)) * t)
    phase = 2 * math.pi * torch.cumsum(pitch * glide / SR, dim=1)
    wave = sum(torch.rand(n, 1) * torch.sin(k * phase) / k for k in range(1, 6))
    envelope = torch.sigmoid(12 * torch.sin(2 * math.pi * (2 * t + torch.rand(n, 1))))
    return (wave * envelope).unsqueeze(1)


def with_noise(clean):
    hiss = torch.randn_like(clean)
    hiss[..., 1:] = hiss[..., 1:] - 0.6 * hiss[..., :-1]
    return clean + 0.25 * hiss


class Denoiser(nn.Module):
    def __init__(self, width=32, depth=4):
        super().__init__()
        self.inp = nn.Conv1d(1, width, 9, padding=4)
        self.mid = nn.ModuleList(
            nn.Conv1d(width, width, 3, padding=2 ** i, dilation=2 ** i) for i in range(depth))
        self.out = nn.Conv1d(width, 1, 9, padding=4)

    def forward(self, x):
        h = F.gelu(self.inp(x))
        for conv in self.mid:
            h = h + F.gelu(conv(h))
        return x - self.out(h)


def snr_loss(estimate, clean):
    noise = (estimate - clean).square().sum((1, 2))
    signal = clean.square().sum((1, 2))
    return -10 * torch.log10(signal / noise).mean()


def validate(model, noisy, clean):
    model.eval()
    total = torch.zeros(())
    for a, b in zip(noisy.split(BATCH), clean.split(BATCH)):
        total = total + snr_loss(model(a), b) * len(a)
    return (total / len(noisy)).item()


train_clean, val_clean = voiced(N_TRAIN), voiced(N_VAL)
val_noisy = with_noise(val_clean)
model = Denoiser()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
print(f"input SNR {-snr_loss(val_noisy, val_clean).item():.2f} dB")

for epoch in range(4):
    model.train()
    for rows in torch.randperm(N_TRAIN).split(BATCH):
        clean = train_clean[rows]
        loss = snr_loss(model(with_noise(clean)), clean)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        opt.step()
    print(f"epoch {epoch}  train {-loss.item():.2f} dB  validation {-validate(model, val_noisy, val_clean):.2f} dB")
'''
CURED = r'''import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(19)

SR, SAMPLES, N_TRAIN, N_VAL, BATCH = 8000, 4096, 192, 96, 8


def voiced(n):
    t = torch.arange(SAMPLES) / SR
    pitch = 90 + 140 * torch.rand(n, 1)
    glide = 1 + 0.1 * torch.sin(2 * math.pi * (1 + 2 * torch.rand(n, 1)) * t)
    phase = 2 * math.pi * torch.cumsum(pitch * glide / SR, dim=1)
    wave = sum(torch.rand(n, 1) * torch.sin(k * phase) / k for k in range(1, 6))
    envelope = torch.sigmoid(12 * torch.sin(2 * math.pi * (2 * t + torch.rand(n, 1))))
    return (wave * envelope).unsqueeze(1)


def with_noise(clean):
    hiss = torch.randn_like(clean)
    hiss[..., 1:] = hiss[..., 1:] - 0.6 * hiss[..., :-1]
    return clean + 0.25 * hiss


class Denoiser(nn.Module):
    def __init__(self, width=32, depth=4):
        super().__init__()
        self.inp = nn.Conv1d(1, width, 9, padding=4)
        self.mid = nn.ModuleList(
            nn.Conv1d(width, width, 3, padding=2 ** i, dilation=2 ** i) for i in range(depth))
        self.out = nn.Conv1d(width, 1, 9, padding=4)

    def forward(self, x):
        h = F.gelu(self.inp(x))
        for conv in self.mid:
            h = h + F.gelu(conv(h))
        return x - self.out(h)


def snr_loss(estimate, clean):
    noise = (estimate - clean).square().sum((1, 2))
    signal = clean.square().sum((1, 2))
    return -10 * torch.log10(signal / noise).mean()


@torch.no_grad()
def validate(model, noisy, clean):
    model.eval()
    total = torch.zeros(())
    for a, b in zip(noisy.split(BATCH), clean.split(BATCH)):
        total = total + snr_loss(model(a), b) * len(a)
    return (total / len(noisy)).item()


train_clean, val_clean = voiced(N_TRAIN), voiced(N_VAL)
val_noisy = with_noise(val_clean)
model = Denoiser()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
print(f"input SNR {-snr_loss(val_noisy, val_clean).item():.2f} dB")

for epoch in range(4):
    model.train()
    for rows in torch.randperm(N_TRAIN).split(BATCH):
        clean = train_clean[rows]
        loss = snr_loss(model(with_noise(clean)), clean)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        opt.step()
    print(f"epoch {epoch}  train {-loss.item():.2f} dB  validation {-validate(model, val_noisy, val_clean):.2f} dB")
'''
