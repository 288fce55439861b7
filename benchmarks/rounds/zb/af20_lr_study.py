NAME = "Compares learning rates on a noisy regression task and ensembles the best checkpoint of each run."
FAULT = "A full copy of the weights is kept for each epoch of each run until the end, although only the best epoch per learning rate is used."
CURE = "Drop the weights of the earlier record of a run as soon as a better one comes (keep one copy per learning rate)."
KIND = "memory"
FAULT_LINES = ["        records.append(dict(lr=lr, epoch=epoch, val=val, weights=copy.deepcopy(net.state_dict())))"]
FAULT_CALLS = ["deepcopy", "__deepcopy__", "clone", "append", "run"]
FAULTY = r'''
import copy
import torch
from torch import nn
import pandas as pd

torch.set_num_threads(1)
torch.manual_seed(42)

D, WIDTH, EPOCHS, BATCH = 40, 1200, 14, 250
RATES = [3e-3, 1e-2, 3e-2, 6e-2, 1e-1]


def teacher(x, w1, w2):
    return torch.tanh(x @ w1).matmul(w2)


def make_sets():
    w1, w2 = torch.randn(D, 30) / D ** 0.5, torch.randn(30, 1) / 30 ** 0.5
    sets = []
    for n in (2000, 800, 800):
        x = torch.randn(n, D)
        sets.append((x, teacher(x, w1, w2) + 0.25 * torch.randn(n, 1)))
    return sets


def build():
    return nn.Sequential(
        nn.Linear(D, WIDTH), nn.ReLU(),
        nn.Linear(WIDTH, WIDTH), nn.ReLU(),
        nn.Linear(WIDTH, 1))


@torch.no_grad()
def mse(net, data):
    net.eval()
    return nn.functional.mse_loss(net(data[0]), data[1]).item()


def run(lr, train, valid, seed):
    """One training run; returns a record per epoch."""
    torch.manual_seed(seed)
    net = build()
    opt = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, EPOCHS)
    records = []
    for epoch in range(EPOCHS):
        net.train()
        for idx in torch.randperm(len(train[0])).split(BATCH):
            loss = nn.functional.mse_loss(net(train[0][idx]), train[1][idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
        sched.step()
        val = mse(net, valid)
        records.append(dict(lr=lr, epoch=epoch, val=val, weights=copy.deepcopy(net.state_dict())))
    return records


train, valid, test = make_sets()
study = []
for i, lr in enumerate(RATES):
    study += run(lr, train, valid, seed=100 + i)
    print(f"lr {lr:<6g} final validation mse {study[-1]['val']:.4f}")

frame = pd.DataFrame([{k: r[k] for k in ("lr", "epoch", "val")} for r in study])
print(frame.pivot(index="epoch", columns="lr", values="val").iloc[[0, 4, 9, EPOCHS - 1]].round(4).to_string())

best_rows = frame.groupby("lr")["val"].idxmin()
votes = []
for lr, row in best_rows.items():
    net = build()
    net.load_state_dict(study[row]["weights"])
    single = mse(net, test)
    with torch.no_grad():
        votes.append(net(test[0]))
    print(f"lr {lr:<6g} best epoch {frame.epoch[row]:2d}  test mse {single:.4f}")
ensemble = torch.stack(votes).mean(0)
print(f"ensemble test mse {nn.functional.mse_loss(ensemble, test[1]).item():.4f}")
'''
CURED = FAULTY.replace(
    "        records.append(dict(lr=lr, epoch=epoch, val=val, weights=copy.deepcopy(net.state_dict())))\n",
    "        better = all(val < r[\"val\"] for r in records)\n"
    "        if better:\n"
    "            for r in records:\n"
    "                r[\"weights\"] = None\n"
    "        records.append(dict(lr=lr, epoch=epoch, val=val, weights=copy.deepcopy(net.state_dict()) if better else None))\n")
