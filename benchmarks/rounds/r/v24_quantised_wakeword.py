NAME = 'Trains a wake-word classifier with 4-bit weights by quantisation-aware training with a straight-through estimator.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'The weights change with every optimizer step and have to be quantised anew in each forward pass, which is cheap beside the matrix products.'

GOOD = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(121)

FRAMES, BANDS, WORDS, LEVELS = 32, 20, 8, 7
N_TRAIN, N_TEST, WIDTH = 6000, 1500, 704


def spectrograms(n, templates):
    y = torch.randint(0, WORDS, (n,))
    speed = torch.randint(0, 5, (n,))
    frame = (torch.arange(FRAMES)[None, :] + speed[:, None]) % FRAMES
    x = templates[y].gather(1, frame[:, :, None].expand(-1, -1, BANDS))
    x = x + 1.2 * torch.randn(n, FRAMES, BANDS)
    return x.flatten(1), y


class RoundWeights(torch.autograd.Function):
    @staticmethod
    def forward(ctx, weight, step):
        scaled = weight / step
        ctx.save_for_backward(scaled.abs() <= LEVELS + 0.5)
        return scaled.round_().clamp_(-LEVELS, LEVELS).mul_(step)

    @staticmethod
    def backward(ctx, grad):
        inside, = ctx.saved_tensors
        return grad * inside, None


class QuantLinear(nn.Linear):
    def __init__(self, n_in, n_out):
        super().__init__(n_in, n_out)
        self.register_buffer("step", self.weight.detach().abs().amax(1, keepdim=True) / LEVELS)

    def forward(self, x):
        return F.linear(x, RoundWeights.apply(self.weight, self.step), self.bias)


class WakeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            QuantLinear(FRAMES * BANDS, WIDTH), nn.BatchNorm1d(WIDTH), nn.ReLU(),
            QuantLinear(WIDTH, WIDTH), nn.BatchNorm1d(WIDTH), nn.ReLU(),
            QuantLinear(WIDTH, WIDTH), nn.BatchNorm1d(WIDTH), nn.ReLU(),
            nn.Linear(WIDTH, WORDS))

    def forward(self, x):
        return self.net(x)


@torch.no_grad()
def evaluate(model, x, y):
    model.eval()
    logits = model(x)
    model.train()
    return F.cross_entropy(logits, y).item(), (logits.argmax(1) == y).float().mean().item()


templates = torch.randn(WORDS, FRAMES, BANDS).cumsum(1) * 0.15
x_train, y_train = spectrograms(N_TRAIN, templates)
x_test, y_test = spectrograms(N_TEST, templates)

model = WakeNet()
opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, nesterov=True)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.05, total_steps=9 * (N_TRAIN // 400))

for epoch in range(9):
    total = torch.zeros(())
    for idx in torch.randperm(N_TRAIN).split(400):
        loss = F.cross_entropy(model(x_train[idx]), y_train[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        total += loss.detach() * len(idx)
    test_loss, test_acc = evaluate(model, x_test, y_test)
    print(f"epoch {epoch}: train {total.item() / N_TRAIN:.3f}, test {test_loss:.3f}, accuracy {test_acc:.3f}")

with torch.no_grad():
    for i, layer in enumerate(m for m in model.net if isinstance(m, QuantLinear)):
        w = RoundWeights.apply(layer.weight, layer.step)
        used = torch.unique((w / layer.step).round()).numel()
        print(f"layer {i}: {used} weight levels, rounding error {(w - layer.weight).abs().mean().item():.5f}")
'''
