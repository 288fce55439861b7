NAME = 'Trains a character-level GRU on made-up recipe lines and lets it write new ones.'
FAULT = 'At each new character the GRU reads the whole text written so far again.'
CURE = 'Carry the hidden state and feed only the newest character.'
KIND = 'time'
FAULT_LINES = [
    'logits, _ = model(torch.tensor([ids]))',
    'z, state = self.gru(self.emb(ids), state)',
    'out = write(model, prompt, 380)',
]
FAULT_CALLS = ['write', 'forward', 'model', 'gru', 'GRU', 'linear', 'tensor']
FAULTY = r"""
import random
import torch
import torch.nn as nn

torch.set_num_threads(1)
random.seed(8)
torch.manual_seed(8)

verbs = ['mix', 'stir', 'fold', 'roast', 'chop', 'simmer', 'whisk']
things = ['flour', 'butter', 'two eggs', 'the onions', 'a pinch of salt', 'brown sugar', 'the cream']
ends = ['until golden', 'for ten minutes', 'gently', 'and set aside', 'over low heat']
text = '\n'.join(f'{random.choice(verbs)} {random.choice(things)} {random.choice(ends)}.' for _ in range(3000))
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])


class CharGRU(nn.Module):
    def __init__(self, n, d=32, h=160):
        super().__init__()
        self.emb = nn.Embedding(n, d)
        self.gru = nn.GRU(d, h, batch_first=True)
        self.out = nn.Linear(h, n)

    def forward(self, ids, state=None):
        z, state = self.gru(self.emb(ids), state)
        return self.out(z), state


model = CharGRU(len(chars))
opt = torch.optim.Adam(model.parameters(), lr=4e-3)
T, B = 64, 32
for step in range(60):
    start = torch.randint(0, len(data) - T - 1, (B,))
    win = torch.stack([data[s:s + T + 1] for s in start])
    logits, _ = model(win[:, :-1])
    loss = nn.functional.cross_entropy(logits.transpose(1, 2), win[:, 1:])
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    if step % 20 == 19:
        print(f'step {step + 1}: {loss.item():.3f}')


@torch.no_grad()
def write(model, prompt, n_new, temperature=0.7):
    model.eval()
    ids = [stoi[c] for c in prompt]
    for _ in range(n_new):
        logits, _ = model(torch.tensor([ids]))
        p = torch.softmax(logits[0, -1] / temperature, -1)
        ids.append(torch.multinomial(p, 1).item())
    return ''.join(chars[i] for i in ids)


for prompt in ['mix ', 'roast the ', 'whisk two']:
    out = write(model, prompt, 380)
    print('---')
    print(out[:120])
"""
CURED = r"""
import random
import torch
import torch.nn as nn

torch.set_num_threads(1)
random.seed(8)
torch.manual_seed(8)

verbs = ['mix', 'stir', 'fold', 'roast', 'chop', 'simmer', 'whisk']
things = ['flour', 'butter', 'two eggs', 'the onions', 'a pinch of salt', 'brown sugar', 'the cream']
ends = ['until golden', 'for ten minutes', 'gently', 'and set aside', 'over low heat']
text = '\n'.join(f'{random.choice(verbs)} {random.choice(things)} {random.choice(ends)}.' for _ in range(3000))
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])


class CharGRU(nn.Module):
    def __init__(self, n, d=32, h=160):
        super().__init__()
        self.emb = nn.Embedding(n, d)
        self.gru = nn.GRU(d, h, batch_first=True)
        self.out = nn.Linear(h, n)

    def forward(self, ids, state=None):
        z, state = self.gru(self.emb(ids), state)
        return self.out(z), state


model = CharGRU(len(chars))
opt = torch.optim.Adam(model.parameters(), lr=4e-3)
T, B = 64, 32
for step in range(60):
    start = torch.randint(0, len(data) - T - 1, (B,))
    win = torch.stack([data[s:s + T + 1] for s in start])
    logits, _ = model(win[:, :-1])
    loss = nn.functional.cross_entropy(logits.transpose(1, 2), win[:, 1:])
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    if step % 20 == 19:
        print(f'step {step + 1}: {loss.item():.3f}')


@torch.no_grad()
def write(model, prompt, n_new, temperature=0.7):
    model.eval()
    ids = [stoi[c] for c in prompt]
    state, todo = None, list(ids)
    for _ in range(n_new):
        logits, state = model(torch.tensor([todo]), state)
        p = torch.softmax(logits[0, -1] / temperature, -1)
        todo = [torch.multinomial(p, 1).item()]
        ids += todo
    return ''.join(chars[i] for i in ids)


for prompt in ['mix ', 'roast the ', 'whisk two']:
    out = write(model, prompt, 380)
    print('---')
    print(out[:120])
"""
