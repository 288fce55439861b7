NAME = "Trains a recurrent melody writer for sheet music with scheduled sampling, so that it learns from its own notes."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS = "A Python loop over time steps with LSTMCell and an output layer per step looks as if it should be one nn.LSTM call, but with scheduled sampling the input of a step depends on the note drawn from the previous step's output."
GOOD = r'''
import random
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(440)
random.seed(440)

PITCHES = 36                      # three octaves
LENGTHS = 6                       # sixteenth .. whole
TOKENS = PITCHES * LENGTHS
SCALES = [[0, 2, 4, 5, 7, 9, 11], [0, 2, 3, 5, 7, 8, 10], [0, 2, 3, 5, 7, 9, 10]]
BARS, PER_BAR = 6, 6


def compose(key, mode):
    """A motif that is repeated, inverted and moved within a scale."""
    scale = SCALES[mode]
    motif = [random.choice([-2, -1, 1, 2]) for _ in range(PER_BAR)]
    rhythm = [random.randrange(LENGTHS) for _ in range(PER_BAR)]
    degree, notes = 7, []
    for bar in range(BARS):
        sign = -1 if bar % 3 == 2 else 1
        for jump, length in zip(motif, rhythm):
            degree = min(max(degree + sign * jump, 0), 18)
            pitch = (12 * (degree // 7) + scale[degree % 7] + key) % PITCHES
            notes.append(pitch * LENGTHS + length)
    return notes


def draw(logits):
    return torch.multinomial(logits.detach().softmax(-1), 1).squeeze(1)


class MelodyWriter(nn.Module):
    def __init__(self, dim=160, hidden=448):
        super().__init__()
        self.note = nn.Embedding(TOKENS + 1, dim)          # last index: start of the piece
        self.key = nn.Embedding(12, 24)
        self.mode = nn.Embedding(len(SCALES), 8)
        self.place = nn.Embedding(PER_BAR, dim)
        self.begin = nn.Linear(32, 2 * hidden)
        self.drop = nn.Dropout(0.15)
        self.cell = nn.LSTMCell(dim, hidden)
        self.out = nn.Linear(hidden, TOKENS)

    def forward(self, key, mode, notes=None, own=0.0, steps=BARS * PER_BAR):
        B = len(key)
        about = torch.cat([self.key(key), self.mode(mode)], dim=1)
        token = torch.full((B,), TOKENS)
        state = self.begin(about).tanh().chunk(2, dim=1)
        logits = []
        for t in range(steps):
            x = self.drop(self.note(token) + self.place.weight[t % PER_BAR])
            state = self.cell(x, state)
            step_logits = self.out(state[0])
            logits.append(step_logits)
            if notes is None:
                token = draw(step_logits)
            else:
                token = notes[:, t].clone()
                swap = (torch.rand(B) < own).nonzero().squeeze(1)
                if len(swap):
                    token[swap] = draw(step_logits[swap])
        return torch.stack(logits, dim=1)


n_pieces = 1056
keys = torch.randint(0, 12, (n_pieces,))
modes = torch.randint(0, len(SCALES), (n_pieces,))
pieces = torch.tensor([compose(k, m) for k, m in zip(keys.tolist(), modes.tolist())])
n_train = 960

writer = MelodyWriter()
opt = torch.optim.Adam(writer.parameters(), lr=3e-3)
lossf = nn.CrossEntropyLoss()

for epoch in range(2):
    own = 0.2 * (epoch + 1)
    writer.train()
    seen = 0.0
    for rows in torch.randperm(n_train).split(64):
        logits = writer(keys[rows], modes[rows], pieces[rows], own)
        loss = lossf(logits.flatten(0, 1), pieces[rows].flatten())
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(writer.parameters(), 1.0)
        opt.step()
        seen += loss.item()
    print(f"epoch {epoch}: own notes {own:.2f}, loss {seen / (n_train // 64):.3f}")

writer.eval()
with torch.inference_mode():
    held = writer(keys[n_train:], modes[n_train:], pieces[n_train:])
    held_loss = lossf(held.flatten(0, 1), pieces[n_train:].flatten()).item()
    free = writer(keys[n_train:], modes[n_train:]).argmax(-1)
in_scale = [((p // LENGTHS - k) % 12) in SCALES[m]
            for row, k, m in zip(free.tolist(), keys[n_train:].tolist(), modes[n_train:].tolist())
            for p in row]
print(f"held-out loss {held_loss:.3f}, notes within the scale {sum(in_scale) / len(in_scale):.3f}")
'''
