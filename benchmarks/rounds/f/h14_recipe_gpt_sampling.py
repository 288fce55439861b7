NAME = 'h14_recipe_gpt_sampling'
FAULT = 'The sampling loop always runs max_new tokens although all sequences of the batch have produced the end token after a quarter to three quarters of it; the rest only appends padding.'
CURE = 'Leave the loop when every sequence is done (if done.all(): break).'
KIND = 'time'
FAULT_LINES = [
    '    for pos in range(prompt_len, prompt_len + max_new):',
    '        done |= nxt == EOS',
]
FAULT_CALLS = ['generate', 'forward', 'aten::scaled_dot_product_attention', 'aten::addmm', 'torch.nn.functional.scaled_dot_product_attention', 'torch.nn.functional.linear', 'aten::multinomial', 'aten::topk']
FAULTY = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(31)

VOCAB, PAD, EOS, MAX_LEN = 3000, 0, 1, 384
DIM, HEADS, LAYERS = 192, 6, 4

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.qkv = nn.Linear(DIM, 3 * DIM)
        self.proj = nn.Linear(DIM, DIM)
        self.up, self.down = nn.Linear(DIM, 4 * DIM), nn.Linear(4 * DIM, DIM)

    def forward(self, x, cache, start):
        B, T, _ = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(B, T, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        cache[0][:, :, start:start + T] = k
        cache[1][:, :, start:start + T] = v
        k, v = cache[0][:, :, :start + T], cache[1][:, :, :start + T]
        y = F.scaled_dot_product_attention(q, k, v, is_causal=T > 1)
        x = x + self.proj(y.transpose(1, 2).reshape(B, T, DIM))
        return x + self.down(F.gelu(self.up(self.ln2(x))))

class RecipeGPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, DIM)
        self.pos = nn.Embedding(MAX_LEN, DIM)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.ln = nn.LayerNorm(DIM)
        self.head = nn.Linear(DIM, VOCAB)

    def new_cache(self, batch):
        shape = (batch, HEADS, MAX_LEN, DIM // HEADS)
        return [(torch.zeros(shape), torch.zeros(shape)) for _ in range(LAYERS)]

    def forward(self, ids, cache, start):
        x = self.tok(ids) + self.pos(torch.arange(start, start + ids.shape[1]))
        for block, c in zip(self.blocks, cache):
            x = block(x, c, start)
        return self.head(self.ln(x[:, -1]))

model = RecipeGPT().eval()
with torch.no_grad():
    model.head.bias[PAD] = -20.0
    model.head.bias[EOS] = 1.9

@torch.no_grad()
def generate(prompt, max_new, temperature=0.9, top_k=100, seed=0):
    gen = torch.Generator().manual_seed(seed)
    B, prompt_len = prompt.shape
    out = torch.full((B, prompt_len + max_new), PAD)
    out[:, :prompt_len] = prompt
    cache = model.new_cache(B)
    done = torch.zeros(B, dtype=torch.bool)
    logits = model(prompt, cache, 0)
    for pos in range(prompt_len, prompt_len + max_new):
        vals, idx = (logits / temperature).topk(top_k, dim=-1)
        pick = torch.multinomial(F.softmax(vals, -1), 1, generator=gen)
        nxt = idx.gather(1, pick).squeeze(1)
        nxt = torch.where(done, PAD, nxt)
        out[:, pos] = nxt
        done |= nxt == EOS
        logits = model(nxt[:, None], cache, pos)
    return out

lengths, distinct = [], []
for b in range(5):
    prompt = torch.randint(2, VOCAB, (16, 24))
    out = generate(prompt, max_new=320, seed=b)
    body = out[:, 24:]
    n_tok = (body != PAD).sum(1)
    lengths.append(n_tok)
    distinct.append(len(body[body > EOS].unique()) / int((body > EOS).sum()))
    print(f"batch {b}: tokens {n_tok.tolist()}  checksum {int(body.sum())}")

lengths = torch.cat(lengths).float()
print(f"mean length {lengths.mean():.1f}  max {int(lengths.max())}  distinct-1 {sum(distinct) / len(distinct):.3f}")
'''
CURED = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(31)

VOCAB, PAD, EOS, MAX_LEN = 3000, 0, 1, 384
DIM, HEADS, LAYERS = 192, 6, 4

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.qkv = nn.Linear(DIM, 3 * DIM)
        self.proj = nn.Linear(DIM, DIM)
        self.up, self.down = nn.Linear(DIM, 4 * DIM), nn.Linear(4 * DIM, DIM)

    def forward(self, x, cache, start):
        B, T, _ = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(B, T, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        cache[0][:, :, start:start + T] = k
        cache[1][:, :, start:start + T] = v
        k, v = cache[0][:, :, :start + T], cache[1][:, :, :start + T]
        y = F.scaled_dot_product_attention(q, k, v, is_causal=T > 1)
        x = x + self.proj(y.transpose(1, 2).reshape(B, T, DIM))
        return x + self.down(F.gelu(self.up(self.ln2(x))))

class RecipeGPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, DIM)
        self.pos = nn.Embedding(MAX_LEN, DIM)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.ln = nn.LayerNorm(DIM)
        self.head = nn.Linear(DIM, VOCAB)

    def new_cache(self, batch):
        shape = (batch, HEADS, MAX_LEN, DIM // HEADS)
        return [(torch.zeros(shape), torch.zeros(shape)) for _ in range(LAYERS)]

    def forward(self, ids, cache, start):
        x = self.tok(ids) + self.pos(torch.arange(start, start + ids.shape[1]))
        for block, c in zip(self.blocks, cache):
            x = block(x, c, start)
        return self.head(self.ln(x[:, -1]))

model = RecipeGPT().eval()
with torch.no_grad():
    model.head.bias[PAD] = -20.0
    model.head.bias[EOS] = 1.9

@torch.no_grad()
def generate(prompt, max_new, temperature=0.9, top_k=100, seed=0):
    gen = torch.Generator().manual_seed(seed)
    B, prompt_len = prompt.shape
    out = torch.full((B, prompt_len + max_new), PAD)
    out[:, :prompt_len] = prompt
    cache = model.new_cache(B)
    done = torch.zeros(B, dtype=torch.bool)
    logits = model(prompt, cache, 0)
    for pos in range(prompt_len, prompt_len + max_new):
        vals, idx = (logits / temperature).topk(top_k, dim=-1)
        pick = torch.multinomial(F.softmax(vals, -1), 1, generator=gen)
        nxt = idx.gather(1, pick).squeeze(1)
        nxt = torch.where(done, PAD, nxt)
        out[:, pos] = nxt
        done |= nxt == EOS
        if done.all():
            break
        logits = model(nxt[:, None], cache, pos)
    return out

lengths, distinct = [], []
for b in range(5):
    prompt = torch.randint(2, VOCAB, (16, 24))
    out = generate(prompt, max_new=320, seed=b)
    body = out[:, 24:]
    n_tok = (body != PAD).sum(1)
    lengths.append(n_tok)
    distinct.append(len(body[body > EOS].unique()) / int((body > EOS).sum()))
    print(f"batch {b}: tokens {n_tok.tolist()}  checksum {int(body.sum())}")

lengths = torch.cat(lengths).float()
print(f"mean length {lengths.mean():.1f}  max {int(lengths.max())}  distinct-1 {sum(distinct) / len(distinct):.3f}")
'''
