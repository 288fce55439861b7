NAME = 'd25_beam_decode'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = ()
FAULT_CALLS = ()
GOOD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Decoder(nn.Module):
    def __init__(self, vocab=6000, d=768):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.cells = nn.ModuleList([nn.LSTMCell(d, d) for _ in range(2)])
        self.out = nn.Linear(d, vocab)

    def forward(self, tok, state):
        x = self.emb(tok)
        new = []
        for cell, (h, c) in zip(self.cells, state):
            h, c = cell(x, (h, c))
            new.append((h, c))
            x = h
        return F.log_softmax(self.out(x), dim=-1), new


@torch.inference_mode()
def beam_search(model, start, width, length):
    zeros = torch.zeros(width, 768)
    state = [(zeros, zeros), (zeros, zeros)]
    tokens = torch.full((width, 1), start)
    score = torch.full((width,), -1e9)
    score[0] = 0.0
    for _ in range(length):
        logp, state = model(tokens[:, -1], state)
        total = score[:, None] + logp
        score, flat = total.flatten().topk(width)
        parent = flat // logp.shape[1]
        tok = flat % logp.shape[1]
        tokens = torch.cat([tokens[parent], tok[:, None]], dim=1)
        state = [(h[parent], c[parent]) for h, c in state]
    return tokens[0], score[0].item()


model = Decoder().eval()
model.out.weight.data.mul_(8)
seq, s = beam_search(model, 0, width=224, length=70)

print("length", len(seq), "log-prob per token %.4f" % (s / len(seq)))
"""
