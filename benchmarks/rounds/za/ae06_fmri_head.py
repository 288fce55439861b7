NAME = "Fits a classification head for three task conditions on top of a fixed 3-D convolutional encoder of randomly shifted brain volumes."
FAULT = "The encoder is never updated but its parameters require gradients, so every backward pass runs through all 3-D convolutions for gradients that nobody uses."
CURE = "Run the encoder under torch.no_grad() (or set requires_grad_(False) on it)."
KIND = "time"
FAULT_LINES = [
    "z = self.encoder(vol)",
    "self.encoder = encoder",
    "loss.backward()",
    "opt = torch.optim.Adam(clf.head.parameters(), lr=1e-3)",
]
FAULT_CALLS = ["backward", "convolution_backward", "ConvolutionBackward0", "loss.backward"]
FAULTY = r'''
import torch
from torch import nn

torch.set_num_threads(1)
gen = torch.Generator().manual_seed(77)
torch.manual_seed(77)

CONDITIONS = ("rest", "faces", "motor")
SIZE = (20, 24, 20)


def simulate_subject(cond, noise=0.3):
    """A blurred blob per condition on top of smooth anatomy."""
    zz, yy, xx = torch.meshgrid(*[torch.linspace(-1, 1, s) for s in SIZE], indexing="ij")
    brain = ((zz ** 2 + yy ** 2 + xx ** 2) < 0.9).float()
    centre = torch.tensor([[0.0, 0.0, 0.0], [0.1, 0.6, -0.3], [0.5, -0.1, 0.3]])[cond]
    centre = centre + 0.08 * torch.randn(3, generator=gen)
    d2 = (zz - centre[0]) ** 2 + (yy - centre[1]) ** 2 + (xx - centre[2]) ** 2
    vol = brain * (1 + 2.0 * torch.exp(-d2 / 0.05))
    return vol + noise * torch.randn(SIZE, generator=gen)


def augment(vol):
    shift = torch.randint(-2, 3, (3,), generator=gen).tolist()
    vol = torch.roll(vol, shift, dims=(2, 3, 4))
    gain = 1 + 0.1 * torch.randn(len(vol), 1, 1, 1, 1, generator=gen)
    return vol * gain


def conv_stage(cin, cout, stride):
    return nn.Sequential(
        nn.Conv3d(cin, cout, 3, stride=stride, padding=1),
        nn.BatchNorm3d(cout, momentum=None),
        nn.ReLU(),
    )


encoder = nn.Sequential(
    conv_stage(1, 12, 1),
    conv_stage(12, 24, 2),
    conv_stage(24, 32, 2),
    nn.AdaptiveAvgPool3d((3, 3, 3)),
    nn.Flatten(),
)
# the random-filter encoder stays as it is, apart from its batch statistics


class ConditionClassifier(nn.Module):
    def __init__(self, encoder, n_out):
        super().__init__()
        self.encoder = encoder
        self.head = nn.Sequential(
            nn.LayerNorm(32 * 27), nn.Linear(32 * 27, 64), nn.ReLU(),
            nn.Dropout(0.2), nn.Linear(64, n_out))

    def forward(self, vol):
        z = self.encoder(vol)
        return self.head(z)


labels = torch.arange(120) % 3
volumes = torch.stack([simulate_subject(int(c)) for c in labels]).unsqueeze(1)
val_labels = torch.arange(24) % 3
val_volumes = torch.stack([simulate_subject(int(c)) for c in val_labels]).unsqueeze(1)

with torch.no_grad():
    for part in volumes.split(30):
        encoder(part)
encoder.eval()

clf = ConditionClassifier(encoder, len(CONDITIONS))
opt = torch.optim.Adam(clf.head.parameters(), lr=1e-3)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(15):
    clf.head.train()
    perm = torch.randperm(len(labels), generator=gen)
    losses = []
    for idx in perm.split(12):
        opt.zero_grad()
        loss = loss_fn(clf(augment(volumes[idx])), labels[idx])
        loss.backward()
        opt.step()
        losses.append(loss.item())
    clf.head.eval()
    with torch.no_grad():
        pred = torch.cat([clf(v) for v in val_volumes.split(12)]).argmax(1)
    acc = (pred == val_labels).float().mean().item()
    if epoch % 3 == 2:
        print(f"epoch {epoch}  loss {sum(losses) / len(losses):.3f}  val acc {acc:.3f}")
print("confusions:", [int(((val_labels == a) & (pred != a)).sum()) for a in range(3)])
'''
CURED = FAULTY.replace('''        z = self.encoder(vol)
''', '''        with torch.no_grad():
            z = self.encoder(vol)
''')
