NAME = "Pretrains a small encoder with a VICReg-style loss on made-up textures and judges it by a linear probe with augmented inputs."
FAULT = "The probe runs the encoder with gradients on, so backward goes through the whole encoder although only the linear head is trained."
CURE = "Compute the features under torch.no_grad() in the probe's training loop."
KIND = "time"
FAULT_LINES = ["z = encoder(augment(x))", "loss.backward()", "loss = F.cross_entropy(head(z), y)"]
FAULT_CALLS = ["backward", "convolution_backward", "encoder", "run_backward"]
_T = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(31)

N_CLASSES, SIZE, BATCH = 6, 32, 128
N_UNLABELLED, N_TRAIN, N_TEST = 768, 1024, 512


def make_textures(n):
    y = torch.randint(0, N_CLASSES, (n,))
    freq = 2.0 + 1.2 * y.float() + 0.2 * torch.randn(n)
    angle = torch.rand(n) * 3.1416
    phase = torch.rand(n) * 6.2832
    axis = torch.linspace(-1, 1, SIZE)
    yy, xx = torch.meshgrid(axis, axis, indexing="ij")
    wave = angle.cos()[:, None, None] * xx + angle.sin()[:, None, None] * yy
    wave = torch.sin(3.1416 * freq[:, None, None] * wave + phase[:, None, None])
    return (wave + 0.4 * torch.randn(n, SIZE, SIZE))[:, None], y


def augment(x):
    pad = F.pad(x, (3, 3, 3, 3), mode="reflect")
    top, left = torch.randint(0, 7, (2,)).tolist()
    x = pad[:, :, top:top + SIZE, left:left + SIZE]
    if torch.rand(()) < 0.5:
        x = x.flip(-1)
    gain = 1 + 0.3 * torch.randn(len(x), 1, 1, 1)
    return x * gain + 0.1 * torch.randn_like(x)


def stage(c_in, c_out):
    return nn.Sequential(nn.Conv2d(c_in, c_out, 3, padding=1, bias=False), nn.BatchNorm2d(c_out),
                         nn.ReLU(inplace=True), nn.MaxPool2d(2))


def vicreg(a, b):
    loss = 25 * F.mse_loss(a, b)
    for z in (a, b):
        z = z - z.mean(0)
        cov = z.T @ z / (len(z) - 1)
        std = (cov.diagonal() + 1e-4).sqrt()
        off = cov.pow(2).sum() - cov.diagonal().pow(2).sum()
        loss = loss + 12.5 * F.relu(1 - std).mean() + off / z.shape[1]
    return loss


encoder = nn.Sequential(stage(1, 32), stage(32, 64), stage(64, 128), nn.AdaptiveAvgPool2d(1), nn.Flatten())
encoder = encoder.to(memory_format=torch.channels_last)
projector = nn.Sequential(nn.Linear(128, 256), nn.BatchNorm1d(256), nn.ReLU(), nn.Linear(256, 128))

unlabelled, _ = make_textures(N_UNLABELLED)
opt = torch.optim.Adam([*encoder.parameters(), *projector.parameters()], lr=1e-3)
for epoch in range(2):
    total = 0.0
    batches = torch.randperm(N_UNLABELLED).split(BATCH)
    for idx in batches:
        x = unlabelled[idx]
        loss = vicreg(projector(encoder(augment(x))), projector(encoder(augment(x))))
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"pretrain epoch {epoch}: loss {total / len(batches):.2f}")

x_train, y_train = make_textures(N_TRAIN)
x_test, y_test = make_textures(N_TEST)
encoder.eval()
head = nn.Sequential(nn.BatchNorm1d(128), nn.Linear(128, N_CLASSES))
probe_opt = torch.optim.SGD(head.parameters(), lr=0.2, momentum=0.9)
for epoch in range(10):
    head.train()
    total = 0.0
    for idx in torch.randperm(N_TRAIN).split(BATCH):
        x, y = x_train[idx], y_train[idx]
@@A@@
        loss = F.cross_entropy(head(z), y)
        probe_opt.zero_grad()
        loss.backward()
        probe_opt.step()
        total += loss.item() * len(idx)
    if epoch % 3 == 0:
        print(f"probe epoch {epoch}: loss {total / N_TRAIN:.3f}")

head.eval()
with torch.no_grad():
    logits = torch.cat([head(encoder(x)) for x in x_test.split(256)])
print(f"linear probe accuracy {(logits.argmax(1) == y_test).float().mean():.3f}")
'''
FAULTY = _T.replace("@@A@@", "        z = encoder(augment(x))")
CURED = _T.replace("@@A@@", "        with torch.no_grad():\n            z = encoder(augment(x))")
