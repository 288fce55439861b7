NAME = 'Ranks the pages of a citation graph by topic with personalised PageRank on a sparse matrix.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []

GOOD = r"""
import numpy as np
import scipy.sparse as sp
import torch

torch.set_num_threads(1)
rng = np.random.default_rng(90)
torch.manual_seed(90)

n, links, topics = 40_000, 3_000_000, 32

# newer papers cite older ones, popular ones more often
src = rng.integers(1, n, links)
dst = (src * rng.random(links) ** 2).astype(np.int64)
A = sp.coo_matrix((np.ones(links, dtype=np.float32), (dst, src)), shape=(n, n)).tocsr()
A.data[:] = 1.0
out = np.asarray(A.sum(0)).ravel()
A = A @ sp.diags((1 / np.maximum(out, 1)).astype(np.float32))
A = A.tocsr().astype(np.float32)
M = torch.sparse_csr_tensor(torch.from_numpy(A.indptr), torch.from_numpy(A.indices), torch.from_numpy(A.data), size=(n, n))
dangling = torch.from_numpy(out == 0)

topic_of = torch.from_numpy(rng.integers(0, topics, n))
home = torch.zeros(n, topics)
home[torch.arange(n), topic_of] = 1.0
home = home / home.sum(0)


def rank(M, home, damping, tol=1e-7, max_iter=400):
    r = home.clone()
    M = M * damping
    for it in range(max_iter):
        lost = r[dangling].sum(0)
        new = M @ r + (1 - damping + damping * lost) * home
        if it % 10 == 9 and (new - r).abs().max().item() < tol:
            break
        r = new
    return new, it + 1


rounds = 0
tops = []
for damping in (0.70, 0.73, 0.76, 0.79, 0.82, 0.85, 0.87, 0.89, 0.91, 0.93):
    ranks, steps = rank(M, home, damping)
    rounds += steps
    tops.append((ranks * (home > 0)).argmax(0)[:4].tolist())

print(f"{rounds} rounds, sum {ranks.sum().item():.4f}, largest {ranks.max().item():.5f}, tops {tops}")
"""
