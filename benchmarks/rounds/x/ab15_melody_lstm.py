NAME = "Fits an LSTM to synthetic melodies and samples new ones note by note."
FAULT = "Sampling runs the LSTM over the whole melody so far for every new note instead of carrying the hidden state, which makes it quadratic in the length."
CURE = "Feed only the newest note together with the LSTM state of the step before."
KIND = "time"
FAULT_LINES = ["logits, _ = model(melody)"]
FAULT_CALLS = ["compose", "lstm", "mkldnn_rnn_layer", "embedding", "linear", "forward", "addmm"]
FAULTY = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(2024)

# note vocabulary: 36 pitches, 0 is a rest
N_NOTES = 37
SCALE = torch.tensor([0, 2, 4, 5, 7, 9, 11])
NAMES = "C C# D D# E F F# G G# A A# B".split()


def random_walk_melodies(n, length):
    """Random walks on the steps of a major scale, with now and then a rest."""
    steps = torch.randint(-2, 3, (n, length))
    degree = (10 + steps.cumsum(1)).clamp(0, 20)
    pitch = 1 + 12 * (degree // 7) + SCALE[degree % 7]
    rest = torch.rand(n, length) < 0.05
    return pitch.clamp(max=N_NOTES - 1).masked_fill(rest, 0)


class MelodyRNN(nn.Module):
    def __init__(self, emb=48, hidden=192):
        super().__init__()
        self.emb = nn.Embedding(N_NOTES, emb)
        self.lstm = nn.LSTM(emb, hidden, num_layers=2, batch_first=True)
        self.head = nn.Linear(hidden, N_NOTES)

    def forward(self, notes, state=None):
        h, state = self.lstm(self.emb(notes), state)
        return self.head(h), state


def fit(model, data, steps, batch=32, lr=3e-3):
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    for step in range(1, steps + 1):
        rows = torch.randint(0, len(data), (batch,))
        chunk = data[rows]
        logits, _ = model(chunk[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), chunk[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        if step % 20 == 0:
            print(f"step {step:3d}  loss {loss.item():.3f}")


@torch.no_grad()
def compose(model, start, n_notes, temperature=0.9):
    model.eval()
    melody = start
    state = None
    for _ in range(n_notes):
        logits, _ = model(melody)
        probs = F.softmax(logits[:, -1] / temperature, dim=-1)
        note = torch.multinomial(probs, 1)
        melody = torch.cat([melody, note], dim=1)
    return melody


def spell(row, k=12):
    out = []
    for p in row[:k].tolist():
        out.append("-" if p == 0 else f"{NAMES[(p - 1) % 12]}{3 + (p - 1) // 12}")
    return " ".join(out)


data = random_walk_melodies(2000, 65)
model = MelodyRNN()
fit(model, data, steps=60)

songs = compose(model, data[:8, :4], 320)
in_scale = torch.isin((songs - 1) % 12, SCALE) & (songs > 0)
print("opening:", spell(songs[0]))
print("share of notes in the scale:", round(in_scale.float().mean().item(), 2))
print("share of rests:", round((songs == 0).float().mean().item(), 2))
leaps = (songs[:, 1:] - songs[:, :-1]).abs().float()
print("mean leap in semitones:", round(leaps.mean().item(), 1))
'''
CURED = FAULTY.replace("logits, _ = model(melody)\n", "logits, state = model(melody if state is None else note, state)\n")
