NAME = 'Extracts class-token features of synthetic images with a frozen ViT-L in bfloat16 and classifies them by nearest neighbours.'
FAULT = 'The stored class tokens are views of the whole token tensors, so every batch keeps its 197-token output alive on the GPU until the list is concatenated.'
CURE = 'Store a copy of the class token (clone), so that the token tensor is freed.'
KIND = 'memory'
FAULT_LINES = ['feats.append(tokens[:, 0])', 'tokens = vit(imgs)']
FAULT_CALLS = ['append', 'select', '__getitem__', 'layer_norm', 'aten::native_layer_norm', 'vit']
FAULTY = r"""import torch
import torch.nn as nn
import torch.nn.functional as F

dev = 'cuda'
torch.manual_seed(42)

# ViT-L/16
W, L, H = 1024, 24, 16
IMG, P = 224, 16
BS = 256
N_TRAIN_BATCHES, N_TEST_BATCHES = 48, 8
N_CLASSES = 100


class EncoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1 = nn.LayerNorm(W)
        self.ln2 = nn.LayerNorm(W)
        self.in_proj = nn.Linear(W, 3 * W)
        self.out_proj = nn.Linear(W, W)
        self.fc1 = nn.Linear(W, 4 * W)
        self.fc2 = nn.Linear(4 * W, W)

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = self.in_proj(self.ln1(x)).view(b, n, 3, H, W // H).permute(2, 0, 3, 1, 4).unbind(0)
        a = F.scaled_dot_product_attention(q, k, v)
        x = x + self.out_proj(a.transpose(1, 2).flatten(2))
        return x + self.fc2(F.gelu(self.fc1(self.ln2(x))))


class ViT(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch = nn.Linear(3 * P * P, W)
        self.cls = nn.Parameter(torch.randn(1, 1, W) * 0.02)
        self.pos = nn.Parameter(torch.randn(1, (IMG // P) ** 2 + 1, W) * 0.02)
        self.layers = nn.ModuleList([EncoderLayer() for _ in range(L)])
        self.norm = nn.LayerNorm(W)

    def forward(self, img):
        x = self.patch(F.pixel_unshuffle(img, P).flatten(2).transpose(1, 2))
        x = torch.cat([self.cls.expand(len(x), -1, -1), x], 1) + self.pos
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)


with torch.device(dev):
    vit = ViT().to(torch.bfloat16).eval().requires_grad_(False)

prototypes = F.interpolate(torch.randn(N_CLASSES, 3, 14, 14, device=dev), size=(IMG, IMG),
                           mode='bilinear').to(torch.bfloat16)

def load_batch(i):
    # stand-in for the image folder
    g = torch.Generator(dev).manual_seed(i)
    y = torch.randint(0, N_CLASSES, (BS,), generator=g, device=dev)
    noise = torch.randn(BS, 3, IMG, IMG, generator=g, device=dev, dtype=torch.bfloat16)
    return prototypes[y] + noise, y


@torch.inference_mode()
def extract(batch_ids):
    feats, labels = [], []
    for i in batch_ids:
        imgs, y = load_batch(i)
        tokens = vit(imgs)
        feats.append(tokens[:, 0])
        labels.append(y)
    return F.normalize(torch.cat(feats).float(), dim=-1), torch.cat(labels)


bank, bank_y = extract(range(N_TRAIN_BATCHES))
query, query_y = extract(range(10_000, 10_000 + N_TEST_BATCHES))

k = 20
sims, nn_idx = (query @ bank.T).topk(k, dim=1)
votes = torch.zeros(len(query), N_CLASSES, device=dev)
votes.scatter_add_(1, bank_y[nn_idx], (sims / 0.07).exp())
acc = (votes.argmax(1) == query_y).float().mean()
print(f'{len(bank)} features of width {bank.shape[1]}; {k}-NN accuracy {acc.item():.3f}')
"""
CURED = r"""import torch
import torch.nn as nn
import torch.nn.functional as F

dev = 'cuda'
torch.manual_seed(42)

# ViT-L/16
W, L, H = 1024, 24, 16
IMG, P = 224, 16
BS = 256
N_TRAIN_BATCHES, N_TEST_BATCHES = 48, 8
N_CLASSES = 100


class EncoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1 = nn.LayerNorm(W)
        self.ln2 = nn.LayerNorm(W)
        self.in_proj = nn.Linear(W, 3 * W)
        self.out_proj = nn.Linear(W, W)
        self.fc1 = nn.Linear(W, 4 * W)
        self.fc2 = nn.Linear(4 * W, W)

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = self.in_proj(self.ln1(x)).view(b, n, 3, H, W // H).permute(2, 0, 3, 1, 4).unbind(0)
        a = F.scaled_dot_product_attention(q, k, v)
        x = x + self.out_proj(a.transpose(1, 2).flatten(2))
        return x + self.fc2(F.gelu(self.fc1(self.ln2(x))))


class ViT(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch = nn.Linear(3 * P * P, W)
        self.cls = nn.Parameter(torch.randn(1, 1, W) * 0.02)
        self.pos = nn.Parameter(torch.randn(1, (IMG // P) ** 2 + 1, W) * 0.02)
        self.layers = nn.ModuleList([EncoderLayer() for _ in range(L)])
        self.norm = nn.LayerNorm(W)

    def forward(self, img):
        x = self.patch(F.pixel_unshuffle(img, P).flatten(2).transpose(1, 2))
        x = torch.cat([self.cls.expand(len(x), -1, -1), x], 1) + self.pos
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)


with torch.device(dev):
    vit = ViT().to(torch.bfloat16).eval().requires_grad_(False)

prototypes = F.interpolate(torch.randn(N_CLASSES, 3, 14, 14, device=dev), size=(IMG, IMG),
                           mode='bilinear').to(torch.bfloat16)

def load_batch(i):
    # stand-in for the image folder
    g = torch.Generator(dev).manual_seed(i)
    y = torch.randint(0, N_CLASSES, (BS,), generator=g, device=dev)
    noise = torch.randn(BS, 3, IMG, IMG, generator=g, device=dev, dtype=torch.bfloat16)
    return prototypes[y] + noise, y


@torch.inference_mode()
def extract(batch_ids):
    feats, labels = [], []
    for i in batch_ids:
        imgs, y = load_batch(i)
        tokens = vit(imgs)
        feats.append(tokens[:, 0].clone())
        labels.append(y)
    return F.normalize(torch.cat(feats).float(), dim=-1), torch.cat(labels)


bank, bank_y = extract(range(N_TRAIN_BATCHES))
query, query_y = extract(range(10_000, 10_000 + N_TEST_BATCHES))

k = 20
sims, nn_idx = (query @ bank.T).topk(k, dim=1)
votes = torch.zeros(len(query), N_CLASSES, device=dev)
votes.scatter_add_(1, bank_y[nn_idx], (sims / 0.07).exp())
acc = (votes.argmax(1) == query_y).float().mean()
print(f'{len(bank)} features of width {bank.shape[1]}; {k}-NN accuracy {acc.item():.3f}')
"""
SMALL = {"dev = 'cuda'": "dev = 'cpu'", 'W, L, H = 1024, 24, 16': 'W, L, H = 64, 2, 4', 'BS = 256': 'BS = 8', 'N_TRAIN_BATCHES, N_TEST_BATCHES = 48, 8': 'N_TRAIN_BATCHES, N_TEST_BATCHES = 4, 2'}
