NAME = 'Fine-tunes a small GPT on prompt/answer pairs in bfloat16, with the prompt tokens masked out of the loss.'
FAULT = 'The vocabulary projection and the cross entropy run over all 1024 positions although only the last 128 (the answers) carry labels; the logits of ignored positions make up most of the peak memory.'
CURE = 'Cut the hidden states and the labels down to the answer positions before the vocabulary projection.'
KIND = 'memory'
FAULT_LINES = ['logits = F.linear(h, self.tok.weight)', 'loss = F.cross_entropy(logits.flatten(0, 1).float(), labels.flatten(), ignore_index=-100)', 'loss = model(x, y)', 'loss.backward()']
FAULT_CALLS = ['linear', 'cross_entropy', 'float', 'aten::to', 'aten::_to_copy', 'aten::_log_softmax', 'aten::_log_softmax_backward_data', 'aten::mm', 'backward']
FAULTY = r"""import torch, time
from torch import nn
from torch.nn import functional as F

device = 'cuda'
torch.manual_seed(1337)

VOCAB, N_EMBD, N_LAYER, N_HEAD = 64000, 1024, 8, 16
SEQ, ANSWER = 1024, 128          # answers sit at the end, prompts are left-padded
BATCH = 16
STEPS = 75

class SelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(N_EMBD, 3 * N_EMBD, bias=False)
        self.o = nn.Linear(N_EMBD, N_EMBD, bias=False)
    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).split(C, dim=2)
        q, k, v = (t.view(B, T, N_HEAD, C // N_HEAD).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(y.transpose(1, 2).reshape(B, T, C))

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(N_EMBD), nn.LayerNorm(N_EMBD)
        self.att = SelfAttention()
        self.ff = nn.Sequential(nn.Linear(N_EMBD, 4 * N_EMBD), nn.GELU(), nn.Linear(4 * N_EMBD, N_EMBD))
    def forward(self, x):
        x = x + self.att(self.ln1(x))
        return x + self.ff(self.ln2(x))

class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, N_EMBD)
        self.pos = nn.Embedding(SEQ, N_EMBD)
        nn.init.normal_(self.tok.weight, std=0.02); nn.init.normal_(self.pos.weight, std=0.02)
        self.layers = nn.ModuleList([Layer() for _ in range(N_LAYER)])
        self.ln_f = nn.LayerNorm(N_EMBD)

    def forward(self, idx, labels):
        h = self.tok(idx) + self.pos.weight[:idx.shape[1]]
        for layer in self.layers:
            h = layer(h)
        h = self.ln_f(h)
        logits = F.linear(h, self.tok.weight)
        loss = F.cross_entropy(logits.flatten(0, 1).float(), labels.flatten(), ignore_index=-100)
        return loss

# instruction data: the answer repeats tokens of the prompt
n_examples = 512
data = torch.randint(0, VOCAB, (n_examples, SEQ + 1), device=device)
data[:, -ANSWER:] = data[:, :ANSWER]

def get_batch():
    rows = torch.randint(0, n_examples, (BATCH,), device=device)
    seq = data[rows]
    x, y = seq[:, :-1], seq[:, 1:].clone()
    y[:, :-ANSWER] = -100         # no loss on the prompt
    return x, y

with torch.device(device):
    model = GPT()
optim = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95), fused=True)

history = []
t0 = time.time()
for step in range(STEPS):
    x, y = get_batch()
    with torch.autocast(device, dtype=torch.bfloat16):
        loss = model(x, y)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optim.step()
    optim.zero_grad(set_to_none=True)
    history.append(loss.detach())

history = torch.stack(history).tolist()
print(f'loss {history[0]:.4f} -> {history[-1]:.4f} in {time.time() - t0:.1f} s')
"""
CURED = r"""import torch, time
from torch import nn
from torch.nn import functional as F

device = 'cuda'
torch.manual_seed(1337)

VOCAB, N_EMBD, N_LAYER, N_HEAD = 64000, 1024, 8, 16
SEQ, ANSWER = 1024, 128          # answers sit at the end, prompts are left-padded
BATCH = 16
STEPS = 75

class SelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(N_EMBD, 3 * N_EMBD, bias=False)
        self.o = nn.Linear(N_EMBD, N_EMBD, bias=False)
    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).split(C, dim=2)
        q, k, v = (t.view(B, T, N_HEAD, C // N_HEAD).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(y.transpose(1, 2).reshape(B, T, C))

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(N_EMBD), nn.LayerNorm(N_EMBD)
        self.att = SelfAttention()
        self.ff = nn.Sequential(nn.Linear(N_EMBD, 4 * N_EMBD), nn.GELU(), nn.Linear(4 * N_EMBD, N_EMBD))
    def forward(self, x):
        x = x + self.att(self.ln1(x))
        return x + self.ff(self.ln2(x))

class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, N_EMBD)
        self.pos = nn.Embedding(SEQ, N_EMBD)
        nn.init.normal_(self.tok.weight, std=0.02); nn.init.normal_(self.pos.weight, std=0.02)
        self.layers = nn.ModuleList([Layer() for _ in range(N_LAYER)])
        self.ln_f = nn.LayerNorm(N_EMBD)

    def forward(self, idx, labels):
        h = self.tok(idx) + self.pos.weight[:idx.shape[1]]
        for layer in self.layers:
            h = layer(h)
        h = self.ln_f(h)
        h, labels = h[:, -ANSWER:], labels[:, -ANSWER:]
        logits = F.linear(h, self.tok.weight)
        loss = F.cross_entropy(logits.flatten(0, 1).float(), labels.flatten(), ignore_index=-100)
        return loss

# instruction data: the answer repeats tokens of the prompt
n_examples = 512
data = torch.randint(0, VOCAB, (n_examples, SEQ + 1), device=device)
data[:, -ANSWER:] = data[:, :ANSWER]

def get_batch():
    rows = torch.randint(0, n_examples, (BATCH,), device=device)
    seq = data[rows]
    x, y = seq[:, :-1], seq[:, 1:].clone()
    y[:, :-ANSWER] = -100         # no loss on the prompt
    return x, y

with torch.device(device):
    model = GPT()
optim = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95), fused=True)

history = []
t0 = time.time()
for step in range(STEPS):
    x, y = get_batch()
    with torch.autocast(device, dtype=torch.bfloat16):
        loss = model(x, y)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optim.step()
    optim.zero_grad(set_to_none=True)
    history.append(loss.detach())

history = torch.stack(history).tolist()
print(f'loss {history[0]:.4f} -> {history[-1]:.4f} in {time.time() - t0:.1f} s')
"""
SMALL = {"device = 'cuda'": "device = 'cpu'", 'VOCAB, N_EMBD, N_LAYER, N_HEAD = 64000, 1024, 8, 16': 'VOCAB, N_EMBD, N_LAYER, N_HEAD = 1000, 64, 2, 4', 'SEQ, ANSWER = 1024, 128': 'SEQ, ANSWER = 128, 16', 'BATCH = 16': 'BATCH = 4', 'STEPS = 75': 'STEPS = 4'}
