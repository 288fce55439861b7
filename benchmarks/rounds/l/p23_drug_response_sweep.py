NAME = 'Sweeps learning rates for a network that predicts drug response from gene expression.'
FAULT = 'Every epoch of every run appends a deep copy of the weights to the history, although only the best one is used at the end.'
CURE = 'Keep one copy of the weights, that of the best epoch so far.'
KIND = 'memory'
FAULT_LINES = [
    'self.history.append({"epoch": epoch, "score": score, "state": copy.deepcopy(self.net.state_dict())})',
    'runs[lr] = Trainer(lr).fit(7)',
]
FAULT_CALLS = [
    'copy.deepcopy',
    'Trainer.fit',
    'torch.Tensor.__deepcopy__',
    'Module.state_dict',
    'list.append',
    'clone',
]

FAULTY = r"""
import copy
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(15)

n_genes, n_drugs, n_lines = 2000, 40, 1400

# expression driven by pathways, response by some of them
pathway = torch.randn(n_lines, 30)
expression = pathway @ torch.randn(30, n_genes) / 5 + torch.randn(n_lines, n_genes)
response = torch.tanh(pathway[:, :12] @ torch.randn(12, n_drugs) / 3) + 0.2 * torch.randn(n_lines, n_drugs)
train, valid, test = slice(0, 1000), slice(1000, 1200), slice(1200, None)


def build():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(n_genes, 1200), nn.ReLU(), nn.Dropout(0.3), nn.Linear(1200, 800), nn.ReLU(), nn.Linear(800, n_drugs))


class Trainer:
    def __init__(self, lr):
        self.net = build()
        self.opt = torch.optim.SGD(self.net.parameters(), lr=lr, momentum=0.9)
        self.history = []

    def evaluate(self, part):
        self.net.eval()
        with torch.no_grad():
            return nn.functional.mse_loss(self.net(expression[part]), response[part]).item()

    def fit(self, epochs):
        for epoch in range(epochs):
            self.net.train()
            for idx in torch.randperm(1000).split(100):
                loss = nn.functional.mse_loss(self.net(expression[train][idx]), response[train][idx])
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
            score = self.evaluate(valid)
            self.history.append({"epoch": epoch, "score": score, "state": copy.deepcopy(self.net.state_dict())})
        self.opt = None
        return self


runs = {}
for lr in (0.02, 0.05, 0.1, 0.2):
    runs[lr] = Trainer(lr).fit(7)

summary = {}
for lr, run in runs.items():
    best = min(run.history, key=lambda h: h["score"])
    run.net.load_state_dict(best["state"])
    summary[lr] = (best["epoch"], round(best["score"], 4), round(run.evaluate(test), 4))
print(summary)
"""

CURED = r"""
import copy
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(15)

n_genes, n_drugs, n_lines = 2000, 40, 1400

# expression driven by pathways, response by some of them
pathway = torch.randn(n_lines, 30)
expression = pathway @ torch.randn(30, n_genes) / 5 + torch.randn(n_lines, n_genes)
response = torch.tanh(pathway[:, :12] @ torch.randn(12, n_drugs) / 3) + 0.2 * torch.randn(n_lines, n_drugs)
train, valid, test = slice(0, 1000), slice(1000, 1200), slice(1200, None)


def build():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(n_genes, 1200), nn.ReLU(), nn.Dropout(0.3), nn.Linear(1200, 800), nn.ReLU(), nn.Linear(800, n_drugs))


class Trainer:
    def __init__(self, lr):
        self.net = build()
        self.opt = torch.optim.SGD(self.net.parameters(), lr=lr, momentum=0.9)
        self.history = []

    def evaluate(self, part):
        self.net.eval()
        with torch.no_grad():
            return nn.functional.mse_loss(self.net(expression[part]), response[part]).item()

    def fit(self, epochs):
        for epoch in range(epochs):
            self.net.train()
            for idx in torch.randperm(1000).split(100):
                loss = nn.functional.mse_loss(self.net(expression[train][idx]), response[train][idx])
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
            score = self.evaluate(valid)
            if not self.history or score < self.history[0]["score"]:
                self.history = [{"epoch": epoch, "score": score, "state": copy.deepcopy(self.net.state_dict())}]
        self.opt = None
        return self


runs = {}
for lr in (0.02, 0.05, 0.1, 0.2):
    runs[lr] = Trainer(lr).fit(7)

summary = {}
for lr, run in runs.items():
    best = min(run.history, key=lambda h: h["score"])
    run.net.load_state_dict(best["state"])
    summary[lr] = (best["epoch"], round(best["score"], 4), round(run.evaluate(test), 4))
print(summary)
"""
