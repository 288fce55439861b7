NAME = "Trains a character GRU on made-up recipe lines and writes new ones by sampling."
FAULT = "When sampling, the GRU is run over the whole text so far for every new character, though its hidden state could be carried on and only the last character fed."
CURE = "Keep the hidden state between steps and feed only the newest character."
KIND = "time"
FAULT_LINES = [
    "        logits, _ = model(text)",
    "        text = torch.cat([text, nxt], dim=1)",
    "    for _ in range(length):",
]
FAULT_CALLS = ["gru", "GRU", "aten::gru", "addmm", "mkldnn_rnn_layer", "linear", "write", "forward", "mm", "sigmoid_", "unsafe_chunk", "unsafe_split"]
FAULTY = r'''
import random
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(3)
random.seed(3)

verbs = "chop fry boil bake stir season whisk simmer roast fold".split()
things = "onions carrots the_rice beef tofu the_eggs butter garlic lentils mushrooms".split()
ways = ["until golden", "for ten minutes", "with salt", "over low heat", "in a large pan", "twice"]


def recipe_line():
    s = f"{random.choice(verbs)} {random.choice(things)} {random.choice(ways)}"
    if random.random() < 0.5:
        s += f" and {random.choice(verbs)} {random.choice(things)}"
    return s.replace("_", " ") + ".\n"


corpus = "".join(recipe_line() for _ in range(4000))
chars = sorted(set(corpus))
stoi = {c: i for i, c in enumerate(chars)}
ids = torch.tensor([stoi[c] for c in corpus])
print("corpus:", len(ids), "characters,", len(chars), "symbols")


class CharGRU(nn.Module):
    def __init__(self, vocab, emb=48, hidden=192):
        super().__init__()
        self.emb = nn.Embedding(vocab, emb)
        self.gru = nn.GRU(emb, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, x, h=None):
        y, h = self.gru(self.emb(x), h)
        return self.out(y), h


def get_batch(bs=32, ctx=64):
    starts = torch.randint(0, len(ids) - ctx - 1, (bs,))
    w = ids[starts[:, None] + torch.arange(ctx + 1)]
    return w[:, :-1], w[:, 1:]


model = CharGRU(len(chars))
opt = torch.optim.Adam(model.parameters(), lr=4e-3)
lossf = nn.CrossEntropyLoss()
running = None
for step in range(1, 121):
    x, y = get_batch()
    logits, _ = model(x)
    loss = lossf(logits.flatten(0, 1), y.flatten())
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    running = loss.item() if running is None else 0.95 * running + 0.05 * loss.item()
    if step % 40 == 0:
        print(f"step {step}: loss {running:.3f}")


@torch.no_grad()
def write(prompts, length, temperature=0.7):
    model.eval()
    text = torch.tensor([[stoi[c] for c in p] for p in prompts])
    for _ in range(length):
        logits, _ = model(text)
        probs = torch.softmax(logits[:, -1] / temperature, dim=-1)
        nxt = torch.multinomial(probs, 1)
        text = torch.cat([text, nxt], dim=1)
    return ["".join(chars[i] for i in row) for row in text.tolist()]


prompts = ["fry the", "bake be", "stir on", "roast t", "chop ga", "simmer "]
samples = write(prompts, 400)
known = set(corpus.split())
words = [w for s in samples for w in s.split()[:-1]]
good = sum(w in known for w in words)
for s in samples[:3]:
    print("|", s.split("\n")[0])
print(f"{len(words)} words written, {good / len(words):.3f} of them known")
'''
CURED = FAULTY.replace('''    for _ in range(length):
        logits, _ = model(text)
''', '''    feed, h = text, None
    for _ in range(length):
        logits, h = model(feed, h)
''').replace('''        nxt = torch.multinomial(probs, 1)
''', '''        feed = nxt = torch.multinomial(probs, 1)
''')
