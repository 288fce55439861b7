NAME = "Adapts a keyword-spotting transformer to a user's own words by training a new head on randomly shifted, noisy MFCC-like frames."
FAULT = "Only the new head is trained, yet the encoder is run with gradient tracking, so every step backpropagates through (and stores gradients for) all its layers."
CURE = "Run the encoder under torch.no_grad() during the adaptation (or freeze its parameters)."
KIND = "time"
FAULT_LINES = [
    "        emb = encoder(x)",
    "        loss.backward()",
    "opt_head = torch.optim.Adam(head.parameters(), lr=3e-3)",
]
FAULT_CALLS = ["backward", "run_backward", "_engine_run_backward", "encoder", "mm", "addmm", "linear", "AddmmBackward0", "forward"]
FAULTY = r'''import math, torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(5)

T, MFCC, D = 50, 20, 96          # frames, coefficients, width


def make_words(n_words, seed):
    """Every word is a smooth trajectory through MFCC space."""
    g = torch.Generator().manual_seed(seed)
    knots = torch.randn(n_words, MFCC, 7, generator=g)
    return F.interpolate(knots, size=T, mode="linear", align_corners=True).transpose(1, 2)


def utter(words, labels, noise=1.2):
    """Random start, loudness and background noise, as the microphone would give it."""
    shift = torch.randint(-8, 9, (len(labels),))
    idx = (torch.arange(T)[None] + shift[:, None]).clamp(0, T - 1)
    x = words[labels[:, None], idx]
    x = x * torch.empty(len(labels), 1, 1).uniform_(0.6, 1.4)
    return x + noise * torch.randn_like(x)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(MFCC, D)
        pos = torch.arange(T)[:, None] * torch.exp(torch.arange(0, D, 2) * (-math.log(1000.0) / D))
        self.register_buffer("pe", torch.stack([pos.sin(), pos.cos()], -1).reshape(T, D))
        layer = nn.TransformerEncoderLayer(D, 4, 192, dropout=0.0, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 3)

    def forward(self, x):
        return self.body(self.inp(x) + self.pe).mean(1)


# ---- 1. base model on the factory vocabulary ----
factory = make_words(12, seed=1)
encoder, base_head = Encoder(), nn.Linear(D, 12)
opt = torch.optim.Adam([*encoder.parameters(), *base_head.parameters()], lr=1e-3)
for step in range(40):
    lab = torch.randint(0, 12, (48,))
    loss = F.cross_entropy(base_head(encoder(utter(factory, lab))), lab)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"factory words: last batch loss {loss.item():.3f}")

# ---- 2. the user's own six words: new head on top of the base model ----
custom = make_words(6, seed=2)
head = nn.Sequential(nn.Linear(D, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 6))
opt_head = torch.optim.Adam(head.parameters(), lr=3e-3)
encoder.eval()


def adapt(steps, bs=48):
    head.train()
    seen = 0.0
    for step in range(steps):
        lab = torch.randint(0, 6, (bs,))
        x = utter(custom, lab)
        emb = encoder(x)
        loss = F.cross_entropy(head(emb), lab)
        opt_head.zero_grad()
        loss.backward()
        opt_head.step()
        seen += loss.item()
        if (step + 1) % 50 == 0:
            print(f"adapt step {step + 1:3d}  loss {seen / 50:.2f}")
            seen = 0.0


adapt(100)

# ---- 3. check on fresh utterances ----
head.eval()
lab = torch.arange(6).repeat(50)
with torch.no_grad():
    hit = (head(encoder(utter(custom, lab))).argmax(1) == lab)
print(f"user words: accuracy {hit.float().mean():.2f} on {len(lab)} utterances")
'''
CURED = FAULTY.replace("        emb = encoder(x)\n", "        with torch.no_grad():\n            emb = encoder(x)\n")
