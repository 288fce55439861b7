NAME = "Trains a GRU to predict the next pose of a mouse, embeds overlapping windows of a long recording and clusters them into behaviors."
FAULT = "The embedding kept per batch is a view (the last time step) of the GRU's whole output, so the list keeps every batch's full output alive."
CURE = "Clone the last time step (or use the final hidden state) so that each full output can be freed."
KIND = "memory"
FAULT_LINES = ["embeddings.append(out[:, -1])", "out, _ = model.rnn(batch)"]
FAULT_CALLS = ["embed_windows", "gru", "forward", "select"]
FAULTY = r'''
import numpy as np
import torch
from torch import nn
from sklearn.cluster import KMeans

torch.set_num_threads(1)
torch.manual_seed(5)
np.random.seed(5)

FRAMES, JOINTS, WINDOW, STRIDE = 80_000, 8, 200, 12
N_STATES = 5


def simulate_recording():
    """Pose angles of a mouse that switches between a few rhythmic behaviors."""
    pose = np.empty((FRAMES, 2 * JOINTS), dtype=np.float32)
    freq = np.random.uniform(0.02, 0.2, (N_STATES, 2 * JOINTS))
    amp = np.random.uniform(0.2, 1.2, (N_STATES, 2 * JOINTS))
    states, t = [], 0
    while t < FRAMES:
        n = min(np.random.randint(200, 900), FRAMES - t)
        s = np.random.randint(N_STATES)
        grid = np.arange(t, t + n)[:, None]
        pose[t:t + n] = amp[s] * np.sin(freq[s] * grid)
        states.append(np.full(n, s))
        t += n
    pose += 0.1 * np.random.randn(*pose.shape).astype(np.float32)
    return torch.from_numpy(pose), np.concatenate(states)


class PosePredictor(nn.Module):
    def __init__(self, d, hidden=128):
        super().__init__()
        self.rnn = nn.GRU(d, hidden, batch_first=True)
        self.readout = nn.Linear(hidden, d)

    def forward(self, x):
        h, _ = self.rnn(x)
        return self.readout(h)


def train(model, pose, steps=25, batch_size=32):
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(steps):
        starts = torch.randint(0, FRAMES - 101, (batch_size,))
        seq = torch.stack([pose[s:s + 101] for s in starts])
        loss = (model(seq[:, :-1]) - seq[:, 1:]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        if step % 12 == 0:
            print(f"step {step}: next-pose error {loss.item():.4f}")


def embed_windows(model, pose, batch_size=64):
    windows = pose.unfold(0, WINDOW, STRIDE).transpose(1, 2)
    model.eval()
    embeddings = []
    with torch.no_grad():
        for batch in windows.split(batch_size):
            out, _ = model.rnn(batch)
            embeddings.append(out[:, -1])
    return torch.cat(embeddings)


pose, states = simulate_recording()
pose = (pose - pose.mean(0)) / pose.std(0)
model = PosePredictor(pose.shape[1])
train(model, pose)

z = embed_windows(model, pose)
print("embedding table", tuple(z.shape))

km = KMeans(n_clusters=N_STATES, n_init=2, random_state=0).fit(z.numpy())
last_frame = np.arange(len(z)) * STRIDE + WINDOW - 1
truth = states[last_frame]
purity = sum(np.bincount(truth[km.labels_ == k]).max() for k in range(N_STATES)) / len(truth)
usage = np.bincount(km.labels_, minlength=N_STATES) / len(truth)
print(f"cluster purity {purity:.3f}")
print("share of time per cluster:", np.sort(usage).round(2))
'''
CURED = FAULTY.replace("out[:, -1])", "out[:, -1].clone())")
