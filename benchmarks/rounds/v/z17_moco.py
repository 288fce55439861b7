NAME = "Pretrains an encoder with a MoCo-style momentum queue on made-up signals and checks it with a nearest-centroid test."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = "The queue must be cloned before the product, because it is overwritten in place before backward needs it (autograd would raise an error), and the copy and the second (momentum) encoder are cheap or part of the method."
GOOD = r'''
import copy
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(13)

LENGTH, N_CLASSES, N_SERIES = 256, 5, 2048
BATCH, DIM, QUEUE, TEMP, MOMENTUM = 128, 64, 2048, 0.1, 0.98


def make_series(n):
    y = torch.randint(0, N_CLASSES, (n,))
    t = torch.linspace(0, 1, LENGTH)
    freq = 4.0 + 3.0 * y.float() + 0.4 * torch.randn(n)
    phase = 6.2832 * torch.rand(n, 1)
    x = torch.sin(6.2832 * freq[:, None] * t + phase)
    x = x + 0.5 * torch.sin(6.2832 * 2 * freq[:, None] * t + 2 * phase)
    return (x + 0.3 * torch.randn(n, LENGTH))[:, None], y


def augment(x):
    shift = int(torch.randint(0, LENGTH, ()))
    scale = 1 + 0.2 * torch.randn(len(x), 1, 1)
    return x.roll(shift, dims=-1) * scale + 0.1 * torch.randn_like(x)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(1, 32, 7, stride=2, padding=3, bias=False), nn.BatchNorm1d(32), nn.ReLU(inplace=True),
            nn.Conv1d(32, 64, 5, stride=2, padding=2, bias=False), nn.BatchNorm1d(64), nn.ReLU(inplace=True),
            nn.Conv1d(64, 128, 3, stride=2, padding=1, bias=False), nn.BatchNorm1d(128), nn.ReLU(inplace=True))
        self.proj = nn.Sequential(nn.Linear(128, 128), nn.ReLU(inplace=True), nn.Linear(128, DIM))

    def features(self, x):
        return self.body(x).mean(-1)

    def forward(self, x):
        return F.normalize(self.proj(self.features(x)), dim=1)


query_net = Encoder()
key_net = copy.deepcopy(query_net).requires_grad_(False)
queue = F.normalize(torch.randn(DIM, QUEUE), dim=0)
ptr = 0

x_all, _ = make_series(N_SERIES)
opt = torch.optim.SGD(query_net.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
target = torch.zeros(BATCH, dtype=torch.long)

for epoch in range(10):
    running = 0.0
    batches = torch.randperm(N_SERIES).split(BATCH)
    for idx in batches:
        x = x_all[idx]
        q = query_net(augment(x))
        with torch.no_grad():
            for pk, pq in zip(key_net.parameters(), query_net.parameters()):
                pk.lerp_(pq, 1 - MOMENTUM)
            k = key_net(augment(x))
        l_pos = (q * k).sum(1, keepdim=True)
        l_neg = q @ queue.clone()
        logits = torch.cat([l_pos, l_neg], dim=1) / TEMP
        loss = F.cross_entropy(logits, target)
        queue[:, ptr:ptr + BATCH] = k.T
        ptr = (ptr + BATCH) % QUEUE
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item()
    print(f"epoch {epoch}: loss {running / len(batches):.3f}")

x_ref, y_ref = make_series(500)
x_new, y_new = make_series(500)
query_net.eval()
with torch.no_grad():
    f_ref = F.normalize(query_net.features(x_ref), dim=1)
    f_new = F.normalize(query_net.features(x_new), dim=1)
centroids = torch.stack([f_ref[y_ref == c].mean(0) for c in range(N_CLASSES)])
pred = torch.cdist(f_new, centroids).argmin(1)
print(f"nearest centroid accuracy {(pred == y_new).float().mean():.3f}")
'''
