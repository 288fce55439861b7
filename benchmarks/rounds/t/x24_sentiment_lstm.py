NAME = 'Trains an LSTM on length-sorted, padded token sequences, logs the loss of every step, clips gradients and keeps a clone of the best weights.'
FAULT = None
CURE = None
KIND = None
WHY = 'The item() call in every step (CPU, nothing to wait for), the gradient clipping and the clone of the best weights (a bare reference would be overwritten by training) are cheap next to the LSTM.'
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r"""import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

torch.set_num_threads(1)
torch.manual_seed(58)

VOCAB, DIM, HIDDEN, CLASSES = 2000, 64, 128, 3


def make_posts(n):
    posts = []
    for _ in range(n):
        label = int(torch.randint(0, CLASSES, ()))
        length = int(torch.randint(15, 70, ()))
        tokens = torch.randint(0, VOCAB, (length,))
        marked = torch.rand(length) < 0.15
        tokens[marked] = 40 * label + torch.randint(0, 40, (int(marked.sum()),))
        posts.append((tokens, label))
    return posts


class PostLSTM(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, DIM)
        self.lstm = nn.LSTM(DIM, HIDDEN, num_layers=2, dropout=0.1)
        self.head = nn.Linear(HIDDEN, CLASSES)

    def forward(self, tokens, last):
        out, _ = self.lstm(self.emb(tokens))
        return self.head(out[last, torch.arange(len(last))])


def make_batches(posts, size):
    posts = sorted(posts, key=lambda post: -len(post[0]))
    for start in range(0, len(posts), size):
        part = posts[start:start + size]
        last = torch.tensor([len(tokens) - 1 for tokens, _ in part])
        yield pad_sequence([tokens for tokens, _ in part]), last, torch.tensor([label for _, label in part])


@torch.no_grad()
def accuracy(model, batches):
    model.eval()
    hits = total = 0
    for tokens, last, y in batches:
        hits += (model(tokens, last).argmax(1) == y).sum().item()
        total += len(y)
    return hits / total


train = list(make_batches(make_posts(1600), 40))
valid = list(make_batches(make_posts(400), 80))
model = PostLSTM()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
log, best, best_state = [], 0.0, None

for epoch in range(6):
    model.train()
    for k in torch.randperm(len(train)).tolist():
        tokens, last, y = train[k]
        loss = nn.functional.cross_entropy(model(tokens, last), y)
        opt.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        log.append((loss.item(), norm.item()))
    score = accuracy(model, valid)
    if score > best:
        best = score
        best_state = {name: value.clone() for name, value in model.state_dict().items()}
    recent = log[-len(train):]
    mean_loss = sum(entry[0] for entry in recent) / len(recent)
    mean_norm = sum(entry[1] for entry in recent) / len(recent)
    print(f"epoch {epoch}: loss {mean_loss:.4f}, gradient norm {mean_norm:.3f}, accuracy {score:.3f}")

model.load_state_dict(best_state)
print(f"best {best:.3f}, checked again {accuracy(model, valid):.3f}, steps logged {len(log)}")
"""
