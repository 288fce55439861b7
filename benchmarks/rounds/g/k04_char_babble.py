NAME = 'Character GRU that babbles recipe-like text'
FAULT = 'Generation feeds the whole text so far through the GRU for every new character instead of carrying the hidden state.'
CURE = 'Feed only the last character together with the previous hidden state.'
KIND = 'time'
FAULT_LINES = [
    'logits, _ = model(text)',
    'text = torch.cat([text, nxt], dim=1)',
]
FAULT_CALLS = ['CharRNN.forward', 'GRU.forward', 'aten::gru']
FAULTY = r"""import torch
import torch.nn as nn
import random

torch.set_num_threads(1)
torch.manual_seed(0)
random.seed(0)

verbs = ["mix", "bake", "stir", "fold", "chop", "boil"]
things = ["flour", "sugar", "eggs", "butter", "milk", "onions", "rice"]
tails = ["slowly", "for ten minutes", "until golden", "with salt", "in a bowl"]
corpus = " ".join(f"{random.choice(verbs)} the {random.choice(things)} {random.choice(tails)}." for _ in range(4000))
chars = sorted(set(corpus))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in corpus])
print(len(corpus), "characters,", len(chars), "symbols")


class CharRNN(nn.Module):
    def __init__(self, vocab, emb=32, hidden=128):
        super().__init__()
        self.emb = nn.Embedding(vocab, emb)
        self.rnn = nn.GRU(emb, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, ids, state=None):
        h, state = self.rnn(self.emb(ids), state)
        return self.out(h), state


model = CharRNN(len(chars))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
seq, bs = 48, 32
for step in range(120):
    starts = torch.randint(0, len(data) - seq - 1, (bs,))
    batch = torch.stack([data[s:s + seq + 1] for s in starts.tolist()])
    logits, _ = model(batch[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 40 == 39:
        print(f"step {step + 1}: loss {loss.item():.3f}")


@torch.no_grad()
def babble(prompts, length, temperature=0.7):
    text = torch.tensor([[stoi[c] for c in p] for p in prompts])
    for _ in range(length):
        logits, _ = model(text)
        probs = (logits[:, -1] / temperature).softmax(-1)
        nxt = torch.multinomial(probs, 1)
        text = torch.cat([text, nxt], dim=1)
    return ["".join(chars[i] for i in row) for row in text.tolist()]


model.eval()
samples = babble(["mix the ", "chop the", "boil the", "bake the"] * 4, length=360)
words = set(corpus.replace(".", " ").split())
made = [w for s in samples for w in s.replace(".", " ").split()]
for s in samples[:3]:
    print(repr(s[:90]))
print(f"{sum(w in words for w in made) / len(made):.1%} of {len(made)} words are known")
"""
CURED = r"""import torch
import torch.nn as nn
import random

torch.set_num_threads(1)
torch.manual_seed(0)
random.seed(0)

verbs = ["mix", "bake", "stir", "fold", "chop", "boil"]
things = ["flour", "sugar", "eggs", "butter", "milk", "onions", "rice"]
tails = ["slowly", "for ten minutes", "until golden", "with salt", "in a bowl"]
corpus = " ".join(f"{random.choice(verbs)} the {random.choice(things)} {random.choice(tails)}." for _ in range(4000))
chars = sorted(set(corpus))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in corpus])
print(len(corpus), "characters,", len(chars), "symbols")


class CharRNN(nn.Module):
    def __init__(self, vocab, emb=32, hidden=128):
        super().__init__()
        self.emb = nn.Embedding(vocab, emb)
        self.rnn = nn.GRU(emb, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, ids, state=None):
        h, state = self.rnn(self.emb(ids), state)
        return self.out(h), state


model = CharRNN(len(chars))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
seq, bs = 48, 32
for step in range(120):
    starts = torch.randint(0, len(data) - seq - 1, (bs,))
    batch = torch.stack([data[s:s + seq + 1] for s in starts.tolist()])
    logits, _ = model(batch[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 40 == 39:
        print(f"step {step + 1}: loss {loss.item():.3f}")


@torch.no_grad()
def babble(prompts, length, temperature=0.7):
    text = torch.tensor([[stoi[c] for c in p] for p in prompts])
    logits, state = model(text)
    for _ in range(length):
        probs = (logits[:, -1] / temperature).softmax(-1)
        nxt = torch.multinomial(probs, 1)
        text = torch.cat([text, nxt], dim=1)
        logits, state = model(nxt, state)
    return ["".join(chars[i] for i in row) for row in text.tolist()]


model.eval()
samples = babble(["mix the ", "chop the", "boil the", "bake the"] * 4, length=360)
words = set(corpus.replace(".", " ").split())
made = [w for s in samples for w in s.replace(".", " ").split()]
for s in samples[:3]:
    print(repr(s[:90]))
print(f"{sum(w in words for w in made) / len(made):.1%} of {len(made)} words are known")
"""
