NAME = "Solves Burgers' equation with a physics-informed network and checks the residual on a grid."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = "create_graph=True and the two nested gradient calls per step are needed, because the loss contains u_t, u_x and u_xx and must itself be differentiated with respect to the weights; the evaluation keeps gradients on for the same reason."
GOOD = r'''
import math
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(6)

NU = 0.05
N_COLLOCATION, N_BOUNDARY = 2048, 128
STEPS = 250


class Net(nn.Module):
    def __init__(self, width=64, depth=4):
        super().__init__()
        sizes = [2] + [width] * depth
        layers = []
        for a, b in zip(sizes[:-1], sizes[1:]):
            layers += [nn.Linear(a, b), nn.Tanh()]
        self.body = nn.Sequential(*layers, nn.Linear(width, 1))
        for m in self.body:
            if isinstance(m, nn.Linear):
                nn.init.xavier_normal_(m.weight)
                nn.init.zeros_(m.bias)

    def forward(self, x, t):
        return self.body(torch.cat([x, t], dim=1))


def residual(net, x, t):
    x = x.requires_grad_(True)
    t = t.requires_grad_(True)
    u = net(x, t)
    ones = torch.ones_like(u)
    u_x, u_t = torch.autograd.grad(u, (x, t), ones, create_graph=True)
    (u_xx,) = torch.autograd.grad(u_x, x, ones, create_graph=torch.is_grad_enabled() and net.training)
    return u_t + u * u_x - NU * u_xx


def sample(n):
    return 2 * torch.rand(n, 1) - 1, torch.rand(n, 1)


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, STEPS, eta_min=1e-4)

for step in range(STEPS):
    x, t = sample(N_COLLOCATION)
    loss_pde = residual(net, x, t).pow(2).mean()

    x0, tb = sample(N_BOUNDARY)
    u0 = net(x0, torch.zeros_like(x0))
    loss_init = (u0 + torch.sin(math.pi * x0)).pow(2).mean()
    side = torch.where(torch.rand_like(tb) < 0.5, -1.0, 1.0)
    loss_wall = net(side, tb).pow(2).mean()

    loss = loss_pde + 10 * loss_init + 10 * loss_wall
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if step % 50 == 0 or step == STEPS - 1:
        print(f"step {step:4d}  pde {loss_pde.item():.4f}  init {loss_init.item():.4f}  wall {loss_wall.item():.4f}")

net.eval()
gx, gt = torch.meshgrid(torch.linspace(-1, 1, 101), torch.linspace(0, 1, 21), indexing="ij")
res = residual(net, gx.reshape(-1, 1), gt.reshape(-1, 1)).detach().view(101, 21)
with torch.no_grad():
    u = net(gx.reshape(-1, 1), gt.reshape(-1, 1)).view(101, 21)
print(f"grid residual rms {res.pow(2).mean().sqrt():.3f}")
print(f"odd symmetry error {(u + u.flip(0)).abs().mean():.3f}")
for k in (0, 10, 20):
    print(f"t={gt[0, k]:.2f}  max u {u[:, k].max():.3f}  energy {u[:, k].pow(2).mean():.3f}")
'''
