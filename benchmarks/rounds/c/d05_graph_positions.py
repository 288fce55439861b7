NAME = 'd05_graph_positions'
FAULT = 'A separate shortest-path search is run for every pair of nodes instead of one breadth-first search per source.'
CURE = 'Run one single-source search per node (all_pairs_shortest_path_length) and fill whole rows.'
KIND = 'time'
FAULT_LINES = (15,)
FAULT_CALLS = ('shortest_path_length', 'bidirectional_shortest_path')
FAULTY = """\
import networkx as nx
import numpy as np
import torch

np.random.seed(0)
torch.manual_seed(0)

G = nx.connected_watts_strogatz_graph(440, 6, 0.15, seed=3)
nodes = list(G.nodes)
n = len(nodes)

dist = np.zeros((n, n), dtype=np.float32)
for i, u in enumerate(nodes):
    for j in range(i + 1, n):
        d = nx.shortest_path_length(G, u, nodes[j])
        dist[i, j] = d
        dist[j, i] = d

D = torch.from_numpy(dist)
pos = torch.randn(n, 8, requires_grad=True)
opt = torch.optim.Adam([pos], lr=0.05)
iu = torch.triu_indices(n, n, 1)
target = D[iu[0], iu[1]]

for step in range(40):
    opt.zero_grad()
    est = (pos[iu[0]] - pos[iu[1]]).pow(2).sum(-1).add(1e-6).sqrt()
    stress = ((est - target) ** 2 / target ** 2).mean()
    stress.backward()
    opt.step()

print("mean distance %.3f, diameter %d" % (target.mean().item(), int(target.max())))
print("stress %.4f" % stress.item())
"""
CURED = """\
import networkx as nx
import numpy as np
import torch

np.random.seed(0)
torch.manual_seed(0)

G = nx.connected_watts_strogatz_graph(440, 6, 0.15, seed=3)
nodes = list(G.nodes)
n = len(nodes)

dist = np.zeros((n, n), dtype=np.float32)
for u, lengths in nx.all_pairs_shortest_path_length(G):
    for v, d in lengths.items():
        dist[u, v] = d

D = torch.from_numpy(dist)
pos = torch.randn(n, 8, requires_grad=True)
opt = torch.optim.Adam([pos], lr=0.05)
iu = torch.triu_indices(n, n, 1)
target = D[iu[0], iu[1]]

for step in range(40):
    opt.zero_grad()
    est = (pos[iu[0]] - pos[iu[1]]).pow(2).sum(-1).add(1e-6).sqrt()
    stress = ((est - target) ** 2 / target ** 2).mean()
    stress.backward()
    opt.step()

print("mean distance %.3f, diameter %d" % (target.mean().item(), int(target.max())))
print("stress %.4f" % stress.item())
"""
