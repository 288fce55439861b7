NAME = 'e17_maml_spectra'

FAULT = None

CURE = None

KIND = None

FAULT_LINES = [
]

FAULT_CALLS = [
]

GOOD = r'''
import torch
import torch.nn.functional as F
from torch.func import functional_call
from torch import nn

torch.manual_seed(101)
torch.set_num_threads(1)

# Few-shot calibration of spectrometers: each instrument distorts the spectrum its own way,
# and the meta-learner must adapt from 32 reference samples in two inner steps (full MAML).
BANDS = 128
basis = torch.randn(6, BANDS)


class Calibrator(nn.Module):
    def __init__(self, width=448):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(BANDS, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 6))

    def forward(self, x):
        return self.net(x)


def instrument():
    gain = 1 + 0.3 * torch.randn(BANDS)
    shift = int(torch.randint(-3, 4, (1,)))

    def measure(n):
        conc = torch.rand(n, 6)
        clean = conc @ basis
        return torch.roll(clean, shift, 1) * gain + 0.02 * torch.randn(n, BANDS), conc
    return measure


model = Calibrator()
meta_opt = torch.optim.Adam(model.parameters(), lr=1e-3)
INNER_LR, INNER_STEPS, TASKS = 0.05, 2, 4


def adapt(params, x, y):
    for _ in range(INNER_STEPS):
        loss = F.mse_loss(functional_call(model, params, (x,)), y)
        grads = torch.autograd.grad(loss, list(params.values()), create_graph=True)
        params = {k: p - INNER_LR * g for (k, p), g in zip(params.items(), grads)}
    return params


for it in range(150):
    meta_opt.zero_grad()
    meta_loss = 0.0
    for _ in range(TASKS):
        measure = instrument()
        xs, ys = measure(32)
        xq, yq = measure(64)
        fast = adapt(dict(model.named_parameters()), xs, ys)
        loss = F.mse_loss(functional_call(model, fast, (xq,)), yq) / TASKS
        loss.backward()                      # one task's graph at a time
        meta_loss += loss.item()
    meta_opt.step()
    if it % 25 == 24:
        print(f"meta step {it + 1:3d}: query mse after adaptation {meta_loss:.4f}")
'''
