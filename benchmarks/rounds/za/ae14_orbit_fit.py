NAME = "Determines a satellite's epoch state from radar ranges by Gauss-Newton through a differentiable RK4 propagator with J2, then maps the covariance by Monte Carlo."
FAULT = "The Jacobian of all range residuals with respect to six state components is built row by row in reverse mode, one backward pass through the whole propagation per observation."
CURE = "Use forward mode (torch.func.jacfwd), whose cost goes with the six inputs and not with the number of observations."
KIND = "time"
FAULT_LINES = [
    "rows = [torch.autograd.grad(ri, x, retain_graph=True)[0] for ri in r]",
    "J = torch.stack(rows)",
    "r, J = linearise(x, obs)",
]
FAULT_CALLS = ["grad", "linearise", "backward", "_engine_run_backward", "run_backward", "solve", "<listcomp>"]
FAULTY = r'''
import math
import torch

torch.set_num_threads(1)
torch.manual_seed(11)
torch.set_default_dtype(torch.float64)

MU, RE, J2 = 398600.4418, 6378.137, 1.08262668e-3
OMEGA = 7.2921159e-5
DT, N_STEPS, EVERY = 60.0, 72, 3
LAT, LON = math.radians(48.2), math.radians(16.4)


def accel(pos):
    r2 = (pos * pos).sum(-1, keepdim=True)
    r = r2.sqrt()
    z2 = pos[..., 2:3] ** 2 / r2
    k = 1.5 * J2 * (RE ** 2) / r2
    shape = torch.cat([1 - 5 * z2, 1 - 5 * z2, 3 - 5 * z2], -1)
    return -MU * pos / (r2 * r) * (1 + k * shape)


def deriv(s):
    return torch.cat([s[..., 3:], accel(s[..., :3])], -1)


def rk4(s, h):
    k1 = deriv(s)
    k2 = deriv(s + 0.5 * h * k1)
    k3 = deriv(s + 0.5 * h * k2)
    k4 = deriv(s + h * k3)
    return s + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def station(t):
    a = LON + OMEGA * t
    return RE * torch.stack([torch.cos(a) * math.cos(LAT),
                             torch.sin(a) * math.cos(LAT),
                             torch.full_like(a, math.sin(LAT))], -1)


T_OBS = torch.arange(EVERY, N_STEPS + 1, EVERY) * DT
SITE = station(T_OBS)


def ranges(x0):
    s, track = x0, []
    for i in range(1, N_STEPS + 1):
        s = rk4(s, DT)
        if i % EVERY == 0:
            track.append(s[:3])
    return (torch.stack(track) - SITE).norm(dim=-1)


def linearise(x, obs):
    x = x.detach().requires_grad_(True)
    r = (ranges(x) - obs) / SIGMA
    rows = [torch.autograd.grad(ri, x, retain_graph=True)[0] for ri in r]
    J = torch.stack(rows)
    return r.detach(), J


def gauss_newton(x, obs, iters):
    for it in range(iters):
        r, J = linearise(x, obs)
        N = J.T @ J
        step = torch.linalg.solve(N, -J.T @ r)
        x = x + step
        if it % 2 == 0:
            print(f"  iter {it}: rms {r.pow(2).mean().sqrt().item():.3f}")
    return x, torch.linalg.inv(N)


SIGMA = 0.02   # km
truth = torch.tensor([6878.0, 300.0, 150.0, -0.4, 4.9, 5.75])
errs = []
for arc in range(2):
    state0 = truth + torch.randn(6) * torch.tensor([20., 20., 20., .02, .02, .02])
    with torch.no_grad():
        obs = ranges(state0) + SIGMA * torch.randn(len(T_OBS))
    guess = state0 + torch.randn(6) * torch.tensor([2., 2., 2., .002, .002, .002])
    print("arc", arc)
    est, cov = gauss_newton(guess, obs, 4)
    errs.append((est - state0)[:3].norm().item())

print("mean position error [m]: %.1f" % (1e3 * sum(errs) / len(errs)))

# spread of the predicted position after one day
with torch.no_grad():
    L = torch.linalg.cholesky(cov)
    cloud = est + torch.randn(1200, 6) @ L.T
    for _ in range(1 * 24 * 3600 // 60):
        cloud = rk4(cloud, 60.0)
spread = (cloud[:, :3] - cloud[:, :3].mean(0)).norm(dim=-1)
print("one-day spread: median %.2f km, 95%% %.2f km" % (spread.median().item(), spread.quantile(.95).item()))
'''
CURED = (FAULTY
         .replace("    x = x.detach().requires_grad_(True)\n    r = (ranges(x) - obs) / SIGMA\n", "    r = (ranges(x) - obs) / SIGMA\n")
         .replace("    rows = [torch.autograd.grad(ri, x, retain_graph=True)[0] for ri in r]\n    J = torch.stack(rows)\n    return r.detach(), J",
                  "    J = torch.func.jacfwd(ranges)(x) / SIGMA\n    return r, J"))
