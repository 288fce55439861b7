"""What a broadcast that is reduced could be made by: the text shows it, or it stays OTHER."""

from __future__ import annotations

import pytest

from gpuprof.analyses.memory.broadcast_forms import Form, Reduced
from gpuprof.analyses.memory.written_broadcasts import written_broadcasts


def becomes(source: str) -> Reduced:
    (found,) = written_broadcasts("", source)
    return found.becomes


@pytest.mark.parametrize(
    ("source", "form"),
    [
        ("d = (a[:, None, :] - b[None, :, :]).pow(2).sum(-1)", Form.DISTANCES),
        ("d = ((a[:, None, :] - b[None]) ** 2).sum(dim=-1).sqrt()", Form.DISTANCES),
        ("d = a[:, None, :] - b[None, :, :]\ne = (d * d).sum(2)", Form.DISTANCES),
        ("d = a[:, None, :] - b[None]\nd = d.abs()\nd = torch.square(d)\ne = torch.sum(d, -1)", Form.DISTANCES),
        ("d = (a[:, None, :] - b[None]).norm(2, -1)", Form.DISTANCES),
        ("d = torch.linalg.norm(a[:, None, :] - b[None], dim=-1)", Form.DISTANCES),
        ("d = (a[:, :, None, :] - b[:, None]).square().sum(3)", Form.DISTANCES),
        ("d = (a.unsqueeze(-2) - b.unsqueeze(-3)).square().sum(-1)", Form.DISTANCES),
        ("d = torch.sub(a[:, None, :], b[None]).norm(dim=-1)", Form.DISTANCES),
        ("d = (a[:, None, :] - b[None, :, :]).abs().sum(-1)", Form.ABSOLUTE),
        ("d = abs(a[:, None, :] - b[None, :, :]).sum(-1)", Form.ABSOLUTE),
        ("d = (a[:, None, :] - b[None, :, :]).norm(p=1, dim=-1)", Form.ABSOLUTE),
        ("d = (a[:, None] * b[None]).sum(-1)", Form.PRODUCTS),
        ("p = a[:, :, None] * b[None]\nc = torch.sum(p, 1, keepdim=True)", Form.PRODUCTS),
    ],
)
def test_what_one_call_gives(source: str, form: Form) -> None:
    assert becomes(source).form is form


@pytest.mark.parametrize(
    "source",
    [
        "k = torch.exp(-0.5 * (x[:, None] - y[None]) ** 2).sum(1)",
        "best = (score[:, :, None] + trans[None]).max(1)",
        "r = x[:, None, :] - x[None]\nd = r.pow(2).sum(-1)\nf = (r / d[..., None]).sum(1)",
        "d = a[:, None, :] - b[None]\ne = d.pow(2).sum(-1)\ndef g():\n    return d.mean()",
        "d = a[:, None, :] - b[None]\nd *= w\ne = d.pow(2).sum(-1)",
        "d = a[:, None, :] - b[None]\nd[mask] = 0\ne = d.pow(2).sum(-1)",
        "d = ((a[:, None, :] - b[None]).pow(2) * w).sum(-1)",
        "d = (a[:, None, :] - b[None]).pow(4).sum(-1)",
        "d = (a[:, None, :] - b[None]).pow(2).pow(2).sum(-1)",
        "d = (a[:, None, :] - b[None]).sum(-1)",
        "d = (a[:, None, :] - b[None]).pow(2).sum(1)",
        "d = (a[:, None, :] - b[None]).pow(2).sum()",
        "d = (a[:, None, :] - b[None]).pow(2).sum(-1, keepdim=True)",
        "d = (a[:, None, :] - b[None]).pow(2).mean(-1)",
        "d = (a[:, None, :] - b[None]).pow(2).amax(-1)",
        "d = (a[:, None, :] - b[None]).norm(3, -1)",
        "d = (a[:, None, :] - b[None]).norm(p, -1)",
        "d = (a[:, None, :] - b[None]).norm(-1)",
        "d = sum((a[:, None, :] - b[None]).pow(2))",
        # batches of single numbers: the last axis is one of the pairs
        "d = (a[:, :, None] - b[:, None, :]).pow(2).sum(-1)",
        "d = (a[:, :, None, :] - b[:, None]).square().sum(2)",
        "d = (a[:, None, 0] - b[None]).pow(2).sum(-1)",
        "m = torch.maximum(a[:, None, :], b[None]).sum(-1)",
        "m = (a[:, None] * b[None]).amax(-1)",
        "m = (a[:, None] * b[None] + c).sum(-1)",
        "p = a[:, None] * b[None]\nm = p.sum(-1)\nq = p.amax(-1)",
    ],
)
def test_what_no_one_call_gives(source: str) -> None:
    assert becomes(source).form is Form.OTHER


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("d = (a[:, None, :] - b[None]).pow(2).sum(-1)", True),
        ("d = (a[:, None] - b[None]).pow(2).sum(2)", True),
        ("d = (a.unsqueeze(-2) - b.unsqueeze(-3)).pow(2).sum(-1)", True),
        # rows may be single numbers
        ("d = (a[:, None] - b[None]).pow(2).sum(-1)", False),
        ("d = (a.unsqueeze(1) - b.unsqueeze(0)).pow(2).sum(-1)", False),
    ],
)
def test_whether_the_text_shows_an_axis_of_features(source: str, shown: bool) -> None:
    found = becomes(source)
    assert found.form is Form.DISTANCES and found.rows_shown is shown


@pytest.mark.parametrize(
    ("source", "library"),
    [
        ("d = (a[:, None, :] - b[None]).pow(2).sum(-1)", "torch"),
        ("d = ((a[:, None, :] - b[None]) ** 2).sum(dim=-1)", "torch"),
        ("d = a[:, None, :] - b[None]\ne = torch.sqrt((d**2).sum(-1))", "torch"),
        ("d = np.sqrt(((a[:, np.newaxis, :] - b[np.newaxis]) ** 2).sum(-1))", "numpy"),
        ("d = a[:, None, :] - b[None]\ne = np.linalg.norm(d, axis=-1)", "numpy"),
        ("d = ((a[:, None, :] - b[None]) ** 2).sum(-1)", ""),
        ("d = torch.sub(a[:, np.newaxis, :], b[np.newaxis]).norm(dim=-1)", ""),
    ],
)
def test_whose_arrays_they_are(source: str, library: str) -> None:
    found = becomes(source)
    assert found.form is Form.DISTANCES and found.library == library
