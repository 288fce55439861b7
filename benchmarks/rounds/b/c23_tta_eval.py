NAME = 'test-time augmentation of a patch classifier'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''
import numpy as np
import torch
import torch.nn as nn
from sklearn.metrics import balanced_accuracy_score, log_loss

torch.manual_seed(52)
N, BATCH, CLASSES = 512, 64, 12
images = torch.rand(N, 3, 32, 32)
labels = np.random.default_rng(0).integers(0, CLASSES, N)

class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.up, self.down = nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)

    def forward(self, x):
        return x + self.down(torch.relu_(self.up(x)))

class PatchNet(nn.Module):
    def __init__(self, dim=256, depth=4):
        super().__init__()
        self.embed = nn.Linear(48, dim)
        self.blocks = nn.Sequential(*[Block(dim) for _ in range(depth)])
        self.head = nn.Linear(dim, CLASSES)

    def forward(self, x):
        p = x.unfold(2, 4, 4).unfold(3, 4, 4)
        p = p.permute(0, 2, 3, 1, 4, 5).reshape(len(x), 64, 48)
        return self.head(self.blocks(self.embed(p)).mean(1))

views = [lambda x: x, lambda x: x.flip(-1), lambda x: x.flip(-2), lambda x: x.transpose(-1, -2)]
model = PatchNet().eval()
chunks = []
with torch.inference_mode():
    for start in range(0, N, BATCH):
        xb = images[start:start + BATCH]
        votes = []
        for view in views:
            logits = model(view(xb).contiguous())
            votes.append(torch.softmax(logits, 1).detach().cpu().numpy().copy())
        chunks.append(np.mean(np.stack(votes), axis=0))
        print(f"{start + len(xb)}/{N}", round(float(chunks[-1].max(1).mean()), 4))
probs = np.concatenate(chunks).astype(np.float64)
probs /= probs.sum(1, keepdims=True)
print("balanced accuracy", round(balanced_accuracy_score(labels, probs.argmax(1)), 4),
      "log loss", round(log_loss(labels, probs, labels=list(range(CLASSES))), 4))
'''
