NAME = 'Forecasts river levels by looking for similar windows in the past, feeding each forecast back in.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []

GOOD = r"""
import torch

torch.set_num_threads(1)
torch.manual_seed(210)

n_hours, length, gauges, ahead, k = 300_000, 168, 16, 120, 25

t = torch.arange(n_hours, dtype=torch.float32)
rain = (torch.rand(n_hours) < 0.01).float() * torch.empty(n_hours).exponential_(0.5)
kernel = torch.exp(-torch.arange(120.0) / 30)
level = torch.nn.functional.conv1d(rain[None, None], kernel.flip(0)[None, None], padding=119)[0, 0, :n_hours]
level = level + 0.5 * torch.sin(2 * torch.pi * t / 24) + 0.05 * torch.randn(n_hours)

# every past window, each scaled by itself so that only the shape counts
bank = level[:-1].unfold(0, length, 1).clone()
mean = bank.mean(1, keepdim=True)
bank -= mean
scale = torch.linalg.vector_norm(bank, dim=1, keepdim=True).clamp_(min=1e-3)
bank /= scale
follow = (level[length:] - mean[:, 0]) / scale[:, 0]

starts = torch.randint(0, n_hours - length, (gauges,))
recent = torch.stack([level[s:s + length] for s in starts]) + 0.1 * torch.randn(gauges, length)

forecast = []
for h in range(ahead):
    m = recent.mean(1, keepdim=True)
    q = recent - m
    s = torch.linalg.vector_norm(q, dim=1, keepdim=True).clamp(min=1e-3)
    similarity = (q / s) @ bank.T
    best = similarity.topk(k, dim=1)
    weight = (best.values * 20).softmax(1)
    nxt = (weight * follow[best.indices]).sum(1, keepdim=True) * s + m
    recent = torch.cat([recent[:, 1:], nxt], dim=1)
    forecast.append(nxt)

forecast = torch.cat(forecast, 1)
truth = torch.stack([level[s + length:s + length + ahead] if s + length + ahead < n_hours else level[-ahead:] for s in starts.tolist()])
print(f"mean {forecast.mean().item():.4f}, rmse first day {(forecast - truth)[:, :24].pow(2).mean().sqrt().item():.4f}, all {(forecast - truth).pow(2).mean().sqrt().item():.4f}")
"""
