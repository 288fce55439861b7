NAME = 'Deep knowledge tracing: predicts whether a pupil answers the next exercise correctly'
FAULT = 'Each interaction id is expanded to a one-hot float vector over 2 x 2500 interactions and multiplied by a dense Linear layer, in the forward and the backward pass, instead of looking up a row'
CURE = 'Look the rows up: F.embedding(inter, self.inter_proj.weight.t())'
KIND = 'time'
FAULT_LINES = ['onehot = F.one_hot(inter, 2 * self.n_skills).float()', 'z = self.inter_proj(onehot)']
FAULT_CALLS = ['F.one_hot', 'self.inter_proj', 'linear', 'addmm', 'mm', 'float']
FAULTY = r"""
# Deep Knowledge Tracing (course project, week 9)
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.metrics import roc_auc_score

torch.set_num_threads(1)
torch.manual_seed(3)
rng = np.random.default_rng(3)

n_skills = 2500
n_pupils = 320
seq_len = 60

# --- simulate pupils with an IRT model and slow learning -------------------
difficulty = rng.normal(0, 1.2, n_skills)
ability = rng.normal(0, 1, n_pupils)
skills = np.zeros((n_pupils, seq_len), dtype=np.int64)
answers = np.zeros((n_pupils, seq_len), dtype=np.int64)
for p in range(n_pupils):
    start = rng.integers(0, n_skills)
    skills[p] = (start + np.cumsum(rng.integers(0, 9, seq_len))) % n_skills
    gain = np.linspace(0, 0.8, seq_len)
    prob = 1 / (1 + np.exp(-(ability[p] + gain - difficulty[skills[p]])))
    answers[p] = rng.random(seq_len) < prob

S = torch.from_numpy(skills)
A = torch.from_numpy(answers)
n_train = 256


class DKT(nn.Module):
    def __init__(self, n_skills, dim=100, hidden=100):
        super().__init__()
        self.n_skills = n_skills
        self.inter_proj = nn.Linear(2 * n_skills, dim, bias=False)
        self.rnn = nn.LSTM(dim, hidden, batch_first=True)
        self.skill_key = nn.Embedding(n_skills, hidden)
        self.skill_bias = nn.Embedding(n_skills, 1)
        nn.init.normal_(self.inter_proj.weight, std=0.3)
        nn.init.normal_(self.skill_key.weight, std=0.1)
        nn.init.zeros_(self.skill_bias.weight)

    def forward(self, s, a):
        inter = s[:, :-1] + self.n_skills * a[:, :-1]
        onehot = F.one_hot(inter, 2 * self.n_skills).float()
        z = self.inter_proj(onehot)
        h, _ = self.rnn(torch.tanh(z))
        nxt = s[:, 1:]
        logit = (h * self.skill_key(nxt)).sum(-1) + self.skill_bias(nxt).squeeze(-1)
        return logit


def evaluate(model, s, a):
    model.eval()
    with torch.no_grad():
        p = torch.sigmoid(model(s, a))
    model.train()
    return roc_auc_score(a[:, 1:].reshape(-1).numpy(), p.reshape(-1).numpy())


model = DKT(n_skills)
optim = torch.optim.Adam(model.parameters(), lr=4e-3)
bs = 32
for epoch in range(6):
    perm = torch.randperm(n_train)
    running = 0.0
    for k in range(0, n_train, bs):
        idx = perm[k:k + bs]
        logit = model(S[idx], A[idx])
        loss = F.binary_cross_entropy_with_logits(logit, A[idx][:, 1:].float())
        optim.zero_grad()
        loss.backward()
        optim.step()
        running += loss.item() * len(idx)
    auc = evaluate(model, S[n_train:], A[n_train:])
    print(f"epoch {epoch + 1}  bce {running / n_train:.4f}  held-out AUC {auc:.3f}")
"""
CURED = r"""
# Deep Knowledge Tracing (course project, week 9)
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.metrics import roc_auc_score

torch.set_num_threads(1)
torch.manual_seed(3)
rng = np.random.default_rng(3)

n_skills = 2500
n_pupils = 320
seq_len = 60

# --- simulate pupils with an IRT model and slow learning -------------------
difficulty = rng.normal(0, 1.2, n_skills)
ability = rng.normal(0, 1, n_pupils)
skills = np.zeros((n_pupils, seq_len), dtype=np.int64)
answers = np.zeros((n_pupils, seq_len), dtype=np.int64)
for p in range(n_pupils):
    start = rng.integers(0, n_skills)
    skills[p] = (start + np.cumsum(rng.integers(0, 9, seq_len))) % n_skills
    gain = np.linspace(0, 0.8, seq_len)
    prob = 1 / (1 + np.exp(-(ability[p] + gain - difficulty[skills[p]])))
    answers[p] = rng.random(seq_len) < prob

S = torch.from_numpy(skills)
A = torch.from_numpy(answers)
n_train = 256


class DKT(nn.Module):
    def __init__(self, n_skills, dim=100, hidden=100):
        super().__init__()
        self.n_skills = n_skills
        self.inter_proj = nn.Linear(2 * n_skills, dim, bias=False)
        self.rnn = nn.LSTM(dim, hidden, batch_first=True)
        self.skill_key = nn.Embedding(n_skills, hidden)
        self.skill_bias = nn.Embedding(n_skills, 1)
        nn.init.normal_(self.inter_proj.weight, std=0.3)
        nn.init.normal_(self.skill_key.weight, std=0.1)
        nn.init.zeros_(self.skill_bias.weight)

    def forward(self, s, a):
        inter = s[:, :-1] + self.n_skills * a[:, :-1]
        z = F.embedding(inter, self.inter_proj.weight.t())
        h, _ = self.rnn(torch.tanh(z))
        nxt = s[:, 1:]
        logit = (h * self.skill_key(nxt)).sum(-1) + self.skill_bias(nxt).squeeze(-1)
        return logit


def evaluate(model, s, a):
    model.eval()
    with torch.no_grad():
        p = torch.sigmoid(model(s, a))
    model.train()
    return roc_auc_score(a[:, 1:].reshape(-1).numpy(), p.reshape(-1).numpy())


model = DKT(n_skills)
optim = torch.optim.Adam(model.parameters(), lr=4e-3)
bs = 32
for epoch in range(6):
    perm = torch.randperm(n_train)
    running = 0.0
    for k in range(0, n_train, bs):
        idx = perm[k:k + bs]
        logit = model(S[idx], A[idx])
        loss = F.binary_cross_entropy_with_logits(logit, A[idx][:, 1:].float())
        optim.zero_grad()
        loss.backward()
        optim.step()
        running += loss.item() * len(idx)
    auc = evaluate(model, S[n_train:], A[n_train:])
    print(f"epoch {epoch + 1}  bce {running / n_train:.4f}  held-out AUC {auc:.3f}")
"""
