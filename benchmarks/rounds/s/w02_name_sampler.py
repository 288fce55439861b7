NAME = 'Trains a character GRU on made-up place names and samples new text from it.'
FAULT = 'Every new character is drawn after running the GRU over the whole text so far instead of one step from the kept hidden state.'
CURE = 'Carry the hidden state and feed only the last character.'
KIND = 'time'
FAULT_LINES = [
    'logits, _ = model(text)',
    'text = torch.cat([text, nxt], dim=1)',
    'for _ in range(length):',
]
FAULT_CALLS = ['model', 'forward', 'gru', 'GRU']

FAULTY = r'''import random
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(3)
random.seed(3)

# --- corpus: invented place names ------------------------------------------
starts = ["ald", "bre", "cor", "dun", "esk", "fal", "gar", "hol", "inver", "kil"]
middles = ["", "a", "en", "ing", "o", "er"]
ends = ["by", "dale", "ford", "ham", "mouth", "ness", "stead", "ton", "wick"]
names = [random.choice(starts) + random.choice(middles) + random.choice(ends) for _ in range(6000)]
corpus = "\n".join(names) + "\n"
alphabet = sorted(set(corpus))
stoi = {ch: i for i, ch in enumerate(alphabet)}
data = torch.tensor([stoi[ch] for ch in corpus])
print(len(corpus), "characters,", len(alphabet), "symbols")


# --- model --------------------------------------------------------------------
class CharModel(nn.Module):
    def __init__(self, vocab, emb=32, hidden=192):
        super().__init__()
        self.emb = nn.Embedding(vocab, emb)
        self.gru = nn.GRU(emb, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, ids, state=None):
        h, state = self.gru(self.emb(ids), state)
        return self.out(h), state


model = CharModel(len(alphabet))
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)

# --- training -----------------------------------------------------------------
SEQ, BATCH, STEPS = 64, 32, 150
offsets = torch.arange(SEQ + 1)
for step in range(STEPS):
    begin = torch.randint(0, len(data) - SEQ - 1, (BATCH, 1))
    chunk = data[begin + offsets]
    logits, _ = model(chunk[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), chunk[:, 1:].flatten())
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 50 == 49:
        print(f"step {step + 1} loss {loss.item():.3f}")


# --- sampling ------------------------------------------------------------------
@torch.no_grad()
def sample(model, n, length, temperature=0.8):
    text = torch.full((n, 1), stoi["\n"])
    for _ in range(length):
        logits, _ = model(text)
        probs = torch.softmax(logits[:, -1] / temperature, dim=-1)
        nxt = torch.multinomial(probs, 1)
        text = torch.cat([text, nxt], dim=1)
    return text


torch.manual_seed(11)
generated = sample(model.eval(), n=8, length=520)
strings = ["".join(alphabet[i] for i in row) for row in generated.tolist()]
known = set(names)
made = [w for s in strings for w in s.split("\n")[1:-1] if w]
print("names made:", len(made))
print("already in corpus: %.3f" % (sum(w in known for w in made) / len(made)))
print("first few:", made[:6])
'''

CURED = r'''import random
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(3)
random.seed(3)

# --- corpus: invented place names ------------------------------------------
starts = ["ald", "bre", "cor", "dun", "esk", "fal", "gar", "hol", "inver", "kil"]
middles = ["", "a", "en", "ing", "o", "er"]
ends = ["by", "dale", "ford", "ham", "mouth", "ness", "stead", "ton", "wick"]
names = [random.choice(starts) + random.choice(middles) + random.choice(ends) for _ in range(6000)]
corpus = "\n".join(names) + "\n"
alphabet = sorted(set(corpus))
stoi = {ch: i for i, ch in enumerate(alphabet)}
data = torch.tensor([stoi[ch] for ch in corpus])
print(len(corpus), "characters,", len(alphabet), "symbols")


# --- model --------------------------------------------------------------------
class CharModel(nn.Module):
    def __init__(self, vocab, emb=32, hidden=192):
        super().__init__()
        self.emb = nn.Embedding(vocab, emb)
        self.gru = nn.GRU(emb, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, ids, state=None):
        h, state = self.gru(self.emb(ids), state)
        return self.out(h), state


model = CharModel(len(alphabet))
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)

# --- training -----------------------------------------------------------------
SEQ, BATCH, STEPS = 64, 32, 150
offsets = torch.arange(SEQ + 1)
for step in range(STEPS):
    begin = torch.randint(0, len(data) - SEQ - 1, (BATCH, 1))
    chunk = data[begin + offsets]
    logits, _ = model(chunk[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), chunk[:, 1:].flatten())
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 50 == 49:
        print(f"step {step + 1} loss {loss.item():.3f}")


# --- sampling ------------------------------------------------------------------
@torch.no_grad()
def sample(model, n, length, temperature=0.8):
    text = torch.full((n, 1), stoi["\n"])
    nxt, state = text, None
    for _ in range(length):
        logits, state = model(nxt, state)
        probs = torch.softmax(logits[:, -1] / temperature, dim=-1)
        nxt = torch.multinomial(probs, 1)
        text = torch.cat([text, nxt], dim=1)
    return text


torch.manual_seed(11)
generated = sample(model.eval(), n=8, length=520)
strings = ["".join(alphabet[i] for i in row) for row in generated.tolist()]
known = set(names)
made = [w for s in strings for w in s.split("\n")[1:-1] if w]
print("names made:", len(made))
print("already in corpus: %.3f" % (sum(w in known for w in made) / len(made)))
print("first few:", made[:6])
'''
