NAME = 'Segmentation network for synthetic road tiles'
FAULT = 'The validation loss is summed as a tensor over all batches without no_grad, so the autograd graphs and activations of the whole validation set stay alive.'
CURE = 'Run the validation under torch.no_grad() (or add loss.item()).'
KIND = 'memory'
FAULT_LINES = [
    'val_loss = val_loss + criterion(logits, mask) * len(img)',
    'logits = model(img)',
    'val_loss = 0',
]
FAULT_CALLS = ['validate', 'SegNet.forward', 'aten::convolution', 'aten::conv2d']
FAULTY = r"""import torch
from torch import nn
from torch.utils.data import TensorDataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(37)

SIZE = 96


def road_tiles(n):
    yy, xx = torch.meshgrid(torch.linspace(-1, 1, SIZE), torch.linspace(-1, 1, SIZE), indexing="ij")
    ang = torch.rand(n, 1, 1) * 3.14
    off = torch.rand(n, 1, 1) - 0.5
    bend = torch.rand(n, 1, 1) - 0.5
    along = xx * torch.cos(ang) + yy * torch.sin(ang)
    across = -xx * torch.sin(ang) + yy * torch.cos(ang)
    mask = ((across - off - bend * along ** 2).abs() < 0.12).float()
    texture = nn.functional.avg_pool2d(torch.rand(n, 3, SIZE, SIZE), 5, stride=1, padding=2)
    colour = torch.tensor([0.35, 0.34, 0.36]).view(1, 3, 1, 1)
    img = texture * (1 - 0.6 * mask.unsqueeze(1)) + colour * 0.6 * mask.unsqueeze(1)
    return img + 0.08 * torch.randn_like(img), mask.unsqueeze(1)


class SegNet(nn.Module):
    def __init__(self, ch=12):
        super().__init__()
        self.enc1 = nn.Sequential(nn.Conv2d(3, ch, 3, padding=1), nn.BatchNorm2d(ch), nn.ReLU(),
                                  nn.Conv2d(ch, ch, 3, padding=1), nn.BatchNorm2d(ch), nn.ReLU())
        self.enc2 = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(ch, 2 * ch, 3, padding=1), nn.BatchNorm2d(2 * ch), nn.ReLU())
        self.up = nn.ConvTranspose2d(2 * ch, ch, 2, stride=2)
        self.dec = nn.Sequential(nn.Conv2d(2 * ch, ch, 3, padding=1), nn.ReLU(), nn.Conv2d(ch, 1, 1))

    def forward(self, x):
        a = self.enc1(x)
        b = self.up(self.enc2(a))
        return self.dec(torch.cat([a, b], 1))


train_dl = DataLoader(TensorDataset(*road_tiles(96)), batch_size=8, shuffle=True)
val_dl = DataLoader(TensorDataset(*road_tiles(200)), batch_size=20)

model = SegNet()
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)


def train_epoch():
    model.train()
    running = 0.0
    for img, mask in train_dl:
        loss = criterion(model(img), mask)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item() * len(img)
    return running / len(train_dl.dataset)


def validate():
    model.eval()
    val_loss = 0
    inter = union = 0
    for img, mask in val_dl:
        logits = model(img)
        val_loss = val_loss + criterion(logits, mask) * len(img)
        pred = logits > 0
        inter += (pred & (mask > 0.5)).sum().item()
        union += (pred | (mask > 0.5)).sum().item()
    return val_loss.item() / len(val_dl.dataset), inter / union


for epoch in range(3):
    tr = train_epoch()
    va, iou = validate()
    print(f"epoch {epoch + 1}: train {tr:.4f}  val {va:.4f}  IoU {iou:.3f}")
"""
CURED = r"""import torch
from torch import nn
from torch.utils.data import TensorDataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(37)

SIZE = 96


def road_tiles(n):
    yy, xx = torch.meshgrid(torch.linspace(-1, 1, SIZE), torch.linspace(-1, 1, SIZE), indexing="ij")
    ang = torch.rand(n, 1, 1) * 3.14
    off = torch.rand(n, 1, 1) - 0.5
    bend = torch.rand(n, 1, 1) - 0.5
    along = xx * torch.cos(ang) + yy * torch.sin(ang)
    across = -xx * torch.sin(ang) + yy * torch.cos(ang)
    mask = ((across - off - bend * along ** 2).abs() < 0.12).float()
    texture = nn.functional.avg_pool2d(torch.rand(n, 3, SIZE, SIZE), 5, stride=1, padding=2)
    colour = torch.tensor([0.35, 0.34, 0.36]).view(1, 3, 1, 1)
    img = texture * (1 - 0.6 * mask.unsqueeze(1)) + colour * 0.6 * mask.unsqueeze(1)
    return img + 0.08 * torch.randn_like(img), mask.unsqueeze(1)


class SegNet(nn.Module):
    def __init__(self, ch=12):
        super().__init__()
        self.enc1 = nn.Sequential(nn.Conv2d(3, ch, 3, padding=1), nn.BatchNorm2d(ch), nn.ReLU(),
                                  nn.Conv2d(ch, ch, 3, padding=1), nn.BatchNorm2d(ch), nn.ReLU())
        self.enc2 = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(ch, 2 * ch, 3, padding=1), nn.BatchNorm2d(2 * ch), nn.ReLU())
        self.up = nn.ConvTranspose2d(2 * ch, ch, 2, stride=2)
        self.dec = nn.Sequential(nn.Conv2d(2 * ch, ch, 3, padding=1), nn.ReLU(), nn.Conv2d(ch, 1, 1))

    def forward(self, x):
        a = self.enc1(x)
        b = self.up(self.enc2(a))
        return self.dec(torch.cat([a, b], 1))


train_dl = DataLoader(TensorDataset(*road_tiles(96)), batch_size=8, shuffle=True)
val_dl = DataLoader(TensorDataset(*road_tiles(200)), batch_size=20)

model = SegNet()
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)


def train_epoch():
    model.train()
    running = 0.0
    for img, mask in train_dl:
        loss = criterion(model(img), mask)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item() * len(img)
    return running / len(train_dl.dataset)


@torch.no_grad()
def validate():
    model.eval()
    val_loss = 0
    inter = union = 0
    for img, mask in val_dl:
        logits = model(img)
        val_loss = val_loss + criterion(logits, mask) * len(img)
        pred = logits > 0
        inter += (pred & (mask > 0.5)).sum().item()
        union += (pred | (mask > 0.5)).sum().item()
    return val_loss.item() / len(val_dl.dataset), inter / union


for epoch in range(3):
    tr = train_epoch()
    va, iou = validate()
    print(f"epoch {epoch + 1}: train {tr:.4f}  val {va:.4f}  IoU {iou:.3f}")
"""
