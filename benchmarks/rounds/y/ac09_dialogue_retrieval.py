NAME = "Trains a two-sided text-CNN encoder with shared weights that picks the reply to a dialogue turn, with hard negatives mined anew before each epoch."
FAULT = None
CURE = None
KIND = None
LOOKS = "All contexts and replies are encoded again before every epoch under no_grad, which looks like repeated work, but the encoders change during the epoch, so the old vectors would mine stale negatives."
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(29)

VOCAB, LEN, TOPICS = 2000, 24, 60
N_TRAIN, N_TEST = 1600, 400


def make_dialogues(n):
    """A turn and its reply share a topic and a few rare words."""
    topic = torch.randint(0, TOPICS, (n,))
    rare = torch.randint(1200, VOCAB, (n, 3))

    def side(offset):
        own = offset + topic[:, None] * 10 + torch.randint(0, 10, (n, LEN))
        filler = torch.randint(1, 600, (n, LEN))
        ids = torch.where(torch.rand(n, LEN) < 0.4, own, filler)
        ids[:, :3] = rare
        return ids

    return side(600), side(600)


class TextCNN(nn.Module):
    def __init__(self, emb, channels=96, out=96):
        super().__init__()
        self.emb = emb
        self.convs = nn.ModuleList(nn.Conv1d(emb.embedding_dim, channels, k) for k in (1, 3, 5))
        self.proj = nn.Linear(3 * channels, out)

    def forward(self, ids):
        x = self.emb(ids).transpose(1, 2).contiguous()
        pooled = [F.relu(conv(x).max(dim=2).values) for conv in self.convs]
        return F.normalize(self.proj(torch.cat(pooled, dim=1)), dim=1)


class DualEncoder(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        emb = nn.Embedding(VOCAB, dim)
        self.turn = self.reply = TextCNN(emb)
        self.log_scale = nn.Parameter(torch.tensor(2.3))


@torch.no_grad()
def encode_all(encoder, ids, batch_size=200):
    encoder.eval()
    return torch.cat([encoder(b) for b in ids.split(batch_size)])


def mine_negatives(model, turns, replies, per_turn=2):
    """The wrong replies which the current model finds closest to each turn."""
    sim = encode_all(model.turn, turns) @ encode_all(model.reply, replies).t()
    sim.fill_diagonal_(-1.0)
    return sim.topk(per_turn, dim=1).indices


def recall_at(model, turns, replies, k):
    sim = encode_all(model.turn, turns) @ encode_all(model.reply, replies).t()
    gold = sim.diagonal().unsqueeze(1)
    return ((sim > gold).sum(1) < k).float().mean().item()


turns, replies = make_dialogues(N_TRAIN)
test_turns, test_replies = make_dialogues(N_TEST)
model = DualEncoder()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(7):
    negatives = mine_negatives(model, turns, replies)
    model.train()
    total = 0.0
    for idx in torch.randperm(N_TRAIN).split(64):
        hard = negatives[idx].unique()
        pool = torch.cat([idx, hard[~torch.isin(hard, idx)]])
        t = model.turn(turns[idx])
        r = model.reply(replies[pool])
        logits = model.log_scale.exp() * (t @ r.t())
        loss = F.cross_entropy(logits, torch.arange(len(idx)))
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    if epoch % 3 == 0:
        r1 = recall_at(model, test_turns, test_replies, 1)
        print(f"epoch {epoch}: loss {total / N_TRAIN:.3f}, recall@1 {r1:.3f}")

for k in (1, 5):
    print(f"final recall@{k}: {recall_at(model, test_turns, test_replies, k):.3f}")
'''
