NAME = 'e04_zero_shot'

FAULT = 'The text embeddings of the class prompts, which do not depend on the images, are computed anew for each image batch.'

CURE = 'Compute the class embeddings once before the loop over image batches.'

KIND = 'time'

FAULT_LINES = [
    '        class_emb = self.embed_classes(self.prompts)',
    '        e = F.normalize(self.text(prompts.flatten(0, 1)), dim=-1)',
]

FAULT_CALLS = [
    'ZeroShotClassifier.embed_classes',
    'TextTower.forward',
    'nn.TransformerEncoder',
]

FAULTY = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
torch.set_num_threads(1)


def encoder(dim, depth):
    layer = nn.TransformerEncoderLayer(dim, 4, dim * 4, dropout=0.0, batch_first=True, norm_first=True)
    return nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)


class TextTower(nn.Module):
    def __init__(self, vocab=1000, dim=192, out=128, length=16):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.pos = nn.Parameter(torch.randn(length, dim) * 0.02)
        self.enc = encoder(dim, 4)
        self.proj = nn.Linear(dim, out)

    def forward(self, tokens):
        h = self.enc(self.tok(tokens) + self.pos)
        return self.proj(h[:, -1])


class ImageTower(nn.Module):
    def __init__(self, dim=192, out=128, patch=8):
        super().__init__()
        self.patch = nn.Conv2d(3, dim, patch, patch)
        self.pos = nn.Parameter(torch.randn(16, dim) * 0.02)
        self.enc = encoder(dim, 4)
        self.proj = nn.Linear(dim, out)

    def forward(self, img):
        h = self.patch(img).flatten(2).transpose(1, 2) + self.pos
        return self.proj(self.enc(h).mean(1))


class ZeroShotClassifier(nn.Module):
    def __init__(self, image, text, prompts):
        super().__init__()
        self.image, self.text = image, text
        self.register_buffer("prompts", prompts)      # (classes, templates, length)
        self.scale = nn.Parameter(torch.tensor(4.6))

    def embed_classes(self, prompts):
        e = F.normalize(self.text(prompts.flatten(0, 1)), dim=-1)
        e = e.view(*prompts.shape[:2], -1).mean(1)
        return F.normalize(e, dim=-1)

    def forward(self, img):
        class_emb = self.embed_classes(self.prompts)
        img_emb = F.normalize(self.image(img), dim=-1)
        return self.scale.exp() * img_emb @ class_emb.T


n_classes, n_templates = 40, 5
prompts = torch.randint(0, 1000, (n_classes, n_templates, 16))
clf = ZeroShotClassifier(ImageTower(), TextTower(), prompts).eval()

images = torch.randn(3072, 3, 32, 32)
labels = torch.randint(0, n_classes, (3072,))
loader = DataLoader(TensorDataset(images, labels), batch_size=64)

top1 = top5 = 0
confidence = []
with torch.inference_mode():
    for img, y in loader:
        logits = clf(img)
        hit = logits.topk(5, dim=1).indices == y[:, None]
        top1 += hit[:, 0].sum().item()
        top5 += hit.any(1).sum().item()
        confidence.append(logits.softmax(1).max(1).values)

print(f"top-1 {top1 / 3072:.4f}  top-5 {top5 / 3072:.4f}  mean confidence {torch.cat(confidence).mean():.5f}")
'''

CURED = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
torch.set_num_threads(1)


def encoder(dim, depth):
    layer = nn.TransformerEncoderLayer(dim, 4, dim * 4, dropout=0.0, batch_first=True, norm_first=True)
    return nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)


class TextTower(nn.Module):
    def __init__(self, vocab=1000, dim=192, out=128, length=16):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.pos = nn.Parameter(torch.randn(length, dim) * 0.02)
        self.enc = encoder(dim, 4)
        self.proj = nn.Linear(dim, out)

    def forward(self, tokens):
        h = self.enc(self.tok(tokens) + self.pos)
        return self.proj(h[:, -1])


class ImageTower(nn.Module):
    def __init__(self, dim=192, out=128, patch=8):
        super().__init__()
        self.patch = nn.Conv2d(3, dim, patch, patch)
        self.pos = nn.Parameter(torch.randn(16, dim) * 0.02)
        self.enc = encoder(dim, 4)
        self.proj = nn.Linear(dim, out)

    def forward(self, img):
        h = self.patch(img).flatten(2).transpose(1, 2) + self.pos
        return self.proj(self.enc(h).mean(1))


class ZeroShotClassifier(nn.Module):
    def __init__(self, image, text, prompts):
        super().__init__()
        self.image, self.text = image, text
        self.register_buffer("prompts", prompts)      # (classes, templates, length)
        self.scale = nn.Parameter(torch.tensor(4.6))

    def embed_classes(self, prompts):
        e = F.normalize(self.text(prompts.flatten(0, 1)), dim=-1)
        e = e.view(*prompts.shape[:2], -1).mean(1)
        return F.normalize(e, dim=-1)

    def forward(self, img, class_emb):
        img_emb = F.normalize(self.image(img), dim=-1)
        return self.scale.exp() * img_emb @ class_emb.T


n_classes, n_templates = 40, 5
prompts = torch.randint(0, 1000, (n_classes, n_templates, 16))
clf = ZeroShotClassifier(ImageTower(), TextTower(), prompts).eval()

images = torch.randn(3072, 3, 32, 32)
labels = torch.randint(0, n_classes, (3072,))
loader = DataLoader(TensorDataset(images, labels), batch_size=64)

top1 = top5 = 0
confidence = []
with torch.inference_mode():
    class_emb = clf.embed_classes(clf.prompts)
    for img, y in loader:
        logits = clf(img, class_emb)
        hit = logits.topk(5, dim=1).indices == y[:, None]
        top1 += hit[:, 0].sum().item()
        top5 += hit.any(1).sum().item()
        confidence.append(logits.softmax(1).max(1).values)

print(f"top-1 {top1 / 3072:.4f}  top-5 {top5 / 3072:.4f}  mean confidence {torch.cat(confidence).mean():.5f}")
'''
