NAME = 'Trains a click model with a wide embedding layer and tracks the training AUC.'
FAULT = 'The AUC over everything seen so far in the epoch is computed anew after every batch, though only the last value of the epoch is used.'
CURE = 'Compute the AUC once after the batches of an epoch.'
KIND = 'time'
FAULT_LINES = [
    'train_auc = roc_auc(torch.cat(all_scores), torch.cat(all_labels))',
    'def roc_auc(scores, labels):',
    'order = torch.argsort(scores)',
]
FAULT_CALLS = ['roc_auc', 'argsort', 'sort', 'cat', 'cumsum']

FAULTY = r'''import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(8)

FIELDS, VOCAB, DIM = 10, 500, 16
N_TRAIN, N_VALID, BATCH, EPOCHS = 80_000, 20_000, 256, 4

true_effect = 0.7 * torch.randn(FIELDS, VOCAB)


def simulate_clicks(n):
    x = (torch.rand(n, FIELDS).pow(2) * VOCAB).long()
    logit = true_effect[torch.arange(FIELDS), x].sum(1) - 1.0
    return x, torch.bernoulli(torch.sigmoid(logit))


def roc_auc(scores, labels):
    order = torch.argsort(scores)
    ranked = labels[order]
    positives = ranked.sum()
    negatives = len(ranked) - positives
    negatives_below = torch.cumsum(1 - ranked.double(), dim=0)
    return ((ranked * negatives_below).sum() / (positives * negatives)).item()


class ClickNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(FIELDS * VOCAB, DIM)
        self.register_buffer("offset", torch.arange(FIELDS) * VOCAB)
        self.mlp = nn.Sequential(
            nn.Linear(FIELDS * DIM, 128), nn.ReLU(), nn.Dropout(0.1),
            nn.Linear(128, 64), nn.ReLU(),
            nn.Linear(64, 1),
        )

    def forward(self, x):
        return self.mlp(self.emb(x + self.offset).flatten(1)).squeeze(1)


x_train, y_train = simulate_clicks(N_TRAIN)
x_valid, y_valid = simulate_clicks(N_VALID)
model = ClickNet()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(EPOCHS):
    model.train()
    all_scores, all_labels = [], []
    loss_sum = 0.0
    for idx in torch.randperm(N_TRAIN).split(BATCH):
        x, y = x_train[idx], y_train[idx]
        logits = model(x)
        loss = F.binary_cross_entropy_with_logits(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss_sum += loss.item() * len(idx)
        all_scores.append(logits.detach())
        all_labels.append(y)
        train_auc = roc_auc(torch.cat(all_scores), torch.cat(all_labels))

    model.eval()
    with torch.no_grad():
        valid_scores = torch.cat([model(x) for x in x_valid.split(4096)])
    valid_auc = roc_auc(valid_scores, y_valid)
    print(
        f"epoch {epoch}: loss {loss_sum / N_TRAIN:.4f} "
        f"train auc {train_auc:.4f} valid auc {valid_auc:.4f}"
    )

calibration = torch.sigmoid(valid_scores).mean().item() / y_valid.mean().item()
print(f"click rate {y_valid.mean().item():.4f}, predicted / observed {calibration:.3f}")
'''

CURED = r'''import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(8)

FIELDS, VOCAB, DIM = 10, 500, 16
N_TRAIN, N_VALID, BATCH, EPOCHS = 80_000, 20_000, 256, 4

true_effect = 0.7 * torch.randn(FIELDS, VOCAB)


def simulate_clicks(n):
    x = (torch.rand(n, FIELDS).pow(2) * VOCAB).long()
    logit = true_effect[torch.arange(FIELDS), x].sum(1) - 1.0
    return x, torch.bernoulli(torch.sigmoid(logit))


def roc_auc(scores, labels):
    order = torch.argsort(scores)
    ranked = labels[order]
    positives = ranked.sum()
    negatives = len(ranked) - positives
    negatives_below = torch.cumsum(1 - ranked.double(), dim=0)
    return ((ranked * negatives_below).sum() / (positives * negatives)).item()


class ClickNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(FIELDS * VOCAB, DIM)
        self.register_buffer("offset", torch.arange(FIELDS) * VOCAB)
        self.mlp = nn.Sequential(
            nn.Linear(FIELDS * DIM, 128), nn.ReLU(), nn.Dropout(0.1),
            nn.Linear(128, 64), nn.ReLU(),
            nn.Linear(64, 1),
        )

    def forward(self, x):
        return self.mlp(self.emb(x + self.offset).flatten(1)).squeeze(1)


x_train, y_train = simulate_clicks(N_TRAIN)
x_valid, y_valid = simulate_clicks(N_VALID)
model = ClickNet()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(EPOCHS):
    model.train()
    all_scores, all_labels = [], []
    loss_sum = 0.0
    for idx in torch.randperm(N_TRAIN).split(BATCH):
        x, y = x_train[idx], y_train[idx]
        logits = model(x)
        loss = F.binary_cross_entropy_with_logits(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss_sum += loss.item() * len(idx)
        all_scores.append(logits.detach())
        all_labels.append(y)
    train_auc = roc_auc(torch.cat(all_scores), torch.cat(all_labels))

    model.eval()
    with torch.no_grad():
        valid_scores = torch.cat([model(x) for x in x_valid.split(4096)])
    valid_auc = roc_auc(valid_scores, y_valid)
    print(
        f"epoch {epoch}: loss {loss_sum / N_TRAIN:.4f} "
        f"train auc {train_auc:.4f} valid auc {valid_auc:.4f}"
    )

calibration = torch.sigmoid(valid_scores).mean().item() / y_valid.mean().item()
print(f"click rate {y_valid.mean().item():.4f}, predicted / observed {calibration:.3f}")
'''
