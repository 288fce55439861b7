NAME = 'h24_credit_checkpoints'
FAULT = None
CURE = None
KIND = None
LOOKS_LIKE = 'Each epoch validates on the full validation set, deep-copies the weights when they improve, saves a checkpoint with optimizer state to disk and computes an AUC: the net has under 100k weights, so copy, save and evaluation together are a few percent of an epoch; early stopping and the restored best weights really use them.'
GOOD = r'''
import copy
import os
import tempfile
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.metrics import roc_auc_score

torch.set_num_threads(1)
torch.manual_seed(23)

# loan applications: numeric fields with missing values, default flag
N, D = 46000, 40
latent = torch.randn(N, 6)
X = latent @ torch.randn(6, D) + 0.8 * torch.randn(N, D)
risk = 0.9 * latent[:, 0] - 0.7 * latent[:, 1] * latent[:, 2] + 0.5 * latent[:, 3].abs() - 2.0
y = (torch.rand(N) < torch.sigmoid(risk)).float()
missing = torch.rand(N, D) < 0.08
X = torch.where(missing, 0.0, X)
X = torch.cat([X / X.std(0), missing.float()], 1)
tr, va, te = torch.arange(N).split([40000, 3000, 3000])

class CreditNet(nn.Module):
    def __init__(self, width=192):
        super().__init__()
        self.inp = nn.Linear(2 * D, width)
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(2))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.drop = nn.Dropout(0.15)
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        h = self.inp(x)
        for lin, norm in zip(self.blocks, self.norms):
            h = h + self.drop(F.gelu(lin(norm(h))))
        return self.out(h).squeeze(1)

@torch.no_grad()
def evaluate(model, ids):
    model.eval()
    logit = model(X[ids])
    loss = F.binary_cross_entropy_with_logits(logit, y[ids]).item()
    return loss, roc_auc_score(y[ids].numpy(), logit.numpy())

model = CreditNet()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-2)
sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=1)
folder = tempfile.mkdtemp()
best_loss, best_state, bad, patience = float('inf'), None, 0, 4

for epoch in range(12):
    model.train()
    total = 0.0
    for sel in tr[torch.randperm(len(tr))].split(256):
        loss = F.binary_cross_entropy_with_logits(model(X[sel]), y[sel])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(sel)
    val_loss, val_auc = evaluate(model, va)
    sched.step(val_loss)
    print(f"epoch {epoch:2d} train {total / len(tr):.4f} valid {val_loss:.4f} auc {val_auc:.4f}")

    torch.save({'epoch': epoch, 'model': model.state_dict(), 'opt': opt.state_dict()},
               os.path.join(folder, f"epoch_{epoch:02d}.pt"))
    if val_loss < best_loss - 1e-4:
        best_loss, bad = val_loss, 0
        best_state = copy.deepcopy(model.state_dict())
    else:
        bad += 1
        if bad >= patience:
            print("early stop at epoch", epoch)
            break

model.load_state_dict(best_state)
test_loss, test_auc = evaluate(model, te)
print(f"test loss {test_loss:.4f} auc {test_auc:.4f} gini {2 * test_auc - 1:.4f}")
sizes = [os.path.getsize(os.path.join(folder, f)) for f in sorted(os.listdir(folder))]
print(f"{len(sizes)} checkpoints, {np.mean(sizes) / 1024:.0f} KiB each")
'''
