NAME = 'Estimates the uncertainty of an image classifier by repeated passes with dropout switched on.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []

GOOD = r"""
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(50)

n_images, n_pass, n_grade = 96, 88, 5

g = torch.linspace(-1, 1, 56)
disc = (g[:, None] ** 2 + g[None, :] ** 2 < 0.8).float()
images = (disc * (0.5 + 0.2 * torch.randn(n_images, 3, 56, 56))).contiguous(memory_format=torch.channels_last)

net = nn.Sequential(
    nn.Dropout(0.1),
    nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(inplace=True), nn.MaxPool2d(2),
    nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(inplace=True), nn.MaxPool2d(2),
    nn.Conv2d(64, 128, 3, padding=1), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
    nn.Dropout(0.4), nn.Linear(128, n_grade),
).to(memory_format=torch.channels_last)
for m in net:
    if isinstance(m, (nn.Conv2d, nn.Linear)):
        nn.init.kaiming_normal_(m.weight, nonlinearity="relu")

net.eval()
for m in net.modules():
    if isinstance(m, nn.Dropout):
        m.train()


@torch.inference_mode()
def predict(x):
    return net(x).softmax(-1)


probs = []
for k in range(n_pass):
    probs.append(predict(images))
probs = torch.stack(probs)

mean = probs.mean(0)
entropy = -(mean * mean.clamp(min=1e-9).log()).sum(-1)
expected = -(probs * probs.clamp(min=1e-9).log()).sum(-1).mean(0)
information = entropy - expected
ask = information.topk(8).indices.sort().values
print(f"entropy {entropy.mean().item():.4f}, information {information.mean().item():.4f}, referred {ask.tolist()}")
"""
