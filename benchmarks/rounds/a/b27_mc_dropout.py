NAME = 'Monte Carlo dropout: the same inputs pass many times through a model in train mode'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
GOOD = '''
import torch
import torch.nn as nn

torch.manual_seed(7)
D, N, PASSES = 256, 2000, 60
net = nn.Sequential(
    nn.Dropout(0.1), nn.Linear(D, 768), nn.ReLU(),
    nn.Dropout(0.2), nn.Linear(768, 768), nn.ReLU(),
    nn.Dropout(0.2), nn.Linear(768, 10),
)
net.train()                                  # dropout must be live: it is the posterior sample

X = torch.randn(N, D)
mean_p = torch.zeros(N, 10)
mean_h = torch.zeros(N)
with torch.inference_mode():
    for _ in range(PASSES):
        logp = net(X).log_softmax(1)
        p = logp.exp()
        mean_p += p
        mean_h -= (p * logp).sum(1)
mean_p /= PASSES
mean_h /= PASSES
total_h = -(mean_p * mean_p.clamp(min=1e-12).log()).sum(1)
mutual = total_h - mean_h
print(f"entropy {total_h.mean().item():.4f}, mutual information {mutual.mean().item():.5f}, max {mutual.max().item():.5f}")
'''
