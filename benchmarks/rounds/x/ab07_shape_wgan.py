NAME = "Trains a small Wasserstein GAN with weight clipping that draws 32x32 pictures of blobs and bars."
FAULT = "In the critic's steps the fake pictures carry the generator's graph, so each critic backward pass also runs backward through the generator, whose gradients are thrown away."
CURE = "Make the fake pictures for the critic under torch.no_grad() or detach them."
KIND = "time"
FAULT_LINES = [
    "fake = gen(noise(len(real)))",
    "c_loss.backward()",
    "c_loss = critic(fake).mean() - critic(real).mean()",
]
FAULT_CALLS = ["backward", "run_backward", "_engine_run_backward", "convolution_backward", "ConvolutionBackward0", "NativeBatchNormBackward0", "native_batch_norm_backward"]
FAULTY = r'''
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(42)

Z = 32
SIZE = 32
CRITIC_STEPS = 3
BATCH = 32


def real_batch(n):
    ax = torch.linspace(-1, 1, SIZE)
    yy, xx = torch.meshgrid(ax, ax, indexing="ij")
    c = torch.rand(n, 2, 1, 1) * 1.2 - 0.6
    s = torch.rand(n, 1, 1) * 0.15 + 0.1
    blob = torch.exp(-((xx - c[:, 0]) ** 2 + (yy - c[:, 1]) ** 2) / (2 * s ** 2))
    bar = ((xx - c[:, 1]).abs() < s / 2).float()
    pick = (torch.rand(n, 1, 1) < 0.5).float()
    return (2 * (pick * blob + (1 - pick) * bar) - 1).unsqueeze(1)


def up(cin, cout):
    return nn.Sequential(
        nn.Upsample(scale_factor=2, mode="nearest"),
        nn.Conv2d(cin, cout, 3, padding=1, bias=False),
        nn.BatchNorm2d(cout),
        nn.ReLU(inplace=True),
    )


class Generator(nn.Module):
    def __init__(self, ch=48):
        super().__init__()
        self.ch = ch
        self.fc = nn.Linear(Z, ch * 2 * 16)
        self.net = nn.Sequential(up(ch * 2, ch), up(ch, ch), up(ch, ch // 2),
                                 nn.Conv2d(ch // 2, 1, 3, padding=1), nn.Tanh())

    def forward(self, z):
        return self.net(self.fc(z).view(-1, self.ch * 2, 4, 4))


class Critic(nn.Module):
    def __init__(self, ch=16):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, ch, 4, 2, 1), nn.LeakyReLU(0.2),
            nn.Conv2d(ch, ch * 2, 4, 2, 1), nn.LeakyReLU(0.2),
            nn.Conv2d(ch * 2, ch * 2, 4, 2, 1), nn.LeakyReLU(0.2),
            nn.Flatten(), nn.Linear(ch * 2 * 16, 1),
        )

    def forward(self, x):
        return self.net(x).squeeze(1)


def noise(n):
    return torch.randn(n, Z)


gen, critic = Generator(), Critic()
opt_g = torch.optim.RMSprop(gen.parameters(), lr=2e-4)
opt_c = torch.optim.RMSprop(critic.parameters(), lr=2e-4)

log = []
for it in range(1, 31):
    for _ in range(CRITIC_STEPS):
        real = real_batch(BATCH)
        fake = gen(noise(len(real)))
        c_loss = critic(fake).mean() - critic(real).mean()
        opt_c.zero_grad()
        c_loss.backward()
        opt_c.step()
        with torch.no_grad():
            for p in critic.parameters():
                p.clamp_(-0.03, 0.03)

    g_loss = -critic(gen(noise(BATCH))).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()

    log.append((-c_loss.item(), g_loss.item()))
    if it % 10 == 0:
        w, g = torch.tensor(log[-10:]).mean(0).tolist()
        print(f"iter {it}: wasserstein estimate {w:.4f}  generator loss {g:.4f}")

gen.eval()
with torch.no_grad():
    pics = gen(noise(64))
ref = real_batch(64)
print(f"mean intensity  fake {pics.mean():.3f}  real {ref.mean():.3f}")
print(f"pixel spread    fake {pics.std():.3f}  real {ref.std():.3f}")
'''
CURED = FAULTY.replace("fake = gen(noise(len(real)))", "fake = gen(noise(len(real))).detach()")
