NAME = "Trains a CNN and GRU captioner on drawn shapes and writes captions greedily for a test set."
FAULT = "Greedy decoding feeds the whole prefix through the GRU and the vocabulary layer again for every new word instead of carrying the hidden state."
CURE = "Feed only the newest word together with the hidden state returned by the previous step."
KIND = "time"
FAULT_LINES = ["            logits, _ = self.decode(state, words)"]
FAULT_CALLS = ["gru", "decode", "caption", "linear", "addmm", "mm"]
FAULTY = r'''
import random
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
random.seed(16)
torch.manual_seed(16)

SHAPES = ["square", "bar", "cross", "frame"]
COLORS = ["red", "green", "blue"]
PLACES = ["left", "right"]
FILLER = ("the picture was taken on a plain dark table and shows nothing else of any "
          "interest to the person who looks at it from above").split()
words = ["<bos>", "<eos>", "a", "on", "side"] + SHAPES + COLORS + PLACES + sorted(set(FILLER) - {"a", "on"})
stoi = {w: i for i, w in enumerate(words)}


def draw(shape, color, place, size=32):
    img = torch.rand(3, size, size) * 0.2
    x0 = random.randint(1, 4) + (0 if place == "left" else 15)
    y0 = random.randint(3, 17)
    c = COLORS.index(color)
    if shape == "square":
        img[c, y0:y0 + 11, x0:x0 + 11] += 0.7
    elif shape == "bar":
        img[c, y0:y0 + 11, x0 + 4:x0 + 7] += 0.7
    elif shape == "cross":
        img[c, y0:y0 + 11, x0 + 4:x0 + 7] += 0.7
        img[c, y0 + 4:y0 + 7, x0:x0 + 11] += 0.7
    else:
        img[c, y0:y0 + 11, x0:x0 + 11] += 0.7
        img[c, y0 + 2:y0 + 9, x0 + 2:x0 + 9] -= 0.7
    return img


def make_split(n):
    imgs, caps = [], []
    for _ in range(n):
        s, c, p = random.choice(SHAPES), random.choice(COLORS), random.choice(PLACES)
        imgs.append(draw(s, c, p))
        text = ["<bos>", "a", c, s, "on", "the", p, "side"] + FILLER + ["<eos>"]
        caps.append(torch.tensor([stoi[w] for w in text]))
    return torch.stack(imgs), torch.stack(caps)


class Captioner(nn.Module):
    def __init__(self, vocab, hidden=192, emb=96):
        super().__init__()
        self.cnn = nn.Sequential(
            nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
            nn.Flatten(), nn.Linear(32 * 64, hidden), nn.Tanh())
        self.emb = nn.Embedding(vocab, emb)
        self.rnn = nn.GRU(emb, hidden, batch_first=True)
        self.head = nn.Linear(hidden, vocab)

    def decode(self, state, words):
        out, state = self.rnn(self.emb(words), state)
        return self.head(out), state

    def forward(self, img, words):
        return self.decode(self.cnn(img).unsqueeze(0), words)[0]

    @torch.no_grad()
    def caption(self, img, max_len):
        state = self.cnn(img).unsqueeze(0)
        words = torch.full((len(img), 1), stoi["<bos>"])
        for _ in range(max_len):
            logits, _ = self.decode(state, words)
            words = torch.cat([words, logits[:, -1].argmax(-1, keepdim=True)], dim=1)
        return words


train_img, train_cap = make_split(1500)
test_img, test_cap = make_split(1200)
T = train_cap.size(1)

model = Captioner(len(words))
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(5):
    total = 0.0
    for idx in torch.randperm(len(train_img)).split(50):
        cap = train_cap[idx]
        logits = model(train_img[idx], cap[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), cap[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    print(f"epoch {epoch + 1}  loss {total / len(train_img):.4f}")

model.eval()
written = torch.cat([model.caption(b, T - 1) for b in test_img.split(100)])
hit = written[:, 1:] == test_cap[:, 1:]
print("word accuracy %.3f, whole captions right %.3f" % (hit.float().mean(), hit.all(1).float().mean()))
print("sample:", " ".join(words[i] for i in written[0, 1:9].tolist()))
'''
CURED = FAULTY.replace("            logits, _ = self.decode(state, words)", "            logits, state = self.decode(state, words[:, -1:])")
