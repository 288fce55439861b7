NAME = 'Forecasts river discharge with a GRU encoder and a step-by-step decoder that is trained with scheduled sampling.'
FAULT = None
CURE = None
KIND = None
WHY = "The decoder runs in a Python loop over time with a GRUCell, but every step may take the model's own previous prediction as its input, so the steps cannot be run in one nn.GRU call."
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(60)

PAST, AHEAD, DAYS, HIDDEN = 45, 20, 4200, 192


def simulate_basin():
    wet = torch.rand(DAYS) < 0.25 + 0.15 * torch.sin(2 * torch.pi * torch.arange(DAYS) / 365)
    rain = torch.where(wet, torch.distributions.Gamma(1.2, 0.15).sample((DAYS,)), torch.zeros(DAYS)).tolist()
    fast = slow = 5.0
    flow = []
    for r in rain:
        fast = 0.75 * fast + 0.5 * r
        slow = 0.98 * slow + 0.05 * r
        flow.append(0.4 * fast + 0.6 * slow)
    rain, flow = torch.tensor(rain), torch.tensor(flow)
    flow = torch.log1p(flow) + 0.02 * torch.randn(DAYS)
    return torch.log1p(rain), (flow - flow.mean()) / flow.std()


class Seq2Seq(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.GRU(2, HIDDEN, batch_first=True)
        self.cell = nn.GRUCell(2, HIDDEN)
        self.out = nn.Linear(HIDDEN, 1)

    def forward(self, past, rain_ahead, target=None, teacher=0.0):
        _, h = self.encoder(past)
        h = h[0]
        previous = past[:, -1, 1:]
        predictions = []
        for t in range(rain_ahead.shape[1]):
            h = self.cell(torch.cat([rain_ahead[:, t:t + 1], previous], 1), h)
            step = previous + self.out(h)
            predictions.append(step)
            if target is not None and teacher > 0:
                use_truth = torch.rand(len(step), 1) < teacher
                previous = torch.where(use_truth, target[:, t:t + 1], step)
            else:
                previous = step
        return torch.cat(predictions, 1)


rain, flow = simulate_basin()
series = torch.stack([rain, flow], 1)
windows = series.unfold(0, PAST + AHEAD, 1).transpose(1, 2)
train, test = windows[:3000], windows[3200::8]

model = Seq2Seq()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(3):
    teacher = 0.8 * (1 - epoch / 2)
    model.train()
    running = 0.0
    batches = torch.randperm(len(train)).split(100)
    for rows in batches:
        block = train[rows]
        past, ahead = block[:, :PAST], block[:, PAST:]
        pred = model(past, ahead[..., 0], ahead[..., 1], teacher)
        loss = F.smooth_l1_loss(pred, ahead[..., 1])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        running += loss.item()
    model.eval()
    with torch.no_grad():
        error = (model(test[:, :PAST], test[:, PAST:, 0]) - test[:, PAST:, 1]).abs().mean(0)
    print(f"epoch {epoch}  teacher {teacher:.1f}  loss {running / len(batches):.4f}  "
          f"MAE day 1 {error[0].item():.3f}  day 10 {error[9].item():.3f}  day 20 {error[19].item():.3f}")
'''
