NAME = 'batched decoding of a small transformer'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(53)
VOCAB, DIM, HEADS, LAYERS, BATCH, PROMPT, NEW = 1600, 384, 6, 6, 16, 8, 200

class Layer(nn.Module):
    def __init__(self, max_len):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.qkv, self.proj = nn.Linear(DIM, 3 * DIM), nn.Linear(DIM, DIM)
        self.up, self.down = nn.Linear(DIM, 4 * DIM), nn.Linear(4 * DIM, DIM)
        self.k = torch.zeros(BATCH, HEADS, max_len, DIM // HEADS)
        self.v = torch.zeros_like(self.k)

    def forward(self, x, pos):
        b, n, _ = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, n, 3, HEADS, DIM // HEADS).permute(2, 0, 3, 1, 4)
        self.k[:, :, pos:pos + n] = k
        self.v[:, :, pos:pos + n] = v
        att = F.scaled_dot_product_attention(q, self.k[:, :, :pos + n], self.v[:, :, :pos + n], is_causal=n > 1)
        x = x + self.proj(att.transpose(1, 2).reshape(b, n, DIM))
        return x + self.down(F.relu(self.up(self.n2(x))))

class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, DIM)
        self.pos = nn.Embedding(PROMPT + NEW, DIM)
        self.layers = nn.ModuleList([Layer(PROMPT + NEW) for _ in range(LAYERS)])
        self.norm, self.out = nn.LayerNorm(DIM), nn.Linear(DIM, VOCAB)

    def forward(self, ids, pos):
        x = self.tok(ids) + self.pos(torch.arange(pos, pos + ids.shape[1]))
        for layer in self.layers:
            x = layer(x, pos)
        return self.out(self.norm(x[:, -1]))

@torch.inference_mode()
def generate(model, prompt):
    out = torch.zeros(BATCH, PROMPT + NEW, dtype=torch.long)
    out[:, :PROMPT] = prompt
    done = torch.zeros(BATCH, dtype=torch.bool)
    logits, surprise = model(prompt, 0), 0.0
    for t in range(PROMPT, PROMPT + NEW):
        top, idx = logits.topk(40, dim=-1)
        probs = torch.softmax(top / 0.8, -1)
        pick = torch.multinomial(probs, 1)
        surprise -= probs.gather(1, pick).log().mean().item()
        nxt = idx.gather(1, pick)
        out[:, t] = nxt.squeeze(1)
        done |= nxt.squeeze(1) == 0
        if done.all() or t == PROMPT + NEW - 1:
            break
        logits = model(nxt, t)
    return out, surprise / (t - PROMPT + 1)

model = LM().eval()
for round_ in range(2):
    text, nats = generate(model, torch.randint(1, VOCAB, (BATCH, PROMPT)))
    print("round", round_, "distinct tokens", text.unique().numel(), "nats per token", round(nats, 4))
'''
