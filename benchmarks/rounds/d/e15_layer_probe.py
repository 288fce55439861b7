NAME = 'e15_layer_probe'

FAULT = 'The forward hooks keep the whole token-level activations of all layers for all batches, although only their mean over tokens is used later.'

CURE = 'Take the mean over the tokens in the hook and keep only that.'

KIND = 'memory'

FAULT_LINES = [
    '        captured[name].append(out.detach())',
    '    z = torch.cat(captured[name]).mean(1)',
]

FAULT_CALLS = [
    'save',
    'register_forward_hook',
    'torch.cat',
    'list.append',
]

FAULTY = r'''
# Which layer of the (frozen) sequence encoder holds the label?  Linear probes per layer.
from collections import defaultdict
import torch
from torch import nn

torch.manual_seed(61)
torch.set_num_threads(1)

N_SEQ, T, D, DEPTH = 1536, 64, 256, 7

# log-lines as token ids; label = which of two event types is more frequent
tokens = torch.randint(2, 500, (N_SEQ, T))
a = torch.rand(N_SEQ, T) < torch.rand(N_SEQ, 1) * 0.4
tokens[a] = torch.randint(0, 2, (int(a.sum()),))
label = ((tokens == 0).sum(1) > (tokens == 1).sum(1)).long()


class MixerBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.time = nn.Linear(T, T)
        self.chan = nn.Sequential(nn.Linear(D, 2 * D), nn.GELU(), nn.Linear(2 * D, D))

    def forward(self, x):
        x = x + self.time(self.n1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.chan(self.n2(x))


encoder = nn.Sequential(nn.Embedding(500, D), *[MixerBlock() for _ in range(DEPTH)])
encoder.eval()

captured = defaultdict(list)


def save(name):
    def hook(module, inputs, out):
        captured[name].append(out.detach())
    return hook


handles = [m.register_forward_hook(save(f"layer{i}")) for i, m in enumerate(encoder)]
with torch.no_grad():
    for batch in tokens.split(512):
        encoder(batch)
for h in handles:
    h.remove()
print({k: len(v) for k, v in captured.items()})


def probe(z, y, n_train=1100, steps=150):
    z = (z - z[:n_train].mean(0)) / (z[:n_train].std(0) + 1e-5)
    lin = nn.Linear(z.shape[1], 2)
    opt = torch.optim.AdamW(lin.parameters(), lr=0.01, weight_decay=0.1)
    for _ in range(steps):
        opt.zero_grad()
        nn.functional.cross_entropy(lin(z[:n_train]), y[:n_train]).backward()
        opt.step()
    with torch.no_grad():
        return (lin(z[n_train:]).argmax(1) == y[n_train:]).float().mean().item()


for name in captured:
    z = torch.cat(captured[name]).mean(1)
    print(f"{name}: probe accuracy {probe(z, label):.3f}")
'''

CURED = r'''
# Which layer of the (frozen) sequence encoder holds the label?  Linear probes per layer.
from collections import defaultdict
import torch
from torch import nn

torch.manual_seed(61)
torch.set_num_threads(1)

N_SEQ, T, D, DEPTH = 1536, 64, 256, 7

# log-lines as token ids; label = which of two event types is more frequent
tokens = torch.randint(2, 500, (N_SEQ, T))
a = torch.rand(N_SEQ, T) < torch.rand(N_SEQ, 1) * 0.4
tokens[a] = torch.randint(0, 2, (int(a.sum()),))
label = ((tokens == 0).sum(1) > (tokens == 1).sum(1)).long()


class MixerBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.time = nn.Linear(T, T)
        self.chan = nn.Sequential(nn.Linear(D, 2 * D), nn.GELU(), nn.Linear(2 * D, D))

    def forward(self, x):
        x = x + self.time(self.n1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.chan(self.n2(x))


encoder = nn.Sequential(nn.Embedding(500, D), *[MixerBlock() for _ in range(DEPTH)])
encoder.eval()

captured = defaultdict(list)


def save(name):
    def hook(module, inputs, out):
        captured[name].append(out.detach().mean(1))
    return hook


handles = [m.register_forward_hook(save(f"layer{i}")) for i, m in enumerate(encoder)]
with torch.no_grad():
    for batch in tokens.split(512):
        encoder(batch)
for h in handles:
    h.remove()
print({k: len(v) for k, v in captured.items()})


def probe(z, y, n_train=1100, steps=150):
    z = (z - z[:n_train].mean(0)) / (z[:n_train].std(0) + 1e-5)
    lin = nn.Linear(z.shape[1], 2)
    opt = torch.optim.AdamW(lin.parameters(), lr=0.01, weight_decay=0.1)
    for _ in range(steps):
        opt.zero_grad()
        nn.functional.cross_entropy(lin(z[:n_train]), y[:n_train]).backward()
        opt.step()
    with torch.no_grad():
        return (lin(z[n_train:]).argmax(1) == y[n_train:]).float().mean().item()


for name in captured:
    z = torch.cat(captured[name])
    print(f"{name}: probe accuracy {probe(z, label):.3f}")
'''
