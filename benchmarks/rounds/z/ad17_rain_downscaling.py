NAME = "Trains a GAN that downscales coarse rainfall maps to a finer grid."
FAULT = "The discriminator loss is backpropagated through the generator as well, although those gradients are zeroed before the generator step."
CURE = "Detach the generated fields in the discriminator step (and drop retain_graph)."
KIND = "time"
FAULT_LINES = ["        d_loss = adv(critic(fake, up), zeros) + adv(critic(fine, up), ones)",
               "        d_loss.backward(retain_graph=True)"]
FAULT_CALLS = ["backward", "run_backward", "convolution_backward", "train_step"]
FAULTY = r'''
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(17)

SCALE = 4
GRID = 48


def rain_fields(n):
    """Smooth random fields plus an orographic pattern, clipped like rainfall."""
    yy, xx = torch.meshgrid(torch.linspace(0, 1, GRID), torch.linspace(0, 1, GRID), indexing="ij")
    mountain = torch.exp(-((xx - 0.6) ** 2 + (yy - 0.4) ** 2) / 0.02)
    base = F.interpolate(torch.randn(n, 1, 6, 6), size=GRID, mode="bicubic", align_corners=True)
    ripple = torch.sin(2 * math.pi * (6 * xx + 4 * yy) + torch.rand(n, 1, 1, 1) * 6.28)
    field = base + 0.8 * mountain + 0.25 * ripple * (base > 0)
    return F.relu(field), mountain


class ResBlock(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.c1 = nn.Conv2d(ch, ch, 3, padding=1)
        self.c2 = nn.Conv2d(ch, ch, 3, padding=1)

    def forward(self, x):
        return x + self.c2(F.leaky_relu(self.c1(x), 0.2))


class Downscaler(nn.Module):
    def __init__(self, ch=32, blocks=3):
        super().__init__()
        self.stem = nn.Conv2d(2, ch, 3, padding=1)
        self.blocks = nn.Sequential(*[ResBlock(ch) for _ in range(blocks)])
        self.tail = nn.Conv2d(ch, 1, 3, padding=1)

    def forward(self, coarse_up, topo):
        h = self.stem(torch.cat([coarse_up, topo], dim=1))
        return F.relu(coarse_up + self.tail(self.blocks(h)))


class Critic(nn.Module):
    def __init__(self, ch=12):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(2, ch, 4, stride=2, padding=1), nn.LeakyReLU(0.2),
            nn.Conv2d(ch, 2 * ch, 4, stride=2, padding=1), nn.LeakyReLU(0.2),
            nn.Conv2d(2 * ch, 1, 3, padding=1))

    def forward(self, field, coarse_up):
        return self.net(torch.cat([field, coarse_up], dim=1)).mean(dim=(1, 2, 3))


class Trainer:
    def __init__(self, gen, critic):
        self.gen, self.critic = gen, critic
        self.opt_g = torch.optim.Adam(gen.parameters(), lr=5e-4, betas=(0.5, 0.99))
        self.opt_d = torch.optim.Adam(critic.parameters(), lr=2e-4, betas=(0.5, 0.99))

    def train_step(self, fine, up, topo):
        adv, critic = F.binary_cross_entropy_with_logits, self.critic
        ones, zeros = torch.ones(len(fine)), torch.zeros(len(fine))
        fake = self.gen(up, topo)

        self.opt_d.zero_grad()
        d_loss = adv(critic(fake, up), zeros) + adv(critic(fine, up), ones)
        d_loss.backward(retain_graph=True)
        self.opt_d.step()

        self.opt_g.zero_grad()
        g_loss = F.l1_loss(fake, fine) + 0.01 * adv(critic(fake, up), ones)
        g_loss.backward()
        self.opt_g.step()
        return d_loss.item(), g_loss.item()


fine, mountain = rain_fields(208)
coarse = F.avg_pool2d(fine, SCALE)
up = F.interpolate(coarse, scale_factor=SCALE, mode="bilinear", align_corners=False)
topo = mountain.expand(len(fine), 1, GRID, GRID)
n_train = 176

trainer = Trainer(Downscaler(), Critic())
for epoch in range(3):
    logs = []
    for idx in torch.randperm(n_train).split(16):
        logs.append(trainer.train_step(fine[idx], up[idx], topo[idx]))
    d, g = torch.tensor(logs).mean(0).tolist()
    with torch.no_grad():
        pred = trainer.gen(up[n_train:], topo[n_train:])
    rmse = (pred - fine[n_train:]).pow(2).mean().sqrt()
    ref = (up[n_train:] - fine[n_train:]).pow(2).mean().sqrt()
    print(f"epoch {epoch}: critic {d:.3f}  generator {g:.3f}  rmse {rmse:.3f} (bilinear {ref:.3f})")
'''
CURED = FAULTY.replace("adv(critic(fake, up), zeros)", "adv(critic(fake.detach(), up), zeros)").replace("d_loss.backward(retain_graph=True)", "d_loss.backward()")
