NAME = 'Embeds passages and questions with a small text encoder and measures the recall of retrieval.'
FAULT = 'The list keeps hidden[:, 0], a view, so that the hidden states of all tokens of every batch stay alive.'
CURE = "Write the first token's rows into a table made beforehand (or keep clones of them)."
KIND = 'memory'
FAULT_LINES = [
    'vectors.append(hidden[:, 0])',
    'hidden = encoder(all_ids[start:start + batch_size])',
    'passages = embed(passage_ids)',
    'return self.norm(x + self.ff(x))',
    'x = x + self.attn(y, y, y, need_weights=False)[0]',
]
FAULT_CALLS = [
    'Encoder.forward',
    'embed',
    'list.append',
    'torch.Tensor.__getitem__',
    'layer_norm',
    'Block.forward',
]

FAULTY = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(11)

vocab, d, length = 5000, 128, 128


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.pre = nn.LayerNorm(d)
        self.attn = nn.MultiheadAttention(d, 4, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))
        self.norm = nn.LayerNorm(d)

    def forward(self, x):
        y = self.pre(x)
        x = x + self.attn(y, y, y, need_weights=False)[0]
        return self.norm(x + self.ff(x))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(vocab, d)
        self.pos = nn.Parameter(torch.randn(length, d) * 0.02)
        self.block = Block(d)

    def forward(self, ids):
        return self.block(self.tok(ids) + self.pos[: ids.shape[1]])


encoder = Encoder().eval()


@torch.inference_mode()
def embed(all_ids, batch_size=16):
    vectors = []
    for start in range(0, len(all_ids), batch_size):
        hidden = encoder(all_ids[start:start + batch_size])
        vectors.append(hidden[:, 0])
    return F.normalize(torch.cat(vectors), dim=-1)


# each question is a passage with some of its words replaced
n_passages, n_questions = 6400, 400
passage_ids = torch.randint(0, vocab, (n_passages, length))
source = torch.randperm(n_passages)[:n_questions]
noisy = torch.rand(n_questions, length) < 0.15
question_ids = torch.where(noisy, torch.randint(0, vocab, (n_questions, length)), passage_ids[source])

passages = embed(passage_ids)
questions = embed(question_ids)

scores = questions @ passages.T
hits = {}
for k in (1, 10, 100):
    top = scores.topk(k, dim=1).indices
    hits[k] = (top == source[:, None]).any(1).float().mean().item()
print("recall", {k: round(v, 3) for k, v in hits.items()}, f"mean best {scores.max(1).values.mean().item():.4f}")
"""

CURED = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(11)

vocab, d, length = 5000, 128, 128


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.pre = nn.LayerNorm(d)
        self.attn = nn.MultiheadAttention(d, 4, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))
        self.norm = nn.LayerNorm(d)

    def forward(self, x):
        y = self.pre(x)
        x = x + self.attn(y, y, y, need_weights=False)[0]
        return self.norm(x + self.ff(x))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(vocab, d)
        self.pos = nn.Parameter(torch.randn(length, d) * 0.02)
        self.block = Block(d)

    def forward(self, ids):
        return self.block(self.tok(ids) + self.pos[: ids.shape[1]])


encoder = Encoder().eval()


@torch.inference_mode()
def embed(all_ids, batch_size=16):
    vectors = torch.empty(len(all_ids), d)
    for start in range(0, len(all_ids), batch_size):
        hidden = encoder(all_ids[start:start + batch_size])
        vectors[start:start + batch_size] = hidden[:, 0]
    return F.normalize(vectors, dim=-1)


# each question is a passage with some of its words replaced
n_passages, n_questions = 6400, 400
passage_ids = torch.randint(0, vocab, (n_passages, length))
source = torch.randperm(n_passages)[:n_questions]
noisy = torch.rand(n_questions, length) < 0.15
question_ids = torch.where(noisy, torch.randint(0, vocab, (n_questions, length)), passage_ids[source])

passages = embed(passage_ids)
questions = embed(question_ids)

scores = questions @ passages.T
hits = {}
for k in (1, 10, 100):
    top = scores.topk(k, dim=1).indices
    hits[k] = (top == source[:, None]).any(1).float().mean().item()
print("recall", {k: round(v, 3) for k, v in hits.items()}, f"mean best {scores.max(1).values.mean().item():.4f}")
"""
