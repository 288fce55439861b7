NAME = 'Trains a Wasserstein GAN with gradient penalty on made-up insurance claims (tabular data).'
FAULT = None
CURE = None
KIND = None
WHY = 'create_graph=True and the extra pass through the critic on mixed rows look wasteful, but the gradient penalty is itself differentiated and cannot be had without them; the five critic steps are part of the method.'
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(40)

COLUMNS, NOISE, BATCH, CRITIC_STEPS = 16, 24, 256, 5


def make_claims(n=20000):
    segment = torch.randint(0, 4, (n,))
    centre = 1.5 * torch.randn(4, 5)
    z = centre[segment] + 0.6 * torch.randn(n, 5)
    table = torch.tanh(z @ torch.randn(5, COLUMNS) / 2) + 0.1 * torch.randn(n, COLUMNS)
    table[:, 0] = table[:, 0].exp()
    table[:, 1] = (table[:, 1] > 0).float() + 0.02 * torch.randn(n)
    return (table - table.mean(0)) / table.std(0)


generator = nn.Sequential(
    nn.Linear(NOISE, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, COLUMNS))
critic = nn.Sequential(
    nn.Linear(COLUMNS, 384), nn.LeakyReLU(0.2), nn.Linear(384, 384), nn.LeakyReLU(0.2),
    nn.Linear(384, 384), nn.LeakyReLU(0.2), nn.Linear(384, 1))
opt_g = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.0, 0.9))
opt_c = torch.optim.Adam(critic.parameters(), lr=2e-4, betas=(0.0, 0.9))


def gradient_penalty(real, fake):
    mix = torch.rand(len(real), 1)
    point = (mix * real + (1 - mix) * fake).requires_grad_(True)
    (grad,) = torch.autograd.grad(critic(point).sum(), point, create_graph=True)
    return (grad.norm(dim=1) - 1).square().mean()


def critic_step(real):
    with torch.no_grad():
        fake = generator(torch.randn(len(real), NOISE))
    distance = critic(real).mean() - critic(fake).mean()
    loss = -distance + 10.0 * gradient_penalty(real, fake)
    opt_c.zero_grad()
    loss.backward()
    opt_c.step()
    return distance.item()


def generator_step():
    critic.requires_grad_(False)
    loss = -critic(generator(torch.randn(BATCH, NOISE))).mean()
    opt_g.zero_grad()
    loss.backward()
    opt_g.step()
    critic.requires_grad_(True)


claims = make_claims()
real_corr = torch.corrcoef(claims.T)
for it in range(1, 121):
    for _ in range(CRITIC_STEPS):
        distance = critic_step(claims[torch.randint(0, len(claims), (BATCH,))])
    generator_step()
    if it % 30 == 0:
        with torch.no_grad():
            sample = generator(torch.randn(4000, NOISE))
        gap = (torch.corrcoef(sample.T) - real_corr).abs().mean().item()
        print(f"iteration {it:3d}  distance {distance:.3f}  correlation gap {gap:.4f}  spread {sample.std().item():.3f}")
'''
