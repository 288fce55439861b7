NAME = 'Simulates a recurrent spiking network with exponentially decaying synaptic traces and a short stimulus.'
FAULT = 'After the stimulus the exponentially decaying traces of the silent neurons sink into subnormal (denormal) floats and stay there, so every later element-wise and matrix operation runs on the slow path of the processor.'
CURE = 'Switch on torch.set_flush_denormal(True).'
KIND = 'time'
FAULT_LINES = ['trace = DECAY * trace + spikes', 'slow = SLOW * slow + (1 - SLOW) * trace', 'current = W @ trace + 0.1 * slow']
FAULT_CALLS = ['mul', 'add', 'matmul', 'simulate', 'mm', 'addmm']
FAULTY = r"""
import numpy as np
import torch
import matplotlib.pyplot as plt

torch.set_num_threads(1)
torch.manual_seed(17)

N, TRIALS, STEPS = 256, 96, 3600       # neurons, parallel trials, milliseconds
STIM = 300                              # stimulus lasts 300 ms
DECAY, SLOW, LEAK = 0.80, 0.90, 0.95
THRESHOLD, REFRACTORY = 1.0, 3

# sparse balanced connectivity: 80 % excitatory, 20 % inhibitory
mask = (torch.rand(N, N) < 0.1).float()
sign = torch.ones(N)
sign[int(0.8 * N):] = -4.0
W = mask * sign * torch.rand(N, N) * 0.02
W.fill_diagonal_(0)
print('connections', int(mask.sum()), 'spectral radius', round(torch.linalg.eigvals(W).abs().max().item(), 3))


def stimulus(t):
    if t >= STIM:
        return torch.zeros(N, TRIALS)
    drive = torch.zeros(N, TRIALS)
    drive[:180] = 0.12 * (1 + torch.rand(180, TRIALS))
    return drive


def simulate():
    v = torch.zeros(N, TRIALS)
    trace = torch.zeros(N, TRIALS)
    slow = torch.zeros(N, TRIALS)
    refr = torch.zeros(N, TRIALS)
    rate, energy, raster = [], [], []
    for t in range(STEPS):
        current = W @ trace + 0.1 * slow
        v = LEAK * v + (1 - LEAK) * current + stimulus(t)
        spikes = ((v > THRESHOLD) & (refr <= 0)).float()
        v = v * (1 - spikes)
        refr = torch.where(spikes > 0, torch.full_like(refr, REFRACTORY), refr - 1)
        trace = DECAY * trace + spikes
        slow = SLOW * slow + (1 - SLOW) * trace
        rate.append(spikes.mean().item())
        energy.append((trace * slow).mean().item())
        raster.append(spikes[:, 0].bool())
    return np.array(rate), np.array(energy), torch.stack(raster)


rate, energy, raster = simulate()
print(f'mean rate during stimulus {1000 * rate[:STIM].mean():.2f} Hz, afterwards {1000 * rate[STIM:].mean():.3f} Hz')
print('total spikes in first trial', int(raster.sum()))
peak = energy.argmax()
half = np.nonzero(energy[peak:] < energy[peak] / 2)[0][0]
print(f'trace energy peaks at {peak} ms and halves within {half} ms')

fig, (a, b) = plt.subplots(2, 1, sharex=True, figsize=(7, 4))
t, n = raster.nonzero().T
a.plot(t, n, ',k')
a.set_ylabel('neuron')
b.plot(1000 * rate)
b.set_ylabel('rate [Hz]')
b.set_xlabel('time [ms]')
plt.show()
"""
CURED = r"""
import numpy as np
import torch
import matplotlib.pyplot as plt

torch.set_num_threads(1)
torch.set_flush_denormal(True)
torch.manual_seed(17)

N, TRIALS, STEPS = 256, 96, 3600       # neurons, parallel trials, milliseconds
STIM = 300                              # stimulus lasts 300 ms
DECAY, SLOW, LEAK = 0.80, 0.90, 0.95
THRESHOLD, REFRACTORY = 1.0, 3

# sparse balanced connectivity: 80 % excitatory, 20 % inhibitory
mask = (torch.rand(N, N) < 0.1).float()
sign = torch.ones(N)
sign[int(0.8 * N):] = -4.0
W = mask * sign * torch.rand(N, N) * 0.02
W.fill_diagonal_(0)
print('connections', int(mask.sum()), 'spectral radius', round(torch.linalg.eigvals(W).abs().max().item(), 3))


def stimulus(t):
    if t >= STIM:
        return torch.zeros(N, TRIALS)
    drive = torch.zeros(N, TRIALS)
    drive[:180] = 0.12 * (1 + torch.rand(180, TRIALS))
    return drive


def simulate():
    v = torch.zeros(N, TRIALS)
    trace = torch.zeros(N, TRIALS)
    slow = torch.zeros(N, TRIALS)
    refr = torch.zeros(N, TRIALS)
    rate, energy, raster = [], [], []
    for t in range(STEPS):
        current = W @ trace + 0.1 * slow
        v = LEAK * v + (1 - LEAK) * current + stimulus(t)
        spikes = ((v > THRESHOLD) & (refr <= 0)).float()
        v = v * (1 - spikes)
        refr = torch.where(spikes > 0, torch.full_like(refr, REFRACTORY), refr - 1)
        trace = DECAY * trace + spikes
        slow = SLOW * slow + (1 - SLOW) * trace
        rate.append(spikes.mean().item())
        energy.append((trace * slow).mean().item())
        raster.append(spikes[:, 0].bool())
    return np.array(rate), np.array(energy), torch.stack(raster)


rate, energy, raster = simulate()
print(f'mean rate during stimulus {1000 * rate[:STIM].mean():.2f} Hz, afterwards {1000 * rate[STIM:].mean():.3f} Hz')
print('total spikes in first trial', int(raster.sum()))
peak = energy.argmax()
half = np.nonzero(energy[peak:] < energy[peak] / 2)[0][0]
print(f'trace energy peaks at {peak} ms and halves within {half} ms')

fig, (a, b) = plt.subplots(2, 1, sharex=True, figsize=(7, 4))
t, n = raster.nonzero().T
a.plot(t, n, ',k')
a.set_ylabel('neuron')
b.plot(1000 * rate)
b.set_ylabel('rate [Hz]')
b.set_xlabel('time [ms]')
plt.show()
"""
