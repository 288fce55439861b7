NAME = "Spots synthetic spoken commands with log-mel features and a convolutional-recurrent net."
FAULT = "The NumPy-made clips are float64, and the whole model was cast to double to match, so all features and training run in double precision for no gain."
CURE = "Turn the clips into float32 and leave the model in float32."
KIND = "time"
FAULT_LINES = [
    "waves = torch.from_numpy(np.stack(clips))",
    "model = CRNN(len(WORDS)).double()",
    "fbank = torch.from_numpy(mel_matrix(40, 512, SR))",
]
FAULT_CALLS = ["double", "conv2d", "convolution", "convolution_backward", "slow_conv2d", "_slow_conv2d_forward", "_slow_conv2d_backward", "thnn_conv2d", "addmm", "mm", "bmm", "matmul", "gru", "linear", "stft", "ConvolutionBackward0", "to", "from_numpy"]
FAULTY = r'''
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(21)
rng = np.random.default_rng(21)

SR = 8000
WORDS = ["up", "down", "left", "right", "stop", "go"]


def speak(word):
    """very crude 'word': two voiced segments with formant glides"""
    t = np.arange(SR) / SR
    base = 110 * 2 ** rng.uniform(-0.4, 0.6)
    glide = [(400, 900), (900, 400), (600, 1800), (1800, 600), (500, 500), (1200, 1300)][word]
    onset, dur = rng.uniform(0.05, 0.25), rng.uniform(0.4, 0.6)
    env = np.exp(-0.5 * ((t - onset - dur / 2) / (dur / 4)) ** 2)
    f = glide[0] + (glide[1] - glide[0]) * np.clip((t - onset) / dur, 0, 1)
    f = f * 2 ** rng.normal(0, 0.08)
    y = np.sin(2 * np.pi * np.cumsum(f) / SR) + 0.6 * np.sin(2 * np.pi * base * t)
    return env * y + 0.15 * rng.standard_normal(SR)


def mel_matrix(n_mels, n_fft, sr):
    mel = lambda hz: 2595 * np.log10(1 + hz / 700)
    edges = 700 * (10 ** (np.linspace(mel(60), mel(sr / 2), n_mels + 2) / 2595) - 1)
    bins = np.linspace(0, sr / 2, n_fft // 2 + 1)
    lower = (bins - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    upper = (edges[2:, None] - bins) / (edges[2:] - edges[1:-1])[:, None]
    return np.maximum(0, np.minimum(lower, upper))


labels = torch.from_numpy(rng.integers(0, len(WORDS), 1000))
clips = [speak(w) for w in labels.tolist()]
waves = torch.from_numpy(np.stack(clips))
fbank = torch.from_numpy(mel_matrix(40, 512, SR))

spec = torch.stft(waves, 512, hop_length=160, window=torch.hann_window(512, dtype=waves.dtype), return_complex=True)
feats = (fbank @ spec.abs().pow(2) + 1e-6).log()
feats = (feats - feats.mean((1, 2), keepdim=True)) / feats.std((1, 2), keepdim=True)
feats = feats[:, None]
print("features:", tuple(feats.shape))


class CRNN(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.gru = nn.GRU(32 * 10, 64, batch_first=True, bidirectional=True)
        self.head = nn.Linear(128, n_out)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), (2, 1))
        x = x.flatten(1, 2).transpose(1, 2)
        return self.head(self.gru(x)[0].mean(1))


model = CRNN(len(WORDS)).double()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
train_idx, test_idx = torch.arange(800), torch.arange(800, 1000)

for epoch in range(4):
    model.train()
    order = train_idx[torch.randperm(len(train_idx))]
    total = 0.0
    for b in order.split(40):
        loss = F.cross_entropy(model(feats[b]), labels[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        pred = torch.cat([model(feats[b]).argmax(1) for b in test_idx.split(100)])
    acc = (pred == labels[test_idx]).double().mean().item()
    print(f"epoch {epoch + 1}: loss {total / 20:.3f}, test accuracy {acc:.3f}")
'''
CURED = FAULTY.replace("waves = torch.from_numpy(np.stack(clips))", "waves = torch.from_numpy(np.stack(clips)).float()").replace(
    "fbank = torch.from_numpy(mel_matrix(40, 512, SR))", "fbank = torch.from_numpy(mel_matrix(40, 512, SR)).float()").replace(
    "model = CRNN(len(WORDS)).double()", "model = CRNN(len(WORDS))")
