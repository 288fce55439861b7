NAME = "Self-supervised pretraining of a PointNet-like encoder with a momentum teacher, followed by a linear probe."
FAULT = "The teacher's forward passes record a graph and the backward pass runs through the teacher too, although its weights come only from the moving average and its gradients are never used."
CURE = "Compute the teacher's embeddings under torch.no_grad()."
KIND = "time"
FAULT_LINES = ["    goal = 0.5 * (teacher(view_a) + teacher(view_b))", "    loss.backward()", "teacher = copy.deepcopy(student)"]
FAULT_CALLS = ["teacher", "linear", "backward", "AddmmBackward0", "mm", "forward"]
FAULTY = r'''
import copy
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(5)


def sample_shape(kind, n_pts):
    u, v = torch.rand(2, n_pts)
    a, b = 2 * math.pi * u, 2 * math.pi * v
    if kind == 0:      # sphere
        p = F.normalize(torch.randn(n_pts, 3), dim=1)
    elif kind == 1:    # torus
        p = torch.stack([(1 + 0.35 * b.cos()) * a.cos(), (1 + 0.35 * b.cos()) * a.sin(), 0.35 * b.sin()], 1)
    elif kind == 2:    # cylinder
        p = torch.stack([0.5 * a.cos(), 0.5 * a.sin(), 2 * v - 1], 1)
    else:              # box
        p = 2 * torch.rand(n_pts, 3) - 1
        p[torch.arange(n_pts), torch.randint(0, 3, (n_pts,))] = torch.sign(torch.randn(n_pts))
    return p * (0.8 + 0.4 * torch.rand(3))


def make_clouds(n, n_pts=256):
    y = torch.randint(0, 4, (n,))
    return torch.stack([sample_shape(k, n_pts) for k in y.tolist()]), y


def augment(x):
    n = len(x)
    t = 2 * math.pi * torch.rand(n)
    c, s, z, o = t.cos(), t.sin(), torch.zeros(n), torch.ones(n)
    R = torch.stack([c, -s, z, s, c, z, z, z, o], 1).view(n, 3, 3)
    keep = torch.randperm(x.shape[1])[:192]
    return x[:, keep] @ R + 0.02 * torch.randn(n, len(keep), 3)


class PointEncoder(nn.Module):
    def __init__(self, out=64):
        super().__init__()
        self.point = nn.Sequential(
            nn.Linear(3, 64), nn.LayerNorm(64), nn.ReLU(),
            nn.Linear(64, 128), nn.LayerNorm(128), nn.ReLU(),
            nn.Linear(128, 256))
        self.proj = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, out))

    def features(self, x):
        return self.point(x).amax(dim=1)

    def forward(self, x):
        return F.normalize(self.proj(self.features(x)), dim=1)


clouds, labels = make_clouds(1200)
student = PointEncoder()
teacher = copy.deepcopy(student)
predictor = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64))
opt = torch.optim.AdamW([*student.parameters(), *predictor.parameters()], lr=1e-3)


@torch.no_grad()
def update_teacher(m=0.99):
    for pt, ps in zip(teacher.parameters(), student.parameters()):
        pt.lerp_(ps, 1 - m)


for step in range(100):
    x = clouds[torch.randint(0, len(clouds), (32,))]
    view_a, view_b = augment(x), augment(x)
    guess = F.normalize(predictor(student(augment(x))), dim=1)
    goal = 0.5 * (teacher(view_a) + teacher(view_b))
    loss = (guess - goal).pow(2).sum(dim=1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    update_teacher()
    if step % 25 == 0:
        print(f"step {step}: loss {loss.item():.3f}")

# linear probe on frozen features
with torch.no_grad():
    feats = torch.cat([student.features(c) for c in clouds.split(100)])
feats = (feats - feats.mean(0)) / (feats.std(0) + 1e-6)
W = torch.linalg.lstsq(torch.cat([feats[:900], torch.ones(900, 1)], 1), F.one_hot(labels[:900], 4).float()).solution
pred = (torch.cat([feats[900:], torch.ones(300, 1)], 1) @ W).argmax(1)
print(f"probe accuracy {(pred == labels[900:]).float().mean().item():.2f}")
'''
CURED = FAULTY.replace('''    goal = 0.5 * (teacher(view_a) + teacher(view_b))
''', '''    with torch.no_grad():
        goal = 0.5 * (teacher(view_a) + teacher(view_b))
''')
