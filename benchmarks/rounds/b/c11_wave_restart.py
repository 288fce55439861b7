NAME = 'acoustic wave on a grid with restart files'
FAULT = 'a restart file with both fields is written in every time step and overwritten by the next'
CURE = 'write it every 250 steps only'
KIND = 'time'
FAULT_LINES = ['save_restart(step, u, u_old, trace)', 'torch.save({"step": step, "u": u, "u_old": u_old, "trace": torch.tensor(trace)}, restart)']
FAULT_CALLS = ['torch.save', 'save', 'save_restart']
FAULTY = r'''
import os, tempfile
import torch
import torch.nn.functional as F

torch.manual_seed(2)
N, STEPS, DT = 448, 1500, 0.4
xs = torch.linspace(-1, 1, N)
speed = 0.6 + 0.4 * (xs[None, :] ** 2 + xs[:, None] ** 2 < 0.3).float()
coef = (speed * DT) ** 2
u = torch.exp(-200 * ((xs[None, :] - 0.5) ** 2 + (xs[:, None] + 0.4) ** 2))
u_old = u.clone()
restart = os.path.join(tempfile.mkdtemp(), "restart.pt")

def laplacian(f):
    p = F.pad(f[None, None], (1, 1, 1, 1), mode="replicate")[0, 0]
    return p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * f

def save_restart(step, u, u_old, trace):
    torch.save({"step": step, "u": u, "u_old": u_old, "trace": torch.tensor(trace)}, restart)

trace = []
for step in range(1, STEPS + 1):
    u_new = 2 * u - u_old + coef * laplacian(u)
    u_new.mul_(0.9995)
    u_old, u = u, u_new
    trace.append(u[N // 3, N // 2].item())
    save_restart(step, u, u_old, trace)

state = torch.load(restart)
spectrum = torch.fft.rfft(state["trace"]).abs()
print("restart at", state["step"], "energy", round(state["u"].pow(2).sum().item(), 4), "peak bin", int(spectrum[1:].argmax()) + 1)
'''
CURED = r'''
import os, tempfile
import torch
import torch.nn.functional as F

torch.manual_seed(2)
N, STEPS, DT = 448, 1500, 0.4
xs = torch.linspace(-1, 1, N)
speed = 0.6 + 0.4 * (xs[None, :] ** 2 + xs[:, None] ** 2 < 0.3).float()
coef = (speed * DT) ** 2
u = torch.exp(-200 * ((xs[None, :] - 0.5) ** 2 + (xs[:, None] + 0.4) ** 2))
u_old = u.clone()
restart = os.path.join(tempfile.mkdtemp(), "restart.pt")

def laplacian(f):
    p = F.pad(f[None, None], (1, 1, 1, 1), mode="replicate")[0, 0]
    return p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * f

def save_restart(step, u, u_old, trace):
    torch.save({"step": step, "u": u, "u_old": u_old, "trace": torch.tensor(trace)}, restart)

trace = []
for step in range(1, STEPS + 1):
    u_new = 2 * u - u_old + coef * laplacian(u)
    u_new.mul_(0.9995)
    u_old, u = u, u_new
    trace.append(u[N // 3, N // 2].item())
    if step % 250 == 0:
        save_restart(step, u, u_old, trace)

state = torch.load(restart)
spectrum = torch.fft.rfft(state["trace"]).abs()
print("restart at", state["step"], "energy", round(state["u"].pow(2).sum().item(), 4), "peak bin", int(spectrum[1:].argmax()) + 1)
'''
