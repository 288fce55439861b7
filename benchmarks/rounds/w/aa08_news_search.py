NAME = "Embeds a made-up news archive with a small transformer and measures how well nearest neighbours share the topic."
FAULT = "The first-token vectors kept in a list are views into the whole hidden states, so the full (batch, token, channel) output of every batch stays in memory."
CURE = "Copy the first-token vectors into a preallocated result tensor."
KIND = "memory"
FAULT_LINES = [
    "        vectors.append(hidden[:, 0])",
    "        hidden = encoder(batch)",
]
FAULT_CALLS = ["append", "select", "embed_archive", "encoder", "forward", "transformer_encoder_layer", "_transformer_encoder_layer_fwd", "native_layer_norm", "layer_norm", "linear", "add", "addmm"]
FAULTY = r'''
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(42)
rng = np.random.default_rng(42)

VOCAB, TOKENS, TOPICS = 6000, 128, 12
N_DOCS = 3200

# every topic prefers its own slice of the vocabulary; id 0 is the [DOC] token
topic = rng.integers(0, TOPICS, N_DOCS)
common = rng.zipf(1.4, (N_DOCS, TOKENS)) % (VOCAB // 2) + 1
special = VOCAB // 2 + topic[:, None] * 200 + rng.integers(0, 200, (N_DOCS, TOKENS))
docs = np.where(rng.random((N_DOCS, TOKENS)) < 0.25, special, common)
docs[:, 0] = 0
docs, topic = torch.from_numpy(docs), torch.from_numpy(topic)


class Encoder(nn.Module):
    def __init__(self, dim=256, heads=4):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, dim)
        self.pos = nn.Parameter(0.02 * torch.randn(TOKENS, dim))
        self.mixer = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.ff = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, dim))

    def forward(self, ids):
        x = self.tok(ids) + self.pos[: ids.shape[1]]
        n = self.norm1(x)
        x = x + self.mixer(n, n, n, need_weights=False)[0]
        return x + self.ff(self.norm2(x))


def finetune(encoder, steps=30):
    head = nn.Linear(256, TOPICS)
    params = list(encoder.parameters()) + list(head.parameters())
    opt = torch.optim.AdamW(params, lr=5e-4)
    for step in range(1, steps + 1):
        pick = torch.randint(0, 1000, (24,))
        logits = head(encoder(docs[pick])[:, 0])
        loss = nn.functional.cross_entropy(logits, topic[pick])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 0:
            print(f"step {step}: loss {loss.item():.3f}")


@torch.no_grad()
def embed_archive(encoder, docs, bs=60):
    encoder.eval()
    vectors = []
    for batch in docs.split(bs):
        hidden = encoder(batch)
        vectors.append(hidden[:, 0])
    return nn.functional.normalize(torch.cat(vectors), dim=-1)


encoder = Encoder()
finetune(encoder)
emb = embed_archive(encoder, docs)
print("archive:", tuple(emb.shape))

queries = torch.arange(2200, 3200)
sims = emb[queries] @ emb.T
sims[torch.arange(len(queries)), queries] = -1
near = sims.topk(10, dim=1).indices
precision = (topic[near] == topic[queries][:, None]).float().mean().item()
print(f"precision@10 over {len(queries)} queries: {precision:.4f}")
for q in range(2):
    print("doc", int(queries[q]), "->", near[q, :5].tolist())
'''
CURED = FAULTY.replace("    vectors = []\n    for batch in docs.split(bs):", "    vectors = torch.empty(len(docs), 256)\n    for rows in torch.arange(len(docs)).split(bs):").replace(
    "        hidden = encoder(batch)\n        vectors.append(hidden[:, 0])", "        hidden = encoder(docs[rows])\n        vectors[rows] = hidden[:, 0]").replace(
    "torch.cat(vectors)", "vectors")
