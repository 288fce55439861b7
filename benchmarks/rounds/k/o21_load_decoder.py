NAME = 'Trains a load forecaster whose decoder is fed its own predictions (scheduled sampling) with attention.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r"""
import math
import random
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(21)
random.seed(21)
PAST, FUTURE, WIDTH = 96, 36, 160


def household_load(n):
    t = torch.arange(PAST + FUTURE) / 24.0
    phase, level = torch.rand(n, 1), torch.rand(n, 1) + 0.5
    daily = torch.sin(2 * math.pi * (t + phase)).clamp(min=-0.3)
    walk = 0.1 * torch.randn(n, PAST + FUTURE).cumsum(1)
    x = level * daily + walk + 0.1 * torch.randn(n, PAST + FUTURE)
    return x[:, :PAST, None], x[:, PAST:]


class LoadForecaster(nn.Module):
    '''Encoder LSTM, decoder LSTM cell with dot-product attention on the past day curve.'''

    def __init__(self):
        super().__init__()
        self.enc = nn.LSTM(1, WIDTH, batch_first=True)
        self.cell = nn.LSTMCell(1 + WIDTH, WIDTH)
        self.query = nn.Linear(WIDTH, WIDTH, bias=False)
        self.out = nn.Linear(2 * WIDTH, 1)

    def attend(self, h, memory):
        score = torch.bmm(memory, self.query(h)[:, :, None]) / math.sqrt(WIDTH)
        return torch.bmm(score.softmax(1).transpose(1, 2), memory).squeeze(1)

    def forward(self, past, truth=None, teacher=0.0):
        memory, (h, c) = self.enc(past)
        h, c = h[0], c[0]
        prev, ctx, outs = past[:, -1], torch.zeros_like(h), []
        for t in range(FUTURE):
            h, c = self.cell(torch.cat([prev, ctx], 1), (h, c))
            ctx = self.attend(h, memory)
            y = self.out(torch.cat([h, ctx], 1))
            outs.append(y)
            use_truth = truth is not None and random.random() < teacher
            prev = truth[:, t:t + 1] if use_truth else y
        return torch.cat(outs, 1)


model = LoadForecaster()
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for step in range(22):
    past, future = household_load(64)
    teacher = max(0.0, 0.8 - step / 25)
    loss = nn.functional.l1_loss(model(past, future, teacher), future)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    if step % 7 == 0:
        print(f"step {step} teacher {teacher:.2f} loss {loss.item():.3f}")

model.eval()
with torch.no_grad():
    past, future = household_load(256)
    free = model(past)
    naive = past[:, -24:, 0].repeat(1, 2)[:, :FUTURE]
print(f"mae model {(free - future).abs().mean():.3f} same hour yesterday {(naive - future).abs().mean():.3f}")
"""
