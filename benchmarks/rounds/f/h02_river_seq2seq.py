NAME = 'h02_river_seq2seq'
FAULT = None
CURE = None
KIND = None
LOOKS_LIKE = "A Python loop calls nn.LSTMCell one step at a time in the decoder, which looks like it should be one nn.LSTM call; but each step's input is the model's own previous forecast (free running), so the steps are truly sequential; the encoder does use nn.LSTM on the whole sequence."
GOOD = r'''
import math
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(3)

# daily river discharge for a set of gauges: season + rain events + recession
def simulate_gauges(n_gauges=60, days=1200):
    t = torch.arange(days).float()
    rain = (torch.rand(n_gauges, days) < 0.12).float() * torch.rand(n_gauges, days) * 3
    rain = rain * (1 + 0.5 * torch.sin(2 * math.pi * t / 365))
    flow = torch.zeros(n_gauges, days)
    k = 0.85 + 0.1 * torch.rand(n_gauges)
    for d in range(1, days):
        flow[:, d] = k * flow[:, d - 1] + (1 - k) * rain[:, d] * 4
    return rain, torch.log1p(flow)

rain, flow = simulate_gauges()
HIST, AHEAD = 90, 30

def sample_batch(n, lo, hi):
    g = torch.randint(0, len(flow), (n,))
    s = torch.randint(lo, hi - HIST - AHEAD, (n,))
    idx = s[:, None] + torch.arange(HIST + AHEAD)
    r, f = rain[g[:, None], idx], flow[g[:, None], idx]
    past = torch.stack([r[:, :HIST], f[:, :HIST]], -1)
    return past, r[:, HIST:], f[:, HIST:]

class Seq2Seq(nn.Module):
    def __init__(self, hidden=128):
        super().__init__()
        self.encoder = nn.LSTM(2, hidden, batch_first=True)
        self.cell = nn.LSTMCell(2, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, past, future_rain):
        _, (h, c) = self.encoder(past)
        h, c = h[0], c[0]
        last = past[:, -1, 1]
        preds = []
        for i in range(future_rain.shape[1]):
            step_in = torch.stack([future_rain[:, i], last], dim=-1)
            h, c = self.cell(step_in, (h, c))
            last = last + self.out(h).squeeze(-1)
            preds.append(last)
        return torch.stack(preds, dim=1)

model = Seq2Seq()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
loss_fn = nn.SmoothL1Loss()

model.train()
running = 0.0
for it in range(1, 61):
    past, fut_rain, target = sample_batch(96, 0, 900)
    pred = model(past, fut_rain)
    loss = loss_fn(pred, target)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    running = loss.item() if it == 1 else 0.9 * running + 0.1 * loss.item()
    if it % 20 == 0:
        print(f"iter {it:3d}  loss {running:.4f}")

model.eval()
with torch.no_grad():
    past, fut_rain, target = sample_batch(512, 900, 1200)
    pred = model(past, fut_rain)
    persist = past[:, -1:, 1].expand_as(target)
    for lead in (1, 7, 30):
        rmse = (pred[:, lead - 1] - target[:, lead - 1]).pow(2).mean().sqrt()
        base = (persist[:, lead - 1] - target[:, lead - 1]).pow(2).mean().sqrt()
        print(f"lead {lead:2d} d  rmse {rmse:.4f}  persistence {base:.4f}")
'''
