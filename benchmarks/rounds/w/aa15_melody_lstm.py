NAME = "Trains an LSTM on synthetic melodies and then writes new ones note by note."
FAULT = "While composing, the LSTM is run over the whole melody so far for every new note, although its state could be carried, so generation costs the square of the length."
CURE = "Keep the hidden state and feed only the newest note at each step."
KIND = "time"
FAULT_LINES = ["logits, _ = model(notes)", "for step in range(length):", "notes = torch.cat([notes, nxt], dim=1)"]
FAULT_CALLS = ["lstm", "compose", "forward", "linear", "mkldnn_rnn_layer"]
FAULTY = r'''
import random
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(3)
random.seed(3)

SCALE = [0, 2, 4, 5, 7, 9, 11]
VOCAB = 40            # pitch index 0..39
SEQ = 64


def random_melody(n):
    """Random walk on a major scale with short motifs that come back."""
    root = random.choice([0, 5, 7])
    motif = [random.choice([-2, -1, 1, 2]) for _ in range(6)]
    deg, out = 10, []
    for i in range(n):
        if random.random() < 0.8:
            deg += motif[i % 6]
        else:
            deg += random.choice([-1, 0, 1])
        deg = max(2, min(18, deg))
        pitch = root + 12 * (deg // 7) + SCALE[deg % 7]
        out.append(pitch % VOCAB)
    return out


corpus = torch.tensor([random_melody(SEQ + 1) for _ in range(1200)])
print("corpus", tuple(corpus.shape))


class MelodyNet(nn.Module):
    def __init__(self, vocab=VOCAB, emb=48, hidden=128):
        super().__init__()
        self.emb = nn.Embedding(vocab, emb)
        self.rnn = nn.LSTM(emb, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, notes, state=None):
        h, state = self.rnn(self.emb(notes), state)
        return self.out(h), state


model = MelodyNet()
opt = torch.optim.Adam(model.parameters(), lr=4e-3)

for epoch in range(3):
    tot, nb = 0.0, 0
    for b in torch.randperm(len(corpus)).split(40):
        seq = corpus[b]
        logits, _ = model(seq[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, VOCAB), seq[:, 1:].reshape(-1))
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        tot += loss.item()
        nb += 1
    print(f"epoch {epoch}: nll/note {tot / nb:.3f}")


@torch.inference_mode()
def compose(model, primer, length, temperature=0.9):
    model.eval()
    notes = primer
    state = None
    for step in range(length):
        logits, _ = model(notes)
        probs = F.softmax(logits[:, -1] / temperature, dim=-1)
        nxt = torch.multinomial(probs, 1)
        notes = torch.cat([notes, nxt], dim=1)
    return notes


primer = corpus[:24, :8]
songs = compose(model, primer, length=420)
steps = (songs[:, 1:] - songs[:, :-1]).abs().float()
print("composed", tuple(songs.shape))
print(f"mean step {steps.mean():.2f}, repeated notes {(steps == 0).float().mean():.3f}")
print("first song:", songs[0, :24].tolist())
'''
CURED = FAULTY.replace(
    "        logits, _ = model(notes)\n",
    "        logits, state = model(notes if state is None else nxt, state)\n",
)
