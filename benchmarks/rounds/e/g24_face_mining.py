# The gallery is embedded anew in each round because the network has changed since the last one;
# the search is chunked so that the full similarity matrix never exists, without gradients.

NAME = 'g24_face_mining'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS_LIKE = 'The whole training set is embedded again in each round and compared chunk by chunk in a Python loop; cache the embeddings.'

GOOD = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.set_num_threads(1)
torch.manual_seed(13)

# "identities": a digit class under one of 8 fixed distortions -> 80 ids
base = load_digits()
img = torch.tensor(base.images, dtype=torch.float32).unsqueeze(1) / 16
dig = torch.tensor(base.target)
x, ids = [], []
for k in range(8):
    g = torch.Generator().manual_seed(k)
    warp = torch.eye(2, 3) + 0.45 * torch.randn(2, 3, generator=g) * torch.tensor([1, 1, 0.4])
    grid = F.affine_grid(warp.expand(len(img), 2, 3), (len(img), 1, 12, 12), align_corners=False)
    x.append(F.grid_sample(img, grid, align_corners=False))
    ids.append(dig * 8 + k)
x, ids = torch.cat(x), torch.cat(ids)
p = torch.randperm(len(x))
xtr, itr, xte, ite = x[p[:11000]], ids[p[:11000]], x[p[11000:]], ids[p[11000:]]

net = nn.Sequential(
    nn.Conv2d(1, 24, 3, padding=1), nn.ReLU(),
    nn.Conv2d(24, 40, 3, padding=1, stride=2), nn.ReLU(),
    nn.Flatten(), nn.Linear(40 * 36, 48),
)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)


@torch.no_grad()
def embed(x):
    return torch.cat([F.normalize(net(b), dim=1) for b in x.split(500)])


@torch.no_grad()
def mine(e, ids, anchors):
    """closest item of another identity and furthest item of the same one"""
    neg, pos = [], []
    for a in anchors.split(500):
        sim = e[a] @ e.T
        same = ids[a][:, None] == ids
        neg.append(sim.masked_fill(same, -2.0).argmax(1))
        pos.append(sim.masked_fill_(~same, 2.0).argmin(1))
    return torch.cat(pos), torch.cat(neg)


def recall_at_1(e, ids):
    return (ids[(e @ e.T).fill_diagonal_(-2).argmax(1)] == ids).float().mean().item()


print("before: R@1 %.3f" % recall_at_1(embed(xte), ite))
for rnd in range(4):
    anchors = torch.randperm(len(xtr))[:3000]
    pos, neg = mine(embed(xtr), itr, anchors)
    tot = 0.0
    for b in torch.randperm(len(anchors)).split(100):
        a_, p_, n_ = (F.normalize(z, dim=1) for z in net(xtr[torch.cat([anchors[b], pos[b], neg[b]])]).chunk(3))
        loss = F.relu(0.2 - (a_ * p_).sum(1) + (a_ * n_).sum(1)).mean()
        opt.zero_grad(); loss.backward(); opt.step()
        tot += loss.item()
    print(f"round {rnd}: triplet loss {tot / 30:.3f}, R@1 {recall_at_1(embed(xte), ite):.3f}")
'''
