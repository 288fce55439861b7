NAME = 'Layer-normalised LSTM with recurrent dropout on synthetic ECG beats'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY_GOOD = 'The Python loop over time looks like a job for nn.LSTM, but the normalisation inside the gates makes the recurrence custom and strictly sequential; the input projection is already done for all steps at once and the recurrent matrix products dominate'
GOOD = r"""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(13)

T, CH, HID, BATCH, STEPS = 30, 12, 320, 320, 8


def beats(n, gen):
    # three kinds of heart beat, cut into 30 frames of 12 samples
    t = torch.linspace(0, 1, T * CH)
    y = torch.randint(0, 3, (n,), generator=gen)
    shift = 0.05 * torch.randn(n, 1, generator=gen)
    bump = lambda c, w: torch.exp(-((t - c - shift) / w) ** 2)
    x = bump(0.45, 0.012) + 0.25 * bump(0.7, 0.05)
    x = x + torch.where(y[:, None] == 1, -0.3 * bump(0.5, 0.03), torch.zeros(1))
    x = x + torch.where(y[:, None] == 2, 0.2 * torch.sin(40 * math.pi * t), 0.15 * bump(0.25, 0.03))
    x = x + 0.1 * torch.randn(n, T * CH, generator=gen)
    return x.view(n, T, CH), y


class LayerNormLSTM(nn.Module):
    def __init__(self, n_in, hidden, p=0.1):
        super().__init__()
        self.hidden, self.p = hidden, p
        self.w_x = nn.Linear(n_in, 4 * hidden, bias=False)
        self.w_h = nn.Linear(hidden, 4 * hidden, bias=False)
        self.ln_x = nn.LayerNorm(4 * hidden)
        self.ln_h = nn.LayerNorm(4 * hidden)
        self.ln_c = nn.LayerNorm(hidden)
        nn.init.orthogonal_(self.w_h.weight)

    def forward(self, x):
        B, steps, _ = x.shape
        gates_x = self.ln_x(self.w_x(x)).transpose(0, 1).contiguous()
        h = x.new_zeros(B, self.hidden)
        c = x.new_zeros(B, self.hidden)
        # one dropout mask per sequence
        mask = F.dropout(torch.ones_like(h), self.p, self.training)
        for t in range(steps):
            g = gates_x[t] + self.ln_h(self.w_h(h))
            i, f, o, u = g.chunk(4, dim=1)
            c = torch.sigmoid(f + 1) * c + torch.sigmoid(i) * torch.tanh(u) * mask
            h = torch.sigmoid(o) * torch.tanh(self.ln_c(c))
        return h


class BeatClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = LayerNormLSTM(CH, HID)
        self.fc = nn.Linear(HID, 3)

    def forward(self, x):
        return self.fc(self.rnn(x))


gen = torch.Generator().manual_seed(0)
model = BeatClassifier()
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for step in range(1, STEPS + 1):
    x, y = beats(BATCH, gen)
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    if step % 2 == 0:
        print(f"step {step:2d}  loss {loss.item():.4f}")

model.eval()
with torch.no_grad():
    x, y = beats(384, gen)
    print(f"accuracy {(model(x).argmax(1) == y).float().mean().item():.3f}")
"""
