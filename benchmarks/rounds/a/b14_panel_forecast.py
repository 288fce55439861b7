NAME = 'global forecaster trained on random series of a (time, series) panel'
FAULT = 'series are gathered as columns of a time-major matrix, one cache miss per value'
CURE = 'transpose the panel once into series-major contiguous memory and gather rows'
KIND = 'time'
FAULT_LINES = ['xb = panel[:, idx].T']
FAULT_CALLS = ['Tensor.__getitem__', 'aten::index', 'torch.index_select', 'Tensor.T']
FAULTY = '''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(9)
T, N, CTX, HOR = 256, 60_000, 232, 24

t = torch.arange(T, dtype=torch.float32)[:, None]
panel = torch.sin(2 * torch.pi * (t / 24 + torch.rand(1, N)))
panel += 0.02 * torch.randn(T, N).cumsum(0)
panel = (panel - panel.mean(0)) / panel.std(0)

model = nn.Sequential(nn.Linear(CTX, 128), nn.ReLU(), nn.Linear(128, HOR))
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

avg = None
for step in range(700):
    idx = torch.randint(0, N, (512,))
    xb = panel[:, idx].T
    ctx, fut = xb[:, :CTX], xb[:, CTX:]
    loss = F.mse_loss(model(ctx), fut)
    opt.zero_grad()
    loss.backward()
    opt.step()
    avg = loss.item() if avg is None else 0.98 * avg + 0.02 * loss.item()
    if step % 100 == 99:
        print(f"step {step + 1}: mse {avg:.4f}")
'''
CURED = '''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(9)
T, N, CTX, HOR = 256, 60_000, 232, 24

t = torch.arange(T, dtype=torch.float32)[:, None]
panel = torch.sin(2 * torch.pi * (t / 24 + torch.rand(1, N)))
panel += 0.02 * torch.randn(T, N).cumsum(0)
panel = ((panel - panel.mean(0)) / panel.std(0)).T.contiguous()

model = nn.Sequential(nn.Linear(CTX, 128), nn.ReLU(), nn.Linear(128, HOR))
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

avg = None
for step in range(700):
    idx = torch.randint(0, N, (512,))
    xb = panel[idx]
    ctx, fut = xb[:, :CTX], xb[:, CTX:]
    loss = F.mse_loss(model(ctx), fut)
    opt.zero_grad()
    loss.backward()
    opt.step()
    avg = loss.item() if avg is None else 0.98 * avg + 0.02 * loss.item()
    if step % 100 == 99:
        print(f"step {step + 1}: mse {avg:.4f}")
'''
