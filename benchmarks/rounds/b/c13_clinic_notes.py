NAME = 'cleaning clinic notes before a bag-of-words model'
FAULT = "each note is substituted once per drop word with 650 different patterns, more than re's cache holds, so they are recompiled for every note"
CURE = 'compile one alternation pattern of all drop words once'
KIND = 'time'
FAULT_LINES = ['note = re.sub(rf"\\b{word}\\b", " ", note)', 'cleaned = [clean(n) for n in notes]']
FAULT_CALLS = ['re.sub', 'sub', 'compile', 'clean']
FAULTY = r'''
import random, re
import torch
import torch.nn as nn
from sklearn.feature_extraction.text import HashingVectorizer

torch.manual_seed(8)
rnd = random.Random(8)
N_NOTES, NOTE_WORDS, N_DROP, EPOCHS = 90, 150, 650, 120
vocab = sorted({"".join(rnd.choices("abcdeilmnorstu", k=rnd.randint(4, 9))) for _ in range(4000)})
drop_list = rnd.sample(vocab, N_DROP)
signal = [w for w in vocab if w not in set(drop_list)][:40]

notes, labels = [], []
for _ in range(N_NOTES):
    lab = rnd.randint(0, 1)
    words = rnd.choices(vocab, k=NOTE_WORDS) + rnd.choices(signal[20 * lab:20 * lab + 20], k=8)
    rnd.shuffle(words)
    notes.append(" ".join(words))
    labels.append(lab)

def clean(note):
    for word in drop_list:
        note = re.sub(rf"\b{word}\b", " ", note)
    return re.sub(r"\s+", " ", note).strip()

cleaned = [clean(n) for n in notes]
removed = sum(len(a.split()) - len(b.split()) for a, b in zip(notes, cleaned))

vec = HashingVectorizer(n_features=2 ** 12, alternate_sign=False, norm="l2")
X = torch.tensor(vec.transform(cleaned).toarray(), dtype=torch.float32)
y = torch.tensor(labels)
net = nn.Sequential(nn.Linear(2 ** 12, 64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 2))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(EPOCHS):
    for idx in torch.randperm(N_NOTES).split(30):
        loss = nn.functional.cross_entropy(net(X[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
print("removed words", removed, "loss", round(loss.item(), 4))
'''
CURED = r'''
import random, re
import torch
import torch.nn as nn
from sklearn.feature_extraction.text import HashingVectorizer

torch.manual_seed(8)
rnd = random.Random(8)
N_NOTES, NOTE_WORDS, N_DROP, EPOCHS = 90, 150, 650, 120
vocab = sorted({"".join(rnd.choices("abcdeilmnorstu", k=rnd.randint(4, 9))) for _ in range(4000)})
drop_list = rnd.sample(vocab, N_DROP)
signal = [w for w in vocab if w not in set(drop_list)][:40]

notes, labels = [], []
for _ in range(N_NOTES):
    lab = rnd.randint(0, 1)
    words = rnd.choices(vocab, k=NOTE_WORDS) + rnd.choices(signal[20 * lab:20 * lab + 20], k=8)
    rnd.shuffle(words)
    notes.append(" ".join(words))
    labels.append(lab)

DROP = re.compile(r"\b(?:" + "|".join(drop_list) + r")\b")

def clean(note):
    note = DROP.sub(" ", note)
    return re.sub(r"\s+", " ", note).strip()

cleaned = [clean(n) for n in notes]
removed = sum(len(a.split()) - len(b.split()) for a, b in zip(notes, cleaned))

vec = HashingVectorizer(n_features=2 ** 12, alternate_sign=False, norm="l2")
X = torch.tensor(vec.transform(cleaned).toarray(), dtype=torch.float32)
y = torch.tensor(labels)
net = nn.Sequential(nn.Linear(2 ** 12, 64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 2))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(EPOCHS):
    for idx in torch.randperm(N_NOTES).split(30):
        loss = nn.functional.cross_entropy(net(X[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
print("removed words", removed, "loss", round(loss.item(), 4))
'''
