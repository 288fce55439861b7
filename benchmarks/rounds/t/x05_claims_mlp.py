NAME = 'Predicts insurance claim cost from a pandas table with an MLP fed by a DataLoader.'
FAULT = 'The in-memory table is read row by row (one __getitem__ per row, then collate stacks thousands of tiny tensors for each batch).'
CURE = "Let the loader's sampler hand over whole batches of indices (BatchSampler with batch_size=None), so that a batch is one tensor indexing."
KIND = 'time'
FAULT_LINES = ['return self.numeric[i], self.codes[i], self.target[i]', 'return DataLoader(dataset, batch_size=512, shuffle=True, generator=g)', 'for numeric, codes, target in train_loader:']
FAULT_CALLS = ['__getitem__', 'default_collate', 'stack', '__next__', 'fetch']
FAULTY = r"""import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
torch.manual_seed(8)
rng = np.random.default_rng(8)

N = 60_000
df = pd.DataFrame({
    "age": rng.integers(18, 85, N),
    "mileage": rng.gamma(2.0, 7000, N),
    "power": rng.normal(90, 25, N),
    "density": rng.lognormal(5, 1.2, N),
    "bonus": rng.uniform(50, 150, N),
    "region": rng.integers(0, 22, N),
    "brand": rng.integers(0, 14, N),
})
risk = 0.02 * (df["age"] - 45).abs() + 0.00004 * df["mileage"] + 0.01 * df["bonus"] + 0.1 * np.sin(df["region"])
df["cost"] = np.exp(0.5 * risk + 0.3 * rng.standard_normal(N))
df["mileage"] = np.log1p(df["mileage"])
df["density"] = np.log1p(df["density"])

numeric_cols = ["age", "mileage", "power", "density", "bonus"]
df[numeric_cols] = (df[numeric_cols] - df[numeric_cols].mean()) / df[numeric_cols].std()


class Claims(Dataset):
    def __init__(self, frame):
        self.numeric = torch.tensor(frame[numeric_cols].to_numpy(), dtype=torch.float32)
        self.codes = torch.tensor(frame[["region", "brand"]].to_numpy(), dtype=torch.long)
        self.target = torch.tensor(np.log(frame["cost"].to_numpy()), dtype=torch.float32)

    def __len__(self):
        return len(self.target)

    def __getitem__(self, i):
        return self.numeric[i], self.codes[i], self.target[i]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.region = nn.Embedding(22, 6)
        self.brand = nn.Embedding(14, 4)
        self.mlp = nn.Sequential(
            nn.Linear(len(numeric_cols) + 10, 112), nn.ReLU(),
            nn.Linear(112, 112), nn.ReLU(),
            nn.Linear(112, 1),
        )

    def forward(self, numeric, codes):
        x = torch.cat([numeric, self.region(codes[:, 0]), self.brand(codes[:, 1])], dim=1)
        return self.mlp(x).squeeze(1)


g = torch.Generator().manual_seed(8)


def make_loader(dataset):
    return DataLoader(dataset, batch_size=512, shuffle=True, generator=g)


split = int(0.9 * N)
train_set, valid_set = Claims(df[:split]), Claims(df[split:])
train_loader = make_loader(train_set)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)

for epoch in range(12):
    net.train()
    total = 0.0
    for numeric, codes, target in train_loader:
        loss = nn.functional.mse_loss(net(numeric, codes), target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(target)
    net.eval()
    with torch.no_grad():
        error = (net(valid_set.numeric, valid_set.codes) - valid_set.target).pow(2).mean().sqrt().item()
    print(f"epoch {epoch}: train mse {total / split:.4f}, valid rmse {error:.4f}")
"""
CURED = r"""import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler

torch.set_num_threads(1)
torch.manual_seed(8)
rng = np.random.default_rng(8)

N = 60_000
df = pd.DataFrame({
    "age": rng.integers(18, 85, N),
    "mileage": rng.gamma(2.0, 7000, N),
    "power": rng.normal(90, 25, N),
    "density": rng.lognormal(5, 1.2, N),
    "bonus": rng.uniform(50, 150, N),
    "region": rng.integers(0, 22, N),
    "brand": rng.integers(0, 14, N),
})
risk = 0.02 * (df["age"] - 45).abs() + 0.00004 * df["mileage"] + 0.01 * df["bonus"] + 0.1 * np.sin(df["region"])
df["cost"] = np.exp(0.5 * risk + 0.3 * rng.standard_normal(N))
df["mileage"] = np.log1p(df["mileage"])
df["density"] = np.log1p(df["density"])

numeric_cols = ["age", "mileage", "power", "density", "bonus"]
df[numeric_cols] = (df[numeric_cols] - df[numeric_cols].mean()) / df[numeric_cols].std()


class Claims(Dataset):
    def __init__(self, frame):
        self.numeric = torch.tensor(frame[numeric_cols].to_numpy(), dtype=torch.float32)
        self.codes = torch.tensor(frame[["region", "brand"]].to_numpy(), dtype=torch.long)
        self.target = torch.tensor(np.log(frame["cost"].to_numpy()), dtype=torch.float32)

    def __len__(self):
        return len(self.target)

    def __getitem__(self, i):
        return self.numeric[i], self.codes[i], self.target[i]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.region = nn.Embedding(22, 6)
        self.brand = nn.Embedding(14, 4)
        self.mlp = nn.Sequential(
            nn.Linear(len(numeric_cols) + 10, 112), nn.ReLU(),
            nn.Linear(112, 112), nn.ReLU(),
            nn.Linear(112, 1),
        )

    def forward(self, numeric, codes):
        x = torch.cat([numeric, self.region(codes[:, 0]), self.brand(codes[:, 1])], dim=1)
        return self.mlp(x).squeeze(1)


g = torch.Generator().manual_seed(8)


def make_loader(dataset):
    batches = BatchSampler(RandomSampler(dataset, generator=g), 512, drop_last=False)
    return DataLoader(dataset, sampler=batches, batch_size=None, generator=g)


split = int(0.9 * N)
train_set, valid_set = Claims(df[:split]), Claims(df[split:])
train_loader = make_loader(train_set)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)

for epoch in range(12):
    net.train()
    total = 0.0
    for numeric, codes, target in train_loader:
        loss = nn.functional.mse_loss(net(numeric, codes), target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(target)
    net.eval()
    with torch.no_grad():
        error = (net(valid_set.numeric, valid_set.codes) - valid_set.target).pow(2).mean().sqrt().item()
    print(f"epoch {epoch}: train mse {total / split:.4f}, valid rmse {error:.4f}")
"""
