NAME = 'Trains an embedding MLP on a synthetic credit table through a Dataset and DataLoader.'
FAULT = 'The DataLoader fetches and collates single rows of tables that are already in memory as tensors.'
CURE = 'Let a BatchSampler hand whole index lists to the Dataset (batch_size=None), so that each batch is one indexing.'
KIND = 'time'
FAULT_LINES = [
    'train_loader = DataLoader(train_set, batch_size=BATCH, shuffle=True, generator=generator)',
    'for cat, num, target in train_loader:',
    'return self.cat[i], self.num[i], self.target[i]',
]
FAULT_CALLS = ['__getitem__', 'DataLoader', 'default_collate', 'stack', 'fetch', '__next__']

FAULTY = r'''import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
torch.manual_seed(42)

CARDINALITIES = [12, 40, 7, 300, 25]
N_NUM, N_ROWS, BATCH, EPOCHS = 20, 60_000, 1024, 14


class CreditTable(Dataset):
    def __init__(self, n_rows, seed):
        g = torch.Generator().manual_seed(seed)
        self.cat = torch.stack(
            [torch.randint(0, c, (n_rows,), generator=g) for c in CARDINALITIES], dim=1
        )
        self.num = torch.randn(n_rows, N_NUM, generator=g)
        score = (
            1.2 * self.num[:, 0] - 0.8 * self.num[:, 1] * self.num[:, 2]
            + 0.5 * (self.cat[:, 0] % 3 - 1) - 1.5
        )
        self.target = torch.bernoulli(torch.sigmoid(score), generator=g)

    def __len__(self):
        return len(self.target)

    def __getitem__(self, i):
        return self.cat[i], self.num[i], self.target[i]


class TabularNet(nn.Module):
    def __init__(self, dim=8, hidden=96):
        super().__init__()
        self.embeddings = nn.ModuleList(nn.Embedding(c, dim) for c in CARDINALITIES)
        self.norm = nn.BatchNorm1d(N_NUM)
        self.mlp = nn.Sequential(
            nn.Linear(dim * len(CARDINALITIES) + N_NUM, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, 1),
        )

    def forward(self, cat, num):
        parts = [emb(cat[:, k]) for k, emb in enumerate(self.embeddings)]
        parts.append(self.norm(num))
        return self.mlp(torch.cat(parts, dim=1)).squeeze(1)


train_set = CreditTable(N_ROWS, seed=0)
valid_set = CreditTable(10_000, seed=1)
generator = torch.Generator().manual_seed(5)
train_loader = DataLoader(train_set, batch_size=BATCH, shuffle=True, generator=generator)

model = TabularNet()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-3)
criterion = nn.BCEWithLogitsLoss()

for epoch in range(EPOCHS):
    model.train()
    running = 0.0
    for cat, num, target in train_loader:
        loss = criterion(model(cat, num), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item() * len(target)
    model.eval()
    with torch.no_grad():
        valid_logits = model(valid_set.cat, valid_set.num)
        valid_loss = criterion(valid_logits, valid_set.target).item()
    if epoch % 2 == 1:
        print(f"epoch {epoch}: train {running / N_ROWS:.4f} valid {valid_loss:.4f}")

accuracy = ((valid_logits > 0).float() == valid_set.target).float().mean().item()
print(f"default rate {train_set.target.mean().item():.3f}, accuracy {accuracy:.3f}")
'''

CURED = r'''import torch
from torch import nn
from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler

torch.set_num_threads(1)
torch.manual_seed(42)

CARDINALITIES = [12, 40, 7, 300, 25]
N_NUM, N_ROWS, BATCH, EPOCHS = 20, 60_000, 1024, 14


class CreditTable(Dataset):
    def __init__(self, n_rows, seed):
        g = torch.Generator().manual_seed(seed)
        self.cat = torch.stack(
            [torch.randint(0, c, (n_rows,), generator=g) for c in CARDINALITIES], dim=1
        )
        self.num = torch.randn(n_rows, N_NUM, generator=g)
        score = (
            1.2 * self.num[:, 0] - 0.8 * self.num[:, 1] * self.num[:, 2]
            + 0.5 * (self.cat[:, 0] % 3 - 1) - 1.5
        )
        self.target = torch.bernoulli(torch.sigmoid(score), generator=g)

    def __len__(self):
        return len(self.target)

    def __getitem__(self, i):
        return self.cat[i], self.num[i], self.target[i]


class TabularNet(nn.Module):
    def __init__(self, dim=8, hidden=96):
        super().__init__()
        self.embeddings = nn.ModuleList(nn.Embedding(c, dim) for c in CARDINALITIES)
        self.norm = nn.BatchNorm1d(N_NUM)
        self.mlp = nn.Sequential(
            nn.Linear(dim * len(CARDINALITIES) + N_NUM, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, 1),
        )

    def forward(self, cat, num):
        parts = [emb(cat[:, k]) for k, emb in enumerate(self.embeddings)]
        parts.append(self.norm(num))
        return self.mlp(torch.cat(parts, dim=1)).squeeze(1)


train_set = CreditTable(N_ROWS, seed=0)
valid_set = CreditTable(10_000, seed=1)
generator = torch.Generator().manual_seed(5)
batches = BatchSampler(RandomSampler(train_set, generator=generator), BATCH, drop_last=False)
train_loader = DataLoader(train_set, batch_size=None, sampler=batches, generator=generator)

model = TabularNet()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-3)
criterion = nn.BCEWithLogitsLoss()

for epoch in range(EPOCHS):
    model.train()
    running = 0.0
    for cat, num, target in train_loader:
        loss = criterion(model(cat, num), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item() * len(target)
    model.eval()
    with torch.no_grad():
        valid_logits = model(valid_set.cat, valid_set.num)
        valid_loss = criterion(valid_logits, valid_set.target).item()
    if epoch % 2 == 1:
        print(f"epoch {epoch}: train {running / N_ROWS:.4f} valid {valid_loss:.4f}")

accuracy = ((valid_logits > 0).float() == valid_set.target).float().mean().item()
print(f"default rate {train_set.target.mean().item():.3f}, accuracy {accuracy:.3f}")
'''
