NAME = "Trains an LSTM on drum patterns and improvises new bars step by step."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS = ("The improvisation calls the network in a Python loop, one sixteenth at a time, and collects the steps in a list; "
         "each step is sampled and fed back, so it cannot be batched over time, the hidden state is carried along and 384 "
         "improvisations run at once, so the loop itself costs nothing noticeable.")
GOOD = r'''import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(808)

VOICES = ["kick", "snare", "hat", "open", "clap", "tom", "rim", "ride"]
STEPS, BARS = 16, 4


def grooves(n):
    """Random variations of four styles: probabilities per voice and sixteenth."""
    p = torch.full((4, len(VOICES), STEPS), 0.02)
    p[0, 0, ::4] = 0.97; p[0, 4, 4::8] = 0.9; p[0, 3, 2::4] = 0.9; p[0, 2, :] = 0.5       # house
    p[1, 0, [0, 7, 10]] = 0.9; p[1, 1, 4::8] = 0.95; p[1, 2, ::2] = 0.9                   # boom bap
    p[2, 0, [0, 10]] = 0.95; p[2, 1, [4, 12]] = 0.95; p[2, 7, ::2] = 0.85; p[2, 1, 15] = 0.4   # breakbeat
    p[3, 0, [0, 6]] = 0.8; p[3, 6, [0, 3, 6, 10, 12]] = 0.9; p[3, 5, [13, 14]] = 0.5      # clave
    style = torch.randint(0, 4, (n,))
    x = torch.bernoulli(p[style].repeat(1, 1, BARS))
    # a fill on the toms at the end of the fourth bar
    fill = torch.rand(n) < 0.5
    x[fill, 5, -4:] = 1.0
    return x.transpose(1, 2).contiguous(), style


class DrumLSTM(nn.Module):
    def __init__(self, hidden=128):
        super().__init__()
        self.beat = nn.Embedding(STEPS, 16)
        self.lstm = nn.LSTM(len(VOICES) + 16, hidden, num_layers=2, batch_first=True)
        self.out = nn.Linear(hidden, len(VOICES))

    def forward(self, x, pos, state=None):
        b = self.beat(pos).expand(x.shape[0], -1, -1)
        y, state = self.lstm(torch.cat([x, b], -1), state)
        return self.out(y), state


train_x, _ = grooves(1280)
net = DrumLSTM()
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
bce = nn.BCEWithLogitsLoss()
pos = (torch.arange(STEPS * BARS) % STEPS)[None]
silence = torch.zeros(1, 1, len(VOICES))

for epoch in range(4):
    total = 0.0
    for idx in torch.randperm(len(train_x)).split(96):
        x = train_x[idx]
        shifted = torch.cat([silence.expand(len(x), -1, -1), x[:, :-1]], 1)
        logits, _ = net(shifted, pos)
        loss = bce(logits, x)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        total += loss.item() * len(x)
    print(f"epoch {epoch + 1}  bce {total / len(train_x):.4f}")


@torch.no_grad()
def improvise(n, bars, heat=0.9):
    net.eval()
    hit = silence.expand(n, -1, -1)
    state, steps = None, []
    for t in range(bars * STEPS):
        logits, state = net(hit, pos[:, t % STEPS:t % STEPS + 1], state)
        hit = torch.bernoulli(torch.sigmoid(logits / heat))
        steps.append(hit)
    return torch.cat(steps, 1)


jam = improvise(384, bars=8)
bars = jam.reshape(-1, STEPS, len(VOICES))
density = bars.mean((0, 1))
print("hits per step:", "  ".join(f"{v} {d:.2f}" for v, d in zip(VOICES, density.tolist())))
print(f"kick on the one: {bars[:, 0, 0].mean():.2f}, backbeat: {bars[:, [4, 12]][:, :, [1, 4]].amax(-1).mean():.2f}")
first = jam[0, :STEPS]
for v in range(3):
    print(f"{VOICES[v]:>6} " + "".join("x" if h else "." for h in first[:, v].tolist()))
'''
