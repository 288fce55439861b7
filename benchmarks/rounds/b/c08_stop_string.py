NAME = 'sampling a story from a recurrent language model'
FAULT = 'after every token the whole text so far is decoded, cleaned and searched for the stop string'
CURE = 'decode only the last few pieces for the stop check'
KIND = 'time'
FAULT_LINES = ['text = decode(ids)', 'if STOP.search(text):', 'text = "".join(PIECES[i] for i in ids)']
FAULT_CALLS = ['decode', 'search', 're.sub', 'join']
FAULTY = r'''
import re, random
import torch
import torch.nn as nn

torch.manual_seed(9)
rnd = random.Random(9)
N_PIECES, MAX_NEW, TEMP = 512, 6500, 0.9
syl = [c + v for c in "bcdfghklmnprstvz" for v in "aeiou"]
PIECES = [("" if rnd.random() < 0.6 else " ") + "".join(rnd.choices(syl, k=rnd.randint(1, 2))) for _ in range(N_PIECES)]
STOP = re.compile(r"(?:<\|end\|>|THE END\.?)\s*$")

def decode(ids):
    text = "".join(PIECES[i] for i in ids)
    return re.sub(r"\s+", " ", text).strip()

class StoryLM(nn.Module):
    def __init__(self, dim=96, hidden=256):
        super().__init__()
        self.emb = nn.Embedding(N_PIECES, dim)
        self.cell = nn.GRUCell(dim, hidden)
        self.out = nn.Linear(hidden, N_PIECES)

    def forward(self, tok, h):
        h = self.cell(self.emb(tok), h)
        return self.out(h), h

@torch.inference_mode()
def generate(model, start, max_new):
    ids, h = [start], torch.zeros(1, 256)
    for _ in range(max_new):
        logits, h = model(torch.tensor([ids[-1]]), h)
        probs = torch.softmax(logits[0] / TEMP, dim=-1)
        ids.append(torch.multinomial(probs, 1).item())
        text = decode(ids)
        if STOP.search(text):
            break
    return decode(ids)

lm = StoryLM().eval()
story = generate(lm, 3, MAX_NEW)
print(len(story), "characters,", len(set(story.split())), "different words")
print(story[:80])
'''
CURED = r'''
import re, random
import torch
import torch.nn as nn

torch.manual_seed(9)
rnd = random.Random(9)
N_PIECES, MAX_NEW, TEMP = 512, 6500, 0.9
syl = [c + v for c in "bcdfghklmnprstvz" for v in "aeiou"]
PIECES = [("" if rnd.random() < 0.6 else " ") + "".join(rnd.choices(syl, k=rnd.randint(1, 2))) for _ in range(N_PIECES)]
STOP = re.compile(r"(?:<\|end\|>|THE END\.?)\s*$")

def decode(ids):
    text = "".join(PIECES[i] for i in ids)
    return re.sub(r"\s+", " ", text).strip()

class StoryLM(nn.Module):
    def __init__(self, dim=96, hidden=256):
        super().__init__()
        self.emb = nn.Embedding(N_PIECES, dim)
        self.cell = nn.GRUCell(dim, hidden)
        self.out = nn.Linear(hidden, N_PIECES)

    def forward(self, tok, h):
        h = self.cell(self.emb(tok), h)
        return self.out(h), h

@torch.inference_mode()
def generate(model, start, max_new):
    ids, h = [start], torch.zeros(1, 256)
    for _ in range(max_new):
        logits, h = model(torch.tensor([ids[-1]]), h)
        probs = torch.softmax(logits[0] / TEMP, dim=-1)
        ids.append(torch.multinomial(probs, 1).item())
        text = decode(ids[-8:])
        if STOP.search(text):
            break
    return decode(ids)

lm = StoryLM().eval()
story = generate(lm, 3, MAX_NEW)
print(len(story), "characters,", len(set(story.split())), "different words")
print(story[:80])
'''
