# Each time step of the filter needs the weights and resampled particles of the step before, so
# the loop over time cannot be vectorised; within a step everything runs on all particles at once,
# and the ESS must be read on the host to decide about resampling.

NAME = 'g19_particle_filter'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS_LIKE = 'A Python loop over a thousand time steps with .item() in each; vectorise over time and drop the synchronisation.'

GOOD = r'''
# bootstrap particle filter for a stochastic volatility model, likelihood over a grid of phi
import math
import torch

torch.set_num_threads(1)
torch.manual_seed(12)
T, N = 850, 60_000
true_phi, sigma, beta = 0.95, 0.25, 0.7

# simulate returns
h = torch.zeros(())
ret = []
for _ in range(T):
    h = true_phi * h + sigma * torch.randn(())
    ret.append(beta * torch.exp(h / 2) * torch.randn(()))
ret = torch.stack(ret)


def systematic(w):
    """systematic resampling, one uniform for all particles"""
    u = (torch.arange(N) + torch.rand(1)) / N
    return torch.searchsorted(torch.cumsum(w, 0), u).clamp_(max=N - 1)


def run_filter(phi, y):
    x = sigma / math.sqrt(1 - phi ** 2) * torch.randn(N)
    logw = torch.full((N,), -math.log(N))
    loglik, n_res = 0.0, 0
    path = torch.empty(len(y))
    const = -0.5 * math.log(2 * math.pi) - math.log(beta)
    for t in range(len(y)):
        x = torch.randn(N).mul_(sigma).add_(x, alpha=phi)
        obs = const - 0.5 * x - 0.5 * (y[t] / beta) ** 2 * torch.exp(-x)
        logw = logw + obs
        norm = torch.logsumexp(logw, 0)
        loglik += norm.item()
        logw = logw - norm
        w = logw.exp()
        path[t] = torch.dot(w, x)
        ess = 1.0 / torch.dot(w, w).item()
        if ess < N / 2:
            x = x[systematic(w)]
            logw = torch.full((N,), -math.log(N))
            n_res += 1
    return loglik, path, n_res


grid = [0.8, 0.85, 0.88, 0.9, 0.92, 0.935, 0.95, 0.96, 0.97, 0.98, 0.99]
lls = []
for phi in grid:
    ll, path, n_res = run_filter(phi, ret)
    lls.append(ll)
    print(f"phi {phi:.3f}: loglik {ll:9.3f}, resampled {n_res} times, mean |h| {path.abs().mean():.3f}")

post = torch.softmax(torch.tensor(lls), 0)
print("posterior on the grid:", [round(p, 3) for p in post.tolist()])
'''
