NAME = "Tells the language of tokenised source files with a convolutional text classifier and length-grouped batches."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS = "A Python batch sampler that sorts file lengths anew in every epoch and a collate function that pads row by row in a Python loop; together they take about 0.013 s of an epoch of over a second, and the grouping avoids padding."
GOOD = r'''
import random
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, Sampler

torch.set_num_threads(1)
torch.manual_seed(13)
random.seed(13)

LANGS = ["python", "rust", "sql", "haskell", "bash"]
VOCAB, PAD = 300, 0


def fake_file(lang):
    """Tokens from a shared pool with some bigrams that mark the language."""
    n = int(random.lognormvariate(4.8, 0.6)) + 12
    toks = [random.randrange(1, VOCAB) for _ in range(n)]
    for _ in range(n // 12):
        p = random.randrange(n - 2)
        toks[p:p + 2] = [20 + 7 * lang, 21 + 7 * lang + random.randrange(3)]
    return torch.tensor(toks[:600])


class Files(Dataset):
    def __init__(self, n):
        self.y = [random.randrange(len(LANGS)) for _ in range(n)]
        self.x = [fake_file(c) for c in self.y]

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class LengthGrouped(Sampler):
    def __init__(self, lengths, batch_size, shuffle=True):
        self.lengths, self.batch_size, self.shuffle = lengths, batch_size, shuffle

    def __iter__(self):
        order = sorted(range(len(self.lengths)), key=lambda i: self.lengths[i] + (random.random() * 10 if self.shuffle else 0))
        batches = [order[i:i + self.batch_size] for i in range(0, len(order), self.batch_size)]
        if self.shuffle:
            random.shuffle(batches)
        yield from batches

    def __len__(self):
        return -(-len(self.lengths) // self.batch_size)


def collate(items):
    longest = max(len(x) for x, _ in items)
    out = torch.full((len(items), longest), PAD)
    for row, (x, _) in zip(out, items):
        row[:len(x)] = x
    return out, torch.tensor([y for _, y in items])


class TextCNN(nn.Module):
    def __init__(self, d=48, channels=96, widths=(2, 3, 5)):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, d, padding_idx=PAD)
        self.convs = nn.ModuleList(nn.Conv1d(d, channels, w, padding=w // 2) for w in widths)
        self.out = nn.Linear(channels * len(widths), len(LANGS))

    def forward(self, tokens):
        x = self.emb(tokens).transpose(1, 2).contiguous()
        feats = [F.relu(conv(x).max(2).values) for conv in self.convs]
        return self.out(torch.cat(feats, 1))


train, test = Files(1800), Files(400)
train_dl = DataLoader(train, batch_sampler=LengthGrouped([len(x) for x in train.x], 32), collate_fn=collate)
test_dl = DataLoader(test, batch_sampler=LengthGrouped([len(x) for x in test.x], 64, shuffle=False), collate_fn=collate)

model = TextCNN()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(6):
    model.train()
    total = 0.0
    for xb, yb in train_dl:
        loss = F.cross_entropy(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(yb)
    model.eval()
    with torch.no_grad():
        good = sum((model(xb).argmax(1) == yb).sum().item() for xb, yb in test_dl)
    print(f"epoch {epoch}: loss {total / len(train):.4f}  accuracy {good / len(test):.3f}")
'''
