NAME = 'd04_melody_sampler'
FAULT = 'At each generated token the whole sequence so far is run through the GRU again although only its last state is new.'
CURE = 'Carry the GRU hidden state and feed only the newest token.'
KIND = 'time'
FAULT_LINES = (17, 27, 34)
FAULT_CALLS = ('model', 'forward', 'gru', 'rnn', 'compose')
FAULTY = """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)

NOTES = 96

class MelodyRNN(nn.Module):
    def __init__(self, vocab, dim=128, hidden=256):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, hidden, num_layers=2, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, tokens, state=None):
        h, state = self.rnn(self.emb(tokens), state)
        return self.out(h), state


model = MelodyRNN(NOTES).eval()

@torch.no_grad()
def compose(model, seed, length, temperature=0.8):
    seq = seed
    for _ in range(length):
        logits, _ = model(seq)
        probs = F.softmax(logits[:, -1] / temperature, dim=-1)
        nxt = torch.multinomial(probs, 1)
        seq = torch.cat([seq, nxt], dim=1)
    return seq

seed = torch.randint(0, NOTES, (4, 8))
songs = compose(model, seed, 220)

counts = torch.bincount(songs.flatten(), minlength=NOTES)
print(songs.shape, "distinct notes:", int((counts > 0).sum()))
print("mean pitch %.1f" % songs.float().mean())
"""
CURED = """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)

NOTES = 96

class MelodyRNN(nn.Module):
    def __init__(self, vocab, dim=128, hidden=256):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, hidden, num_layers=2, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, tokens, state=None):
        h, state = self.rnn(self.emb(tokens), state)
        return self.out(h), state


model = MelodyRNN(NOTES).eval()

@torch.no_grad()
def compose(model, seed, length, temperature=0.8):
    seq = seed
    nxt, state = seed, None
    for _ in range(length):
        logits, state = model(nxt, state)
        probs = F.softmax(logits[:, -1] / temperature, dim=-1)
        nxt = torch.multinomial(probs, 1)
        seq = torch.cat([seq, nxt], dim=1)
    return seq

seed = torch.randint(0, NOTES, (4, 8))
songs = compose(model, seed, 220)

counts = torch.bincount(songs.flatten(), minlength=NOTES)
print(songs.shape, "distinct notes:", int((counts > 0).sum()))
print("mean pitch %.1f" % songs.float().mean())
"""
