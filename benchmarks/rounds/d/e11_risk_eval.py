NAME = 'e11_risk_eval'

FAULT = 'After each batch the metrics are computed over all predictions so far, although only the values after the last batch are kept.'

CURE = 'Collect the predictions in the loop and compute the metrics once after it.'

KIND = 'time'

FAULT_LINES = [
    '            result = self._metrics()',
    '        auc = roc_auc_score(y, s)',
    '        ap = average_precision_score(y, s)',
]

FAULT_CALLS = [
    'Evaluator._metrics',
    'sklearn.metrics.roc_auc_score',
    'sklearn.metrics.average_precision_score',
    'torch.cat',
]

FAULTY = r'''
import torch
import torch.nn as nn
from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(31)
torch.set_num_threads(1)


class RiskNet(nn.Module):
    """Admission record (vitals over 24 h + 10 static fields) -> readmission risk."""

    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(6, 48, batch_first=True)
        self.static = nn.Linear(10, 16)
        self.out = nn.Linear(64, 1)

    def forward(self, vitals, static):
        _, h = self.rnn(vitals)
        return self.out(torch.cat([h[-1], self.static(static).relu()], 1)).squeeze(1)


class Evaluator:
    def __init__(self, model, loader):
        self.model, self.loader = model, loader
        self.scores, self.labels = [], []

    def reset(self):
        self.scores.clear()
        self.labels.clear()

    def _metrics(self):
        s = torch.cat(self.scores).numpy()
        y = torch.cat(self.labels).numpy()
        auc = roc_auc_score(y, s)
        ap = average_precision_score(y, s)
        return {"auc": auc, "ap": ap, "brier": brier_score_loss(y, s)}

    @torch.no_grad()
    def run(self):
        self.reset()
        self.model.eval()
        result = {}
        for vitals, static, y in self.loader:
            p = torch.sigmoid(self.model(vitals, static))
            self.scores.append(p)
            self.labels.append(y)
            result = self._metrics()
        return result


def cohort(n):
    vitals = torch.randn(n, 24, 6).cumsum(1) * 0.2
    static = torch.randn(n, 10)
    z = vitals[:, -6:, 0].mean(1) + 0.8 * static[:, 0] - 0.5 * static[:, 1] - 0.7
    return TensorDataset(vitals, static, (torch.rand(n) < torch.sigmoid(2 * z)).float())


train, test = cohort(6000), cohort(16000)
model = RiskNet()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
evaluator = Evaluator(model, DataLoader(test, batch_size=64))

for epoch in range(2):
    model.train()
    for vitals, static, y in DataLoader(train, batch_size=100, shuffle=True):
        loss = nn.functional.binary_cross_entropy_with_logits(model(vitals, static), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, {k: round(float(v), 5) for k, v in evaluator.run().items()})
'''

CURED = r'''
import torch
import torch.nn as nn
from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(31)
torch.set_num_threads(1)


class RiskNet(nn.Module):
    """Admission record (vitals over 24 h + 10 static fields) -> readmission risk."""

    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(6, 48, batch_first=True)
        self.static = nn.Linear(10, 16)
        self.out = nn.Linear(64, 1)

    def forward(self, vitals, static):
        _, h = self.rnn(vitals)
        return self.out(torch.cat([h[-1], self.static(static).relu()], 1)).squeeze(1)


class Evaluator:
    def __init__(self, model, loader):
        self.model, self.loader = model, loader
        self.scores, self.labels = [], []

    def reset(self):
        self.scores.clear()
        self.labels.clear()

    def _metrics(self):
        s = torch.cat(self.scores).numpy()
        y = torch.cat(self.labels).numpy()
        auc = roc_auc_score(y, s)
        ap = average_precision_score(y, s)
        return {"auc": auc, "ap": ap, "brier": brier_score_loss(y, s)}

    @torch.no_grad()
    def run(self):
        self.reset()
        self.model.eval()
        for vitals, static, y in self.loader:
            p = torch.sigmoid(self.model(vitals, static))
            self.scores.append(p)
            self.labels.append(y)
        return self._metrics()


def cohort(n):
    vitals = torch.randn(n, 24, 6).cumsum(1) * 0.2
    static = torch.randn(n, 10)
    z = vitals[:, -6:, 0].mean(1) + 0.8 * static[:, 0] - 0.5 * static[:, 1] - 0.7
    return TensorDataset(vitals, static, (torch.rand(n) < torch.sigmoid(2 * z)).float())


train, test = cohort(6000), cohort(16000)
model = RiskNet()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
evaluator = Evaluator(model, DataLoader(test, batch_size=64))

for epoch in range(2):
    model.train()
    for vitals, static, y in DataLoader(train, batch_size=100, shuffle=True):
        loss = nn.functional.binary_cross_entropy_with_logits(model(vitals, static), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, {k: round(float(v), 5) for k, v in evaluator.run().items()})
'''
