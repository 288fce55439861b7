NAME = "Trains a small GRU on synthetic source code and completes unfinished functions greedily."
FAULT = "Every new token runs the GRU and the output layer again over the whole prompt and all that has been generated, although the recurrent state of the prefix could be kept."
CURE = "Feed the prompt once, then only the newest token together with the hidden state."
KIND = "time"
FAULT_LINES = ["        logits, _ = self(ids)", "        ids = torch.cat([ids, nxt], dim=1)", "out = model.complete(prompts, max_new=260)"]
FAULT_CALLS = ["complete", "gru", "linear", "forward"]
FAULTY = r'''
import random
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(11)
random.seed(11)

NAMES = ["total", "count", "item", "row", "value", "key", "path", "name", "size", "node"]
VERBS = ["load", "save", "merge", "check", "build", "split", "filter"]


def fake_function():
    a, b = random.sample(NAMES, 2)
    v = random.choice(VERBS)
    body = random.choice([
        f"    for {a} in {b}:\n        if {a} > {random.randint(0, 9)}:\n            yield {a}\n",
        f"    {a} = {random.randint(0, 9)}\n    while {a} < len({b}):\n        {a} += 1\n    return {a}\n",
        f"    with open({b}) as f:\n        {a} = f.read()\n    return {a}.strip()\n",
        f"    if not {b}:\n        return None\n    return [{a} for {a} in {b}]\n",
    ])
    return f"def {v}_{a}({b}):\n{body}\n"


corpus = "".join(fake_function() for _ in range(6000))
chars = sorted(set(corpus))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in corpus])
print(f"{len(corpus)} characters, vocabulary {len(chars)}")


class CodeGRU(nn.Module):
    def __init__(self, vocab, emb=48, hidden=256):
        super().__init__()
        self.emb = nn.Embedding(vocab, emb)
        self.rnn = nn.GRU(emb, hidden, batch_first=True)
        self.head = nn.Linear(hidden, vocab)

    def forward(self, ids, state=None):
        h, state = self.rnn(self.emb(ids), state)
        return self.head(h), state

    @torch.no_grad()
    def complete(self, ids, max_new):
        self.eval()
        for _ in range(max_new):
            logits, _ = self(ids)
            nxt = logits[:, -1].argmax(dim=-1, keepdim=True)
            ids = torch.cat([ids, nxt], dim=1)
        return ids


def get_batch(n=32, length=96):
    start = torch.randint(0, len(data) - length - 1, (n,))
    idx = start[:, None] + torch.arange(length + 1)
    chunk = data[idx]
    return chunk[:, :-1], chunk[:, 1:]


model = CodeGRU(len(chars))
opt = torch.optim.AdamW(model.parameters(), lr=4e-3)
running = 0.0
for step in range(1, 91):
    x, y = get_batch()
    logits, _ = model(x)
    loss = F.cross_entropy(logits.reshape(-1, len(chars)), y.reshape(-1))
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    running += loss.item()
    if step % 30 == 0:
        print(f"step {step}: loss {running / 30:.2f}")
        running = 0.0

# unfinished definitions, all cut to the same length
headers = []
while len(headers) < 12:
    s = fake_function()
    if len(s) > 40:
        headers.append(s[:24])
prompts = torch.tensor([[stoi[c] for c in s] for s in headers])
out = model.complete(prompts, max_new=260)
texts = ["".join(chars[i] for i in row) for row in out.tolist()]
closed = sum("return" in t or "yield" in t for t in texts)
print(f"{closed}/{len(texts)} completions reach a return or yield")
print(repr(texts[0][:60]))
'''
CURED = FAULTY.replace('''        for _ in range(max_new):
            logits, _ = self(ids)
''', '''        inp, state = ids, None
        for _ in range(max_new):
            logits, state = self(inp, state)
''').replace('''            ids = torch.cat([ids, nxt], dim=1)
''', '''            ids = torch.cat([ids, nxt], dim=1)
            inp = nxt
''')
