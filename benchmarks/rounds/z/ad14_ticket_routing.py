NAME = "Trains a small transformer encoder that routes customer support tickets to queues."
FAULT = "The macro F1 over everything seen so far in the epoch is recomputed after every batch although it is only shown at each 60th."
CURE = "Compute the F1 only when a line is printed."
KIND = "time"
FAULT_LINES = ["            f1 = f1_score(truth, guess, average=\"macro\", labels=QUEUES)"]
FAULT_CALLS = ["f1_score", "precision_recall_fscore_support", "multilabel_confusion_matrix", "update", "_unique", "isin", "searchsorted"]
FAULTY = r'''
import numpy as np
import torch
from torch import nn
from sklearn.metrics import f1_score

torch.set_num_threads(1)
rng = np.random.default_rng(14)
torch.manual_seed(14)

QUEUES = ["billing", "delivery", "login", "returns", "technical", "other"]
VOCAB, LEN, PAD = 1500, 24, 0

# every queue has some favourite words, the rest is chit-chat
favourites = [rng.choice(np.arange(1, VOCAB), 60, replace=False) for _ in QUEUES]

def write_ticket(q):
    n = rng.integers(12, LEN + 1)
    words = rng.integers(1, VOCAB, n)
    hit = rng.random(n) < 0.22
    words[hit] = rng.choice(favourites[q], hit.sum())
    return np.pad(words, (0, LEN - n))

labels = rng.integers(0, len(QUEUES), 8200)
tickets = torch.from_numpy(np.stack([write_ticket(q) for q in labels]))
labels = torch.from_numpy(labels)
train_x, train_y = tickets[:7600], labels[:7600]
test_x, test_y = tickets[7600:], labels[7600:]


class Router(nn.Module):
    def __init__(self, d=48):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, d, padding_idx=PAD)
        self.pos = nn.Parameter(torch.zeros(LEN, d))
        layer = nn.TransformerEncoderLayer(d, 4, 96, dropout=0.1, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.out = nn.Linear(d, len(QUEUES))

    def forward(self, x):
        mask = x.eq(PAD)
        h = self.enc(self.tok(x) + self.pos, src_key_padding_mask=mask)
        h = h.masked_fill(mask.unsqueeze(-1), 0.0).sum(1) / (~mask).sum(1, keepdim=True)
        return self.out(h)


class Progress:
    """Keeps track of loss and quality during one epoch."""

    def __init__(self, every=60):
        self.every = every
        self.truth, self.guess, self.losses = [], [], []

    def update(self, step, loss, logits, y):
        self.losses.append(loss.item())
        self.truth.extend(QUEUES[i] for i in y.tolist())
        self.guess.extend(QUEUES[i] for i in logits.argmax(1).tolist())
        truth, guess = np.array(self.truth), np.array(self.guess)
        if len(truth) > 1:
            f1 = f1_score(truth, guess, average="macro", labels=QUEUES)
        if step % self.every == 0:
            print(f"   step {step:4d}  loss {np.mean(self.losses[-self.every:]):.3f}  train F1 {f1:.3f}")


net = Router()
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
ce = nn.CrossEntropyLoss(label_smoothing=0.05)
BS = 32

for epoch in range(3):
    net.train()
    meter = Progress()
    order = torch.randperm(len(train_x))
    for step, start in enumerate(range(0, len(order), BS), 1):
        pick = order[start:start + BS]
        logits = net(train_x[pick])
        loss = ce(logits, train_y[pick])
        opt.zero_grad()
        loss.backward()
        opt.step()
        meter.update(step, loss, logits.detach(), train_y[pick])

    net.eval()
    with torch.no_grad():
        pred = net(test_x).argmax(1)
    print(f"epoch {epoch}: test accuracy {(pred == test_y).float().mean():.3f}")
'''
CURED = FAULTY.replace('''        truth, guess = np.array(self.truth), np.array(self.guess)
        if len(truth) > 1:
            f1 = f1_score(truth, guess, average="macro", labels=QUEUES)
        if step % self.every == 0:
''', '''        if step % self.every == 0:
            truth, guess = np.array(self.truth), np.array(self.guess)
            f1 = f1_score(truth, guess, average="macro", labels=QUEUES)
''')
