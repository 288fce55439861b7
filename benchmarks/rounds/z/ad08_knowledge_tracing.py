NAME = "Deep knowledge tracing: a GRU predicts whether students answer their next exercise correctly."
FAULT = "The one-hot interactions of all students and steps are expanded at once (int64, then float32) and held for the whole run, although they follow from one small integer each."
CURE = "Keep the integer codes and expand them to one-hot per batch."
KIND = "memory"
FAULT_LINES = ["inputs = F.one_hot(codes, 2 * N_SKILLS).float()", "p = torch.sigmoid(model(inputs[rows, :-1], skill[rows, 1:]))",
               "logits = model(inputs[rows, :-1], skill[rows, 1:])"]
FAULT_CALLS = ["one_hot", "float", "to", "_to_copy", "scatter_", "scatter", "zeros", "copy_"]
FAULTY = r'''
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F
from sklearn.metrics import roc_auc_score

torch.set_num_threads(1)
torch.manual_seed(2)
rng = np.random.default_rng(2)

N_STUDENTS, N_STEPS, N_SKILLS = 2400, 60, 180


def simulate_answers():
    """Students practise runs of exercises on one skill and slowly learn it."""
    ability = rng.normal(0, 1, N_STUDENTS)
    difficulty = rng.normal(0, 1, N_SKILLS)
    skill = np.repeat(rng.integers(0, N_SKILLS, (N_STUDENTS, N_STEPS // 5)), 5, axis=1)
    practice = np.zeros((N_STUDENTS, N_SKILLS), dtype=np.float32)
    correct = np.zeros((N_STUDENTS, N_STEPS), dtype=np.int64)
    who = np.arange(N_STUDENTS)
    for t in range(N_STEPS):
        s = skill[:, t]
        logit = ability - difficulty[s] + 0.5 * practice[who, s]
        correct[:, t] = rng.random(N_STUDENTS) < 1 / (1 + np.exp(-logit))
        practice[who, s] += 1
    return torch.from_numpy(skill), torch.from_numpy(correct)


skill, correct = simulate_answers()
print(f"{skill.numel()} answers, {correct.float().mean().item():.3f} correct")

codes = skill + N_SKILLS * correct
inputs = F.one_hot(codes, 2 * N_SKILLS).float()


class DKT(nn.Module):
    def __init__(self, n_skills, hidden=96):
        super().__init__()
        self.gru = nn.GRU(2 * n_skills, hidden, batch_first=True)
        self.drop = nn.Dropout(0.2)
        self.out = nn.Linear(hidden, n_skills)

    def forward(self, x, next_skill):
        h, _ = self.gru(x)
        per_skill = self.out(self.drop(h))
        return per_skill.gather(-1, next_skill.unsqueeze(-1)).squeeze(-1)


def evaluate(model, students, batch=200):
    model.eval()
    probs, truth = [], []
    with torch.no_grad():
        for rows in students.split(batch):
            p = torch.sigmoid(model(inputs[rows, :-1], skill[rows, 1:]))
            probs.append(p.flatten())
            truth.append(correct[rows, 1:].flatten())
    return roc_auc_score(torch.cat(truth).numpy(), torch.cat(probs).numpy())


order = torch.randperm(N_STUDENTS)
train_ids, val_ids = order[:2000], order[2000:]
model = DKT(N_SKILLS)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

best = 0.0
for epoch in range(5):
    model.train()
    running = 0.0
    for rows in train_ids[torch.randperm(len(train_ids))].split(50):
        logits = model(inputs[rows, :-1], skill[rows, 1:])
        loss = F.binary_cross_entropy_with_logits(logits, correct[rows, 1:].float())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        running += loss.item() * len(rows)
    auc = evaluate(model, val_ids)
    best = max(best, auc)
    print(f"epoch {epoch + 1}: loss {running / len(train_ids):.4f}, val auc {auc:.4f}")
print(f"best auc {best:.4f}")
'''
CURED = FAULTY.replace("inputs = F.one_hot(codes, 2 * N_SKILLS).float()\n", '''

def expand(rows):
    return F.one_hot(codes[rows, :-1], 2 * N_SKILLS).float()

''').replace("model(inputs[rows, :-1], skill[rows, 1:])", "model(expand(rows), skill[rows, 1:])")
