NAME = "Knowledge tracing: an LSTM predicts pupils' next answers, trained in chunks with carried hidden state."
FAULT = None
CURE = None
KIND = None
LOOKS = "The sequences are padded, a loss value is fetched with .item() at every step, the state is detached per chunk and the AUC is computed each epoch; padding is under 2%, the fetches cost nothing on the CPU and the detaching is what truncates back-propagation."
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.metrics import roc_auc_score
from torch.nn.utils.rnn import pad_sequence

torch.set_num_threads(1)
torch.manual_seed(9)
rng = np.random.default_rng(9)

SKILLS, CHUNK = 40, 50


def simulate_pupils(n):
    """Item response model with practice effects; 194 to 200 answers a pupil."""
    difficulty = np.random.default_rng(0).normal(size=SKILLS)
    length = rng.integers(194, 201, size=n)
    skill = [np.repeat(rng.integers(0, SKILLS, size=67), 3)[:k] for k in length]
    log = pd.DataFrame({"pupil": np.repeat(np.arange(n), length), "skill": np.concatenate(skill)})
    tries = log.groupby(["pupil", "skill"]).cumcount()
    ability = rng.normal(size=n)[log["pupil"]]
    p = 1 / (1 + np.exp(-(ability + 0.35 * tries - difficulty[log["skill"]])))
    log["correct"] = rng.random(len(log)) < p
    return log


def to_tensors(log):
    sizes = log.groupby("pupil").size().tolist()
    skill = torch.from_numpy(log["skill"].to_numpy(copy=True)).split(sizes)
    answer = torch.from_numpy(log["correct"].to_numpy(np.float32, copy=True)).split(sizes)
    return (pad_sequence(skill, batch_first=True),
            pad_sequence(answer, batch_first=True, padding_value=-1.0))


class DKT(nn.Module):
    def __init__(self, emb=48, hid=128):
        super().__init__()
        self.emb = nn.Embedding(2 * SKILLS, emb)
        self.lstm = nn.LSTM(emb, hid, batch_first=True)
        self.out = nn.Linear(hid, SKILLS)

    def forward(self, skill, answer, state=None):
        h, state = self.lstm(self.emb(skill + SKILLS * (answer > 0.5).long()), state)
        return self.out(h), state


def next_answer_loss(logits, nxt_skill, nxt_answer):
    picked = logits.gather(-1, nxt_skill.unsqueeze(-1)).squeeze(-1)
    mask = nxt_answer >= 0
    return F.binary_cross_entropy_with_logits(picked[mask], nxt_answer[mask])


train_s, train_a = to_tensors(simulate_pupils(500))
test_s, test_a = to_tensors(simulate_pupils(150))
model = DKT()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
history = []

for epoch in range(7):
    model.train()
    for idx in torch.randperm(len(train_s)).split(50):
        s, a, state = train_s[idx], train_a[idx], None
        for t in range(0, s.size(1) - 1, CHUNK):
            x_s, x_a = s[:, t:t + CHUNK], a[:, t:t + CHUNK]
            y_s, y_a = s[:, t + 1:t + CHUNK + 1], a[:, t + 1:t + CHUNK + 1]
            logits, state = model(x_s[:, :y_s.size(1)], x_a[:, :y_s.size(1)], state)
            loss = next_answer_loss(logits, y_s, y_a)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            opt.step()
            state = tuple(v.detach() for v in state)
            history.append({"epoch": epoch, "loss": loss.item()})

    model.eval()
    with torch.no_grad():
        logits, _ = model(test_s[:, :-1], test_a[:, :-1])
        prob = logits.gather(-1, test_s[:, 1:, None]).squeeze(-1).sigmoid()
    keep = test_a[:, 1:] >= 0
    auc = roc_auc_score(test_a[:, 1:][keep].numpy(), prob[keep].numpy())
    print(f"epoch {epoch}: test AUC {auc:.3f}")

print(pd.DataFrame(history).groupby("epoch")["loss"].mean().round(4).to_dict())
'''
