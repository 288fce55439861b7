NAME = "Lip reading: trains a GRU word classifier on mouth crops and then extracts an embedding per clip for nearest-neighbour retrieval."
FAULT = "The list of embeddings holds the last time step as a view, so the outputs of the GRU for all time steps of all clips stay in memory until the list is joined."
CURE = "Clone the last time step before it goes into the list."
KIND = "memory"
FAULT_LINES = [
    "h = model.encode(clips)",
    "vectors.append(h[:, -1])",
]
FAULT_CALLS = ["encode", "gru", "append", "select", "embed_all", "transpose", "__getitem__"]
FAULTY = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(4)

WORDS = ["about", "because", "economy", "forecast", "minister", "people", "question", "weather"]
T, SIDE, HID = 40, 14, 256


class MouthSynth:
    """Opening and width of a mouth over time, drawn as a soft ellipse."""
    def __init__(self, n_words):
        g = torch.Generator().manual_seed(99)
        self.open = torch.rand(n_words, 4, generator=g) * 3
        self.phase = torch.rand(n_words, 4, generator=g) * 6.28
        ax = torch.linspace(-1, 1, SIDE)
        self.yy, self.xx = torch.meshgrid(ax, ax, indexing="ij")

    def draw(self, labels, g):
        t = torch.linspace(0, 6.28, T)
        jitter = 0.4 * torch.randn(len(labels), 4, generator=g)
        curve = torch.zeros(len(labels), T)
        for k in range(4):
            curve += self.open[labels, k, None] * torch.sin((k + 1) * t + (self.phase[labels, k] + jitter[:, k])[:, None])
        height = 0.15 + 0.6 * torch.sigmoid(curve)
        width = 0.9 - 0.4 * height
        d = (self.xx / width[..., None, None]) ** 2 + (self.yy / height[..., None, None]) ** 2
        frames = torch.sigmoid(6 * (1 - d))
        frames += 0.15 * torch.randn(frames.shape, generator=g)
        return frames.flatten(2)


class WordReader(nn.Module):
    def __init__(self):
        super().__init__()
        self.front = nn.Sequential(nn.Linear(SIDE * SIDE, 128), nn.ReLU())
        self.gru = nn.GRU(128, HID, batch_first=True)
        self.head = nn.Linear(HID, len(WORDS))

    def encode(self, x):
        return self.gru(self.front(x))[0]

    def forward(self, x):
        return self.head(self.encode(x)[:, -1])


synth = MouthSynth(len(WORDS))
gen = torch.Generator().manual_seed(4)
model = WordReader()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(1, 61):
    y = torch.randint(0, len(WORDS), (48,), generator=gen)
    loss = F.cross_entropy(model(synth.draw(y, gen)), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 0:
        print(f"step {step:3d}  loss {loss.item():.3f}")


def embed_all(model, n_batches, bs=64):
    model.eval()
    vectors, labels = [], []
    with torch.no_grad():
        for _ in range(n_batches):
            y = torch.randint(0, len(WORDS), (bs,), generator=gen)
            clips = synth.draw(y, gen)
            h = model.encode(clips)
            vectors.append(h[:, -1])
            labels.append(y)
    return torch.cat(vectors), torch.cat(labels)


bank, bank_y = embed_all(model, 260)
query, query_y = embed_all(model, 8)
print("bank", tuple(bank.shape))

sims = F.normalize(query, dim=1) @ F.normalize(bank, dim=1).T
top = sims.topk(5, dim=1).indices
votes = bank_y[top].mode(dim=1).values
print("retrieval accuracy %.3f" % (votes == query_y).float().mean().item())
for w, word in enumerate(WORDS[:3]):
    m = query_y == w
    print(f"  {word:10s} {(votes[m] == w).float().mean().item():.2f}")
'''
CURED = FAULTY.replace("vectors.append(h[:, -1])", "vectors.append(h[:, -1].clone())")
