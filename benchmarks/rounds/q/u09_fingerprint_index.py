NAME = 'Embeds a stream of molecular fingerprints with a trained projection and looks up the nearest neighbours of a few queries.'
FAULT = 'The table of embeddings is grown by concatenating it with each new batch, which copies everything gathered so far every time.'
CURE = 'Append the batches to a list and concatenate once at the end.'
KIND = 'time'
FAULT_LINES = ['index = torch.cat([index, encoder(bits)])']
FAULT_CALLS = ['torch.cat', 'cat']
FAULTY = r'''import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(13)

BITS, DIM, FAMILIES = 512, 256, 24
scaffolds = torch.rand(FAMILIES, BITS) < 0.15


def draw(n):
    family = torch.randint(0, FAMILIES, (n,))
    flip = torch.rand(n, BITS) < 0.27
    return (scaffolds[family] ^ flip).float(), family


def stream(batches, size):
    for _ in range(batches):
        yield draw(size)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(BITS, 256), nn.GELU(), nn.Linear(256, DIM))

    def forward(self, bits):
        return F.normalize(self.body(bits), dim=1)


def supervised_contrastive(z, family, temperature=0.1):
    sim = z @ z.T / temperature
    sim.fill_diagonal_(-1e4)
    same = (family[:, None] == family[None, :]).float()
    same.fill_diagonal_(0)
    log_p = sim - sim.logsumexp(1, keepdim=True)
    return -((log_p * same).sum(1) / same.sum(1).clamp(min=1)).mean()


encoder = Encoder()
opt = torch.optim.Adam(encoder.parameters(), lr=5e-4)
for step, (bits, family) in enumerate(stream(280, 256)):
    loss = supervised_contrastive(encoder(bits), family)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 70 == 69:
        print(f"step {step + 1}  loss {loss.item():.3f}")

encoder.eval()


@torch.no_grad()
def build_index(batches=700, size=64):
    index = torch.empty(0, DIM)
    families = []
    for bits, family in stream(batches, size):
        index = torch.cat([index, encoder(bits)])
        families.append(family)
    return index, torch.cat(families)


@torch.no_grad()
def lookup(index, families, queries, k=50):
    hits = (encoder(queries) @ index.T).topk(k, dim=1)
    return hits.values, families[hits.indices]


index, families = build_index()
queries, truth = draw(400)
similarity, found = lookup(index, families, queries)
precision = (found == truth[:, None]).float().mean().item()
print(f"index {tuple(index.shape)}  precision@50 {precision:.4f}  mean similarity {similarity.mean().item():.4f}")
for k in (1, 10):
    share = (found[:, :k] == truth[:, None]).float().mean().item()
    print(f"precision@{k} {share:.4f}")
'''
CURED = r'''import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(13)

BITS, DIM, FAMILIES = 512, 256, 24
scaffolds = torch.rand(FAMILIES, BITS) < 0.15


def draw(n):
    family = torch.randint(0, FAMILIES, (n,))
    flip = torch.rand(n, BITS) < 0.27
    return (scaffolds[family] ^ flip).float(), family


def stream(batches, size):
    for _ in range(batches):
        yield draw(size)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(BITS, 256), nn.GELU(), nn.Linear(256, DIM))

    def forward(self, bits):
        return F.normalize(self.body(bits), dim=1)


def supervised_contrastive(z, family, temperature=0.1):
    sim = z @ z.T / temperature
    sim.fill_diagonal_(-1e4)
    same = (family[:, None] == family[None, :]).float()
    same.fill_diagonal_(0)
    log_p = sim - sim.logsumexp(1, keepdim=True)
    return -((log_p * same).sum(1) / same.sum(1).clamp(min=1)).mean()


encoder = Encoder()
opt = torch.optim.Adam(encoder.parameters(), lr=5e-4)
for step, (bits, family) in enumerate(stream(280, 256)):
    loss = supervised_contrastive(encoder(bits), family)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 70 == 69:
        print(f"step {step + 1}  loss {loss.item():.3f}")

encoder.eval()


@torch.no_grad()
def build_index(batches=700, size=64):
    index = []
    families = []
    for bits, family in stream(batches, size):
        index.append(encoder(bits))
        families.append(family)
    return torch.cat(index), torch.cat(families)


@torch.no_grad()
def lookup(index, families, queries, k=50):
    hits = (encoder(queries) @ index.T).topk(k, dim=1)
    return hits.values, families[hits.indices]


index, families = build_index()
queries, truth = draw(400)
similarity, found = lookup(index, families, queries)
precision = (found == truth[:, None]).float().mean().item()
print(f"index {tuple(index.shape)}  precision@50 {precision:.4f}  mean similarity {similarity.mean().item():.4f}")
for k in (1, 10):
    share = (found[:, :k] == truth[:, None]).float().mean().item()
    print(f"precision@{k} {share:.4f}")
'''
