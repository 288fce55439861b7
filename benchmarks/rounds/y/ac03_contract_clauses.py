NAME = "Pretrains a small transformer on contract-like token sequences, then fits a clause-type head on the encoder with random word masking."
FAULT = "In the second stage only the head is optimized, but the encoder's weights still require gradients, so each backward pass runs through the whole encoder for gradients that nobody uses."
CURE = "Set requires_grad_(False) on the encoder before fitting the head (or run the encoder under no_grad)."
KIND = "time"
FAULT_LINES = ["encoder.eval()", "features = encoder(mask_words(x)[0]).mean(dim=1)", "loss.backward()"]
FAULT_CALLS = ["backward", "run_backward", "_engine_run_backward", "mm", "addmm", "AddmmBackward0", "MmBackward0", "scaled_dot_product_attention"]
FAULTY = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(3)

VOCAB, SEQ, DIM, HEADS, CLASSES = 1200, 64, 128, 4, 6
MASK = 0


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.qkv = nn.Linear(DIM, 3 * DIM)
        self.out = nn.Linear(DIM, DIM)
        self.ff = nn.Sequential(nn.Linear(DIM, 4 * DIM), nn.GELU(), nn.Linear(4 * DIM, DIM))

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, HEADS, DIM // HEADS).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v)
        x = x + self.out(a.transpose(1, 2).reshape(b, t, DIM))
        return x + self.ff(self.n2(x))


class Encoder(nn.Module):
    def __init__(self, layers=3):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, DIM)
        self.pos = nn.Parameter(0.02 * torch.randn(SEQ, DIM))
        self.blocks = nn.ModuleList(Block() for _ in range(layers))
        self.norm = nn.LayerNorm(DIM)

    def forward(self, ids):
        x = self.tok(ids) + self.pos
        for blk in self.blocks:
            x = blk(x)
        return self.norm(x)


def sample_clauses(n):
    """Each clause type prefers its own stretch of the vocabulary."""
    y = torch.randint(0, CLASSES, (n,))
    own = 1 + y[:, None] * 150 + torch.randint(0, 150, (n, SEQ))
    common = torch.randint(900, VOCAB, (n, SEQ))
    return torch.where(torch.rand(n, SEQ) < 0.30, own, common), y


def mask_words(ids, rate=0.15):
    hit = torch.rand(ids.shape) < rate
    return ids.masked_fill(hit, MASK), hit


encoder = Encoder()

# --- stage 1: masked-word pretraining on unlabelled clauses -----------------
lm_head = nn.Linear(DIM, VOCAB)
opt = torch.optim.AdamW([*encoder.parameters(), *lm_head.parameters()], lr=5e-4)
corpus, _ = sample_clauses(2048)
for step in range(12):
    x = corpus[torch.randint(0, len(corpus), (32,))]
    masked, hit = mask_words(x)
    loss = F.cross_entropy(lm_head(encoder(masked)[hit]), x[hit])
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"pretraining done, last loss {loss.item():.3f}")

# --- stage 2: clause-type classifier on top --------------------------------
X, y = sample_clauses(1024)
X_test, y_test = sample_clauses(320)
head = nn.Sequential(nn.Linear(DIM, 64), nn.Tanh(), nn.Dropout(0.1), nn.Linear(64, CLASSES))
opt = torch.optim.AdamW(head.parameters(), lr=3e-3)
encoder.eval()

for epoch in range(2):
    head.train()
    seen, total = 0, 0.0
    for idx in torch.randperm(len(X)).split(32):
        x, t = X[idx], y[idx]
        features = encoder(mask_words(x)[0]).mean(dim=1)
        loss = F.cross_entropy(head(features), t, label_smoothing=0.05)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
        seen += len(idx)
    head.eval()
    with torch.no_grad():
        logits = torch.cat([head(encoder(c).mean(dim=1)) for c in X_test.split(64)])
    acc = (logits.argmax(1) == y_test).float().mean()
    print(f"epoch {epoch}: loss {total / seen:.4f}, test accuracy {acc:.3f}")
'''
CURED = FAULTY.replace("encoder.eval()\n", "encoder.eval().requires_grad_(False)\n")
