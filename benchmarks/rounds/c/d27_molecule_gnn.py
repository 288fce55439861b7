NAME = 'd27_molecule_gnn'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = ()
FAULT_CALLS = ()
GOOD = """\
import torch
import torch.nn as nn

torch.manual_seed(0)


def random_molecules(count):
    xs, es, batch, target, off = [], [], [], [], 0
    for g in range(count):
        n = int(torch.randint(9, 30, (1,)))
        parent = (torch.rand(n - 1) * torch.arange(1, n)).long()
        a = torch.arange(1, n)
        e = torch.stack([torch.cat([a, parent]), torch.cat([parent, a])])
        x = torch.nn.functional.one_hot(torch.randint(0, 6, (n,)), 6).float()
        xs.append(x)
        es.append(e + off)
        batch.append(torch.full((n,), g))
        target.append(x[:, 2].sum() - 0.5 * x[:, 4].sum())
        off += n
    return torch.cat(xs), torch.cat(es, 1), torch.cat(batch), torch.stack(target)


class EdgeConv(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.recv, self.send = nn.Linear(d, d), nn.Linear(d, d, bias=False)
        self.message = nn.Sequential(nn.SiLU(), nn.Linear(d, d), nn.SiLU())
        self.gru = nn.GRUCell(d, d)

    def forward(self, h, src, dst):
        m = self.message(self.recv(h).index_select(0, dst) + self.send(h).index_select(0, src))
        agg = torch.zeros_like(h).index_add_(0, dst, m)
        return self.gru(agg, h)


class MPNN(nn.Module):
    def __init__(self, d=160, depth=3):
        super().__init__()
        self.embed = nn.Linear(6, d)
        self.convs = nn.ModuleList([EdgeConv(d) for _ in range(depth)])
        self.head = nn.Sequential(nn.Linear(d, d), nn.SiLU(), nn.Linear(d, 1))

    def forward(self, x, edges, batch, n_graphs):
        h = self.embed(x)
        for conv in self.convs:
            h = conv(h, edges[0], edges[1])
        atom = self.head(h).squeeze(1)
        return torch.zeros(n_graphs).index_add_(0, batch, atom)


graphs = [random_molecules(48) for _ in range(10)]
model = MPNN()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(4):
    losses = []
    for x, edges, batch, y in graphs:
        pred = model(x, edges, batch, 48)
        loss = nn.functional.mse_loss(pred, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())

print("mse %.3f" % (sum(losses) / len(losses)))
"""
