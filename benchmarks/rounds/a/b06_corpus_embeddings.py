NAME = 'embed a corpus with a pretrained encoder, then look at its principal axes'
FAULT = 'embeddings are collected with their autograd graphs (no no_grad), so the activations of all batches stay alive'
CURE = 'run the embedding loop under torch.no_grad()'
KIND = 'memory'
FAULT_LINES = ['z = encoder(batch)', 'embeddings.append(z)']
FAULT_CALLS = ['encoder', 'nn.Linear', 'torch.nn.functional.linear', 'torch.nn.functional.gelu', 'list.append']
FAULTY = '''
import torch
import torch.nn as nn

torch.manual_seed(5)
H = 3072
encoder = nn.Sequential(
    nn.Linear(256, H), nn.GELU(),
    nn.Linear(H, H), nn.GELU(),
    nn.Linear(H, 32),
)
encoder.eval()

corpus = torch.randn(22_000, 256) @ torch.diag(torch.linspace(2.0, 0.05, 256))

embeddings = []
for batch in corpus.split(500):
    z = encoder(batch)
    embeddings.append(z)
Z = torch.cat(embeddings).detach()

Z = Z - Z.mean(0)
_, S, V = torch.pca_lowrank(Z, q=6)
share = S.pow(2) / Z.pow(2).sum()
print("explained variance of the first axes:", [round(v, 4) for v in share.tolist()])
'''
CURED = '''
import torch
import torch.nn as nn

torch.manual_seed(5)
H = 3072
encoder = nn.Sequential(
    nn.Linear(256, H), nn.GELU(),
    nn.Linear(H, H), nn.GELU(),
    nn.Linear(H, 32),
)
encoder.eval()

corpus = torch.randn(22_000, 256) @ torch.diag(torch.linspace(2.0, 0.05, 256))

embeddings = []
for batch in corpus.split(500):
    with torch.no_grad():
        z = encoder(batch)
    embeddings.append(z)
Z = torch.cat(embeddings)

Z = Z - Z.mean(0)
_, S, V = torch.pca_lowrank(Z, q=6)
share = S.pow(2) / Z.pow(2).sum()
print("explained variance of the first axes:", [round(v, 4) for v in share.tolist()])
'''
