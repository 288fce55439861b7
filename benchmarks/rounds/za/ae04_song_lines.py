NAME = "Trains a small transformer on invented lyrics for a few steps and then samples long songs with a sliding context window."
FAULT = "While sampling, the output head projects all 48 positions of the window to the whole vocabulary although only the last position's logits are used."
CURE = "Keep only the last position's hidden state before the head when sampling."
KIND = "time"
FAULT_LINES = [
    "return self.head(self.norm(h))",
    "logits = model(window)[:, -1]",
]
FAULT_CALLS = ["linear", "addmm", "mm", "head", "LyricModel.forward"]
FAULTY = r'''
import math
import random
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(21)
random.seed(21)

CONTEXT, DIM, HEADS, LAYERS = 48, 128, 4, 2

onsets = ["l", "m", "s", "br", "d", "fl", "gr", "h", "n", "r", "st", "tr", "w", "v", "k", "p", "sh", "th", "b", "c", "f", "gl", "cr", "sw"]
rhymes = ["ight", "ove", "ay", "ire", "one", "eart", "ain", "ow", "ee", "old", "ance", "ong", "ear", "ame"]
middles = ["", "a", "e", "i", "o", "u", "an", "el", "in", "or", "un", "ar", "er", "is", "ul", "om", "at", "ed", "ib", "ok"]
words = ["<line>"] + [a + m + r for a in onsets for m in middles for r in rhymes]
V = len(words)


def write_line():
    """A few words that share a rhyme, so that there is something to learn."""
    r = random.randrange(len(rhymes))
    return [1 + random.randrange(len(onsets) * len(middles)) * len(rhymes) + r for _ in range(5)] + [0]


corpus = []
while len(corpus) < 60000:
    corpus += write_line()
corpus = torch.tensor(corpus)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.qkv = nn.Linear(DIM, 3 * DIM)
        self.proj = nn.Linear(DIM, DIM)
        self.mlp = nn.Sequential(nn.Linear(DIM, 4 * DIM), nn.GELU(), nn.Linear(4 * DIM, DIM))

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = self.qkv(self.n1(x)).view(B, T, 3, HEADS, DIM // HEADS).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(a.transpose(1, 2).reshape(B, T, DIM))
        return x + self.mlp(self.n2(x))


class LyricModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(V, DIM)
        self.pos = nn.Parameter(0.02 * torch.randn(CONTEXT, DIM))
        self.blocks = nn.Sequential(*[Block() for _ in range(LAYERS)])
        self.norm = nn.LayerNorm(DIM)
        self.head = nn.Linear(DIM, V)

    def forward(self, tokens):
        h = self.tok(tokens) + self.pos[: tokens.shape[1]]
        h = self.blocks(h)
        return self.head(self.norm(h))


def batch(size=5):
    start = torch.randint(0, len(corpus) - CONTEXT - 1, (size,))
    at = start[:, None] + torch.arange(CONTEXT + 1)
    chunk = corpus[at]
    return chunk[:, :-1], chunk[:, 1:]


model = LyricModel()
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(32):
    x, y = batch()
    loss = F.cross_entropy(model(x).reshape(-1, V), y.reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{V} words, loss {loss.item():.3f} (uniform {math.log(V):.3f})")


@torch.inference_mode()
def sing(prompts, n_words, temperature=0.9, top_k=40):
    model.eval()
    song = prompts
    for _ in range(n_words):
        window = song[:, -CONTEXT:]
        logits = model(window)[:, -1]
        best, where = torch.topk(logits / temperature, top_k)
        pick = torch.multinomial(best.softmax(-1), 1)
        song = torch.cat([song, where.gather(1, pick)], dim=1)
    return song[:, prompts.shape[1]:]


prompts, _ = batch(12)
songs = sing(prompts, 240)
print("line breaks per song:", (songs == 0).float().sum(1).mean().item())
print(" ".join(words[t] for t in songs[0, :12].tolist()))
'''
CURED = FAULTY.replace('''    def forward(self, tokens):
''', '''    def forward(self, tokens, last_only=False):
''').replace('''        h = self.blocks(h)
''', '''        h = self.blocks(h)
        if last_only:
            h = h[:, -1:]
''').replace("model(window)[:, -1]", "model(window, last_only=True)[:, -1]")
