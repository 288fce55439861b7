NAME = 'Spiking odour-coding layer with a long delay period and a trained readout'
FAULT = 'After the stimulus the synaptic currents, membranes and adaptation of silent neurons decay exponentially into denormal float32 numbers and stay there for the rest of the delay, so that the elementwise operations run several times slower'
CURE = 'torch.set_flush_denormal(True) at the start; the printed results do not change'
KIND = 'time'
FAULT_LINES = ['cur = cur * self.a_syn + drive', 'v = v * self.a_mem + cur - 0.15 * adapt', 'adapt = adapt * self.a_ad + spk', 'v = v * (1 - spk)']
FAULT_CALLS = ['mul', 'add', 'sub', 'run', '*', '+']
FAULTY = r"""
import math
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(19)

N_RECEPTOR, N_NEURON, N_TONIC = 50, 700, 60
N_ODOUR, TRIALS = 8, 192
T_STIM, T_DELAY = 150, 1900      # milliseconds, dt = 1 ms


class OdourLayer:
    # leaky integrate-and-fire neurons with adaptation; calcium outlives the spikes

    def __init__(self, n_in, n_out, gen):
        mask = (torch.rand(n_in, n_out, generator=gen) < 0.2).float()
        self.w = 0.22 * torch.randn(n_in, n_out, generator=gen) * mask
        decay = lambda tau: math.exp(-1.0 / tau)
        self.a_syn, self.a_mem = decay(3.0), decay(8.0)
        self.a_ad, self.a_ca = decay(12.0), decay(900.0)

    @torch.no_grad()
    def run(self, rates, gen):
        B = rates.shape[0]
        n = self.w.shape[1]
        cur, v, adapt, spk, ca = (torch.zeros(B, n) for _ in range(5))
        drive = torch.zeros(B, n)
        fired = torch.zeros(B)
        snaps = []
        for t in range(T_STIM + T_DELAY):
            if t < T_STIM:
                drive = torch.bernoulli(rates, generator=gen) @ self.w
            else:
                drive.zero_()
                drive[:, :N_TONIC] = 0.12 * torch.rand(B, N_TONIC, generator=gen)
            cur = cur * self.a_syn + drive
            v = v * self.a_mem + cur - 0.15 * adapt
            spk = (v > 1.0).float()
            v = v * (1 - spk)
            adapt = adapt * self.a_ad + spk
            ca = ca * self.a_ca + spk
            fired += spk.sum(1)
            if t in (T_STIM - 1, T_STIM + T_DELAY // 2, T_STIM + T_DELAY - 1):
                snaps.append(ca.clone())
        return snaps, fired / n


gen = torch.Generator().manual_seed(2)
odours = 0.12 * torch.rand(N_ODOUR, N_RECEPTOR, generator=gen) ** 2
label = torch.arange(TRIALS) % N_ODOUR
concentration = 0.5 + torch.rand(TRIALS, 1, generator=gen)
rates = (odours[label] * concentration).clamp(max=1.0)

layer = OdourLayer(N_RECEPTOR, N_NEURON, gen)
parts, counts = [], []
for idx in torch.arange(TRIALS).split(48):
    snaps, c = layer.run(rates[idx], gen)
    parts.append(torch.stack(snaps, 1))
    counts.append(c)
calcium = torch.cat(parts)
print(f"mean spikes per neuron {torch.cat(counts).mean().item():.4f}")
print("calcium at stimulus end, mid delay, end:",
      [round(v, 5) for v in calcium.mean((0, 2)).tolist()])

# linear readout of the odour at each of the three moments
split = 128
for k, when in enumerate(["stimulus end", "mid delay", "delay end"]):
    Z = calcium[:, k]
    Z = (Z - Z[:split].mean(0)) / (Z[:split].std(0) + 1e-6)
    readout = nn.Linear(N_NEURON, N_ODOUR)
    nn.init.zeros_(readout.weight)
    nn.init.zeros_(readout.bias)
    opt = torch.optim.SGD(readout.parameters(), lr=0.01, weight_decay=1e-2)
    for it in range(80):
        loss = F.cross_entropy(readout(Z[:split]), label[:split])
        opt.zero_grad()
        loss.backward()
        opt.step()
    acc = (readout(Z[split:]).argmax(1) == label[split:]).float().mean().item()
    print(f"{when:13s} loss {loss.item():.4f}  accuracy {acc:.3f}")
"""
CURED = r"""
import math
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.set_flush_denormal(True)
torch.manual_seed(19)

N_RECEPTOR, N_NEURON, N_TONIC = 50, 700, 60
N_ODOUR, TRIALS = 8, 192
T_STIM, T_DELAY = 150, 1900      # milliseconds, dt = 1 ms


class OdourLayer:
    # leaky integrate-and-fire neurons with adaptation; calcium outlives the spikes

    def __init__(self, n_in, n_out, gen):
        mask = (torch.rand(n_in, n_out, generator=gen) < 0.2).float()
        self.w = 0.22 * torch.randn(n_in, n_out, generator=gen) * mask
        decay = lambda tau: math.exp(-1.0 / tau)
        self.a_syn, self.a_mem = decay(3.0), decay(8.0)
        self.a_ad, self.a_ca = decay(12.0), decay(900.0)

    @torch.no_grad()
    def run(self, rates, gen):
        B = rates.shape[0]
        n = self.w.shape[1]
        cur, v, adapt, spk, ca = (torch.zeros(B, n) for _ in range(5))
        drive = torch.zeros(B, n)
        fired = torch.zeros(B)
        snaps = []
        for t in range(T_STIM + T_DELAY):
            if t < T_STIM:
                drive = torch.bernoulli(rates, generator=gen) @ self.w
            else:
                drive.zero_()
                drive[:, :N_TONIC] = 0.12 * torch.rand(B, N_TONIC, generator=gen)
            cur = cur * self.a_syn + drive
            v = v * self.a_mem + cur - 0.15 * adapt
            spk = (v > 1.0).float()
            v = v * (1 - spk)
            adapt = adapt * self.a_ad + spk
            ca = ca * self.a_ca + spk
            fired += spk.sum(1)
            if t in (T_STIM - 1, T_STIM + T_DELAY // 2, T_STIM + T_DELAY - 1):
                snaps.append(ca.clone())
        return snaps, fired / n


gen = torch.Generator().manual_seed(2)
odours = 0.12 * torch.rand(N_ODOUR, N_RECEPTOR, generator=gen) ** 2
label = torch.arange(TRIALS) % N_ODOUR
concentration = 0.5 + torch.rand(TRIALS, 1, generator=gen)
rates = (odours[label] * concentration).clamp(max=1.0)

layer = OdourLayer(N_RECEPTOR, N_NEURON, gen)
parts, counts = [], []
for idx in torch.arange(TRIALS).split(48):
    snaps, c = layer.run(rates[idx], gen)
    parts.append(torch.stack(snaps, 1))
    counts.append(c)
calcium = torch.cat(parts)
print(f"mean spikes per neuron {torch.cat(counts).mean().item():.4f}")
print("calcium at stimulus end, mid delay, end:",
      [round(v, 5) for v in calcium.mean((0, 2)).tolist()])

# linear readout of the odour at each of the three moments
split = 128
for k, when in enumerate(["stimulus end", "mid delay", "delay end"]):
    Z = calcium[:, k]
    Z = (Z - Z[:split].mean(0)) / (Z[:split].std(0) + 1e-6)
    readout = nn.Linear(N_NEURON, N_ODOUR)
    nn.init.zeros_(readout.weight)
    nn.init.zeros_(readout.bias)
    opt = torch.optim.SGD(readout.parameters(), lr=0.01, weight_decay=1e-2)
    for it in range(80):
        loss = F.cross_entropy(readout(Z[:split]), label[:split])
        opt.zero_grad()
        loss.backward()
        opt.step()
    acc = (readout(Z[split:]).argmax(1) == label[split:]).float().mean().item()
    print(f"{when:13s} loss {loss.item():.4f}  accuracy {acc:.3f}")
"""
