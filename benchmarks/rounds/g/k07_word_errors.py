NAME = 'CTC phoneme recogniser with error-rate evaluation'
FAULT = 'The edit distance is filled by indexing single elements of tensors inside the double Python loop.'
CURE = 'Turn both sequences into Python lists (.tolist()) before the dynamic programme.'
KIND = 'time'
FAULT_LINES = [
    'cost = 0 if ref[i - 1] == hyp[j - 1] else 1',
    'def edit_distance(ref, hyp):',
    'errors += edit_distance(ref, hyp)',
]
FAULT_CALLS = ['edit_distance', 'Tensor.__getitem__', 'aten::select', 'aten::eq', 'aten::is_nonzero']
FAULTY = r"""import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

torch.set_num_threads(1)
torch.manual_seed(13)

N_PHONES, N_MEL = 30, 24
templates = torch.randn(N_PHONES + 1, N_MEL)


def make_utterance():
    n = int(torch.randint(24, 40, (1,)))
    phones = torch.randint(1, N_PHONES + 1, (n,))
    durations = torch.randint(2, 4, (n,))
    frames = templates[phones].repeat_interleave(durations, 0)
    return frames + 0.6 * torch.randn_like(frames), phones


train = [make_utterance() for _ in range(400)]
test = [make_utterance() for _ in range(360)]


class Recogniser(nn.Module):
    def __init__(self, hidden=96):
        super().__init__()
        self.conv = nn.Conv1d(N_MEL, hidden, 5, padding=2)
        self.mix = nn.Conv1d(hidden, hidden, 3, padding=1)
        self.out = nn.Linear(hidden, N_PHONES + 1)

    def forward(self, x):
        h = torch.relu(self.conv(x.transpose(1, 2)))
        h = torch.relu(self.mix(h)).transpose(1, 2)
        return self.out(h).log_softmax(-1)


def batches(data, size, shuffle):
    order = torch.randperm(len(data)).tolist() if shuffle else list(range(len(data)))
    for s in range(0, len(data), size):
        items = [data[i] for i in order[s:s + size]]
        x = pad_sequence([f for f, _ in items], batch_first=True)
        y = pad_sequence([p for _, p in items], batch_first=True)
        xl = torch.tensor([len(f) for f, _ in items])
        yl = torch.tensor([len(p) for _, p in items])
        yield x, y, xl, yl


def edit_distance(ref, hyp):
    prev = list(range(len(hyp) + 1))
    for i in range(1, len(ref) + 1):
        row = [i]
        for j in range(1, len(hyp) + 1):
            cost = 0 if ref[i - 1] == hyp[j - 1] else 1
            row.append(min(prev[j] + 1, row[j - 1] + 1, prev[j - 1] + cost))
        prev = row
    return prev[-1]


@torch.no_grad()
def phone_error_rate(model, data):
    model.eval()
    errors = total = 0
    for x, y, xl, yl in batches(data, 50, shuffle=False):
        best = model(x).argmax(-1)
        for path, n, ref, m in zip(best, xl, y, yl):
            hyp = torch.unique_consecutive(path[:n])
            hyp, ref = hyp[hyp != 0], ref[:m]
            errors += edit_distance(ref, hyp)
            total += len(ref)
    return errors / total


model = Recogniser()
opt = torch.optim.Adam(model.parameters(), lr=4e-3)
ctc = nn.CTCLoss(zero_infinity=True)
for epoch in range(6):
    model.train()
    tot = 0.0
    for x, y, xl, yl in batches(train, 16, shuffle=True):
        loss = ctc(model(x).transpose(0, 1), y, xl, yl)
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item()
    if epoch % 2 == 1:
        per = phone_error_rate(model, test)
        print(f"epoch {epoch + 1}: CTC {tot / 25:.3f}  PER {per:.4f}")
"""
CURED = r"""import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

torch.set_num_threads(1)
torch.manual_seed(13)

N_PHONES, N_MEL = 30, 24
templates = torch.randn(N_PHONES + 1, N_MEL)


def make_utterance():
    n = int(torch.randint(24, 40, (1,)))
    phones = torch.randint(1, N_PHONES + 1, (n,))
    durations = torch.randint(2, 4, (n,))
    frames = templates[phones].repeat_interleave(durations, 0)
    return frames + 0.6 * torch.randn_like(frames), phones


train = [make_utterance() for _ in range(400)]
test = [make_utterance() for _ in range(360)]


class Recogniser(nn.Module):
    def __init__(self, hidden=96):
        super().__init__()
        self.conv = nn.Conv1d(N_MEL, hidden, 5, padding=2)
        self.mix = nn.Conv1d(hidden, hidden, 3, padding=1)
        self.out = nn.Linear(hidden, N_PHONES + 1)

    def forward(self, x):
        h = torch.relu(self.conv(x.transpose(1, 2)))
        h = torch.relu(self.mix(h)).transpose(1, 2)
        return self.out(h).log_softmax(-1)


def batches(data, size, shuffle):
    order = torch.randperm(len(data)).tolist() if shuffle else list(range(len(data)))
    for s in range(0, len(data), size):
        items = [data[i] for i in order[s:s + size]]
        x = pad_sequence([f for f, _ in items], batch_first=True)
        y = pad_sequence([p for _, p in items], batch_first=True)
        xl = torch.tensor([len(f) for f, _ in items])
        yl = torch.tensor([len(p) for _, p in items])
        yield x, y, xl, yl


def edit_distance(ref, hyp):
    prev = list(range(len(hyp) + 1))
    for i in range(1, len(ref) + 1):
        row = [i]
        for j in range(1, len(hyp) + 1):
            cost = 0 if ref[i - 1] == hyp[j - 1] else 1
            row.append(min(prev[j] + 1, row[j - 1] + 1, prev[j - 1] + cost))
        prev = row
    return prev[-1]


@torch.no_grad()
def phone_error_rate(model, data):
    model.eval()
    errors = total = 0
    for x, y, xl, yl in batches(data, 50, shuffle=False):
        best = model(x).argmax(-1)
        for path, n, ref, m in zip(best, xl, y, yl):
            hyp = torch.unique_consecutive(path[:n])
            hyp, ref = hyp[hyp != 0].tolist(), ref[:m].tolist()
            errors += edit_distance(ref, hyp)
            total += len(ref)
    return errors / total


model = Recogniser()
opt = torch.optim.Adam(model.parameters(), lr=4e-3)
ctc = nn.CTCLoss(zero_infinity=True)
for epoch in range(6):
    model.train()
    tot = 0.0
    for x, y, xl, yl in batches(train, 16, shuffle=True):
        loss = ctc(model(x).transpose(0, 1), y, xl, yl)
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item()
    if epoch % 2 == 1:
        per = phone_error_rate(model, test)
        print(f"epoch {epoch + 1}: CTC {tot / 25:.3f}  PER {per:.4f}")
"""
