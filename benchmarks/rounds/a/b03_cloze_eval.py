NAME = 'last-word prediction accuracy of a small language model (inference only)'
FAULT = 'the vocabulary head is applied to all positions although only the logits of the last one are used'
CURE = 'slice the last hidden state before the vocabulary projection'
KIND = 'time'
FAULT_LINES = ['logits = model(ids)[:, -1]', 'return self.lm_head(h)']
FAULT_CALLS = ['torch.nn.functional.linear', 'nn.Linear', 'lm_head', 'aten::addmm', 'CausalLM.forward']
FAULTY = '''
import torch
import torch.nn as nn

torch.manual_seed(3)
VOCAB, D, L, B, N_BATCH = 12_000, 256, 48, 32, 30


class CausalLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, D)
        self.pos = nn.Parameter(torch.randn(L, D) * 0.02)
        layer = nn.TransformerEncoderLayer(D, 4, 4 * D, dropout=0.0, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(D)
        self.lm_head = nn.Linear(D, VOCAB)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(L))

    def forward(self, ids):
        h = self.tok(ids) + self.pos[: ids.size(1)]
        h = self.blocks(h, mask=self.mask[: ids.size(1), : ids.size(1)], is_causal=True)
        h = self.norm(h)
        return self.lm_head(h)


model = CausalLM().eval()
contexts = torch.randint(0, VOCAB, (N_BATCH, B, L))
answers = torch.randint(0, VOCAB, (N_BATCH, B))

hits, nll, n = 0, 0.0, 0
with torch.no_grad():
    for ids, ans in zip(contexts, answers):
        logits = model(ids)[:, -1]
        logp = logits.log_softmax(-1)
        nll -= logp.gather(1, ans[:, None]).sum().item()
        hits += (logits.topk(5, dim=-1).indices == ans[:, None]).any(1).sum().item()
        n += len(ans)

print(f"cloze: top-5 acc {hits / n:.4f}, nll {nll / n:.3f}, {n} items")
'''
CURED = '''
import torch
import torch.nn as nn

torch.manual_seed(3)
VOCAB, D, L, B, N_BATCH = 12_000, 256, 48, 32, 30


class CausalLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, D)
        self.pos = nn.Parameter(torch.randn(L, D) * 0.02)
        layer = nn.TransformerEncoderLayer(D, 4, 4 * D, dropout=0.0, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(D)
        self.lm_head = nn.Linear(D, VOCAB)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(L))

    def forward(self, ids):
        h = self.tok(ids) + self.pos[: ids.size(1)]
        h = self.blocks(h, mask=self.mask[: ids.size(1), : ids.size(1)], is_causal=True)
        h = self.norm(h)
        return self.lm_head(h[:, -1])


model = CausalLM().eval()
contexts = torch.randint(0, VOCAB, (N_BATCH, B, L))
answers = torch.randint(0, VOCAB, (N_BATCH, B))

hits, nll, n = 0, 0.0, 0
with torch.no_grad():
    for ids, ans in zip(contexts, answers):
        logits = model(ids)
        logp = logits.log_softmax(-1)
        nll -= logp.gather(1, ans[:, None]).sum().item()
        hits += (logits.topk(5, dim=-1).indices == ans[:, None]).any(1).sum().item()
        n += len(ans)

print(f"cloze: top-5 acc {hits / n:.4f}, nll {nll / n:.3f}, {n} items")
'''
