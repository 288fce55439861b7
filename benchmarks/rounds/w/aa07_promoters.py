NAME = "Trains a motif CNN to tell promoter from background DNA and watches the running AUC."
FAULT = "At every step the AUC is computed anew from all predictions seen so far (growing with each step), though it is only printed every 100 steps."
CURE = "Compute the AUC only at the steps at which it is printed."
KIND = "time"
FAULT_LINES = [
    "        self.auc = roc_auc_score(np.concatenate(self.y), np.concatenate(self.p))",
    "    monitor.update(loss.item(), yb.numpy(), torch.sigmoid(out.detach()).numpy())",
]
FAULT_CALLS = ["roc_auc_score", "update", "concatenate", "roc_curve", "_binary_clf_curve", "confusion_matrix_at_thresholds", "argsort", "_average_binary_score", "unique", "_unique1d", "label_binarize", "type_of_target", "sort", "cumsum", "stable_cumsum"]
FAULTY = r'''
import numpy as np
import torch
import torch.nn as nn
from sklearn.metrics import roc_auc_score

torch.set_num_threads(1)
torch.manual_seed(17)
np.random.seed(17)

LENGTH, MOTIFS = 120, ["TATAAA", "GGCCAATCT", "GGGCGG"]
LETTERS = "ACGT"


def make_sequences(n):
    seqs = np.random.randint(0, 4, (n, LENGTH))
    y = np.random.randint(0, 2, n)
    for i in np.flatnonzero(y):
        for m in MOTIFS:
            if np.random.rand() < 0.65:
                at = np.random.randint(0, LENGTH - len(m))
                seqs[i, at:at + len(m)] = [LETTERS.index(c) for c in m]
    return torch.from_numpy(seqs), torch.from_numpy(y).float()


class MotifNet(nn.Module):
    def __init__(self, filters=32):
        super().__init__()
        self.scan = nn.Conv1d(4, filters, 10)
        self.mix = nn.Conv1d(filters, filters, 5)
        self.head = nn.Sequential(nn.Linear(filters, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, onehot):
        h = torch.relu(self.scan(onehot))
        h = torch.max_pool1d(h, 2)
        h = torch.relu(self.mix(h))
        return self.head(h.amax(-1)).squeeze(-1)


class Monitor:
    """keeps what the training loop wants to report"""

    def __init__(self):
        self.losses, self.y, self.p = [], [], []
        self.auc = float("nan")

    def update(self, loss, y, p):
        self.losses.append(loss)
        self.y.append(y)
        self.p.append(p)
        self.auc = roc_auc_score(np.concatenate(self.y), np.concatenate(self.p))

    def report(self, step):
        print(f"step {step:4d} | loss {np.mean(self.losses[-100:]):.4f} | running AUC {self.auc:.4f}")


eye = torch.eye(4)


def encode(seqs):
    return eye[seqs].transpose(1, 2).contiguous()


x_train, y_train = make_sequences(16000)
x_test, y_test = make_sequences(3000)
net = MotifNet()
opt = torch.optim.Adam(net.parameters(), lr=2e-3, weight_decay=1e-5)
criterion = nn.BCEWithLogitsLoss()
monitor = Monitor()

for step in range(1, 701):
    pick = torch.randint(0, len(x_train), (64,))
    xb, yb = encode(x_train[pick]), y_train[pick]
    out = net(xb)
    loss = criterion(out, yb)
    opt.zero_grad()
    loss.backward()
    opt.step()
    monitor.update(loss.item(), yb.numpy(), torch.sigmoid(out.detach()).numpy())
    if step % 100 == 0:
        monitor.report(step)

net.eval()
with torch.no_grad():
    scores = torch.cat([net(encode(c)) for c in x_test.split(500)])
print(f"test AUC {roc_auc_score(y_test.numpy(), scores.numpy()):.4f}")
'''
CURED = FAULTY.replace('''        self.auc = roc_auc_score(np.concatenate(self.y), np.concatenate(self.p))

    def report(self, step):
''', '''
    def report(self, step):
        self.auc = roc_auc_score(np.concatenate(self.y), np.concatenate(self.p))
''')
