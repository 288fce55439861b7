NAME = 'h07_citation_sage'
FAULT = 'The neighbour sampler scans the whole edge list for every single node ((dst == v).nonzero()), O(E) per node, each batch, for seeds and for all first-hop nodes.'
CURE = 'Sort the edges by destination once (CSR pointers) and slice the neighbours of a node.'
KIND = 'time'
FAULT_LINES = [
    '        nbrs = src[(dst == v).nonzero().squeeze(1)]',
]
FAULT_CALLS = ['aten::eq', 'aten::nonzero', 'torch.nonzero', 'torch.Tensor.nonzero', 'sample_neighbors']
FAULTY = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(21)

# citation-like graph with communities
N_NODES, N_EDGES, N_FEAT, N_CLASS = 20000, 240000, 64, 6
community = torch.randint(0, N_CLASS, (N_NODES,))
by_class = [torch.where(community == c)[0] for c in range(N_CLASS)]
dst = torch.randint(0, N_NODES, (N_EDGES,))
src = torch.randint(0, N_NODES, (N_EDGES,))
inside = torch.rand(N_EDGES) < 0.7
for c in range(N_CLASS):
    pick = inside & (community[dst] == c)
    src[pick] = by_class[c][torch.randint(0, len(by_class[c]), (int(pick.sum()),))]
centers = torch.randn(N_CLASS, N_FEAT) * 0.35
x = centers[community] + torch.randn(N_NODES, N_FEAT)

perm = torch.randperm(N_NODES)
train_ids, test_ids = perm[:14000], perm[14000:]

def sample_neighbors(nodes, fanout):
    rows = []
    for v in nodes.tolist():
        nbrs = src[(dst == v).nonzero().squeeze(1)]
        if len(nbrs) == 0:
            rows.append(torch.full((fanout,), v))
        else:
            rows.append(nbrs[torch.randint(0, len(nbrs), (fanout,))])
    return torch.stack(rows)

class SageLayer(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.self_lin = nn.Linear(cin, cout)
        self.nbr_lin = nn.Linear(cin, cout, bias=False)

    def forward(self, own, nbrs):
        return self.self_lin(own) + self.nbr_lin(nbrs.mean(-2))

class GraphSage(nn.Module):
    def __init__(self, hidden=96):
        super().__init__()
        self.l1 = SageLayer(N_FEAT, hidden)
        self.l2 = SageLayer(hidden, N_CLASS)

    def forward(self, seeds, hop1, hop2):
        h_seed = F.relu(self.l1(x[seeds], x[hop1]))
        h_nbr = F.relu(self.l1(x[hop1], x[hop2]))
        return self.l2(h_seed, h_nbr)

def gather(seeds, fan1=8, fan2=6):
    hop1 = sample_neighbors(seeds, fan1)
    frontier, where = hop1.flatten().unique(return_inverse=True)
    hop2 = sample_neighbors(frontier, fan2)[where]
    return hop1, hop2.view(len(seeds), fan1, fan2)

model = GraphSage()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)

model.train()
for step in range(50):
    seeds = train_ids[torch.randint(0, len(train_ids), (96,))]
    hop1, hop2 = gather(seeds)
    logits = model(seeds, hop1, hop2)
    loss = F.cross_entropy(logits, community[seeds])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 0:
        acc = (logits.argmax(1) == community[seeds]).float().mean()
        print(f"step {step:3d} loss {loss.item():.3f} acc {acc.item():.3f}")

model.eval()
hits = 0
with torch.no_grad():
    for seeds in test_ids[:480].split(96):
        logits = model(seeds, *gather(seeds))
        hits += (logits.argmax(1) == community[seeds]).sum().item()
print(f"test accuracy {hits / 480:.3f}")
'''
CURED = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(21)

# citation-like graph with communities
N_NODES, N_EDGES, N_FEAT, N_CLASS = 20000, 240000, 64, 6
community = torch.randint(0, N_CLASS, (N_NODES,))
by_class = [torch.where(community == c)[0] for c in range(N_CLASS)]
dst = torch.randint(0, N_NODES, (N_EDGES,))
src = torch.randint(0, N_NODES, (N_EDGES,))
inside = torch.rand(N_EDGES) < 0.7
for c in range(N_CLASS):
    pick = inside & (community[dst] == c)
    src[pick] = by_class[c][torch.randint(0, len(by_class[c]), (int(pick.sum()),))]
centers = torch.randn(N_CLASS, N_FEAT) * 0.35
x = centers[community] + torch.randn(N_NODES, N_FEAT)

perm = torch.randperm(N_NODES)
train_ids, test_ids = perm[:14000], perm[14000:]

by_dst = dst.argsort(stable=True)
src_sorted = src[by_dst]
ptr = [0] + torch.bincount(dst, minlength=N_NODES).cumsum(0).tolist()

def sample_neighbors(nodes, fanout):
    rows = []
    for v in nodes.tolist():
        nbrs = src_sorted[ptr[v]:ptr[v + 1]]
        if len(nbrs) == 0:
            rows.append(torch.full((fanout,), v))
        else:
            rows.append(nbrs[torch.randint(0, len(nbrs), (fanout,))])
    return torch.stack(rows)

class SageLayer(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.self_lin = nn.Linear(cin, cout)
        self.nbr_lin = nn.Linear(cin, cout, bias=False)

    def forward(self, own, nbrs):
        return self.self_lin(own) + self.nbr_lin(nbrs.mean(-2))

class GraphSage(nn.Module):
    def __init__(self, hidden=96):
        super().__init__()
        self.l1 = SageLayer(N_FEAT, hidden)
        self.l2 = SageLayer(hidden, N_CLASS)

    def forward(self, seeds, hop1, hop2):
        h_seed = F.relu(self.l1(x[seeds], x[hop1]))
        h_nbr = F.relu(self.l1(x[hop1], x[hop2]))
        return self.l2(h_seed, h_nbr)

def gather(seeds, fan1=8, fan2=6):
    hop1 = sample_neighbors(seeds, fan1)
    frontier, where = hop1.flatten().unique(return_inverse=True)
    hop2 = sample_neighbors(frontier, fan2)[where]
    return hop1, hop2.view(len(seeds), fan1, fan2)

model = GraphSage()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)

model.train()
for step in range(50):
    seeds = train_ids[torch.randint(0, len(train_ids), (96,))]
    hop1, hop2 = gather(seeds)
    logits = model(seeds, hop1, hop2)
    loss = F.cross_entropy(logits, community[seeds])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 0:
        acc = (logits.argmax(1) == community[seeds]).float().mean()
        print(f"step {step:3d} loss {loss.item():.3f} acc {acc.item():.3f}")

model.eval()
hits = 0
with torch.no_grad():
    for seeds in test_ids[:480].split(96):
        logits = model(seeds, *gather(seeds))
        hits += (logits.argmax(1) == community[seeds]).sum().item()
print(f"test accuracy {hits / 480:.3f}")
'''
