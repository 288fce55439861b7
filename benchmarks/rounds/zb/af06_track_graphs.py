NAME = "Builds hit graphs for simulated detector events and trains an edge-classifying graph network for particle tracking."
FAULT = "Candidate edges are found from the full N x N distance matrix of each event, although only neighbours within a small radius are kept."
CURE = "Find the neighbours with a k-d tree (scipy cKDTree.query_pairs) and filter only these pairs by layer."
KIND = "time"
FAULT_LINES = [
    "    dist = torch.cdist(pos, pos)",
    "    near = (dist < RADIUS) & (layer[None, :] - layer[:, None] == 1)",
    "    src, dst = near.nonzero(as_tuple=True)",
]
FAULT_CALLS = ["cdist", "_cdist_forward", "build_graph", "lt", "sub", "eq", "bitwise_and", "nonzero", "_euclidean_dist", "__and__"]
FAULTY = r'''import numpy as np
import torch
import torch.nn as nn
from scipy.spatial import cKDTree

torch.set_num_threads(1)
torch.manual_seed(7)
rng = np.random.default_rng(7)

LAYERS = np.array([3.2, 7.2, 11.6, 17.2, 26.0, 36.0, 50.0, 66.0])
RADIUS = 0.12


def simulate_event(n_tracks=330, n_noise=350):
    """Helices in the transverse plane; coordinates are (phi as x/y on the unit circle, eta, depth)."""
    phi0, curv = rng.uniform(-np.pi, np.pi, n_tracks), rng.normal(0, 0.004, n_tracks)
    eta = rng.uniform(-2, 2, n_tracks)
    phi, et, lay, pid = [], [], [], []
    for k, r in enumerate(LAYERS):
        seen = rng.random(n_tracks) < 0.96
        phi.append((phi0 + curv * r + rng.normal(0, .003, n_tracks))[seen])
        et.append((eta + rng.normal(0, .008, n_tracks))[seen])
        lay.append(np.full(seen.sum(), k))
        pid.append(np.arange(n_tracks)[seen])
    phi.append(rng.uniform(-np.pi, np.pi, n_noise))
    et.append(rng.uniform(-2, 2, n_noise))
    lay.append(rng.integers(0, len(LAYERS), n_noise))
    pid.append(-np.arange(1, n_noise + 1))
    phi, et, lay, pid = map(np.concatenate, (phi, et, lay, pid))
    pos = np.stack([np.cos(phi), np.sin(phi), et], 1)
    return (torch.tensor(pos, dtype=torch.float32), torch.tensor(lay), torch.tensor(pid))


def build_graph(pos, layer, pid):
    dist = torch.cdist(pos, pos)
    near = (dist < RADIUS) & (layer[None, :] - layer[:, None] == 1)
    src, dst = near.nonzero(as_tuple=True)
    feat = torch.cat([pos, layer[:, None] / len(LAYERS)], 1)
    rel = (pos[dst] - pos[src]) / RADIUS
    truth = (pid[src] == pid[dst]).float()
    return feat, src, dst, rel, truth


def match_efficiency(pos, score, src, pid):
    """Share of hits whose best outgoing edge is right."""
    best = torch.full((len(pos),), -1e9).scatter_reduce(0, src, score, "amax")
    chosen = score >= best[src]
    return pid[chosen].mean().item()


def mlp(i, o, h=32):
    return nn.Sequential(nn.Linear(i, h), nn.ReLU(), nn.Linear(h, o))


class EdgeNet(nn.Module):
    def __init__(self, d=24):
        super().__init__()
        self.node, self.edge = mlp(4, d), mlp(2 * d + 3, d)
        self.upd, self.score = mlp(3 * d, d), mlp(2 * d + d, 1)

    def forward(self, feat, src, dst, rel):
        h = self.node(feat)
        e = self.edge(torch.cat([h[src], h[dst], rel], 1))
        inc = torch.zeros_like(h).index_add(0, dst, e)
        out = torch.zeros_like(h).index_add(0, src, e)
        h = h + self.upd(torch.cat([h, inc, out], 1))
        return self.score(torch.cat([h[src], h[dst], e], 1)).squeeze(1)


events = [simulate_event() for _ in range(64)]
graphs = [build_graph(*ev) for ev in events]
n_edges = sum(len(g[1]) for g in graphs)
print(f"{len(graphs)} events, {sum(len(g[0]) for g in graphs) // len(graphs)} hits and "
      f"{n_edges // len(graphs)} edges per event")

net = EdgeNet()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
train, test = graphs[:52], graphs[52:]
for epoch in range(6):
    total = 0.0
    for i in torch.randperm(len(train)).tolist():
        feat, src, dst, rel, truth = train[i]
        loss = nn.functional.binary_cross_entropy_with_logits(net(feat, src, dst, rel), truth)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"epoch {epoch}: loss {total / len(train):.3f}")

with torch.no_grad():
    eff = [match_efficiency(g[0], net(*g[:4]), g[1], g[4]) for g in test]
print(f"mean matching purity on {len(test)} test events: {np.mean(eff):.2f}")
'''
CURED = FAULTY.replace('''    dist = torch.cdist(pos, pos)
    near = (dist < RADIUS) & (layer[None, :] - layer[:, None] == 1)
    src, dst = near.nonzero(as_tuple=True)
''', '''    pairs = cKDTree(pos.numpy()).query_pairs(RADIUS, output_type="ndarray")
    pairs = torch.from_numpy(np.concatenate([pairs, pairs[:, ::-1]]))
    pairs = pairs[layer[pairs[:, 1]] - layer[pairs[:, 0]] == 1]
    src, dst = pairs[torch.argsort(pairs[:, 0] * len(pos) + pairs[:, 1])].T
''')
