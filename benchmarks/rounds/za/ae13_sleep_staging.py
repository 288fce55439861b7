NAME = "Scores overnight EEG into five sleep stages: Welch-type band features per 30 s epoch and a bidirectional GRU over whole nights."
FAULT = "The whole network, its inputs and its class weights run in float64 (the dtype that NumPy and SciPy hand over, matched with model.double()), which doubles the cost of every matrix product and buys nothing for this classifier."
CURE = "Cast the features and the weights to float32 and leave the model in float32."
KIND = "time"
FAULT_LINES = [
    "X = torch.from_numpy(feats)",
    "model = NightScorer(X.shape[-1], 160, 5).double()",
    "out, _ = self.rnn(self.proj(x))",
    "loss.backward()",
]
FAULT_CALLS = ["gru", "mm", "addmm", "linear", "double", "backward", "from_numpy"]
FAULTY = r'''
import numpy as np, torch, torch.nn as nn, torch.nn.functional as F
from scipy import signal
from sklearn.metrics import cohen_kappa_score

torch.set_num_threads(1)
torch.manual_seed(3)
rng = np.random.default_rng(3)

FS, EPOCH_S, N_NIGHTS, N_EPOCHS = 64, 30, 24, 200
STAGES = ["W", "N1", "N2", "N3", "REM"]
# dominant rhythm (Hz) and relative power of each stage
RHYTHM = {0: (10.0, 1.0), 1: (6.5, 0.8), 2: (13.0, 0.9), 3: (1.5, 2.2), 4: (5.0, 0.7)}
TRANS = np.array([[.90, .08, .01, .00, .01],
                  [.05, .80, .14, .00, .01],
                  [.02, .03, .85, .06, .04],
                  [.01, .00, .08, .91, .00],
                  [.03, .03, .03, .00, .91]])


def simulate_night():
    stages = [0]
    for _ in range(N_EPOCHS - 1):
        stages.append(rng.choice(5, p=TRANS[stages[-1]]))
    stages = np.array(stages)
    t = np.arange(FS * EPOCH_S) / FS
    freqs = np.array([RHYTHM[s][0] for s in stages])[:, None] + rng.normal(0, .7, (N_EPOCHS, 1))
    amps = np.array([RHYTHM[s][1] for s in stages])[:, None]
    eeg = amps * np.sin(2 * np.pi * freqs * t + rng.uniform(0, 6.28, (N_EPOCHS, 1)))
    eeg += rng.normal(0, 2.0, eeg.shape)
    return eeg, stages


def band_features(eeg):
    f, _, S = signal.spectrogram(eeg, fs=FS, nperseg=128, noverlap=64, axis=-1)
    S = np.log(S[:, f <= 24] + 1e-6)
    return np.concatenate([S.mean(-1), S.std(-1)], axis=1)


nights = [simulate_night() for _ in range(N_NIGHTS)]
feats = np.stack([band_features(e) for e, _ in nights])
feats = (feats - feats.mean((0, 1))) / feats.std((0, 1))
labels = np.stack([s for _, s in nights])
print("feature tensor", feats.shape)

X = torch.from_numpy(feats)
y = torch.from_numpy(labels).long()
counts = np.bincount(labels.ravel(), minlength=5)
class_w = torch.from_numpy((counts.sum() / (5 * counts)) ** 0.5)


class NightScorer(nn.Module):
    def __init__(self, n_in, hidden, n_out):
        super().__init__()
        self.proj = nn.Sequential(nn.Linear(n_in, hidden), nn.LayerNorm(hidden), nn.ReLU())
        self.rnn = nn.GRU(hidden, hidden, num_layers=2, bidirectional=True, batch_first=True)
        self.head = nn.Linear(2 * hidden, n_out)

    def forward(self, x):
        out, _ = self.rnn(self.proj(x))
        return self.head(out)


model = NightScorer(X.shape[-1], 160, 5).double()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
train, test = slice(0, 20), slice(20, 24)

for epoch in range(8):
    model.train()
    order = torch.randperm(20)
    running = 0.0
    for k in range(0, 20, 10):
        sel = order[k:k + 10]
        logits = model(X[sel])
        loss = F.cross_entropy(logits.reshape(-1, 5), y[sel].reshape(-1), weight=class_w)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        running += loss.item()
    if epoch % 3 == 1:
        print(f"epoch {epoch:2d}  loss {running / 2:.2f}")

model.eval()
with torch.no_grad():
    pred = model(X[test]).argmax(-1)
print("test accuracy %.2f" % (pred == y[test]).double().mean().item())
print("kappa %.2f" % cohen_kappa_score(y[test].reshape(-1), pred.reshape(-1)))
'''
CURED = (FAULTY
         .replace("X = torch.from_numpy(feats)", "X = torch.from_numpy(feats).float()")
         .replace("class_w = torch.from_numpy((counts.sum() / (5 * counts)) ** 0.5)",
                  "class_w = torch.from_numpy((counts.sum() / (5 * counts)) ** 0.5).float()")
         .replace("NightScorer(X.shape[-1], 160, 5).double()", "NightScorer(X.shape[-1], 160, 5)"))
