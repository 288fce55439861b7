NAME = "Trains a GRU language model on SMILES-like strings and samples new molecules token by token."
FAULT = "For each new token the GRU is run over the whole prefix again, although its hidden state already summarises it."
CURE = "Keep the hidden state returned by the GRU and feed only the newest token."
KIND = "time"
FAULT_LINES = [
    "        logits, _ = net(seq)",
    "        seq = torch.cat([seq, nxt], dim=1)",
    "    seq = torch.full((n, 1), stoi[BOS])",
]
FAULT_CALLS = ["gru", "forward", "sample", "addmm", "linear", "GRU", "mkldnn_rnn_layer"]
FAULTY = r'''import random
from collections import Counter
import torch
from torch import nn

torch.set_num_threads(1)
random.seed(3); torch.manual_seed(3)

BOS, EOS, PAD = "^", "$", " "
CORES = ["c1ccccc1", "C1CCNCC1", "c1ccncc1", "C1CCOCC1", "c1ccsc1", "C1CCCC1", "c1cc[nH]c1"]
LINKS = ["C", "CC", "O", "N", "C(=O)N", "S(=O)(=O)N", "C(=O)O", "CO", "CN(C)"]
ENDS = ["C", "F", "Cl", "Br", "O", "N", "C#N", "C(F)(F)F", "OC", "C(C)C"]


def random_molecule():
    s = random.choice(ENDS[:6])
    for _ in range(random.choice([2, 3, 3, 4])):
        s += random.choice(LINKS)
        core = random.choice(CORES)
        if random.random() < 0.5:
            s += "(" + random.choice(ENDS) + ")"
        s += core
    return "C" + s + random.choice(ENDS)


data = sorted({random_molecule() for _ in range(4000)})
random.shuffle(data)
data = data[:2048]
vocab = [PAD, BOS, EOS] + sorted(set("".join(data)))
stoi = {c: i for i, c in enumerate(vocab)}
L = max(map(len, data)) + 2
X = torch.zeros(len(data), L, dtype=torch.long)
for i, s in enumerate(data):
    ids = [stoi[c] for c in BOS + s + EOS]
    X[i, :len(ids)] = torch.tensor(ids)
print(f"{len(data)} molecules, {len(vocab)} tokens, longest {L - 2}")


class SmilesGRU(nn.Module):
    def __init__(self, v, emb=32, hid=128):
        super().__init__()
        self.emb = nn.Embedding(v, emb, padding_idx=0)
        self.gru = nn.GRU(emb, hid, batch_first=True)
        self.out = nn.Linear(hid, v)

    def forward(self, tok, h=None):
        y, h = self.gru(self.emb(tok), h)
        return self.out(y), h


net = SmilesGRU(len(vocab))
optim = torch.optim.Adam(net.parameters(), lr=4e-3)
for epoch in range(3):
    tot = 0.0
    for idx in torch.randperm(len(X)).split(64):
        xb = X[idx]
        logits, _ = net(xb[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), xb[:, 1:].flatten(), ignore_index=0)
        optim.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optim.step()
        tot += loss.item() * len(idx)
    print(f"epoch {epoch}: nll/token {tot / len(X):.3f}")


@torch.no_grad()
def sample(n, max_len=70, temperature=0.8):
    net.eval()
    h = None
    seq = torch.full((n, 1), stoi[BOS])
    done = torch.zeros(n, dtype=torch.bool)
    for _ in range(max_len):
        logits, _ = net(seq)
        p = torch.softmax(logits[:, -1] / temperature, dim=-1)
        nxt = torch.multinomial(p, 1)
        nxt[done] = stoi[PAD]
        seq = torch.cat([seq, nxt], dim=1)
        done |= nxt[:, 0] == stoi[EOS]
        if done.all():
            break
    return ["".join(vocab[t] for t in row[1:]).split(EOS)[0].strip() for row in seq.tolist()]


def balanced(s):
    return s.count("(") == s.count(")") and s.count("[") == s.count("]") and s.count("1") % 2 == 0


torch.manual_seed(17)
known, mols = set(data), []
for _ in range(6):
    mols += sample(128)
ok = [m for m in mols if balanced(m)]
print(f"sampled {len(mols)}, balanced {len(ok)}, unique {len(set(ok))}, novel {len(set(ok) - known)}")
print("commonest halogen:", Counter("".join(ok).replace("Cl", "X").replace("Br", "Y")).get("F", 0), "F atoms")
print(sorted(ok, key=len)[:2])
'''
CURED = FAULTY.replace("        logits, _ = net(seq)\n", "        logits, h = net(seq[:, -1:], h)\n")
