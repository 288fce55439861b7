NAME = "Classifies synthetic movie reviews with TF-IDF features and a small MLP."
FAULT = "The TF-IDF matrix, of which well under one percent is not zero, is spread out into a dense float64 array of all reviews and kept for the whole run."
CURE = "Keep the matrix sparse and densify only the rows of the current batch."
KIND = "memory"
FAULT_LINES = ["    features = vec.fit_transform(texts).toarray()", "train_x, test_x, train_y, test_y = train_test_split(X, y, test_size=0.2, random_state=0)"]
FAULT_CALLS = ["toarray", "train_test_split", "fit_transform", "featurise", "zeros"]
FAULTY = r'''
import numpy as np
import torch
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(1)
rng = np.random.default_rng(1)

LEXICON = 9000
SYLLABLES = ["ba", "ro", "ti", "mel", "san", "ku", "ven", "do", "lar", "pi", "ghe", "mo", "ster", "fa", "lin", "qua"]


def word(i):
    out = ""
    for _ in range(4):
        i, r = divmod(i, len(SYLLABLES))
        out += SYLLABLES[r]
    return out


lexicon = np.array([word(i) for i in range(LEXICON)])
freq = 1.0 / (np.arange(LEXICON) + 20.0) ** 0.8
tone = rng.normal(0, 0.5, LEXICON)


def write_reviews(n):
    labels = rng.integers(0, 2, n)
    texts = []
    probs = [freq * np.exp(s * tone) for s in (-0.5, 0.5)]
    cum = [np.cumsum(p / p.sum()) for p in probs]
    for lab in labels:
        k = int(rng.gamma(4, 18)) + 10
        ids = np.searchsorted(cum[lab], rng.random(k)).clip(max=LEXICON - 1)
        texts.append(" ".join(lexicon[ids]))
    return texts, labels


def featurise(texts):
    vec = TfidfVectorizer(min_df=2, sublinear_tf=True)
    features = vec.fit_transform(texts).toarray()
    return vec, features


def batch_tensor(rows):
    return torch.tensor(rows, dtype=torch.float32)


texts, labels = write_reviews(7000)
vec, X = featurise(texts)
y = labels.astype(np.float32)
print("reviews x terms:", X.shape)

train_x, test_x, train_y, test_y = train_test_split(X, y, test_size=0.2, random_state=0)

model = nn.Sequential(
    nn.Linear(X.shape[1], 32), nn.ReLU(), nn.Dropout(0.3),
    nn.Linear(32, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
criterion = nn.BCEWithLogitsLoss()

BATCH = 100
for epoch in range(6):
    model.train()
    order = rng.permutation(len(train_y))
    total = 0.0
    for i in range(0, len(order), BATCH):
        idx = order[i:i + BATCH]
        xb = batch_tensor(train_x[idx])
        yb = torch.from_numpy(train_y[idx])
        loss = criterion(model(xb).squeeze(1), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)

    model.eval()
    correct = 0
    with torch.no_grad():
        for i in range(0, len(test_y), BATCH):
            logit = model(batch_tensor(test_x[i:i + BATCH])).squeeze(1).numpy()
            correct += ((logit > 0) == (test_y[i:i + BATCH] > 0.5)).sum()
    print(f"epoch {epoch + 1}  loss {total / len(train_y):.4f}  test accuracy {correct / len(test_y):.4f}")

terms = vec.get_feature_names_out()
with torch.no_grad():
    effect = (model[3].weight @ model[0].weight).squeeze(0).numpy()
print("most positive:", ", ".join(terms[np.argsort(effect)[-4:]]))
'''
CURED = (FAULTY
         .replace("    features = vec.fit_transform(texts).toarray()\n", "    features = vec.fit_transform(texts)\n")
         .replace("    return torch.tensor(rows, dtype=torch.float32)\n", "    return torch.tensor(rows.toarray(), dtype=torch.float32)\n"))
