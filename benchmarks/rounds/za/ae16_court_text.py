NAME = "Trains a character GRU on synthetic court rulings and samples new rulings from it."
FAULT = "While sampling, the growing text is run through the GRU and the output layer from its beginning for every new character, although the recurrent state of the step before would do."
CURE = "Carry the hidden state: feed the prompt once and then only the newest character with the state."
KIND = "time"
FAULT_LINES = [
    "logits, _ = model(ids)",
    "ids = torch.cat([ids, nxt], dim=1)",
    "samples = sample(model, prompts, 260, temperature=0.7)",
]
FAULT_CALLS = ["gru", "sample", "forward", "linear", "addmm"]
FAULTY = r'''
import random
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(21)
random.seed(21)

PARTIES = ["the applicant", "the respondent", "the appellant", "the State", "the insurer", "the landlord"]
VERBS = ["submits that", "denies that", "concedes that", "failed to show that", "maintains that"]
FACTS = ["the notice was served in time", "the contract had been terminated", "the damage was foreseeable",
         "the witness was unreliable", "the limitation period had expired", "the lease was void"]
RULES = ["section 14 of the Act", "article 6(1)", "rule 23(b)", "paragraph 3 of the order"]
ENDS = ["The appeal is dismissed.", "The appeal is allowed.", "Costs follow the event.", "The matter is remitted."]


def ruling():
    out = []
    for k in range(random.randint(3, 6)):
        out.append(f"[{k + 1}] {random.choice(PARTIES).capitalize()} {random.choice(VERBS)} "
                   f"{random.choice(FACTS)} under {random.choice(RULES)}.")
    out.append(random.choice(ENDS))
    return " ".join(out) + "\n"


corpus = "".join(ruling() for _ in range(900))
vocab = sorted(set(corpus))
stoi = {c: i for i, c in enumerate(vocab)}
data = torch.tensor([stoi[c] for c in corpus])
print(f"{len(corpus)} characters, vocabulary {len(vocab)}")


class RulingLM(nn.Module):
    def __init__(self, n_vocab, emb=64, hidden=224):
        super().__init__()
        self.emb = nn.Embedding(n_vocab, emb)
        self.gru = nn.GRU(emb, hidden, batch_first=True)
        self.out = nn.Linear(hidden, n_vocab)

    def forward(self, ids, state=None):
        h, state = self.gru(self.emb(ids), state)
        return self.out(h), state


def get_batch(bs=32, seq=96):
    start = torch.randint(0, len(data) - seq - 1, (bs,))
    idx = start[:, None] + torch.arange(seq + 1)
    chunk = data[idx]
    return chunk[:, :-1], chunk[:, 1:]


model = RulingLM(len(vocab))
opt = torch.optim.AdamW(model.parameters(), lr=4e-3)
crit = nn.CrossEntropyLoss()
for step in range(1, 81):
    x, y = get_batch()
    logits, _ = model(x)
    loss = crit(logits.flatten(0, 1), y.flatten())
    opt.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    if step % 40 == 0:
        print(f"step {step}: loss {loss.item():.3f}")


@torch.no_grad()
def sample(model, prompts, n_new, temperature=1.0):
    model.eval()
    ids = torch.tensor([[stoi[c] for c in p] for p in prompts])
    for _ in range(n_new):
        logits, _ = model(ids)
        probs = torch.softmax(logits[:, -1] / temperature, dim=-1)
        nxt = torch.multinomial(probs, 1)
        ids = torch.cat([ids, nxt], dim=1)
    return ["".join(vocab[i] for i in row) for row in ids.tolist()]


prompts = ["[1] The applicant", "[1] The appellant", "[1] The responden", "[1] The insurer s"] * 3
samples = sample(model, prompts, 260, temperature=0.7)
for s in samples[:3]:
    print(repr(s[:90]))
endings = sum(any(e in s for e in ENDS) for s in samples)
print(f"{endings} of {len(samples)} samples reach an order")
'''
CURED = (FAULTY
         .replace("    for _ in range(n_new):\n        logits, _ = model(ids)\n", "    logits, state = model(ids)\n    for _ in range(n_new):\n")
         .replace("        ids = torch.cat([ids, nxt], dim=1)\n", "        ids = torch.cat([ids, nxt], dim=1)\n        logits, state = model(nxt, state)\n"))
