NAME = 'h12_label_propagation'
FAULT = None
CURE = None
KIND = None
LOOKS_LIKE = 'A Python loop finds the neighbours in chunks of 1024 rows (matmul + topk) instead of one call, and propagation repeats the sparse product 30 times; chunking only bounds the similarity block (N x N would be >2 GB) at no extra arithmetic, 96-d embeddings leave nothing for a tree, and each propagation step needs the former one.'
GOOD = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(6)

# photo embeddings (96-d) of an unlabeled archive, 1% hand labelled
N, D, N_CLASS, K = 30000, 96, 12, 15
label = torch.randint(0, N_CLASS, (N,))
sub = torch.randint(0, 6, (N,))
centres = torch.randn(N_CLASS, 6, D)
emb = F.normalize(0.5 * centres[label, sub] + torch.randn(N, D), dim=1)
labelled = torch.zeros(N, dtype=torch.bool)
labelled[torch.randperm(N)[:N // 100]] = True

def knn_graph(x, k, chunk=1024):
    sims, ids = [], []
    for start in range(0, len(x), chunk):
        s = x[start:start + chunk] @ x.T
        rows = torch.arange(s.shape[0])
        s[rows, rows + start] = -1.0
        top = s.topk(k, dim=1)
        sims.append(top.values)
        ids.append(top.indices)
    return torch.cat(sims), torch.cat(ids)

sims, ids = knn_graph(emb, K)
print(f"mean neighbour similarity {sims.mean():.4f}")
purity = (label[ids] == label[:, None]).float().mean()
print(f"neighbour purity {purity:.4f}")

# symmetric normalised graph
w = torch.exp((sims - 1) / 0.3)
row = torch.arange(N).repeat_interleave(K)
col = ids.flatten()
r2, c2, w2 = torch.cat([row, col]), torch.cat([col, row]), w.flatten().repeat(2)
deg = torch.zeros(N).index_add_(0, r2, w2)
val = w2 * deg.rsqrt()[r2] * deg.rsqrt()[c2]
S = torch.sparse_coo_tensor(torch.stack([r2, c2]), val, (N, N)).coalesce().to_sparse_csr()

Y = torch.zeros(N, N_CLASS)
Y[labelled] = F.one_hot(label[labelled], N_CLASS).float()
Z = Y.clone()
for it in range(30):
    Z_new = 0.9 * (S @ Z) + 0.1 * Y
    change = (Z_new - Z).abs().sum() / Z.abs().sum()
    Z = Z_new
    if it % 10 == 9:
        acc = (Z.argmax(1) == label)[~labelled].float().mean()
        print(f"iter {it + 1}: change {change:.2e}  unlabelled acc {acc:.4f}")

pseudo = Z.argmax(1)
conf = Z.max(1).values / Z.sum(1).clamp(min=1e-12)
keep = (conf > 0.25) | labelled
print(f"kept {int(keep.sum())} of {N} pseudo labels")

head = nn.Sequential(nn.Linear(D, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, N_CLASS))
opt = torch.optim.Adam(head.parameters(), lr=3e-3)
pool = torch.where(keep)[0]
for epoch in range(3):
    total = 0.0
    for sel in pool[torch.randperm(len(pool))].split(512):
        loss = F.cross_entropy(head(emb[sel]), pseudo[sel])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(sel)
    print(f"epoch {epoch} loss {total / len(pool):.4f}")

head.eval()
with torch.no_grad():
    acc = (head(emb).argmax(1) == label)[~labelled].float().mean()
print(f"head accuracy on unlabelled photos {acc:.4f}")
'''
