NAME = 'Keeps all class probabilities of all epochs to find wrong labels from their medians.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []

GOOD = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(19)
torch.set_num_threads(1)

# classification with 8 % wrong labels; find them from the training dynamics
N, D, C, EPOCHS = 12000, 32, 120, 30
centres = 1.3 * torch.randn(C, D)
true = torch.randint(0, C, (N,))
x = centres[true] + torch.randn(N, D)
y = true.clone()
bad = torch.rand(N) < 0.08
y[bad] = torch.randint(0, C, (int(bad.sum()),))

net = nn.Sequential(nn.Linear(D, 384), nn.ReLU(), nn.Linear(384, 384), nn.ReLU(), nn.Linear(384, C))
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

# class probabilities of every sample after every epoch
probs = torch.empty(EPOCHS, N, C)


@torch.no_grad()
def record(net, x, into):
    for s in range(0, len(x), 2000):
        torch.softmax(net(x[s:s + 2000]), -1, out=into[s:s + 2000])


for epoch in range(EPOCHS):
    total = 0.0
    for idx in torch.randperm(N).split(200):
        loss = F.cross_entropy(net(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    record(net, x, probs[epoch])
    if epoch % 10 == 9:
        print(f"epoch {epoch} loss {total / N:.4f}")

# the typical (median over the epochs) distribution of each sample
typical = torch.empty(N, C)
swing = torch.empty(N)
for s in range(0, N, 500):
    p = probs[:, s:s + 500]
    typical[s:s + 500] = p.median(0).values
    swing[s:s + 500] = (p.gather(2, y[s:s + 500].expand(EPOCHS, -1)[..., None])[..., 0]).std(0)
own = typical.gather(1, y[:, None])[:, 0]
other = typical.scatter(1, y[:, None], 0.0).max(1).values
suspicious = (other - own).argsort(descending=True)[:int(bad.sum())]
precision = bad[suspicious].float().mean().item()
print(f"flagged {len(suspicious)}  precision {precision:.3f}  swing good/bad "
      f"{swing[~bad].mean().item():.3f}/{swing[bad].mean().item():.3f}")
print("guess of the right class for flagged ones",
      round((typical[suspicious].argmax(1) == true[suspicious]).float().mean().item(), 3))
"""
