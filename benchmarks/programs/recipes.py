"""How each program becomes a notebook: cuts, arguments, data, and the best fix that was measured.

The programs run as they are published. Numbers that make them large are changed, and what torch 2 no longer has.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.observer import stand_ins
from benchmarks.observer.adapters import ADAPTERS
from benchmarks.programs.notebook import Recipe
from benchmarks.programs.sentences import sentence_pairs


def _results_folder(folder: Path) -> None:
    (folder / "results").mkdir()


def _text(folder: Path) -> None:
    (folder / "input.txt").write_text(stand_ins.text(300_000), encoding="utf-8")


def _novel(folder: Path) -> None:
    (folder / "data").mkdir()
    (folder / "data" / "anna.txt").write_text(stand_ins.text(100_000), encoding="utf-8")


def _papers(folder: Path) -> None:
    stand_ins.write_citations(folder / "cora", papers=600)


def _sentences(folder: Path) -> None:
    data = folder.parent / "data"
    data.mkdir()
    (data / "eng-fra.txt").write_text(sentence_pairs(2_000), encoding="utf-8")


RECIPES = {
    "vae": Recipe(
        fix="data made tensors once 33–38%; fused Adam 13%",
        fix_lines=("for batch_idx, (data, _) in enumerate(train_loader)",),
        opened=("if __name__",),
        cuts=("class VAE", "model = VAE()", "for epoch in range(1"),
        arguments=("--epochs=8",),
        images=(7_680, 1_024),
        prepare=_results_folder,
    ),
    "wgan_gp": Recipe(
        fix="data made once 18–20%; fused Adam 6–9%",
        fix_lines=("for i, (imgs, _) in enumerate(dataloader)",),
        cuts=("class Generator", "# Loss weight", "batches_done = 0"),
        arguments=("--n_epochs=6",),
        images=(3_840, 0),
    ),
    "mnist": Recipe(
        fix="channels_last 8–10%",
        fix_lines=(
            "x = self.conv1(x)",
            "x = self.conv2(x)",
            "x = F.max_pool2d(x, 2)",
            "output = model(data)",
            "loss.backward()",
        ),
        fix_calls=("conv2d", "max_pool2d"),
        opened=("def main",),
        dropped=("if __name__",),
        cuts=("class Net", "# Training settings", "for epoch in range(1"),
        arguments=("--epochs=3",),
        images=(1_920, 500),
    ),
    "seq2seq": Recipe(
        fix="fused Adam 13–14%; batched attention 8–11%",
        fix_lines=(
            "encoder_optimizer.step()",
            "decoder_optimizer.step()",
            "attn_energies[i] = self.score",
            "energy = self.attn(encoder_output)",
            "energy = hidden",
        ),
        cells=(4, 6, 10, 12, 14, 16, 18, 20, 23, 30, 32, 36, 38, 40, 42, 44),
        edits=(
            ("USE_CUDA = True", "USE_CUDA = False"),
            ("energy = hidden.dot(energy)", "energy = hidden.squeeze(0).dot(energy.squeeze(0))"),
            ("clip_grad_norm(", "clip_grad_norm_("),
            ("loss.data[0] /", "loss.item() /"),
            ("hidden_size = 500", "hidden_size = 256"),
            ("n_epochs = 50000", "n_epochs = 240"),
        ),
        prepare=_sentences,
    ),
    "gpt": Recipe(
        fix="one qkv product + SDPA 34–37%",
        fix_lines=(
            "k = self.key(x)",
            "q = self.query(x)",
            "v = self.value(x)",
            "wei = ",
            "out = wei @ v",
            "out = torch.cat([h(x) for h in self.heads]",
        ),
        cuts=("class Head", "model = GPTLanguageModel()", "for iter in range"),
        edits=ADAPTERS["gpt"].edits,
        prepare=_text,
    ),
    "actor_critic": Recipe(
        fix="`validate_args=False` 17%; fused Adam 5.5%",
        fix_lines=("m = Categorical(probs)", "model.saved_actions.append("),
        fix_calls=("Categorical.__init__", "Distribution.__init__", "Categorical.log_prob"),
        opened=("def main",),
        dropped=("if __name__",),
        cuts=("# Cart Pole", "class Policy", "model = Policy()", "def select_action", "running_reward = 10"),
        edits=(("in count(1)", "in range(1, 201)"),),
    ),
    "gpt_ch04": Recipe(
        fix="KV cache 2.3×; last-token logits 1.63×",
        fix_lines=("logits = model(idx_cond)", "logits = self.out_head(x)", "token_ids = generate_text_simple("),
        opened=("def main",),
        dropped=("if __name__",),
        cuts=("class MultiHeadAttention", "GPT_CONFIG_124M = {", "start = time.time()"),
        edits=(
            ('"emb_dim": 768', '"emb_dim": 256'),
            ('"n_heads": 12', '"n_heads": 4'),
            ('"n_layers": 12', '"n_layers": 4'),
        ),
    ),
    "gat": Recipe(
        fix="drop evaluations that are never printed 1.45×; masked_fill 1.16×",
        fix_lines=(
            "loss_train, acc_train = test(",
            "loss_val, acc_val = test(",
            "connectivity_mask = ",
            "e = torch.where(",
        ),
        opened=("if __name__",),
        cuts=("class GraphAttentionLayer", "# Training settings", "for epoch in range(args.epochs)"),
        arguments=("--epochs=60",),
        edits=(("idx[:1200], idx[1200:1600], idx[1600:]", "idx[:200], idx[200:400], idx[400:]"),),
        prepare=_papers,
    ),
    "char_rnn": Recipe(
        fix="`no_grad` in validation 8–14%",
        fix_lines=("output, val_h = net(inputs, val_h)", "for x, y in get_batches(val_data"),
        cells=(2, 4, 8, 12, 15, 23, 24, 26, 28, 29),
        edits=(
            ("n_hidden=512", "n_hidden=128"),
            ("batch_size = 128", "batch_size = 16"),
            ("n_epochs = 20", "n_epochs = 4"),
        ),
        prepare=_novel,
    ),
}
