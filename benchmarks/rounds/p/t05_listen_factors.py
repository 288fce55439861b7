NAME = 'Fits a biased matrix factorisation of listening counts with plain SGD.'
FAULT = 'The embeddings make dense gradients, so every step fills and adds a gradient of the whole 300,000-row table for a batch of 2,048 rows.'
CURE = 'Give the embeddings sparse=True (plain SGD takes sparse gradients with the same result).'
KIND = 'time'
FAULT_LINES = [
    'self.user = nn.Embedding(n_users, k)',
    'self.item = nn.Embedding(n_items, k)',
    'self.user_bias = nn.Embedding(n_users, 1)',
    'self.item_bias = nn.Embedding(n_items, 1)',
    'loss.backward()',
    'optimizer.step()',
]
FAULT_CALLS = ['Embedding', 'embedding', 'embedding_dense_backward', 'EmbeddingBackward0', 'backward', 'step', 'add_', '_single_tensor_sgd', 'run_backward']
FAULTY = r"""
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(42)

n_users, n_items, k = 300_000, 40_000, 24
n_obs = 700_000
users = torch.randint(n_users, (n_obs,))
items = (torch.rand(n_obs) ** 2 * n_items).long()
taste = torch.randn(n_users, 3)
style = torch.randn(n_items, 3)
counts = torch.log1p(torch.relu((taste[users] * style[items]).sum(1) + 2 + 0.3 * torch.randn(n_obs)))


class ListenModel(nn.Module):
    def __init__(self, n_users, n_items, k):
        super().__init__()
        self.user = nn.Embedding(n_users, k)
        self.item = nn.Embedding(n_items, k)
        self.user_bias = nn.Embedding(n_users, 1)
        self.item_bias = nn.Embedding(n_items, 1)
        for e in (self.user, self.item):
            nn.init.normal_(e.weight, std=0.1)
        for e in (self.user_bias, self.item_bias):
            nn.init.zeros_(e.weight)
        self.mu = nn.Parameter(torch.zeros(()))

    def forward(self, u, i):
        dot = (self.user(u) * self.item(i)).sum(-1)
        return self.mu + self.user_bias(u).squeeze(-1) + self.item_bias(i).squeeze(-1) + dot


model = ListenModel(n_users, n_items, k)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
held = torch.arange(n_obs - 50_000, n_obs)
train = torch.arange(n_obs - 50_000)

for epoch in range(2):
    seen, acc = 0, 0.0
    for b in train[torch.randperm(len(train))].split(2048):
        pred = model(users[b], items[b])
        loss = nn.functional.mse_loss(pred, counts[b])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        acc += loss.item() * len(b)
        seen += len(b)
    with torch.no_grad():
        rmse = nn.functional.mse_loss(model(users[held], items[held]), counts[held]).sqrt()
    print(f'epoch {epoch}: train mse {acc / seen:.4f}  held-out rmse {rmse:.4f}')
"""
CURED = r"""
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(42)

n_users, n_items, k = 300_000, 40_000, 24
n_obs = 700_000
users = torch.randint(n_users, (n_obs,))
items = (torch.rand(n_obs) ** 2 * n_items).long()
taste = torch.randn(n_users, 3)
style = torch.randn(n_items, 3)
counts = torch.log1p(torch.relu((taste[users] * style[items]).sum(1) + 2 + 0.3 * torch.randn(n_obs)))


class ListenModel(nn.Module):
    def __init__(self, n_users, n_items, k):
        super().__init__()
        self.user = nn.Embedding(n_users, k, sparse=True)
        self.item = nn.Embedding(n_items, k, sparse=True)
        self.user_bias = nn.Embedding(n_users, 1, sparse=True)
        self.item_bias = nn.Embedding(n_items, 1, sparse=True)
        for e in (self.user, self.item):
            nn.init.normal_(e.weight, std=0.1)
        for e in (self.user_bias, self.item_bias):
            nn.init.zeros_(e.weight)
        self.mu = nn.Parameter(torch.zeros(()))

    def forward(self, u, i):
        dot = (self.user(u) * self.item(i)).sum(-1)
        return self.mu + self.user_bias(u).squeeze(-1) + self.item_bias(i).squeeze(-1) + dot


model = ListenModel(n_users, n_items, k)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
held = torch.arange(n_obs - 50_000, n_obs)
train = torch.arange(n_obs - 50_000)

for epoch in range(2):
    seen, acc = 0, 0.0
    for b in train[torch.randperm(len(train))].split(2048):
        pred = model(users[b], items[b])
        loss = nn.functional.mse_loss(pred, counts[b])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        acc += loss.item() * len(b)
        seen += len(b)
    with torch.no_grad():
        rmse = nn.functional.mse_loss(model(users[held], items[held]), counts[held]).sqrt()
    print(f'epoch {epoch}: train mse {acc / seen:.4f}  held-out rmse {rmse:.4f}')
"""
