NAME = 'prequential evaluation on a drifting stream: tiny batches are the protocol'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
GOOD = '''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)
D, CHUNK, N_CHUNKS = 512, 16, 1000
net = nn.Sequential(nn.Linear(D, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.02)

w = torch.randn(D)
drift = 0.03 * torch.randn(D)
correct, seen, window = 0, 0, []
for c in range(N_CHUNKS):
    w = w + drift
    x = torch.randn(CHUNK, D)
    y = (x @ w > 0).long()

    logits = net(x)                       # first test on the chunk, then train on it: one forward serves both
    hit = (logits.argmax(1) == y).sum().item()
    loss = F.cross_entropy(logits, y)
    opt.zero_grad()
    loss.backward()
    opt.step()

    correct += hit; seen += CHUNK
    window.append(hit / CHUNK)
print(f"prequential accuracy {correct / seen:.4f}, last 50 chunks {sum(window[-50:]) / 50:.4f}")
'''
