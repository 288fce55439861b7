NAME = "Fits a retina circuit model (recurrent cells with divisive feedback) to spike counts under white-noise light."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(12)

PIX, BIPOLAR, GANGLION, BINS = 100, 320, 30, 50


class Circuit(nn.Module):
    """Bipolar drive, leaky state, gain control by the pooled activity of the bin before."""
    def __init__(self, lateral_scale=0.3):
        super().__init__()
        self.receptive = nn.Linear(PIX, BIPOLAR)
        self.lateral = nn.Parameter(lateral_scale * torch.randn(BIPOLAR, BIPOLAR) / BIPOLAR ** 0.5)
        self.gain = nn.Parameter(0.5 * torch.randn(BIPOLAR, BIPOLAR))
        self.leak = nn.Parameter(torch.zeros(BIPOLAR))
        self.readout = nn.Linear(BIPOLAR, GANGLION)

    def forward(self, movie):
        drive = self.receptive(movie.transpose(0, 1).contiguous())     # T B H
        keep, gain = torch.sigmoid(self.leak), F.softplus(self.gain) / BIPOLAR ** 0.5
        v = torch.zeros_like(drive[0])
        r = torch.zeros_like(v)
        trace = []
        for d in drive.unbind(0):
            v = torch.addcmul(torch.addmm(d, r, self.lateral), v, keep)
            r = torch.relu(v) / (1.0 + r @ gain)
            trace.append(r)
        return self.readout(torch.stack(trace)).transpose(0, 1)


def record(teacher, n_trials):
    movie = (torch.rand(n_trials, BINS, PIX) > 0.5).float() - 0.5
    with torch.no_grad():
        counts = torch.poisson(torch.exp(teacher(movie).clamp(max=3)))
    return movie, counts


def correlation(rate, counts):
    a = rate.flatten(0, 1) - rate.mean((0, 1))
    b = counts.flatten(0, 1) - counts.mean((0, 1))
    return ((a * b).mean(0) / (a.std(0) * b.std(0) + 1e-9)).mean().item()


teacher = Circuit(0.5)
with torch.no_grad():
    teacher.receptive.weight.mul_(3)
    teacher.readout.weight.mul_(2)
movie, counts = record(teacher, 512)
test_movie, test_counts = record(teacher, 128)
print("mean count per bin %.3f" % counts.mean().item())

model = Circuit()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
n_batch = 128
for epoch in range(9):
    order = torch.randperm(len(movie))
    total = 0.0
    for k in range(0, len(movie), n_batch):
        sel = order[k:k + n_batch]
        log_rate = model(movie[sel])
        loss = F.poisson_nll_loss(log_rate, counts[sel], log_input=True)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        opt.step()
        total += loss.item()
    if epoch % 2 == 0:
        print(f"epoch {epoch}: nll {total * n_batch / len(movie):.4f}")

model.eval()
with torch.no_grad():
    rate = torch.exp(model(test_movie))
print("test correlation with counts %.3f" % correlation(rate, test_counts))
weights = model.gain.detach()
print("gain matrix: mean %.4f, spread %.4f" % (weights.mean().item(), weights.std().item()))
'''
LOOKS = "A Python loop over time bins with a list that is stacked looks like missing vectorisation; each bin depends on the rates of the bin before through a nonlinearity that no ready-made RNN has, and its two matrix products take nearly all the time (the input drive and the readout are already done for all bins at once)."
