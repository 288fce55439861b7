NAME = 'Trains a hashed n-gram text classifier and averages its weights over the second half of training.'
FAULT = 'A full copy of the weights is kept for every averaging point and all copies are averaged only at the end.'
CURE = 'Keep one running sum of the weights and divide it by the number of averaging points.'
KIND = 'memory'
FAULT_LINES = ['snapshots.append({k: v.clone() for k, v in model.state_dict().items()})', 'averaged = {k: sum(s[k] for s in snapshots) / len(snapshots) for k in snapshots[0]}']
FAULT_CALLS = ['append', 'clone', 'state_dict', 'dictcomp', 'sum']

FAULTY = r'''
import random
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(23)
rng = random.Random(23)

BUCKETS, DIM, TOPICS, STEPS, AVERAGE_EVERY = 6_000, 64, 12, 240, 3

topic_words = [[rng.randrange(6000) for _ in range(150)] for _ in range(TOPICS)]


def document():
    topic = rng.randrange(TOPICS)
    words = [rng.choice(topic_words[topic]) if rng.random() < 0.3 else rng.randrange(6000)
             for _ in range(rng.randint(20, 60))]
    return words, topic


def hashed(words):
    unigrams = [(w * 2654435761) % BUCKETS for w in words]
    bigrams = [(a * 40503 + b * 2654435761 + 17) % BUCKETS for a, b in zip(words, words[1:])]
    return torch.tensor(unigrams + bigrams)


class BagClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(BUCKETS, DIM, mode="mean")
        self.hidden = nn.Sequential(nn.Linear(DIM, 1024), nn.ReLU(), nn.Linear(1024, 2048))
        self.out = nn.Linear(2048, TOPICS)
        nn.init.normal_(self.bag.weight, std=0.2)

    def forward(self, ids, offsets):
        return self.out(F.relu(self.hidden(self.bag(ids, offsets))))


def collate(docs):
    ids = torch.cat([d for d, _ in docs])
    sizes = torch.tensor([0] + [len(d) for d, _ in docs[:-1]])
    return ids, sizes.cumsum(0), torch.tensor([t for _, t in docs])


@torch.no_grad()
def evaluate(model, docs):
    model.eval()
    ids, offsets, y = collate(docs)
    logits = model(ids, offsets)
    model.train()
    return F.cross_entropy(logits, y).item(), (logits.argmax(1) == y).float().mean().item()


corpus = [(hashed(words), topic) for words, topic in (document() for _ in range(7000))]
train, test = corpus[:6000], corpus[6000:]

model = BagClassifier()
opt = torch.optim.Adam(model.parameters(), lr=3e-3, fused=True)
snapshots = []
running = 0.0

for step in range(1, STEPS + 1):
    ids, offsets, y = collate(rng.sample(train, 200))
    loss = F.cross_entropy(model(ids, offsets), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    running += loss.item()
    if step > STEPS // 2 and step % AVERAGE_EVERY == 0:
        snapshots.append({k: v.clone() for k, v in model.state_dict().items()})
    if step % 80 == 0:
        val_loss, val_acc = evaluate(model, test)
        print(f"step {step}: train loss {running / 80:.2f}, test loss {val_loss:.2f}, test acc {val_acc:.2f}")
        running = 0.0

averaged = {k: sum(s[k] for s in snapshots) / len(snapshots) for k in snapshots[0]}
print("averaged over", len(snapshots), "points")
model.load_state_dict(averaged)
val_loss, val_acc = evaluate(model, test)
print(f"averaged weights: test loss {val_loss:.2f}, test acc {val_acc:.2f}")
'''

CURED = r'''
import random
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(23)
rng = random.Random(23)

BUCKETS, DIM, TOPICS, STEPS, AVERAGE_EVERY = 6_000, 64, 12, 240, 3

topic_words = [[rng.randrange(6000) for _ in range(150)] for _ in range(TOPICS)]


def document():
    topic = rng.randrange(TOPICS)
    words = [rng.choice(topic_words[topic]) if rng.random() < 0.3 else rng.randrange(6000)
             for _ in range(rng.randint(20, 60))]
    return words, topic


def hashed(words):
    unigrams = [(w * 2654435761) % BUCKETS for w in words]
    bigrams = [(a * 40503 + b * 2654435761 + 17) % BUCKETS for a, b in zip(words, words[1:])]
    return torch.tensor(unigrams + bigrams)


class BagClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(BUCKETS, DIM, mode="mean")
        self.hidden = nn.Sequential(nn.Linear(DIM, 1024), nn.ReLU(), nn.Linear(1024, 2048))
        self.out = nn.Linear(2048, TOPICS)
        nn.init.normal_(self.bag.weight, std=0.2)

    def forward(self, ids, offsets):
        return self.out(F.relu(self.hidden(self.bag(ids, offsets))))


def collate(docs):
    ids = torch.cat([d for d, _ in docs])
    sizes = torch.tensor([0] + [len(d) for d, _ in docs[:-1]])
    return ids, sizes.cumsum(0), torch.tensor([t for _, t in docs])


@torch.no_grad()
def evaluate(model, docs):
    model.eval()
    ids, offsets, y = collate(docs)
    logits = model(ids, offsets)
    model.train()
    return F.cross_entropy(logits, y).item(), (logits.argmax(1) == y).float().mean().item()


corpus = [(hashed(words), topic) for words, topic in (document() for _ in range(7000))]
train, test = corpus[:6000], corpus[6000:]

model = BagClassifier()
opt = torch.optim.Adam(model.parameters(), lr=3e-3, fused=True)
weight_sum, n_points = {k: torch.zeros_like(v) for k, v in model.state_dict().items()}, 0
running = 0.0

for step in range(1, STEPS + 1):
    ids, offsets, y = collate(rng.sample(train, 200))
    loss = F.cross_entropy(model(ids, offsets), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    running += loss.item()
    if step > STEPS // 2 and step % AVERAGE_EVERY == 0:
        for k, v in model.state_dict().items():
            weight_sum[k].add_(v)
        n_points += 1
    if step % 80 == 0:
        val_loss, val_acc = evaluate(model, test)
        print(f"step {step}: train loss {running / 80:.2f}, test loss {val_loss:.2f}, test acc {val_acc:.2f}")
        running = 0.0

averaged = {k: v / n_points for k, v in weight_sum.items()}
print("averaged over", n_points, "points")
model.load_state_dict(averaged)
val_loss, val_acc = evaluate(model, test)
print(f"averaged weights: test loss {val_loss:.2f}, test acc {val_acc:.2f}")
'''
