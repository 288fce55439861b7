NAME = 'Trains a two-hop GraphSAGE node classifier with neighbour sampling on a made-up community graph.'
FAULT = 'The sampler finds the neighbours of every node by comparing the complete edge list with its id.'
CURE = "Sort the edges by source once and slice each node's neighbours out of the sorted list."
KIND = 'time'
FAULT_LINES = ['return self.dst[self.src == node]', 'nbrs = self.neighbours(node)']
FAULT_CALLS = ['sample', 'neighbours', 'eq', '__eq__', 'index', 'nonzero', '__getitem__']

FAULTY = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(13)

N, COMMUNITIES, FEATS, FANOUT = 3000, 8, 128, 6


def community_graph():
    labels = torch.randint(0, COMMUNITIES, (N,))
    members = [torch.nonzero(labels == c).flatten() for c in range(COMMUNITIES)]
    src = torch.arange(N).repeat_interleave(10)
    dst = torch.randint(0, N, src.shape)
    inside = torch.rand(len(src)) < 0.6
    for c in range(COMMUNITIES):
        mine = inside & (labels[src] == c)
        dst[mine] = members[c][torch.randint(0, len(members[c]), (int(mine.sum()),))]
    both = torch.cat([torch.stack([src, dst]), torch.stack([dst, src])], dim=1)
    x = 0.3 * F.one_hot(labels, FEATS).float() + 0.5 * torch.randn(N, FEATS)
    return x, labels, both


class NeighbourSampler:
    def __init__(self, edge_index, fanout):
        self.src, self.dst = edge_index
        self.fanout = fanout

    def neighbours(self, node):
        return self.dst[self.src == node]

    def sample(self, nodes):
        picked = []
        for node in nodes.tolist():
            nbrs = self.neighbours(node)
            picked.append(nbrs[torch.randint(0, len(nbrs), (self.fanout,))])
        return torch.cat(picked)


class Sage(nn.Module):
    def __init__(self, hidden=256):
        super().__init__()
        self.self1, self.nb1 = nn.Linear(FEATS, hidden), nn.Linear(FEATS, hidden)
        self.self2, self.nb2 = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.head = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, COMMUNITIES))

    def layer1(self, own, nbrs):
        return F.relu(self.self1(own) + self.nb1(nbrs.view(-1, FANOUT, FEATS).mean(1)))

    def forward(self, x, seeds, hop1, hop2):
        h_seed = self.layer1(x[seeds], x[hop1])
        h_hop1 = self.layer1(x[hop1], x[hop2])
        h = F.relu(self.self2(h_seed) + self.nb2(h_hop1.view(len(seeds), FANOUT, -1).mean(1)))
        return self.head(h)


x, labels, edge_index = community_graph()
sampler = NeighbourSampler(edge_index, FANOUT)
perm = torch.randperm(N)
train_ids, test_ids = perm[:2200], perm[2200:]
model = Sage()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)


def run(ids):
    hop1 = sampler.sample(ids)
    hop2 = sampler.sample(hop1)
    return model(x, ids, hop1, hop2)


for epoch in range(6):
    model.train()
    total = 0.0
    for seeds in train_ids[torch.randperm(len(train_ids))].split(100):
        loss = F.cross_entropy(run(seeds), labels[seeds])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(seeds)
    model.eval()
    with torch.no_grad():
        hits = sum((run(s).argmax(1) == labels[s]).sum().item() for s in test_ids.split(200))
    print(f"epoch {epoch}: loss {total / len(train_ids):.3f}, test acc {hits / len(test_ids):.3f}")
'''

CURED = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(13)

N, COMMUNITIES, FEATS, FANOUT = 3000, 8, 128, 6


def community_graph():
    labels = torch.randint(0, COMMUNITIES, (N,))
    members = [torch.nonzero(labels == c).flatten() for c in range(COMMUNITIES)]
    src = torch.arange(N).repeat_interleave(10)
    dst = torch.randint(0, N, src.shape)
    inside = torch.rand(len(src)) < 0.6
    for c in range(COMMUNITIES):
        mine = inside & (labels[src] == c)
        dst[mine] = members[c][torch.randint(0, len(members[c]), (int(mine.sum()),))]
    both = torch.cat([torch.stack([src, dst]), torch.stack([dst, src])], dim=1)
    x = 0.3 * F.one_hot(labels, FEATS).float() + 0.5 * torch.randn(N, FEATS)
    return x, labels, both


class NeighbourSampler:
    def __init__(self, edge_index, fanout):
        order = torch.argsort(edge_index[0], stable=True)
        self.dst = edge_index[1][order]
        counts = torch.bincount(edge_index[0], minlength=N)
        self.ptr = [0] + counts.cumsum(0).tolist()
        self.fanout = fanout

    def neighbours(self, node):
        return self.dst[self.ptr[node]:self.ptr[node + 1]]

    def sample(self, nodes):
        picked = []
        for node in nodes.tolist():
            nbrs = self.neighbours(node)
            picked.append(nbrs[torch.randint(0, len(nbrs), (self.fanout,))])
        return torch.cat(picked)


class Sage(nn.Module):
    def __init__(self, hidden=256):
        super().__init__()
        self.self1, self.nb1 = nn.Linear(FEATS, hidden), nn.Linear(FEATS, hidden)
        self.self2, self.nb2 = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.head = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, COMMUNITIES))

    def layer1(self, own, nbrs):
        return F.relu(self.self1(own) + self.nb1(nbrs.view(-1, FANOUT, FEATS).mean(1)))

    def forward(self, x, seeds, hop1, hop2):
        h_seed = self.layer1(x[seeds], x[hop1])
        h_hop1 = self.layer1(x[hop1], x[hop2])
        h = F.relu(self.self2(h_seed) + self.nb2(h_hop1.view(len(seeds), FANOUT, -1).mean(1)))
        return self.head(h)


x, labels, edge_index = community_graph()
sampler = NeighbourSampler(edge_index, FANOUT)
perm = torch.randperm(N)
train_ids, test_ids = perm[:2200], perm[2200:]
model = Sage()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)


def run(ids):
    hop1 = sampler.sample(ids)
    hop2 = sampler.sample(hop1)
    return model(x, ids, hop1, hop2)


for epoch in range(6):
    model.train()
    total = 0.0
    for seeds in train_ids[torch.randperm(len(train_ids))].split(100):
        loss = F.cross_entropy(run(seeds), labels[seeds])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(seeds)
    model.eval()
    with torch.no_grad():
        hits = sum((run(s).argmax(1) == labels[s]).sum().item() for s in test_ids.split(200))
    print(f"epoch {epoch}: loss {total / len(train_ids):.3f}, test acc {hits / len(test_ids):.3f}")
'''
