NAME = 'h15_ecg_wgan'
FAULT = None
CURE = None
KIND = None
LOOKS_LIKE = 'autograd.grad with create_graph=True plus a second differentiation in each critic step, three critic updates per generator update, and the generator is run again for its own step: all that is the WGAN-GP algorithm (the penalty must be differentiated; fakes for the critic are made without graph; the critic is frozen in the generator step).'
GOOD = r'''
import math
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(17)

L, Z, BATCH, N_CRITIC = 256, 32, 48, 3

# synthetic heart beats: P, QRS, T waves with random timing
def make_beats(n):
    t = torch.linspace(0, 1, L)
    def bump(centre, width, height):
        c = centre + 0.01 * torch.randn(n, 1)
        h = height * (1 + 0.1 * torch.randn(n, 1))
        return h * torch.exp(-((t - c) / width) ** 2)
    x = bump(0.25, 0.03, 0.2) - bump(0.42, 0.012, 0.25) + bump(0.45, 0.012, 1.2)
    x = x - bump(0.48, 0.012, 0.35) + bump(0.68, 0.05, 0.35)
    return (x + 0.02 * torch.randn(n, L))[:, None]

beats = make_beats(4000)

class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(Z, 64 * 16)
        self.net = nn.Sequential(
            nn.ConvTranspose1d(64, 48, 8, 4, 2), nn.ReLU(),
            nn.ConvTranspose1d(48, 32, 8, 4, 2), nn.ReLU(),
            nn.Conv1d(32, 1, 9, padding=4))

    def forward(self, z):
        return self.net(torch.relu(self.fc(z)).view(-1, 64, 16))

critic = nn.Sequential(
    nn.Conv1d(1, 32, 9, 4, 4), nn.LeakyReLU(0.2),
    nn.Conv1d(32, 64, 9, 4, 4), nn.LeakyReLU(0.2),
    nn.Flatten(), nn.Linear(64 * 16, 1))
gen = Generator()
opt_g = torch.optim.Adam(gen.parameters(), lr=4e-4, betas=(0.0, 0.9))
opt_c = torch.optim.Adam(critic.parameters(), lr=4e-4, betas=(0.0, 0.9))

def gradient_penalty(real, fake):
    eps = torch.rand(len(real), 1, 1)
    mix = (eps * real + (1 - eps) * fake).requires_grad_(True)
    score = critic(mix)
    grad, = torch.autograd.grad(score.sum(), mix, create_graph=True)
    return ((grad.flatten(1).norm(dim=1) - 1) ** 2).mean()

for it in range(1, 181):
    for p in critic.parameters():
        p.requires_grad_(True)
    for _ in range(N_CRITIC):
        real = beats[torch.randint(0, len(beats), (BATCH,))]
        with torch.no_grad():
            fake = gen(torch.randn(BATCH, Z))
        gap = critic(real).mean() - critic(fake).mean()
        loss_c = -gap + 10.0 * gradient_penalty(real, fake)
        opt_c.zero_grad()
        loss_c.backward()
        opt_c.step()

    for p in critic.parameters():
        p.requires_grad_(False)
    loss_g = -critic(gen(torch.randn(BATCH, Z))).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()

    if it % 60 == 0:
        print(f"iter {it:4d}  wasserstein {gap.item():.4f}  gen {loss_g.item():.4f}")

gen.eval()
with torch.no_grad():
    fake = gen(torch.randn(1000, Z))
err = (fake.mean(0) - beats.mean(0)).abs().mean()
print(f"mean waveform error {err:.4f}")
print(f"R peak real {beats.amax((1, 2)).mean():.3f}  fake {fake.amax((1, 2)).mean():.3f}")
'''
