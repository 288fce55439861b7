NAME = "Trains a two-layer message-passing network for node classification on a made-up social graph."
FAULT = "The linear projections run on the gathered features of every edge, though they depend on the node only."
CURE = "Project the node features first and gather the projected rows for the edges afterwards."
KIND = "time"
FAULT_LINES = ["msg = self.from_src(x.index_select(0, src)) + self.from_dst(x.index_select(0, dst))", "x = F.relu(conv(x, src, dst, inv_deg))"]
FAULT_CALLS = ["linear", "from_src", "from_dst", "index_select", "addmm", "mm", "backward"]
FAULTY = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(21)

N_NODES, N_CLASSES, FEATS, HIDDEN = 3000, 6, 128, 128
AVG_DEGREE, EPOCHS = 24, 18


def make_graph():
    label = torch.randint(0, N_CLASSES, (N_NODES,))
    n_edges = N_NODES * AVG_DEGREE
    src = torch.randint(0, N_NODES, (n_edges,))
    order = torch.argsort(label)
    start = torch.searchsorted(label[order].contiguous(), torch.arange(N_CLASSES + 1))
    lo, hi = start[label[src]], start[label[src] + 1]
    peer = order[lo + (torch.rand(n_edges) * (hi - lo)).long().clamp_(min=0)]
    other = torch.randint(0, N_NODES, (n_edges,))
    dst = torch.where(torch.rand(n_edges) < 0.4, peer, other)
    centers = torch.randn(N_CLASSES, FEATS) * 0.25
    feats = centers[label] + torch.randn(N_NODES, FEATS)
    return feats, label, src, dst


class GatedConv(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.from_src = nn.Linear(d_in, d_out)
        self.from_dst = nn.Linear(d_in, d_out, bias=False)
        self.root = nn.Linear(d_in, d_out)

    def forward(self, x, src, dst, inv_deg):
        msg = self.from_src(x.index_select(0, src)) + self.from_dst(x.index_select(0, dst))
        msg = F.relu(msg)
        out = torch.zeros(x.shape[0], msg.shape[1]).index_add(0, dst, msg)
        return self.root(x) + out * inv_deg


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList([GatedConv(FEATS, HIDDEN), GatedConv(HIDDEN, HIDDEN)])
        self.norms = nn.ModuleList([nn.LayerNorm(HIDDEN), nn.LayerNorm(HIDDEN)])
        self.out = nn.Linear(HIDDEN, N_CLASSES)

    def forward(self, x, src, dst, inv_deg):
        for conv, norm in zip(self.convs, self.norms):
            x = F.relu(conv(x, src, dst, inv_deg))
            x = norm(x)
        return self.out(x)


feats, label, src, dst = make_graph()
inv_deg = 1.0 / torch.bincount(dst, minlength=N_NODES).clamp(min=1).float().unsqueeze(1)
perm = torch.randperm(N_NODES)
train_idx, test_idx = perm[:1800], perm[1800:]

net = Net()
opt = torch.optim.Adam(net.parameters(), lr=5e-3, weight_decay=5e-4)

for epoch in range(EPOCHS):
    net.train()
    logits = net(feats, src, dst, inv_deg)
    loss = F.cross_entropy(logits[train_idx], label[train_idx])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 6 == 0:
        print(f"epoch {epoch:2d}  loss {loss.item():.3f}")

net.eval()
with torch.no_grad():
    pred = net(feats, src, dst, inv_deg).argmax(1)
acc = (pred == label).float()
print(f"train acc {acc[train_idx].mean():.2f}  test acc {acc[test_idx].mean():.2f}")
'''
CURED = FAULTY.replace("self.from_src(x.index_select(0, src)) + self.from_dst(x.index_select(0, dst))",
                       "self.from_src(x).index_select(0, src) + self.from_dst(x).index_select(0, dst)")
