NAME = "Trains a k-mer convolutional network that predicts methylation of CpG windows from their DNA sequence."
FAULT = "Each sequence is split into k-mers and looked up in a dictionary again in __getitem__ every epoch, although the ids never change."
CURE = "Tokenise all sequences once in __init__ and only index the stored id tensor in __getitem__."
KIND = "time"
FAULT_LINES = ["        ids = [self.vocab[s[j:j + self.k]] for j in range(len(s) - self.k + 1)]",
               "        return torch.tensor(ids), self.labels[i]"]
FAULT_CALLS = ["__getitem__", "<listcomp>", "tensor", "fetch"]
FAULTY = r'''
import random
import itertools
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
random.seed(13)
np.random.seed(13)
torch.manual_seed(13)

K = 4
WINDOW = 400

# ---- synthetic CpG windows -------------------------------------------------
def make_windows(n):
    rows = []
    for i in range(n):
        meth = i % 2
        p = [0.29, 0.21, 0.21, 0.29] if meth else [0.22, 0.28, 0.28, 0.22]
        seq = np.random.choice(list("ACGT"), size=WINDOW, p=p)
        for pos in np.random.randint(0, WINDOW - 8, size=4):
            if not meth:
                seq[pos:pos + 6] = list("CGCGCG")
        rows.append({"chrom": f"chr{i % 5 + 1}", "seq": "".join(seq), "beta": float(meth)})
    return pd.DataFrame(rows)


class CpGDataset(Dataset):
    def __init__(self, df, k=K):
        self.k = k
        self.vocab = {"".join(t): n for n, t in enumerate(itertools.product("ACGT", repeat=k))}
        self.seqs = df["seq"].tolist()
        self.labels = torch.tensor(df["beta"].values, dtype=torch.float32)

    def __len__(self):
        return len(self.seqs)

    def __getitem__(self, i):
        s = self.seqs[i]
        ids = [self.vocab[s[j:j + self.k]] for j in range(len(s) - self.k + 1)]
        return torch.tensor(ids), self.labels[i]


class MethylCNN(nn.Module):
    def __init__(self, n_kmers, dim=16, ch=24):
        super().__init__()
        self.emb = nn.Embedding(n_kmers, dim)
        self.conv1 = nn.Conv1d(dim, ch, 7, stride=3)
        self.conv2 = nn.Conv1d(ch, ch, 5, stride=2)
        self.fc = nn.Sequential(nn.Linear(ch, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 1))

    def forward(self, ids):
        h = self.emb(ids).transpose(1, 2)
        h = F.relu(self.conv1(h))
        h = F.relu(self.conv2(h))
        return self.fc(h.amax(dim=2)).squeeze(1)


df = make_windows(3800)
train_df = df[df.chrom != "chr5"].reset_index(drop=True)
valid_df = df[df.chrom == "chr5"].reset_index(drop=True)
train_dl = DataLoader(CpGDataset(train_df), batch_size=64, shuffle=True)
valid_dl = DataLoader(CpGDataset(valid_df), batch_size=256)

model = MethylCNN(4 ** K)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-3)
criterion = nn.BCEWithLogitsLoss()

for epoch in range(12):
    model.train()
    running = 0.0
    for ids, y in train_dl:
        optimizer.zero_grad()
        loss = criterion(model(ids), y)
        loss.backward()
        optimizer.step()
        running += loss.item() * len(y)

    model.eval()
    correct = 0
    with torch.no_grad():
        for ids, y in valid_dl:
            correct += ((model(ids) > 0).float() == y).sum().item()
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1:2d}  loss {running / len(train_df):.4f}  valid acc {correct / len(valid_df):.3f}")
'''
CURED = FAULTY.replace('''        self.seqs = df["seq"].tolist()
''', '''        self.seqs = df["seq"].tolist()
        self.ids = torch.tensor([[self.vocab[s[j:j + k]] for j in range(len(s) - k + 1)] for s in self.seqs])
''').replace('''        s = self.seqs[i]
        ids = [self.vocab[s[j:j + self.k]] for j in range(len(s) - self.k + 1)]
        return torch.tensor(ids), self.labels[i]
''', '''        return self.ids[i], self.labels[i]
''')
