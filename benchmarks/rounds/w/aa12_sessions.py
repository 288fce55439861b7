NAME = "Next-item recommendation in shop sessions with a GRU, early stopping and best-weights bookkeeping."
FAULT = None
CURE = None
KIND = None
LOOKS = "loss.item() and gradient clipping at each step, validation and a deep copy of the weights after each epoch look costly; on a CPU item() waits for nothing, and the others cost below 2% and steer early stopping."
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''
import copy
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(77)
rng = np.random.default_rng(77)

ITEMS, LEN = 2000, 16

# shoppers walk on a random item graph with some jumps
neighbours = rng.integers(0, ITEMS, (ITEMS, 3))


def walk(n):
    s = np.empty((n, LEN + 1), dtype=np.int64)
    s[:, 0] = rng.integers(0, ITEMS, n)
    for k in range(1, LEN + 1):
        follow = neighbours[s[:, k - 1], rng.choice(3, n, p=[0.7, 0.2, 0.1])]
        s[:, k] = np.where(rng.random(n) < 0.1, rng.integers(0, ITEMS, n), follow)
    return torch.from_numpy(s)


class SessionGRU(nn.Module):
    def __init__(self, dim=96):
        super().__init__()
        self.item = nn.Embedding(ITEMS, dim)
        self.gru = nn.GRU(dim, dim, batch_first=True)
        self.bias = nn.Parameter(torch.zeros(ITEMS))
        nn.init.normal_(self.item.weight, std=0.1)

    def states(self, sessions):
        return self.gru(self.item(sessions))[0]

    def scores(self, h):
        return F.linear(h, self.item.weight, self.bias)


class Trainer:
    def __init__(self, model, patience=2):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters(), lr=4e-3)
        self.patience, self.best, self.best_state = patience, -1.0, None

    def epoch(self, data, bs=128):
        self.model.train()
        log = []
        for rows in torch.randperm(len(data)).split(bs):
            s = data[rows]
            logits = self.model.scores(self.model.states(s[:, :-1]))
            loss = F.cross_entropy(logits.flatten(0, 1), s[:, 1:].flatten())
            self.opt.zero_grad()
            loss.backward()
            norm = nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.opt.step()
            log.append((loss.item(), norm.item()))
        return np.mean(log, axis=0)

    @torch.no_grad()
    def evaluate(self, data, k=10):
        self.model.eval()
        ranks = []
        for s in data.split(250):
            scores = self.model.scores(self.model.states(s[:, :-1])[:, -1])
            ranks.append((scores > scores.gather(1, s[:, -1:])).sum(1))
        ranks = torch.cat(ranks) + 1
        hit = (ranks <= k).float()
        return hit.mean().item(), (hit / ranks).mean().item()

    def fit(self, train, valid, max_epochs):
        waited = 0
        for e in range(1, max_epochs + 1):
            loss, norm = self.epoch(train)
            recall, mrr = self.evaluate(valid)
            print(f"epoch {e}: loss {loss:.3f} grad {norm:.3f} recall@10 {recall:.3f} mrr@10 {mrr:.3f}")
            if mrr > self.best:
                self.best, waited = mrr, 0
                self.best_state = copy.deepcopy(self.model.state_dict())
            else:
                waited += 1
                if waited >= self.patience:
                    break
        self.model.load_state_dict(self.best_state)


train, valid, test = walk(4000), walk(500), walk(1000)
trainer = Trainer(SessionGRU())
trainer.fit(train, valid, max_epochs=6)
recall, mrr = trainer.evaluate(test)
print(f"test recall@10 {recall:.3f}, mrr@10 {mrr:.3f}")
'''
