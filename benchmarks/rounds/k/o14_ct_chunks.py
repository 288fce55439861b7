NAME = 'Trains a small segmentation network on CT stacks that pass the network in chunks of four slices.'
FAULT = 'The losses of all chunks are added up and one backward at the end follows, so that the activations of the whole scan stay in memory and the chunks save nothing.'
CURE = 'Call backward for each chunk inside the loop (the gradients add up) and add up detached losses.'
KIND = 'memory'
FAULT_LINES = ['loss = loss + chunk_loss(self.net, im, ma, mask.numel())', 'loss.backward()']
FAULT_CALLS = ['chunk_loss', 'backward', 'forward', 'step']
FAULTY = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(12)


def make_scan(depth=96, size=64):
    '''Synthetic CT stack with an ellipsoid organ.'''
    z, y, x = torch.meshgrid(torch.linspace(-1, 1, depth), torch.linspace(-1, 1, size), torch.linspace(-1, 1, size), indexing="ij")
    c = torch.rand(3) * 0.6 - 0.3
    r = torch.rand(3) * 0.3 + 0.25
    organ = (((z - c[0]) / r[0]) ** 2 + ((y - c[1]) / r[1]) ** 2 + ((x - c[2]) / r[2]) ** 2 < 1).float()
    return 0.8 * organ + 0.5 * torch.randn(depth, size, size), organ


class UNetish(nn.Module):
    def __init__(self, w=16):
        super().__init__()
        block = lambda a, b: nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.GroupNorm(4, b), nn.SiLU())
        self.enc, self.down = block(1, w), nn.Sequential(nn.MaxPool2d(2), block(w, 2 * w))
        self.up, self.out = block(3 * w, w), nn.Conv2d(w, 1, 1)

    def forward(self, x):
        a = self.enc(x)
        b = F.interpolate(self.down(a), scale_factor=2, mode="bilinear", align_corners=False)
        return self.out(self.up(torch.cat([a, b], 1)))


def chunk_loss(net, image, mask, total):
    logits = net(image[:, None]).squeeze(1)
    return F.binary_cross_entropy_with_logits(logits, mask, reduction="sum") / total


class VolumeTrainer:
    '''One optimiser step per scan; a scan goes through the net in chunks of slices.'''

    def __init__(self, net, chunk=4, lr=4e-3):
        self.net, self.chunk = net, chunk
        self.opt = torch.optim.AdamW(net.parameters(), lr=lr)

    def step(self, image, mask):
        self.opt.zero_grad(set_to_none=True)
        loss = 0.0
        for im, ma in zip(image.split(self.chunk), mask.split(self.chunk)):
            loss = loss + chunk_loss(self.net, im, ma, mask.numel())
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.net.parameters(), 5.0)
        self.opt.step()
        return float(loss.detach()), float(norm)

    @torch.no_grad()
    def dice(self, image, mask):
        pred = torch.cat([self.net(im[:, None]).squeeze(1) > 0 for im in image.split(self.chunk)]).float()
        return (2 * (pred * mask).sum() / (pred.sum() + mask.sum() + 1e-6)).item()


trainer = VolumeTrainer(UNetish())
for step in range(12):
    image, mask = make_scan()
    loss, norm = trainer.step(image, mask)
    if step % 4 == 3:
        print(f"step {step} loss {loss:.3f} grad {norm:.2f} dice {trainer.dice(*make_scan()):.2f}")
"""
CURED = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(12)


def make_scan(depth=96, size=64):
    '''Synthetic CT stack with an ellipsoid organ.'''
    z, y, x = torch.meshgrid(torch.linspace(-1, 1, depth), torch.linspace(-1, 1, size), torch.linspace(-1, 1, size), indexing="ij")
    c = torch.rand(3) * 0.6 - 0.3
    r = torch.rand(3) * 0.3 + 0.25
    organ = (((z - c[0]) / r[0]) ** 2 + ((y - c[1]) / r[1]) ** 2 + ((x - c[2]) / r[2]) ** 2 < 1).float()
    return 0.8 * organ + 0.5 * torch.randn(depth, size, size), organ


class UNetish(nn.Module):
    def __init__(self, w=16):
        super().__init__()
        block = lambda a, b: nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.GroupNorm(4, b), nn.SiLU())
        self.enc, self.down = block(1, w), nn.Sequential(nn.MaxPool2d(2), block(w, 2 * w))
        self.up, self.out = block(3 * w, w), nn.Conv2d(w, 1, 1)

    def forward(self, x):
        a = self.enc(x)
        b = F.interpolate(self.down(a), scale_factor=2, mode="bilinear", align_corners=False)
        return self.out(self.up(torch.cat([a, b], 1)))


def chunk_loss(net, image, mask, total):
    logits = net(image[:, None]).squeeze(1)
    return F.binary_cross_entropy_with_logits(logits, mask, reduction="sum") / total


class VolumeTrainer:
    '''One optimiser step per scan; a scan goes through the net in chunks of slices.'''

    def __init__(self, net, chunk=4, lr=4e-3):
        self.net, self.chunk = net, chunk
        self.opt = torch.optim.AdamW(net.parameters(), lr=lr)

    def step(self, image, mask):
        self.opt.zero_grad(set_to_none=True)
        loss = 0.0
        for im, ma in zip(image.split(self.chunk), mask.split(self.chunk)):
            part = chunk_loss(self.net, im, ma, mask.numel())
            part.backward()
            loss = loss + part.detach()
        norm = nn.utils.clip_grad_norm_(self.net.parameters(), 5.0)
        self.opt.step()
        return float(loss), float(norm)

    @torch.no_grad()
    def dice(self, image, mask):
        pred = torch.cat([self.net(im[:, None]).squeeze(1) > 0 for im in image.split(self.chunk)]).float()
        return (2 * (pred * mask).sum() / (pred.sum() + mask.sum() + 1e-6)).item()


trainer = VolumeTrainer(UNetish())
for step in range(12):
    image, mask = make_scan()
    loss, norm = trainer.step(image, mask)
    if step % 4 == 3:
        print(f"step {step} loss {loss:.3f} grad {norm:.2f} dice {trainer.dice(*make_scan()):.2f}")
"""
