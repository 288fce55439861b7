NAME = 'Trains a recurrent spiking (LIF) network with surrogate gradients.'
FAULT = None
CURE = None
KIND = None
SUSPICION = 'A Python loop over time steps with list append and stack; the recurrence with reset is nonlinear and cannot be batched over time, the input projection is already outside of the loop, and preallocation gains nothing.'
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(77)

# recurrent spiking network (LIF) on spike-train classification
N_IN, N_HID, N_OUT = 60, 400, 5
T, BATCH, STEPS = 80, 128, 26
ALPHA, BETA, THRESH = 0.90, 0.80, 1.0


class SurrogateSpike(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return (v > 0).to(v.dtype)

    @staticmethod
    def backward(ctx, grad):
        v, = ctx.saved_tensors
        return grad / (1 + 10 * v.abs()) ** 2


spike = SurrogateSpike.apply


class SpikingNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.w_in = nn.Linear(N_IN, N_HID, bias=False)
        self.w_rec = nn.Linear(N_HID, N_HID, bias=False)
        self.w_out = nn.Linear(N_HID, N_OUT)
        nn.init.normal_(self.w_in.weight, std=0.6 / N_IN ** 0.5)
        nn.init.normal_(self.w_rec.weight, std=0.3 / N_HID ** 0.5)

    def forward(self, x):
        b, steps, _ = x.shape
        drive = self.w_in(x)
        v = x.new_zeros(b, N_HID)
        i = x.new_zeros(b, N_HID)
        s = x.new_zeros(b, N_HID)
        spikes = []
        for t in range(steps):
            i = ALPHA * i + drive[:, t] + self.w_rec(s)
            v = BETA * v * (1 - s.detach()) + (1 - BETA) * i
            s = spike(v - THRESH)
            spikes.append(s)
        spikes = torch.stack(spikes, dim=1)
        return self.w_out(spikes.mean(1)), spikes


rate_templates = torch.rand(N_OUT, T // 8, N_IN).repeat_interleave(8, dim=1) ** 3


def trains(n):
    y = torch.randint(0, N_OUT, (n,))
    return torch.bernoulli(0.6 * rate_templates[y]), y


net = SpikingNet()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
test_x, test_y = trains(128)
losses, rates = [], []
for step in range(STEPS):
    x, y = trains(BATCH)
    logits, spikes = net(x)
    rate = spikes.mean()
    loss = F.cross_entropy(4 * logits, y) + 0.5 * F.relu(rate - 0.15)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    losses.append(loss.item())
    rates.append(rate.item())

with torch.no_grad():
    acc = (net(test_x)[0].argmax(1) == test_y).float().mean().item()
print(f'loss {sum(losses[:5]) / 5:.3f} -> {sum(losses[-5:]) / 5:.3f}, '
      f'firing rate {rates[0]:.3f} -> {rates[-1]:.3f}')
print(f'test accuracy {acc:.3f}')
"""
