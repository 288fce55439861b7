NAME = 'g10_char_names'
FAULT = 'To sample each next character the LSTM is run again over the whole text produced so far instead of carrying its state on.'
CURE = 'Keep the recurrent state and feed only the newest character.'
KIND = 'time'
FAULT_LINES = [
    '        logits, _ = net(torch.tensor([ids]))',
    '    for _ in range(n):',
    '        h, state = self.rnn(self.emb(x), state)',
]
FAULT_CALLS = ['torch.nn.LSTM.forward', 'aten::lstm', 'torch.nn.Module.__call__', 'write']

FAULTY = r'''
import random
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(5); random.seed(5)

# invented town names, glued into one long text
pre = "ober unter neu alt bad gross klein ost west hoch".split()
mid = "lin wald bach berg feld stein see muehl kirch brunn".split()
suf = "hausen dorf heim ingen au stadt furt burg rode tal".split()
text = "\n".join(random.choice(pre) + random.choice(mid) + random.choice(suf) for _ in range(2500))
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])


class CharLM(nn.Module):
    def __init__(self, v, d=128):
        super().__init__()
        self.emb = nn.Embedding(v, 32)
        self.rnn = nn.LSTM(32, d, batch_first=True)
        self.out = nn.Linear(d, v)

    def forward(self, x, state=None):
        h, state = self.rnn(self.emb(x), state)
        return self.out(h), state


net = CharLM(len(chars))
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
for it in range(60):
    s = torch.randint(len(data) - 49, (32,))
    xy = data[s[:, None] + torch.arange(49)]
    logits, _ = net(xy[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), xy[:, 1:].flatten())
    opt.zero_grad(); loss.backward(); opt.step()
    if it % 15 == 14:
        print(it + 1, f"{loss.item():.3f}")


@torch.no_grad()
def write(n, start="neu", temp=0.7):
    ids = [stoi[c] for c in start]
    for _ in range(n):
        logits, _ = net(torch.tensor([ids]))
        p = torch.softmax(logits[0, -1] / temp, 0)
        ids.append(torch.multinomial(p, 1).item())
    return "".join(chars[i] for i in ids)


out = write(1300)
print(out[:200])
known = set(text.split("\n"))
names = out.split("\n")[1:-1]
print(len(names), "names,", sum(w not in known for w in names), "new ones")
'''

CURED = r'''
import random
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(5); random.seed(5)

# invented town names, glued into one long text
pre = "ober unter neu alt bad gross klein ost west hoch".split()
mid = "lin wald bach berg feld stein see muehl kirch brunn".split()
suf = "hausen dorf heim ingen au stadt furt burg rode tal".split()
text = "\n".join(random.choice(pre) + random.choice(mid) + random.choice(suf) for _ in range(2500))
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])


class CharLM(nn.Module):
    def __init__(self, v, d=128):
        super().__init__()
        self.emb = nn.Embedding(v, 32)
        self.rnn = nn.LSTM(32, d, batch_first=True)
        self.out = nn.Linear(d, v)

    def forward(self, x, state=None):
        h, state = self.rnn(self.emb(x), state)
        return self.out(h), state


net = CharLM(len(chars))
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
for it in range(60):
    s = torch.randint(len(data) - 49, (32,))
    xy = data[s[:, None] + torch.arange(49)]
    logits, _ = net(xy[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), xy[:, 1:].flatten())
    opt.zero_grad(); loss.backward(); opt.step()
    if it % 15 == 14:
        print(it + 1, f"{loss.item():.3f}")


@torch.no_grad()
def write(n, start="neu", temp=0.7):
    ids = [stoi[c] for c in start]
    new, state = ids, None
    for _ in range(n):
        logits, state = net(torch.tensor([new]), state)
        p = torch.softmax(logits[0, -1] / temp, 0)
        ids.append(torch.multinomial(p, 1).item())
        new = ids[-1:]
    return "".join(chars[i] for i in ids)


out = write(1300)
print(out[:200])
known = set(text.split("\n"))
names = out.split("\n")[1:-1]
print(len(names), "names,", sum(w not in known for w in names), "new ones")
'''
