NAME = 'Classifies job adverts from TF-IDF features with a small network.'
FAULT = 'The sparse TF-IDF matrix of the whole corpus is turned into a dense float64 array.'
CURE = 'Keep the sparse matrix and densify the row of each item (matrix[i].toarray()) or each batch only.'
KIND = 'memory'
FAULT_LINES = ['features = vec.fit_transform(texts).toarray()', 'return torch.from_numpy(self.matrix[i].astype(np.float32)), self.labels[i]']
FAULT_CALLS = ['toarray', 'fit_transform']
FAULTY = r"""
import re
import numpy as np
import torch
import torch.nn as nn
from sklearn.feature_extraction.text import TfidfVectorizer
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(0)


def job_adverts(n, vocab=9000, trades=12):
    syll = ["ka", "ro", "mi", "te", "lu", "san", "der", "vo", "pli", "gra", "ne", "ost"]
    words = np.array(["".join(rng.choice(syll, 3)) + str(i % 97) for i in range(vocab)])
    popularity = 1.0 / np.arange(5, vocab + 5)
    trade = rng.integers(0, trades, n)
    texts = []
    for k in trade:
        p = popularity.copy()
        p[k * 300 + 200:k * 300 + 500] *= 6
        texts.append(" ".join(words[rng.choice(vocab, 90, p=p / p.sum())]))
    return texts, trade


class TextRows(Dataset):
    def __init__(self, matrix, labels):
        self.matrix, self.labels = matrix, labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return torch.from_numpy(self.matrix[i].astype(np.float32)), self.labels[i]

    def collate(self, rows):
        x, y = zip(*rows)
        return torch.stack(x), torch.tensor(y)


def clean(text):
    return re.sub(r"\s+", " ", text.lower()).strip()


texts, trade = job_adverts(15000)
vec = TfidfVectorizer(preprocessor=clean, min_df=2, sublinear_tf=True)
features = vec.fit_transform(texts).toarray()
n_train = 14000
train = TextRows(features[:n_train], trade[:n_train])
valid = TextRows(features[n_train:], trade[n_train:])

net = nn.Sequential(nn.Linear(features.shape[1], 64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 12))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(2):
    net.train()
    for x, y in DataLoader(train, batch_size=200, shuffle=True, collate_fn=train.collate):
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        hits = [(net(x).argmax(1) == y).float() for x, y in DataLoader(valid, batch_size=500, collate_fn=valid.collate)]
    print(f"epoch {epoch} loss {loss.item():.3f} valid {torch.cat(hits).mean().item():.3f}")
print("vocabulary", features.shape[1])
"""
CURED = r"""
import re
import numpy as np
import torch
import torch.nn as nn
from sklearn.feature_extraction.text import TfidfVectorizer
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(0)


def job_adverts(n, vocab=9000, trades=12):
    syll = ["ka", "ro", "mi", "te", "lu", "san", "der", "vo", "pli", "gra", "ne", "ost"]
    words = np.array(["".join(rng.choice(syll, 3)) + str(i % 97) for i in range(vocab)])
    popularity = 1.0 / np.arange(5, vocab + 5)
    trade = rng.integers(0, trades, n)
    texts = []
    for k in trade:
        p = popularity.copy()
        p[k * 300 + 200:k * 300 + 500] *= 6
        texts.append(" ".join(words[rng.choice(vocab, 90, p=p / p.sum())]))
    return texts, trade


class TextRows(Dataset):
    def __init__(self, matrix, labels):
        self.matrix, self.labels = matrix, labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return torch.from_numpy(self.matrix[i].toarray().ravel().astype(np.float32)), self.labels[i]

    def collate(self, rows):
        x, y = zip(*rows)
        return torch.stack(x), torch.tensor(y)


def clean(text):
    return re.sub(r"\s+", " ", text.lower()).strip()


texts, trade = job_adverts(15000)
vec = TfidfVectorizer(preprocessor=clean, min_df=2, sublinear_tf=True)
features = vec.fit_transform(texts)
n_train = 14000
train = TextRows(features[:n_train], trade[:n_train])
valid = TextRows(features[n_train:], trade[n_train:])

net = nn.Sequential(nn.Linear(features.shape[1], 64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 12))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(2):
    net.train()
    for x, y in DataLoader(train, batch_size=200, shuffle=True, collate_fn=train.collate):
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        hits = [(net(x).argmax(1) == y).float() for x, y in DataLoader(valid, batch_size=500, collate_fn=valid.collate)]
    print(f"epoch {epoch} loss {loss.item():.3f} valid {torch.cat(hits).mean().item():.3f}")
print("vocabulary", features.shape[1])
"""
