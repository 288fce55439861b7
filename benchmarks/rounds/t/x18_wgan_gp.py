NAME = 'Trains a WGAN with gradient penalty on a made-up mixture of sensor signatures.'
FAULT = None
CURE = None
KIND = None
WHY = 'create_graph=True (a second-order backward in every critic step) and five critic steps per generator step are what the gradient penalty and WGAN need; fakes for the critic are already made without gradients.'
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r"""import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(52)

SIGNAL, LATENT, BATCH, CRITIC_STEPS, LAMBDA = 64, 16, 256, 5, 10.0
grid = torch.linspace(0, 1, SIGNAL)


def real_batch(n):
    kind = torch.randint(1, 5, (n, 1)).float()
    phase = torch.rand(n, 1) * 6.2832
    amp = 0.5 + 0.5 * torch.rand(n, 1)
    return amp * torch.sin(6.2832 * kind * grid + phase) + 0.03 * torch.randn(n, SIGNAL)


def mlp(cin, cout, width=256):
    return nn.Sequential(
        nn.Linear(cin, width), nn.LeakyReLU(0.2),
        nn.Linear(width, width), nn.LeakyReLU(0.2),
        nn.Linear(width, width), nn.LeakyReLU(0.2),
        nn.Linear(width, cout),
    )


def gradient_penalty(critic, real, fake):
    mix = torch.rand(len(real), 1)
    between = (mix * real + (1 - mix) * fake).requires_grad_()
    grad, = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    return (grad.norm(dim=1) - 1).pow(2).mean()


generator, critic = mlp(LATENT, SIGNAL), mlp(SIGNAL, 1)
opt_g = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.9))
opt_c = torch.optim.Adam(critic.parameters(), lr=2e-4, betas=(0.5, 0.9))

for step in range(1, 141):
    for _ in range(CRITIC_STEPS):
        real = real_batch(BATCH)
        with torch.no_grad():
            fake = generator(torch.randn(BATCH, LATENT))
        gap = critic(fake).mean() - critic(real).mean()
        loss_c = gap + LAMBDA * gradient_penalty(critic, real, fake)
        opt_c.zero_grad()
        loss_c.backward()
        opt_c.step()

    critic.requires_grad_(False)
    loss_g = -critic(generator(torch.randn(BATCH, LATENT))).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    critic.requires_grad_(True)

    if step % 35 == 0:
        print(f"step {step}: critic distance {-gap.item():.3f}, generator loss {loss_g.item():.3f}")

with torch.no_grad():
    made = generator(torch.randn(2000, LATENT))
    seen = real_batch(2000)
    spectrum_made = torch.fft.rfft(made).abs().mean(0)
    spectrum_seen = torch.fft.rfft(seen).abs().mean(0)
for k in range(1, 6):
    print(f"frequency {k}: real {spectrum_seen[k].item():.2f} generated {spectrum_made[k].item():.2f}")
"""
