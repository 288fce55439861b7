NAME = 'Autoencoder recommender with the best epoch restored'
FAULT = 'A deep copy of the weights and of the optimizer state is kept for every epoch although only the best one is used.'
CURE = 'Keep only the copy of the best epoch so far, replacing it when the validation improves.'
KIND = 'memory'
FAULT_LINES = [
    '"optimizer": copy.deepcopy(opt.state_dict())})',
    'checkpoints.append({"epoch": epoch, "ndcg": score, "model": copy.deepcopy(net.state_dict()),',
    'checkpoints = []',
]
FAULT_CALLS = ['copy.deepcopy', 'list.append']
FAULTY = r"""import copy

import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(71)

USERS, ITEMS, K = 900, 3000, 8
taste = torch.randn(USERS, K)
style = torch.randn(ITEMS, K)
popularity = torch.randn(ITEMS)
affinity = taste @ style.T + 1.2 * popularity
clicks = (torch.rand(USERS, ITEMS) < torch.sigmoid(affinity - 7)).float()
print("clicks per user", round(clicks.sum(1).mean().item(), 1))

train, val = clicks[:700], clicks[700:800]
test = clicks[800:]


def split_history(x, frac=0.8):
    keep = torch.rand_like(x) < frac
    return x * keep, x * ~keep


val_in, val_out = split_history(val)
test_in, test_out = split_history(test)


class AutoRec(nn.Module):
    def __init__(self, items, width=160, code=64):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(items, width), nn.Tanh(), nn.Linear(width, code))
        self.dec = nn.Sequential(nn.Linear(code, width), nn.Tanh(), nn.Linear(width, items))

    def forward(self, x):
        x = F.dropout(F.normalize(x), 0.5, self.training)
        return self.dec(self.enc(x))


@torch.no_grad()
def ndcg(net, seen, held, k=50):
    net.eval()
    scores = net(seen).masked_fill(seen > 0, -1e9)
    top = scores.topk(k, dim=1).indices
    gain = held.gather(1, top)
    disc = 1 / torch.log2(torch.arange(k) + 2.0)
    ideal = torch.stack([disc[:n].sum() for n in held.sum(1).clamp(1, k).int().tolist()])
    return ((gain * disc).sum(1) / ideal).mean().item()


net = AutoRec(ITEMS)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
checkpoints = []
for epoch in range(1, 61):
    net.train()
    total = 0.0
    for idx in torch.randperm(len(train)).split(50):
        x = train[idx]
        loss = -(F.log_softmax(net(x), dim=1) * x).sum(1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    score = ndcg(net, val_in, val_out)
    checkpoints.append({"epoch": epoch, "ndcg": score, "model": copy.deepcopy(net.state_dict()),
                        "optimizer": copy.deepcopy(opt.state_dict())})
    if epoch % 10 == 0:
        print(f"epoch {epoch}: loss {total / len(train):.2f}  val NDCG@50 {score:.4f}")

best = max(checkpoints, key=lambda c: c["ndcg"])
net.load_state_dict(best["model"])
print(f"best epoch {best['epoch']}: val {best['ndcg']:.4f}  test {ndcg(net, test_in, test_out):.4f}")

opt.load_state_dict(best["optimizer"])
for group in opt.param_groups:
    group["lr"] *= 0.1
net.train()
for idx in torch.randperm(len(train)).split(50):
    loss = -(F.log_softmax(net(train[idx]), dim=1) * train[idx]).sum(1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"after one slow epoch: test {ndcg(net, test_in, test_out):.4f}")
"""
CURED = r"""import copy

import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(71)

USERS, ITEMS, K = 900, 3000, 8
taste = torch.randn(USERS, K)
style = torch.randn(ITEMS, K)
popularity = torch.randn(ITEMS)
affinity = taste @ style.T + 1.2 * popularity
clicks = (torch.rand(USERS, ITEMS) < torch.sigmoid(affinity - 7)).float()
print("clicks per user", round(clicks.sum(1).mean().item(), 1))

train, val = clicks[:700], clicks[700:800]
test = clicks[800:]


def split_history(x, frac=0.8):
    keep = torch.rand_like(x) < frac
    return x * keep, x * ~keep


val_in, val_out = split_history(val)
test_in, test_out = split_history(test)


class AutoRec(nn.Module):
    def __init__(self, items, width=160, code=64):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(items, width), nn.Tanh(), nn.Linear(width, code))
        self.dec = nn.Sequential(nn.Linear(code, width), nn.Tanh(), nn.Linear(width, items))

    def forward(self, x):
        x = F.dropout(F.normalize(x), 0.5, self.training)
        return self.dec(self.enc(x))


@torch.no_grad()
def ndcg(net, seen, held, k=50):
    net.eval()
    scores = net(seen).masked_fill(seen > 0, -1e9)
    top = scores.topk(k, dim=1).indices
    gain = held.gather(1, top)
    disc = 1 / torch.log2(torch.arange(k) + 2.0)
    ideal = torch.stack([disc[:n].sum() for n in held.sum(1).clamp(1, k).int().tolist()])
    return ((gain * disc).sum(1) / ideal).mean().item()


net = AutoRec(ITEMS)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
best = None
for epoch in range(1, 61):
    net.train()
    total = 0.0
    for idx in torch.randperm(len(train)).split(50):
        x = train[idx]
        loss = -(F.log_softmax(net(x), dim=1) * x).sum(1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    score = ndcg(net, val_in, val_out)
    if best is None or score > best["ndcg"]:
        best = {"epoch": epoch, "ndcg": score, "model": copy.deepcopy(net.state_dict()),
                "optimizer": copy.deepcopy(opt.state_dict())}
    if epoch % 10 == 0:
        print(f"epoch {epoch}: loss {total / len(train):.2f}  val NDCG@50 {score:.4f}")

net.load_state_dict(best["model"])
print(f"best epoch {best['epoch']}: val {best['ndcg']:.4f}  test {ndcg(net, test_in, test_out):.4f}")

opt.load_state_dict(best["optimizer"])
for group in opt.param_groups:
    group["lr"] *= 0.1
net.train()
for idx in torch.randperm(len(train)).split(50):
    loss = -(F.log_softmax(net(train[idx]), dim=1) * train[idx]).sum(1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"after one slow epoch: test {ndcg(net, test_in, test_out):.4f}")
"""
