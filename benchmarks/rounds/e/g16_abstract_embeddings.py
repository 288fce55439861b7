NAME = 'g16_abstract_embeddings'
FAULT = "The first-token vectors are kept as views of the encoder output, and each of them keeps the storage of its batch's whole (batch, tokens, dim) output alive."
CURE = "Copy the first-token slice into a preallocated result (or clone it) so that the batch's full output is freed."
KIND = 'memory'
FAULT_LINES = [
    '        pooled.append(h[:, 0])',
    '        h = encoder(emb(chunk) + pos)',
]
FAULT_CALLS = ['torch.nn.TransformerEncoder.forward', 'embed_corpus', 'torch.nn.Module.__call__', 'aten::select', 'torch.Tensor.__getitem__', 'list.append']

FAULTY = r'''
import numpy as np
import torch
import torch.nn as nn
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

torch.set_num_threads(1)
torch.manual_seed(8)
rng = np.random.default_rng(8)

# "abstracts": 6 topics over 3000 token ids, already padded to 96
V, T, n_docs, n_topics = 3000, 96, 18000, 6
topic = rng.integers(0, n_topics, n_docs)
tokens = rng.integers(10, V, size=(n_docs, T))
own = rng.random((n_docs, T)) < 0.7
lo = 10 + topic[:, None] * 40
tokens = np.where(own, lo + rng.integers(0, 40, size=(n_docs, T)), tokens)
tokens[:, 0] = 1                      # [CLS]
tokens = torch.from_numpy(tokens)

d = 96
emb = nn.Embedding(V, d)
pos = 0.1 * torch.randn(1, T, d)
encoder = nn.TransformerEncoder(
    nn.TransformerEncoderLayer(d, nhead=4, dim_feedforward=256, dropout=0.0, batch_first=True),
    num_layers=1,
).eval()


@torch.inference_mode()
def embed_corpus(tokens, bs=100):
    pooled = []
    for chunk in tokens.split(bs):
        h = encoder(emb(chunk) + pos)
        pooled.append(h[:, 0])
    return torch.cat(pooled)


vec = embed_corpus(tokens)
vec = vec - vec.mean(0)
vec = vec / vec.norm(dim=1, keepdim=True)
print(vec.shape, "mean |cos| to first doc: %.4f" % (vec @ vec[0]).abs().mean().item())

labels = KMeans(n_topics, n_init=2, random_state=0).fit_predict(vec.numpy())
print("clusters:", np.sort(np.bincount(labels)))
print("ARI vs topic: %.3f" % adjusted_rand_score(topic, labels))

# nearest neighbour agreement on a subset
sub = vec[:2000]
nn_idx = (sub @ sub.T).fill_diagonal_(-1).argmax(1).numpy()
print("1-NN topic agreement: %.3f" % (topic[:2000][nn_idx] == topic[:2000]).mean())
'''

CURED = r'''
import numpy as np
import torch
import torch.nn as nn
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

torch.set_num_threads(1)
torch.manual_seed(8)
rng = np.random.default_rng(8)

# "abstracts": 6 topics over 3000 token ids, already padded to 96
V, T, n_docs, n_topics = 3000, 96, 18000, 6
topic = rng.integers(0, n_topics, n_docs)
tokens = rng.integers(10, V, size=(n_docs, T))
own = rng.random((n_docs, T)) < 0.7
lo = 10 + topic[:, None] * 40
tokens = np.where(own, lo + rng.integers(0, 40, size=(n_docs, T)), tokens)
tokens[:, 0] = 1                      # [CLS]
tokens = torch.from_numpy(tokens)

d = 96
emb = nn.Embedding(V, d)
pos = 0.1 * torch.randn(1, T, d)
encoder = nn.TransformerEncoder(
    nn.TransformerEncoderLayer(d, nhead=4, dim_feedforward=256, dropout=0.0, batch_first=True),
    num_layers=1,
).eval()


@torch.inference_mode()
def embed_corpus(tokens, bs=100):
    pooled = torch.empty(len(tokens), d)
    for chunk, dst in zip(tokens.split(bs), pooled.split(bs)):
        h = encoder(emb(chunk) + pos)
        dst.copy_(h[:, 0])
    return pooled


vec = embed_corpus(tokens)
vec = vec - vec.mean(0)
vec = vec / vec.norm(dim=1, keepdim=True)
print(vec.shape, "mean |cos| to first doc: %.4f" % (vec @ vec[0]).abs().mean().item())

labels = KMeans(n_topics, n_init=2, random_state=0).fit_predict(vec.numpy())
print("clusters:", np.sort(np.bincount(labels)))
print("ARI vs topic: %.3f" % adjusted_rand_score(topic, labels))

# nearest neighbour agreement on a subset
sub = vec[:2000]
nn_idx = (sub @ sub.T).fill_diagonal_(-1).argmax(1).numpy()
print("1-NN topic agreement: %.3f" % (topic[:2000][nn_idx] == topic[:2000]).mean())
'''
