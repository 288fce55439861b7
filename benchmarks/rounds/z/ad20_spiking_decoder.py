NAME = "Trains a spiking network to decode stimuli from spike trains and then surveys the firing of its hidden neurons."
FAULT = "The recorder keeps the full spike rasters of all trials until the end of the survey although only mean rates per trial are used."
CURE = "Average over time in the recorder and keep only the rates."
KIND = "memory"
FAULT_LINES = ["        self.kept.append(spikes)", "rasters = torch.cat(recorder.kept, dim=1)"]
FAULT_CALLS = ["stack", "cat", "__call__", "forward", "_call_impl"]
FAULTY = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(20)

STEPS, N_IN, N_HID, N_STIM = 60, 100, 512, 8

# tuning curves of the recorded population: Gaussian bumps on a ring
pref = torch.linspace(0, 1, N_IN)

def record(n):
    stim = torch.randint(0, N_STIM, (n,))
    centre = (stim.float() + 0.5) / N_STIM
    d = (pref - centre[:, None]).abs()
    d = torch.minimum(d, 1 - d)
    rate = 0.02 + 0.12 * torch.exp(-(d / 0.15) ** 2)
    spikes = torch.rand(STEPS, n, N_IN) < rate
    return spikes, stim


class SurrogateSpike(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return (v > 0).to(v.dtype)

    @staticmethod
    def backward(ctx, grad):
        (v,) = ctx.saved_tensors
        return grad / (1 + 10 * v.abs()) ** 2


class LIFLayer(nn.Module):
    """Leaky integrate-and-fire neurons with soft reset."""

    def __init__(self, n_in, n_out, decay=0.9, threshold=1.0):
        super().__init__()
        self.fc = nn.Linear(n_in, n_out)
        self.decay, self.threshold = decay, threshold

    def forward(self, x):
        current = self.fc(x)
        v = torch.zeros_like(current[0])
        out = []
        for i_t in current:
            v = self.decay * v + i_t
            s = SurrogateSpike.apply(v - self.threshold)
            v = v - s * self.threshold
            out.append(s)
        return torch.stack(out)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = LIFLayer(N_IN, N_HID)
        self.readout = nn.Linear(N_HID, N_STIM)

    def forward(self, spikes):
        return self.readout(self.hidden(spikes.float()).mean(0))


class Recorder:
    def __init__(self, layer):
        self.kept = []
        self.handle = layer.register_forward_hook(self)

    def __call__(self, module, inputs, spikes):
        self.kept.append(spikes)


x_train, y_train = record(2000)
x_test, y_test = record(2500)
net = Decoder()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)

for epoch in range(4):
    total = 0.0
    for idx in torch.randperm(len(y_train)).split(40):
        loss = F.cross_entropy(net(x_train[:, idx]), y_train[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    print(f"epoch {epoch + 1}: loss {total / len(y_train):.3f}")

# ---- survey: how does every hidden neuron respond to every stimulus? ----
recorder = Recorder(net.hidden)
guess = []
with torch.no_grad():
    for idx in torch.arange(len(y_test)).split(100):
        guess.append(net(x_test[:, idx]).argmax(1))
recorder.handle.remove()
print(f"decoding accuracy {(torch.cat(guess) == y_test).float().mean():.3f}")

rasters = torch.cat(recorder.kept, dim=1)
rates = rasters.mean(0) * 1000
response = torch.stack([rates[y_test == s].mean(0) for s in range(N_STIM)])
selectivity = (response.max(0).values - response.mean(0)) / (response.mean(0) + 1)
print(f"mean rate {rates.mean():.1f} Hz, silent neurons {(rates.sum(0) == 0).sum().item()}")
print(f"median selectivity {selectivity.median():.3f}, best stimulus counts {response.argmax(0).bincount(minlength=N_STIM).tolist()}")
'''
CURED = FAULTY.replace("self.kept.append(spikes)", "self.kept.append(spikes.mean(0))").replace('''rasters = torch.cat(recorder.kept, dim=1)
rates = rasters.mean(0) * 1000''', '''rates = torch.cat(recorder.kept) * 1000''')
