# Average precision and the tie-free precision-recall curve need the rank of every score, not of
# the best k, so the full sort per tag is needed; it is done once per tag, batched.

NAME = 'g20_tagging_ap'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS_LIKE = 'A full descending sort of hundreds of thousands of scores per tag where topk would do.'

GOOD = r'''
import torch

torch.set_num_threads(1)
gen = torch.Generator().manual_seed(77)

# clip tagging: scores of the checkpoints for 24 tags on 200k clips
n_clip, n_tag = 200_000, 24
prior = torch.linspace(0.08, 0.45, n_tag)
is_pos = torch.rand(n_tag, n_clip, generator=gen) < prior[:, None]
quality = torch.linspace(0.8, 2.2, n_tag)[:, None]


def tag_scores(gain):
    s = torch.randn(n_tag, n_clip, generator=gen)
    s.add_(is_pos * quality * gain)
    return s


def pr_curve(scores, hits):
    """precision and recall after each rank, per class"""
    order = torch.argsort(scores, dim=1, descending=True)
    tp = torch.cumsum(hits.gather(1, order), 1, dtype=torch.float32)
    rank = torch.arange(1, scores.shape[1] + 1)
    return tp / rank, tp / tp[:, -1:]


def average_precision(scores, hits):
    prec, rec = pr_curve(scores, hits)
    # VOC 2010+: make precision monotone from the right, integrate over recall
    env = prec.flip(1).cummax(1).values.flip(1)
    step = torch.diff(rec, dim=1, prepend=torch.zeros(len(rec), 1))
    return (env * step).sum(1), rec


for ckpt in range(1, 15):
    ap, rec = average_precision(tag_scores(0.6 + 0.05 * ckpt), is_pos)
    # rank down to which one has to listen to find 80 % of the clips with the tag
    need = (rec < 0.8).sum(1) + 1
    print(f"checkpoint {ckpt:2d}  mAP {ap.mean():.4f}  rare third {ap[:8].mean():.4f}  "
          f"median rank for 80% recall {need.median().item()}")
'''
