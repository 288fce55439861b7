"""What is read of a decomposition: values alone, the first vectors, or all."""

from __future__ import annotations

import ast

import pytest

from gpuprof.analyses.lines.statements import expressions_at
from gpuprof.rules.cell.decomposition_text import partly_used

VALUES, FEW = "computes vectors that are not used", "but only the first few are used"


def said(source: str) -> list[tuple[str, str, str]]:
    """Of the first line: the call, the title, the advice."""
    found = partly_used(source, expressions_at(source, 1))
    return [(ast.unparse(call.func), title, advice) for call, title, advice in found]


@pytest.mark.parametrize(
    ("text", "title", "advice"),
    [
        ("w, v = np.linalg.eigh(a)\nprint(w)", VALUES, "`np.linalg.eigvalsh(A)`"),
        ("w, _ = scipy.linalg.eigh(a)\nprint(w.sum())", VALUES, "`np.linalg.eigvalsh(A)`"),
        ("w, v = np.linalg.eigh(a)\nx = y @ v[:, -k:]", FEW, "subset_by_index"),
        ("w, v = np.linalg.eigh(a)\nx = y @ v[:, -k:] / w[-k:]", FEW, "eigsh(A, k)"),
        ("u, s, vt = np.linalg.svd(x)\nprint(s)", VALUES, "compute_uv=False"),
        ("u, s, vt = np.linalg.svd(x, full_matrices=False)\nz = x @ vt[:8].T", FEW, "svds(A, k)"),
        ("u, s, vt = linalg.svd(x, full_matrices=False)\nz = u[:, :8] * s[:8] @ vt[:8]", FEW, "svds(A, k)"),
    ],
)
def test_what_is_enough(text: str, title: str, advice: str) -> None:
    ((_, found, change),) = said(text)
    assert found.endswith(title) and advice in change


@pytest.mark.parametrize(
    "text",
    [
        "w, v = np.linalg.eigh(a)",  # a later cell may read it
        "w, v = np.linalg.eigh(a)\nx = v @ y",
        "w, v = np.linalg.eigh(a)\nx = v[:, -k:]\nprint(w.sum())",
        "w, v = np.linalg.eigh(a)\nx = v[:, -k:]\nv = x",
        "w, v = np.linalg.eigh(a)\nx = v[:, keep]",
        "w, v = scipy.linalg.eigh(a, subset_by_index=[0, 4])\nprint(v[:, :4])",
        "w, v = np.linalg.eig(a)\nprint(v[:, 0])",
        "w, v = torch.linalg.eigh(a)\nprint(v[:, 0])",  # the dataflow knows
        "v = np.linalg.eigh(a)\nprint(v[1][:, 0])",
        "u, s, vt = np.linalg.svd(x)\nz = u * s @ vt",
        "u, s, vt = np.linalg.svd(x)\nz = u[:, :8] * s @ vt[:8]",
        "s = np.linalg.svd(x, compute_uv=False)\nprint(s[:8])",
        "w, v = eigh(a)\nprint(v[:, 0])",  # whose it is is not known
    ],
)
def test_what_is_read_in_full_or_not_known(text: str) -> None:
    assert not said(text)


def test_names_of_another_function_are_others() -> None:
    source = "def f():\n    w, v = np.linalg.eigh(a)\n    return v[:, :k]\n\nprint(v, w)\n"
    assert len(list(partly_used(source, expressions_at(source, 2)))) == 1
