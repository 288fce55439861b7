NAME = "Trains a bidirectional GRU on hand keypoint sequences of sign language gestures with augmentation."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS = "Each batch is warped in time, rotated and jittered again in every epoch, which looks like preprocessing that belongs before the loop; it is random augmentation that must be drawn anew and is only a small part of the time."
GOOD = r'''
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(23)

FRAMES, JOINTS, SIGNS = 40, 42, 40

# ---- every sign is a smooth path of 2 x 21 hand joints ----
anchors = torch.randn(SIGNS, 5, JOINTS * 2) * 0.25
prototypes = F.interpolate(anchors.transpose(1, 2), size=FRAMES, mode="linear", align_corners=True)
prototypes = prototypes.transpose(1, 2).reshape(SIGNS, FRAMES, JOINTS, 2)


def film(n):
    """Sequences as seen by a camera: other signers, shaky keypoints, frames lost by the tracker."""
    sign = torch.randint(0, SIGNS, (n,))
    signer = torch.randn(n, 1, JOINTS, 2) * 0.35
    clips = prototypes[sign] * (1 + 0.2 * torch.randn(n, 1, 1, 1)) + signer
    clips = clips + 0.25 * torch.randn(n, FRAMES, JOINTS, 2)
    lost = torch.rand(n, FRAMES, 1, 1) < 0.1
    return clips.masked_fill(lost, 0.0), sign


def warp_time(clips, strength=0.3):
    n, t = clips.shape[:2]
    knots = torch.rand(n, 1, 6) * 2 * strength + (1 - strength)
    pace = F.interpolate(knots, size=t, mode="linear", align_corners=True).squeeze(1)
    pos = pace.cumsum(1)
    pos = (pos - pos[:, :1]) / (pos[:, -1:] - pos[:, :1]) * (t - 1)
    low = pos.long().clamp(max=t - 2)
    frac = (pos - low)[:, :, None, None]
    row = torch.arange(n)[:, None]
    return torch.lerp(clips[row, low], clips[row, low + 1], frac)


def augment(clips):
    clips = warp_time(clips)
    angle = (torch.rand(len(clips)) - 0.5) * math.pi / 6
    scale = 1 + 0.1 * torch.randn(len(clips))
    c, s = scale * angle.cos(), scale * angle.sin()
    turn = torch.stack([torch.stack([c, -s], 1), torch.stack([s, c], 1)], 1)
    clips = torch.bmm(clips.flatten(1, 2), turn).view_as(clips)
    return clips.add_(torch.randn_like(clips), alpha=0.05)


class SignGRU(nn.Module):
    def __init__(self, hidden=96):
        super().__init__()
        self.norm = nn.LayerNorm(JOINTS * 2)
        self.rnn = nn.GRU(JOINTS * 2, hidden, batch_first=True, bidirectional=True)
        self.score = nn.Linear(2 * hidden, 1)
        self.out = nn.Sequential(nn.Dropout(0.3), nn.Linear(2 * hidden, SIGNS))

    def forward(self, clips):
        h, _ = self.rnn(self.norm(clips.flatten(2)))
        weight = torch.softmax(self.score(h), dim=1)
        return self.out((weight * h).sum(1))


x_train, y_train = film(1500)
x_valid, y_valid = film(300)

model = SignGRU()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01, fused=True)
EPOCHS, BATCH = 8, 50
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, EPOCHS)

for epoch in range(EPOCHS):
    model.train()
    total = 0.0
    for idx in torch.randperm(len(x_train)).split(BATCH):
        clips = augment(x_train[idx])
        loss = F.cross_entropy(model(clips), y_train[idx], label_smoothing=0.1)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        total += loss.item() * len(idx)
    sched.step()

    if epoch % 2 == 1:
        model.eval()
        with torch.no_grad():
            pred = model(x_valid).argmax(1)
        print(f"epoch {epoch + 1:2d}  train loss {total / len(x_train):.3f}  valid acc {(pred == y_valid).float().mean():.3f}")

hits = torch.zeros(SIGNS).index_add_(0, y_valid, (pred == y_valid).float())
print("hardest sign:", int((hits / y_valid.bincount(minlength=SIGNS)).argmin()))
'''
