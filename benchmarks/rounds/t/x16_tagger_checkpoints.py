NAME = 'Trains a bag-of-words tagger with a large embedding table, early stopping and a return to the best epoch.'
FAULT = "A deep copy of the whole state dict of every epoch is kept in the history, although only the best epoch's weights are used again."
CURE = 'Keep only one copy, that of the best epoch so far.'
KIND = 'memory'
FAULT_LINES = ['history.append((score, epoch, copy.deepcopy(model.state_dict())))', 'best_score, best_epoch, best_state = max(history, key=lambda h: h[0])']
FAULT_CALLS = ['deepcopy', 'append', 'copy.deepcopy', 'state_dict', 'clone']
FAULTY = r"""import copy
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(27)

VOCAB, DIM, TAGS, DOC = 120_000, 128, 12, 60


def make_documents(n):
    tag = torch.randint(0, TAGS, (n,))
    ids = (torch.rand(n, DOC) ** 2 * VOCAB).long()
    topical = torch.rand(n, DOC) < 0.12
    pool = tag.unsqueeze(1) * 400 + torch.randint(0, 400, (n, DOC))
    ids[topical] = pool[topical]
    return ids, tag


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(VOCAB, DIM, mode="mean", sparse=True)
        self.mlp = nn.Sequential(nn.Linear(DIM, 256), nn.GELU(), nn.Dropout(0.2), nn.Linear(256, TAGS))
        nn.init.normal_(self.bag.weight, std=0.3)

    def forward(self, ids):
        return self.mlp(self.bag(ids))


@torch.no_grad()
def macro_f1(model, ids, tag):
    model.eval()
    guess = torch.cat([model(part).argmax(1) for part in ids.split(512)])
    table = torch.bincount(tag * TAGS + guess, minlength=TAGS * TAGS).view(TAGS, TAGS).float()
    hit = table.diagonal()
    return (2 * hit / (table.sum(0) + table.sum(1)).clamp_min(1)).mean().item()


train_ids, train_tag = make_documents(25_000)
valid_ids, valid_tag = make_documents(4_000)
test_ids, test_tag = make_documents(4_000)
model = Tagger()
dense = torch.optim.Adam(model.mlp.parameters(), lr=1e-3)
table = torch.optim.SGD(model.bag.parameters(), lr=20.0)

history, patience, stale = [], 8, 0
best = -1.0
for epoch in range(12):
    model.train()
    total = 0.0
    for idx in torch.randperm(len(train_ids)).split(256):
        loss = F.cross_entropy(model(train_ids[idx]), train_tag[idx])
        dense.zero_grad()
        table.zero_grad()
        loss.backward()
        dense.step()
        table.step()
        total += loss.item() * len(idx)
    score = macro_f1(model, valid_ids, valid_tag)
    history.append((score, epoch, copy.deepcopy(model.state_dict())))
    print(f"epoch {epoch}: loss {total / len(train_ids):.4f} macro-F1 {score:.4f}")
    stale = 0 if score > best else stale + 1
    best = max(best, score)
    if stale == patience:
        break

best_score, best_epoch, best_state = max(history, key=lambda h: h[0])
model.load_state_dict(best_state)
print(f"best epoch {best_epoch} ({best_score:.4f}), test macro-F1 {macro_f1(model, test_ids, test_tag):.4f}")
"""
CURED = r"""import copy
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(27)

VOCAB, DIM, TAGS, DOC = 120_000, 128, 12, 60


def make_documents(n):
    tag = torch.randint(0, TAGS, (n,))
    ids = (torch.rand(n, DOC) ** 2 * VOCAB).long()
    topical = torch.rand(n, DOC) < 0.12
    pool = tag.unsqueeze(1) * 400 + torch.randint(0, 400, (n, DOC))
    ids[topical] = pool[topical]
    return ids, tag


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(VOCAB, DIM, mode="mean", sparse=True)
        self.mlp = nn.Sequential(nn.Linear(DIM, 256), nn.GELU(), nn.Dropout(0.2), nn.Linear(256, TAGS))
        nn.init.normal_(self.bag.weight, std=0.3)

    def forward(self, ids):
        return self.mlp(self.bag(ids))


@torch.no_grad()
def macro_f1(model, ids, tag):
    model.eval()
    guess = torch.cat([model(part).argmax(1) for part in ids.split(512)])
    table = torch.bincount(tag * TAGS + guess, minlength=TAGS * TAGS).view(TAGS, TAGS).float()
    hit = table.diagonal()
    return (2 * hit / (table.sum(0) + table.sum(1)).clamp_min(1)).mean().item()


train_ids, train_tag = make_documents(25_000)
valid_ids, valid_tag = make_documents(4_000)
test_ids, test_tag = make_documents(4_000)
model = Tagger()
dense = torch.optim.Adam(model.mlp.parameters(), lr=1e-3)
table = torch.optim.SGD(model.bag.parameters(), lr=20.0)

history, patience, stale = [], 8, 0
best = -1.0
for epoch in range(12):
    model.train()
    total = 0.0
    for idx in torch.randperm(len(train_ids)).split(256):
        loss = F.cross_entropy(model(train_ids[idx]), train_tag[idx])
        dense.zero_grad()
        table.zero_grad()
        loss.backward()
        dense.step()
        table.step()
        total += loss.item() * len(idx)
    score = macro_f1(model, valid_ids, valid_tag)
    if score > best:
        history = [(score, epoch, copy.deepcopy(model.state_dict()))]
    print(f"epoch {epoch}: loss {total / len(train_ids):.4f} macro-F1 {score:.4f}")
    stale = 0 if score > best else stale + 1
    best = max(best, score)
    if stale == patience:
        break

best_score, best_epoch, best_state = max(history, key=lambda h: h[0])
model.load_state_dict(best_state)
print(f"best epoch {best_epoch} ({best_score:.4f}), test macro-F1 {macro_f1(model, test_ids, test_tag):.4f}")
"""
