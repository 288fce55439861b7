NAME = 'Simulates a spiking layer with decaying traces and a local learning rule over input volleys and long silences.'
FAULT = 'In the silent phase the traces decay into subnormal numbers, on which the CPU computes many times slower.'
CURE = 'Call torch.set_flush_denormal(True) at the start (values below 1e-38 become zero; the printed numbers stay the same).'
KIND = 'time'
FAULT_LINES = ['self.pre.mul_(self.tau_trace).add_(spikes)', 'self.mem.mul_(self.tau_mem).add_(spikes @ self.weight.T)', 'trace_norm += layer.pre.sum().item()', 'fired = layer.step(spikes)']
FAULT_CALLS = ['mul_', 'add_', 'step', 'sum']
FAULTY = r"""
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(2)


class LeakyLayer(nn.Module):
    '''Leaky integrate-and-fire layer with presynaptic traces for a local learning rule.'''

    def __init__(self, n_in, n_out, tau_mem=0.9, tau_trace=0.8):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n_out, n_in) * 1.2 / n_in ** 0.5, requires_grad=False)
        self.tau_mem, self.tau_trace = tau_mem, tau_trace

    def reset(self, batch):
        n_out, n_in = self.weight.shape
        self.mem = torch.zeros(batch, n_out)
        self.pre = torch.zeros(batch, n_in)
        self.post = torch.zeros(batch, n_out)

    def step(self, spikes):
        self.pre.mul_(self.tau_trace).add_(spikes)
        self.mem.mul_(self.tau_mem).add_(spikes @ self.weight.T)
        fired = (self.mem > 1.0).float()
        self.mem.sub_(fired)
        self.post.mul_(self.tau_trace).add_(fired)
        return fired


def hebbian(layer, fired, rate):
    '''Potentiate what preceded a spike, depress by the recent activity of the cell itself.'''
    dw = fired.T @ layer.pre / len(fired)
    decay = (fired * layer.post).mean(0)[:, None] * layer.weight
    layer.weight.add_(rate * (dw - decay))


def volley(batch, n_in, active, pattern):
    mask = torch.zeros(batch, n_in)
    mask[:, pattern] = (torch.rand(batch, len(pattern)) < active).float()
    return mask


BATCH, N_IN, N_OUT = 64, 2048, 32
layer = LeakyLayer(N_IN, N_OUT)
patterns = [torch.randperm(N_IN)[:1200] for _ in range(3)]
for episode in range(15):
    layer.reset(BATCH)
    total, trace_norm = 0, 0.0
    for t in range(1000):
        if t % 1000 < 40:
            spikes = volley(BATCH, N_IN, 0.3, patterns[episode % 3])
        else:
            spikes = torch.zeros(BATCH, N_IN)
        fired = layer.step(spikes)
        if t % 1000 < 60:
            hebbian(layer, fired, rate=2e-3)
        else:
            trace_norm += layer.pre.sum().item()
        total += int(fired.sum())
    if episode % 4 == 3:
        print(f"episode {episode} spikes {total} trace {trace_norm:.1f} weight {layer.weight.norm():.3f}")
"""
CURED = r"""
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.set_flush_denormal(True)
torch.manual_seed(2)


class LeakyLayer(nn.Module):
    '''Leaky integrate-and-fire layer with presynaptic traces for a local learning rule.'''

    def __init__(self, n_in, n_out, tau_mem=0.9, tau_trace=0.8):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n_out, n_in) * 1.2 / n_in ** 0.5, requires_grad=False)
        self.tau_mem, self.tau_trace = tau_mem, tau_trace

    def reset(self, batch):
        n_out, n_in = self.weight.shape
        self.mem = torch.zeros(batch, n_out)
        self.pre = torch.zeros(batch, n_in)
        self.post = torch.zeros(batch, n_out)

    def step(self, spikes):
        self.pre.mul_(self.tau_trace).add_(spikes)
        self.mem.mul_(self.tau_mem).add_(spikes @ self.weight.T)
        fired = (self.mem > 1.0).float()
        self.mem.sub_(fired)
        self.post.mul_(self.tau_trace).add_(fired)
        return fired


def hebbian(layer, fired, rate):
    '''Potentiate what preceded a spike, depress by the recent activity of the cell itself.'''
    dw = fired.T @ layer.pre / len(fired)
    decay = (fired * layer.post).mean(0)[:, None] * layer.weight
    layer.weight.add_(rate * (dw - decay))


def volley(batch, n_in, active, pattern):
    mask = torch.zeros(batch, n_in)
    mask[:, pattern] = (torch.rand(batch, len(pattern)) < active).float()
    return mask


BATCH, N_IN, N_OUT = 64, 2048, 32
layer = LeakyLayer(N_IN, N_OUT)
patterns = [torch.randperm(N_IN)[:1200] for _ in range(3)]
for episode in range(15):
    layer.reset(BATCH)
    total, trace_norm = 0, 0.0
    for t in range(1000):
        if t % 1000 < 40:
            spikes = volley(BATCH, N_IN, 0.3, patterns[episode % 3])
        else:
            spikes = torch.zeros(BATCH, N_IN)
        fired = layer.step(spikes)
        if t % 1000 < 60:
            hebbian(layer, fired, rate=2e-3)
        else:
            trace_norm += layer.pre.sum().item()
        total += int(fired.sum())
    if episode % 4 == 3:
        print(f"episode {episode} spikes {total} trace {trace_norm:.1f} weight {layer.weight.norm():.3f}")
"""
