NAME = 'Trains a small embedding network on face-like vectors and evaluates verification with a large gallery embedded batch by batch.'
FAULT = 'The gallery tensor is grown with torch.cat after every small batch, so everything embedded so far is copied again and again.'
CURE = 'Collect the batches in a list and concatenate once.'
KIND = 'time'
FAULT_LINES = ['gallery = torch.cat([gallery, F.normalize(net(images), dim=1)])', 'owners = torch.cat([owners, who])']
FAULT_CALLS = ['cat', 'embed_gallery', 'torch.cat']
FAULTY = r"""import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(23)

PEOPLE, RAW, DIM, BATCH = 300, 128, 256, 64
identity = torch.randn(PEOPLE, RAW)


def photo_stream(n, batch, seed):
    g = torch.Generator().manual_seed(seed)
    for start in range(0, n, batch):
        size = min(batch, n - start)
        who = torch.randint(0, PEOPLE, (size,), generator=g)
        noise = torch.randn(size, RAW, generator=g)
        light = 0.5 + torch.rand(size, 1, generator=g)
        yield light * identity[who] + 1.1 * noise, who


class FaceNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(RAW, 256), nn.GELU(), nn.Linear(256, DIM))

    def forward(self, x):
        return self.layers(x)


def train(net, batches):
    weight = nn.Parameter(torch.randn(PEOPLE, DIM) * 0.05)
    opt = torch.optim.Adam([*net.parameters(), weight], lr=1e-3)
    running = 0.0
    for step, (images, who) in enumerate(photo_stream(batches * 128, 128, seed=1), 1):
        cosine = F.normalize(net(images), dim=1) @ F.normalize(weight, dim=1).T
        loss = F.cross_entropy(12 * cosine, who)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item()
        if step % 200 == 0:
            print(f"step {step}: loss {running / 200:.3f}")
            running = 0.0


@torch.no_grad()
def embed_gallery(net, n):
    gallery = torch.empty(0, DIM)
    owners = torch.empty(0, dtype=torch.long)
    for images, who in photo_stream(n, BATCH, seed=2):
        gallery = torch.cat([gallery, F.normalize(net(images), dim=1)])
        owners = torch.cat([owners, who])
    return gallery, owners


@torch.no_grad()
def verify(net, gallery, owners, n_probes):
    first = total = 0
    margin = 0.0
    for images, who in photo_stream(n_probes, 100, seed=3):
        scores = F.normalize(net(images), dim=1) @ gallery.T
        best, where = scores.topk(5, dim=1)
        votes = owners[where]
        first += (votes[:, 0] == who).sum().item()
        margin += (best[:, 0] - best[:, 4]).sum().item()
        total += len(who)
    return first / total, margin / total


net = FaceNet()
train(net, 600)
net.eval()
gallery, owners = embed_gallery(net, 40_000)
rank1, margin = verify(net, gallery, owners, 1000)
print(f"gallery {tuple(gallery.shape)}, mean norm {gallery.norm(dim=1).mean().item():.3f}")
print(f"rank-1 accuracy {rank1:.3f}, mean margin {margin:.3f}")
"""
CURED = r"""import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(23)

PEOPLE, RAW, DIM, BATCH = 300, 128, 256, 64
identity = torch.randn(PEOPLE, RAW)


def photo_stream(n, batch, seed):
    g = torch.Generator().manual_seed(seed)
    for start in range(0, n, batch):
        size = min(batch, n - start)
        who = torch.randint(0, PEOPLE, (size,), generator=g)
        noise = torch.randn(size, RAW, generator=g)
        light = 0.5 + torch.rand(size, 1, generator=g)
        yield light * identity[who] + 1.1 * noise, who


class FaceNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(RAW, 256), nn.GELU(), nn.Linear(256, DIM))

    def forward(self, x):
        return self.layers(x)


def train(net, batches):
    weight = nn.Parameter(torch.randn(PEOPLE, DIM) * 0.05)
    opt = torch.optim.Adam([*net.parameters(), weight], lr=1e-3)
    running = 0.0
    for step, (images, who) in enumerate(photo_stream(batches * 128, 128, seed=1), 1):
        cosine = F.normalize(net(images), dim=1) @ F.normalize(weight, dim=1).T
        loss = F.cross_entropy(12 * cosine, who)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item()
        if step % 200 == 0:
            print(f"step {step}: loss {running / 200:.3f}")
            running = 0.0


@torch.no_grad()
def embed_gallery(net, n):
    gallery, owners = [], []
    for images, who in photo_stream(n, BATCH, seed=2):
        gallery.append(F.normalize(net(images), dim=1))
        owners.append(who)
    return torch.cat(gallery), torch.cat(owners)


@torch.no_grad()
def verify(net, gallery, owners, n_probes):
    first = total = 0
    margin = 0.0
    for images, who in photo_stream(n_probes, 100, seed=3):
        scores = F.normalize(net(images), dim=1) @ gallery.T
        best, where = scores.topk(5, dim=1)
        votes = owners[where]
        first += (votes[:, 0] == who).sum().item()
        margin += (best[:, 0] - best[:, 4]).sum().item()
        total += len(who)
    return first / total, margin / total


net = FaceNet()
train(net, 600)
net.eval()
gallery, owners = embed_gallery(net, 40_000)
rank1, margin = verify(net, gallery, owners, 1000)
print(f"gallery {tuple(gallery.shape)}, mean norm {gallery.norm(dim=1).mean().item():.3f}")
print(f"rank-1 accuracy {rank1:.3f}, mean margin {margin:.3f}")
"""
