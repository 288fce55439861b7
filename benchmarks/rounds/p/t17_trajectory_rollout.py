NAME = 'Trains a GRU-cell model that rolls out pedestrian tracks on its own predictions.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'The Python loop over time steps with GRUCell looks slow, but each step feeds on the (randomly substituted) prediction before it, and large matrix products fill the time.'
GOOD = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(101)


def tracks(n, steps=32):
    heading = 6.28 * torch.rand(n, 1)
    turn = 0.12 * torch.randn(n, 1)
    k = torch.arange(steps)[None]
    ang = heading + turn * k
    pace = 0.5 + 0.5 * torch.rand(n, 1)
    d = torch.stack([pace * ang.cos(), pace * ang.sin()], -1) + 0.03 * torch.randn(n, steps, 2)
    return d


class Rollout(nn.Module):
    def __init__(self, h=512):
        super().__init__()
        self.embed = nn.Linear(2, 256)
        self.cell = nn.GRUCell(256, h)
        self.mid = nn.Linear(h, h)
        self.out = nn.Linear(h, 2)
        self.h = h

    def forward(self, steps, teacher=0.5):
        h = steps.new_zeros(len(steps), self.h)
        inp = steps[:, 0]
        preds = []
        for t in range(steps.shape[1] - 1):
            h = self.cell(torch.tanh(self.embed(inp)), h)
            nxt = inp + self.out(torch.tanh(self.mid(h)))
            preds.append(nxt)
            use_truth = (torch.rand(len(steps), 1) < teacher).float()
            inp = use_truth * steps[:, t + 1] + (1 - use_truth) * nxt
        return torch.stack(preds, 1)


data = tracks(2048)
model = Rollout()
opt = torch.optim.SGD(model.parameters(), lr=0.02)
for epoch in range(1):
    for b, idx in enumerate(torch.randperm(len(data)).split(256)):
        batch = data[idx]
        pred = model(batch, teacher=0.7)
        loss = F.mse_loss(pred, batch[:, 1:])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        opt.step()
        if b % 2 == 1:
            print(f'batch {b + 1}: loss {loss.item():.4f}')
"""
