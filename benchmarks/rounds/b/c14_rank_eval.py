NAME = 'offline ranking evaluation of a trained recommender'
FAULT = 'all 40000 scores per user are fully sorted to read the best 20'
CURE = 'use topk'
KIND = 'time'
FAULT_LINES = ['return scores.argsort(dim=1, descending=True)[:, :K]', 'top = recommend(batch)']
FAULT_CALLS = ['argsort', 'sort', 'recommend']
FAULTY = r'''
import torch

torch.manual_seed(17)
N_USERS, N_ITEMS, DIM, K, BATCH = 1600, 40_000, 64, 20, 128
users = torch.randn(N_USERS, DIM)
items = torch.randn(N_ITEMS, DIM) * (torch.rand(N_ITEMS, 1) + 0.5)
seen = torch.randint(0, N_ITEMS, (N_USERS, 30))
truth = torch.randint(0, N_ITEMS, (N_USERS, 10))
for u in range(N_USERS):
    truth[u, :3] = (items[u * 7 % N_ITEMS:][:200] @ users[u]).topk(3).indices + u * 7 % N_ITEMS
discount = 1.0 / torch.log2(torch.arange(2, K + 2).float())

@torch.inference_mode()
def recommend(batch):
    scores = users[batch] @ items.T
    scores.scatter_(1, seen[batch], float("-inf"))
    return scores.argsort(dim=1, descending=True)[:, :K]

recall = ndcg = 0.0
shown = torch.zeros(N_ITEMS)
for batch in torch.arange(N_USERS).split(BATCH):
    top = recommend(batch)
    hit = (top.unsqueeze(2) == truth[batch].unsqueeze(1)).any(2).float()
    recall += (hit.sum(1) / truth.shape[1]).sum().item()
    ndcg += (hit * discount).sum().item() / discount[:truth.shape[1]].sum().item()
    shown.index_add_(0, top.flatten(), torch.ones(top.numel()))
coverage = (shown > 0).float().mean().item()
print("recall@20", round(recall / N_USERS, 5), "ndcg@20", round(ndcg / N_USERS, 5), "coverage", round(coverage, 4))
'''
CURED = r'''
import torch

torch.manual_seed(17)
N_USERS, N_ITEMS, DIM, K, BATCH = 1600, 40_000, 64, 20, 128
users = torch.randn(N_USERS, DIM)
items = torch.randn(N_ITEMS, DIM) * (torch.rand(N_ITEMS, 1) + 0.5)
seen = torch.randint(0, N_ITEMS, (N_USERS, 30))
truth = torch.randint(0, N_ITEMS, (N_USERS, 10))
for u in range(N_USERS):
    truth[u, :3] = (items[u * 7 % N_ITEMS:][:200] @ users[u]).topk(3).indices + u * 7 % N_ITEMS
discount = 1.0 / torch.log2(torch.arange(2, K + 2).float())

@torch.inference_mode()
def recommend(batch):
    scores = users[batch] @ items.T
    scores.scatter_(1, seen[batch], float("-inf"))
    return scores.topk(K, dim=1).indices

recall = ndcg = 0.0
shown = torch.zeros(N_ITEMS)
for batch in torch.arange(N_USERS).split(BATCH):
    top = recommend(batch)
    hit = (top.unsqueeze(2) == truth[batch].unsqueeze(1)).any(2).float()
    recall += (hit.sum(1) / truth.shape[1]).sum().item()
    ndcg += (hit * discount).sum().item() / discount[:truth.shape[1]].sum().item()
    shown.index_add_(0, top.flatten(), torch.ones(top.numel()))
coverage = (shown > 0).float().mean().item()
print("recall@20", round(recall / N_USERS, 5), "ndcg@20", round(ndcg / N_USERS, 5), "coverage", round(coverage, 4))
'''
