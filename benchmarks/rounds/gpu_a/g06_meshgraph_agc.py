NAME = 'Trains a MeshGraphNet surrogate of a reaction-diffusion solver on an unstructured mesh with adaptive gradient clipping.'
FAULT = 'The adaptive clipping decides with a Python if on GPU tensors for each of some 260 parameters, so every step waits for the GPU some 260 times.'
CURE = 'Compute the clipping factors on the GPU for all parameters at once (foreach norms, clamp, foreach multiply) without asking the host.'
KIND = 'time'
FAULT_LINES = ['if g_norm > max_norm:', 'p.grad.mul_(max_norm / g_norm)', 'g_norm = p.grad.norm()', 'adaptive_clip(params)']
FAULT_CALLS = ['__bool__', 'aten::is_nonzero', 'aten::item', 'aten::_local_scalar_dense', 'cudaStreamSynchronize', 'cudaMemcpyAsync', 'adaptive_clip', 'norm', 'aten::linalg_vector_norm']
FAULTY = r"""import torch
import torch.nn as nn

device = 'cuda'
torch.manual_seed(3)
torch.set_float32_matmul_precision('high')

n_nodes, n_neigh, hidden, n_mp = 6000, 6, 128, 15
n_frames, steps = 400, 190

# ---- mesh -------------------------------------------------------------
pos = torch.rand(n_nodes, 2, device=device)
nb = torch.cdist(pos, pos).topk(n_neigh + 1, largest=False).indices[:, 1:]
recv = torch.arange(n_nodes, device=device).repeat_interleave(n_neigh)
send = nb.reshape(-1)
rel = pos[send] - pos[recv]
edge_attr = torch.cat([rel, rel.norm(dim=1, keepdim=True)], 1)
edge_attr = (edge_attr - edge_attr.mean(0)) / edge_attr.std(0)

# ---- trajectory of a toy reaction-diffusion system ----------------------
u = torch.stack([(6.3 * pos[:, 0]).sin(), (6.3 * pos[:, 1]).cos()], 1)
frames = [u]
for _ in range(n_frames):
    lap = u[nb].mean(1) - u
    react = torch.stack([u[:, 0] - u[:, 0] ** 3 - u[:, 1], 0.5 * u[:, 0] - 0.3 * u[:, 1]], 1)
    u = u + 0.5 * lap + 0.02 * react
    frames.append(u)
frames = torch.stack(frames)
delta = frames[1:] - frames[:-1]
scale = delta.std()


def mlp(i, o=hidden, norm=True):
    layers = [nn.Linear(i, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, o)]
    return nn.Sequential(*layers, nn.LayerNorm(o)) if norm else nn.Sequential(*layers)


class MeshGraphNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc_n, self.enc_e = mlp(2), mlp(3)
        self.edge = nn.ModuleList([mlp(3 * hidden) for _ in range(n_mp)])
        self.node = nn.ModuleList([mlp(2 * hidden) for _ in range(n_mp)])
        self.dec = mlp(hidden, 2, norm=False)

    def forward(self, x, e):
        x, e = self.enc_n(x), self.enc_e(e)
        for fe, fn in zip(self.edge, self.node):
            e = e + fe(torch.cat([e, x.index_select(0, send), x.index_select(0, recv)], 1))
            agg = torch.zeros_like(x).index_add_(0, recv, e)
            x = x + fn(torch.cat([x, agg], 1))
        return self.dec(x)


@torch.no_grad()
def adaptive_clip(params, clip=0.02, eps=1e-3):
    for p in params:
        max_norm = clip * p.norm().clamp(min=eps)
        g_norm = p.grad.norm()
        if g_norm > max_norm:
            p.grad.mul_(max_norm / g_norm)


net = MeshGraphNet().to(device)
params = list(net.parameters())
opt = torch.optim.Adam(params, lr=5e-4, fused=True)
total = torch.zeros((), device=device)

for it in range(steps):
    t = it * 7 % n_frames
    noisy = frames[t] + 0.003 * torch.randn_like(frames[t])
    pred = net(noisy, edge_attr)
    loss = (pred - delta[t] / scale).square().mean()
    opt.zero_grad()
    loss.backward()
    adaptive_clip(params)
    opt.step()
    total += loss.detach()

with torch.no_grad():
    state = frames[0]
    for t in range(50):
        state = state + scale * net(state, edge_attr)
    rmse = (state - frames[50]).square().mean().sqrt()
print(f'{len(params)} parameter tensors, {len(send)} edges')
print(f'mean training loss {total.item() / steps:.4f}, 50-step rollout RMSE {rmse.item():.4f}')
"""
CURED = r"""import torch
import torch.nn as nn

device = 'cuda'
torch.manual_seed(3)
torch.set_float32_matmul_precision('high')

n_nodes, n_neigh, hidden, n_mp = 6000, 6, 128, 15
n_frames, steps = 400, 190

# ---- mesh -------------------------------------------------------------
pos = torch.rand(n_nodes, 2, device=device)
nb = torch.cdist(pos, pos).topk(n_neigh + 1, largest=False).indices[:, 1:]
recv = torch.arange(n_nodes, device=device).repeat_interleave(n_neigh)
send = nb.reshape(-1)
rel = pos[send] - pos[recv]
edge_attr = torch.cat([rel, rel.norm(dim=1, keepdim=True)], 1)
edge_attr = (edge_attr - edge_attr.mean(0)) / edge_attr.std(0)

# ---- trajectory of a toy reaction-diffusion system ----------------------
u = torch.stack([(6.3 * pos[:, 0]).sin(), (6.3 * pos[:, 1]).cos()], 1)
frames = [u]
for _ in range(n_frames):
    lap = u[nb].mean(1) - u
    react = torch.stack([u[:, 0] - u[:, 0] ** 3 - u[:, 1], 0.5 * u[:, 0] - 0.3 * u[:, 1]], 1)
    u = u + 0.5 * lap + 0.02 * react
    frames.append(u)
frames = torch.stack(frames)
delta = frames[1:] - frames[:-1]
scale = delta.std()


def mlp(i, o=hidden, norm=True):
    layers = [nn.Linear(i, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, o)]
    return nn.Sequential(*layers, nn.LayerNorm(o)) if norm else nn.Sequential(*layers)


class MeshGraphNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc_n, self.enc_e = mlp(2), mlp(3)
        self.edge = nn.ModuleList([mlp(3 * hidden) for _ in range(n_mp)])
        self.node = nn.ModuleList([mlp(2 * hidden) for _ in range(n_mp)])
        self.dec = mlp(hidden, 2, norm=False)

    def forward(self, x, e):
        x, e = self.enc_n(x), self.enc_e(e)
        for fe, fn in zip(self.edge, self.node):
            e = e + fe(torch.cat([e, x.index_select(0, send), x.index_select(0, recv)], 1))
            agg = torch.zeros_like(x).index_add_(0, recv, e)
            x = x + fn(torch.cat([x, agg], 1))
        return self.dec(x)


@torch.no_grad()
def adaptive_clip(params, clip=0.02, eps=1e-3):
    grads = [p.grad for p in params]
    max_norm = clip * torch.stack(torch._foreach_norm(params)).clamp(min=eps)
    g_norm = torch.stack(torch._foreach_norm(grads))
    factor = (max_norm / g_norm.clamp(min=1e-12)).clamp(max=1.0)
    torch._foreach_mul_(grads, list(factor.unbind()))


net = MeshGraphNet().to(device)
params = list(net.parameters())
opt = torch.optim.Adam(params, lr=5e-4, fused=True)
total = torch.zeros((), device=device)

for it in range(steps):
    t = it * 7 % n_frames
    noisy = frames[t] + 0.003 * torch.randn_like(frames[t])
    pred = net(noisy, edge_attr)
    loss = (pred - delta[t] / scale).square().mean()
    opt.zero_grad()
    loss.backward()
    adaptive_clip(params)
    opt.step()
    total += loss.detach()

with torch.no_grad():
    state = frames[0]
    for t in range(50):
        state = state + scale * net(state, edge_attr)
    rmse = (state - frames[50]).square().mean().sqrt()
print(f'{len(params)} parameter tensors, {len(send)} edges')
print(f'mean training loss {total.item() / steps:.4f}, 50-step rollout RMSE {rmse.item():.4f}')
"""
SMALL = {"device = 'cuda'": "device = 'cpu'", 'n_nodes, n_neigh, hidden, n_mp = 6000, 6, 128, 15': 'n_nodes, n_neigh, hidden, n_mp = 200, 6, 32, 3', 'n_frames, steps = 400, 190': 'n_frames, steps = 60, 3'}
