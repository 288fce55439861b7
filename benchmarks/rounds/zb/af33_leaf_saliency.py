NAME = "A small CNN learns to find diseased leaves in synthetic images and its saliency is compared with the true lesions."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS = "The evaluation runs with autograd on and calls autograd.grad per batch, and a pass over the test set has no no_grad; but the gradients with respect to the input are what is being evaluated (saliency), and predictions come from the same single forward pass. loss.item() per step costs nothing on the CPU."
GOOD = r'''
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(17)

SIZE, CLASSES = 48, ["healthy", "rust", "blight"]
yy, xx = torch.meshgrid(torch.linspace(-1, 1, SIZE), torch.linspace(-1, 1, SIZE), indexing="ij")


def make_leaves(n):
    """green ellipse on soil; rust: many small orange spots, blight: one large brown patch"""
    label = torch.randint(0, 3, (n,))
    img = 0.25 + 0.08 * torch.randn(n, 3, SIZE, SIZE)
    leaf = ((xx / 0.9) ** 2 + (yy / 0.65) ** 2 < 1).float()
    green = torch.tensor([0.25, 0.6, 0.2]).view(3, 1, 1)
    img = img * (1 - leaf) + leaf * (green + 0.1 * torch.randn(n, 3, SIZE, SIZE))
    mask = torch.zeros(n, SIZE, SIZE)
    colors = {1: torch.tensor([0.75, 0.45, 0.15]), 2: torch.tensor([0.4, 0.28, 0.15])}
    for c, n_spots, rad in ((1, 9, 0.09), (2, 1, 0.28)):
        rows = (label == c).nonzero().squeeze(1)
        cx = torch.rand(len(rows), n_spots, 1, 1) * 1.2 - 0.6
        cy = torch.rand(len(rows), n_spots, 1, 1) * 0.7 - 0.35
        spots = (((xx - cx) ** 2 + (yy - cy) ** 2) < rad ** 2).any(1)
        mask[rows] = spots.float()
        m = spots[:, None].float()
        img[rows] = img[rows] * (1 - 0.7 * m) + 0.7 * m * colors[c].view(3, 1, 1)
    return img, label, mask


class LeafNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 5, stride=2, padding=2)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.conv3 = nn.Conv2d(32, 48, 3, padding=1)
        self.fc = nn.Linear(48, len(CLASSES))

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = F.relu(self.conv3(x))
        return self.fc(x.mean((2, 3)))


def augment(x):
    if torch.rand(()) < 0.5:
        x = x.flip(3)
    if torch.rand(()) < 0.5:
        x = x.flip(2)
    return x * (0.9 + 0.2 * torch.rand(len(x), 1, 1, 1))


x_train, y_train, _ = make_leaves(1200)
x_test, y_test, m_test = make_leaves(600)
net = LeafNet()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)

for epoch in range(8):
    net.train()
    losses = []
    for idx in torch.randperm(len(x_train)).split(32):
        loss = F.cross_entropy(net(augment(x_train[idx])), y_train[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    print(f"epoch {epoch}: loss {np.mean(losses):.3f}")

# evaluation: accuracy, and whether the gradient points at the lesions
net.eval()
correct, inside, area, n_sick = 0, 0.0, 0.0, 0
for i in range(0, len(x_test), 100):
    x = x_test[i:i + 100].clone().requires_grad_(True)
    y, m = y_test[i:i + 100], m_test[i:i + 100]
    logits = net(x)
    pred = logits.argmax(1)
    correct += (pred == y).sum().item()
    score = logits.gather(1, pred[:, None]).sum()
    grad, = torch.autograd.grad(score, x)
    sal = grad.abs().amax(1)
    sal = sal / sal.sum((1, 2), keepdim=True)
    sick = (y > 0) & (pred == y)
    inside += (sal * m).sum((1, 2))[sick].sum().item()
    area += m.mean((1, 2))[sick].sum().item()
    n_sick += int(sick.sum())
print(f"accuracy {correct / len(x_test):.3f}")
print(f"saliency inside lesions {inside / n_sick:.3f}, lesion area {area / n_sick:.3f}")
'''
