NAME = "Trains an LSTM language model on synthetic code tokens and completes a set of function stubs greedily."
FAULT = "Each new token is obtained by running the LSTM over the whole prefix again from an empty state, so generation is quadratic in length."
CURE = "Keep the LSTM state returned by the model and feed only the newest token."
KIND = "time"
FAULT_LINES = ["logits, _ = lm(tokens)", "for _ in range(n_new):", "out, state = self.rnn(self.emb(tok), state)", "def complete(lm, prompt, n_new):"]
FAULT_CALLS = ["complete", "lstm", "forward", "linear", "mkldnn_rnn_layer", "LSTM", "addmm"]
FAULTY = r'''
import random
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)
random.seed(0)

NAMES = ["x", "y", "acc", "item", "node", "left", "right", "buf", "idx", "total"]
FUNCS = ["load", "merge", "scan", "visit", "reduce", "emit"]


def random_function():
    f, a, b = random.choice(FUNCS), random.choice(NAMES), random.choice(NAMES)
    out = ["def", f, "(", a, ",", b, ")", ":", "<nl>"]
    for _ in range(random.randint(1, 4)):
        r = random.random()
        if r < 0.4:
            out += ["<in>", a, "=", a, random.choice("+-*"), b, "<nl>"]
        elif r < 0.7:
            out += ["<in>", "if", a, "<", b, ":", "<nl>", "<in>", "<in>", "return", b, "<nl>"]
        else:
            out += ["<in>", "for", b, "in", a, ":", "<nl>", "<in>", "<in>", random.choice(FUNCS), "(", b, ")", "<nl>"]
    return out + ["<in>", "return", a, "<nl>", "<nl>"]


stream = []
while len(stream) < 60000:
    stream += random_function()
vocab = sorted(set(stream))
stoi = {t: i for i, t in enumerate(vocab)}
data = torch.tensor([stoi[t] for t in stream])


class CodeLM(nn.Module):
    def __init__(self, n_vocab, dim=96, hidden=192):
        super().__init__()
        self.emb = nn.Embedding(n_vocab, dim)
        self.rnn = nn.LSTM(dim, hidden, num_layers=2, batch_first=True)
        self.head = nn.Linear(hidden, n_vocab)

    def forward(self, tok, state=None):
        out, state = self.rnn(self.emb(tok), state)
        return self.head(out), state


def batches(data, bs, length, steps):
    for _ in range(steps):
        s = torch.randint(0, len(data) - length - 1, (bs,))
        win = data[s[:, None] + torch.arange(length + 1)]
        yield win[:, :-1], win[:, 1:]


@torch.no_grad()
def complete(lm, prompt, n_new):
    lm.eval()
    tokens = prompt
    for _ in range(n_new):
        logits, _ = lm(tokens)
        nxt = logits[:, -1].argmax(-1, keepdim=True)
        tokens = torch.cat([tokens, nxt], dim=1)
    return tokens


lm = CodeLM(len(vocab))
opt = torch.optim.AdamW(lm.parameters(), lr=3e-3)
for step, (x, y) in enumerate(batches(data, 32, 48, 60)):
    logits, _ = lm(x)
    loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(lm.parameters(), 1.0)
    opt.step()
    if step % 20 == 19:
        print(f"step {step + 1} loss {loss.item():.4f}")

stubs = []
for f in FUNCS:
    for a in NAMES[:4]:
        stubs.append([stoi[t] for t in ["def", f, "(", a, ",", "idx", ")", ":", "<nl>"]])
prompt = torch.tensor(stubs)
full = complete(lm, prompt, 150)
for row in full[:3]:
    print(" ".join(vocab[i] for i in row[:40].tolist()))
print("share of return tokens", round((full == stoi["return"]).float().mean().item(), 4))
'''
CURED = FAULTY.replace("    tokens = prompt\n", "    tokens, nxt, state = prompt, prompt, None\n").replace(
    "logits, _ = lm(tokens)", "logits, state = lm(nxt, state)")
