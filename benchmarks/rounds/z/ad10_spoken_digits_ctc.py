NAME = "Trains a conv-GRU recogniser with CTC on synthetic spoken digit strings, with waveform augmentation."
FAULT = None
CURE = None
KIND = None
LOOKS = "The log-mel features of all training utterances are computed again in every epoch: each epoch draws new noise, gain and shift on the waveform before the spectrogram, so there is nothing to cache (the clean dev features are computed once)."
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''
import math
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(13)

RATE, N_FFT, HOP, N_MELS = 8000, 256, 80, 40
N_UTT, DIGITS, SEGMENT = 420, 5, 1600
formants = torch.tensor([[350, 900, 2400], [600, 1200, 2500], [300, 2200, 3000], [700, 1700, 2600], [450, 800, 2800],
                         [550, 1900, 2450], [400, 2000, 2600], [650, 1100, 2700], [500, 1500, 2300], [320, 1300, 3200]]).float()


def speak(digits):
    """One tone complex per digit with a random pitch and length-wise envelope."""
    t = torch.arange(SEGMENT) / RATE
    pitch = 1.0 + 0.06 * torch.randn(len(digits), 1, 1, 1)
    tones = torch.sin(2 * math.pi * (formants[digits] * pitch[..., 0]).unsqueeze(-1) * t)
    weights = torch.tensor([1.0, 0.6, 0.3]).view(1, 1, 3, 1)
    envelope = torch.sin(math.pi * t / t[-1]) ** 0.7
    return ((tones * weights).sum(2) * envelope).flatten(1)


def mel_matrix():
    def to_mel(f):
        return 2595 * math.log10(1 + f / 700)
    edges = torch.linspace(to_mel(60), to_mel(RATE / 2), N_MELS + 2)
    hz = 700 * (10 ** (edges / 2595) - 1)
    bins = torch.linspace(0, RATE / 2, N_FFT // 2 + 1)[:, None]
    up = (bins - hz[:-2]) / (hz[1:-1] - hz[:-2])
    down = (hz[2:] - bins) / (hz[2:] - hz[1:-1])
    return torch.minimum(up, down).clamp(min=0)


MEL, WINDOW = mel_matrix(), torch.hann_window(N_FFT)


def log_mel(wave):
    spec = torch.stft(wave, N_FFT, HOP, window=WINDOW, return_complex=True).abs() ** 2
    feats = torch.log(spec.transpose(1, 2) @ MEL + 1e-4)
    return feats - feats.mean(1, keepdim=True)


def augment(wave):
    gain = 10 ** (0.3 * torch.randn(len(wave), 1))
    level = 10 ** (-0.3 - 0.7 * torch.rand(len(wave), 1))
    shift = int(torch.randint(0, 400, (1,)))
    return gain * (torch.roll(wave, shift, dims=1) + level * torch.randn_like(wave))


class Recogniser(nn.Module):
    def __init__(self, hidden=96):
        super().__init__()
        self.front = nn.Sequential(nn.Conv1d(N_MELS, 96, 5, stride=2, padding=2), nn.ReLU(),
                                   nn.Conv1d(96, 96, 3, padding=1), nn.ReLU())
        self.gru = nn.GRU(96, hidden, bidirectional=True, batch_first=True)
        self.out = nn.Linear(2 * hidden, 11)

    def forward(self, feats):
        h = self.front(feats.transpose(1, 2)).transpose(1, 2)
        h, _ = self.gru(h)
        return self.out(h).log_softmax(-1)


def greedy_decode(log_probs):
    texts = []
    for path in log_probs.argmax(-1):
        symbols = torch.unique_consecutive(path)
        texts.append((symbols[symbols > 0] - 1).tolist())
    return texts


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        prev, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            prev, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, prev + (x != y))
    return row[-1]


labels = torch.randint(0, 10, (N_UTT, DIGITS))
waves = speak(labels)
train = slice(0, N_UTT - 60)
dev_feats = log_mel(waves[-60:] + 0.2 * torch.randn(60, waves.shape[1]))
dev_truth = labels[-60:].tolist()
train_waves, train_labels = waves[train], labels[train]

model = Recogniser()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for epoch in range(12):
    model.train()
    total = 0.0
    for rows in torch.randperm(len(train_waves)).split(20):
        log_probs = model(log_mel(augment(train_waves[rows])))
        lengths = torch.full((len(rows),), log_probs.shape[1])
        loss = F.ctc_loss(log_probs.transpose(0, 1), train_labels[rows] + 1, lengths, torch.full((len(rows),), DIGITS))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        total += loss.item() * len(rows)
    if epoch % 3 == 2:
        model.eval()
        with torch.no_grad():
            hypotheses = greedy_decode(model(dev_feats))
        errors = sum(edit_distance(h, t) for h, t in zip(hypotheses, dev_truth))
        print(f"epoch {epoch + 1}: ctc {total / len(train_waves):.3f}, dev digit error {errors / (60 * DIGITS):.3f}")
'''
