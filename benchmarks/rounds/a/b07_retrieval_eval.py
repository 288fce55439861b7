NAME = 'recall@k of an image retrieval model from stored descriptors'
FAULT = 'distances are computed by broadcasting a (query, gallery, dim) difference tensor'
CURE = 'use torch.cdist, which makes only the (query, gallery) matrix'
KIND = 'memory'
FAULT_LINES = ['diff = q[:, None, :] - g[None, :, :]', 'return diff.pow(2).sum(-1).sqrt()', 'dist = pairwise_dist(queries[s:s + CHUNK], gallery)']
FAULT_CALLS = ['pairwise_dist', 'aten::sub', 'Tensor.__sub__', 'aten::pow', 'Tensor.pow', 'Tensor.sum']
FAULTY = '''
import torch
import torch.nn.functional as F

torch.manual_seed(21)
DIM, N_ID, CHUNK = 128, 1500, 128
proto = F.normalize(torch.randn(N_ID, DIM), dim=1)
g_ids = torch.arange(N_ID).repeat_interleave(4)
q_ids = torch.randint(0, N_ID, (2560,))
gallery = F.normalize(proto[g_ids] + 0.09 * torch.randn(len(g_ids), DIM), dim=1)
queries = F.normalize(proto[q_ids] + 0.09 * torch.randn(len(q_ids), DIM), dim=1)


def pairwise_dist(q, g):
    diff = q[:, None, :] - g[None, :, :]
    return diff.pow(2).sum(-1).sqrt()


hits = {1: 0, 5: 0, 10: 0}
ap_sum = 0.0
for s in range(0, len(queries), CHUNK):
    dist = pairwise_dist(queries[s:s + CHUNK], gallery)
    order = dist.topk(100, largest=False).indices
    rel = (g_ids[order] == q_ids[s:s + CHUNK, None]).float()
    for k in hits:
        hits[k] += rel[:, :k].amax(1).sum().item()
    prec = rel.cumsum(1) / torch.arange(1, rel.size(1) + 1)
    ap_sum += ((prec * rel).sum(1) / rel.sum(1).clamp(min=1)).sum().item()

n = len(queries)
print("  ".join(f"R@{k} {v / n:.3f}" for k, v in hits.items()), f" mAP {ap_sum / n:.3f}")
'''
CURED = '''
import torch
import torch.nn.functional as F

torch.manual_seed(21)
DIM, N_ID, CHUNK = 128, 1500, 128
proto = F.normalize(torch.randn(N_ID, DIM), dim=1)
g_ids = torch.arange(N_ID).repeat_interleave(4)
q_ids = torch.randint(0, N_ID, (2560,))
gallery = F.normalize(proto[g_ids] + 0.09 * torch.randn(len(g_ids), DIM), dim=1)
queries = F.normalize(proto[q_ids] + 0.09 * torch.randn(len(q_ids), DIM), dim=1)


def pairwise_dist(q, g):
    return torch.cdist(q, g)


hits = {1: 0, 5: 0, 10: 0}
ap_sum = 0.0
for s in range(0, len(queries), CHUNK):
    dist = pairwise_dist(queries[s:s + CHUNK], gallery)
    order = dist.topk(100, largest=False).indices
    rel = (g_ids[order] == q_ids[s:s + CHUNK, None]).float()
    for k in hits:
        hits[k] += rel[:, :k].amax(1).sum().item()
    prec = rel.cumsum(1) / torch.arange(1, rel.size(1) + 1)
    ap_sum += ((prec * rel).sum(1) / rel.sum(1).clamp(min=1)).sum().item()

n = len(queries)
print("  ".join(f"R@{k} {v / n:.3f}" for k, v in hits.items()), f" mAP {ap_sum / n:.3f}")
'''
