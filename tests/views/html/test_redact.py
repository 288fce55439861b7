"""Redaction takes paths and names, and leaves the rest."""

import getpass
import socket

import pytest

from gpuprof.views.html.redact import redact_all, redactor


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/home/alice/work/train.py(33): main", "…/train.py(33): main"),
        ("read from /mnt/data/secret/x.bin", "read from …/x.bin"),
        (r"C:\Users\alice\train.py", "…/train.py"),
        ("C:/Users/alice/train.py", "…/train.py"),
        (r"\\server\share\train.py", "…/train.py"),
        ("read `/home/alice/x.csv` and [/home/alice/y.csv]", "read `…/x.csv` and […/y.csv]"),
        ("file:///home/alice/x.csv", "…/x.csv"),
        ("~alice/x/y.csv", "…/y.csv"),
        ("~/project/a.py", "…/a.py"),
        ("torch/nn/modules/module.py(1501): _call_impl", "torch/nn/modules/module.py(1501): _call_impl"),
        ("void cutlass::Kernel<a/b>(float*)", "void cutlass::Kernel<a/b>(float*)"),
        ("12.3 GB/s of 15.8 GB/s", "12.3 GB/s of 15.8 GB/s"),
    ],
)
def test_paths_keep_their_last_part_only(text, expected):
    assert redactor()(text) == expected


def test_names_of_user_and_host_are_blanked(monkeypatch):
    monkeypatch.setattr(getpass, "getuser", lambda: "alice")
    monkeypatch.setattr(socket, "gethostname", lambda: "gpu-box-7.lab")
    assert redactor()("Alice ran malice on gpu-box-7.lab (gpu-box-7)") == "… ran malice on … (…)"


def test_everything_inside_a_structure_is_redacted():
    redact = redactor()
    assert redact_all({"a": ["/x/y/z.py", 3, ("/x/y/q.py", None)]}, redact) == {"a": ["…/z.py", 3, ("…/q.py", None)]}
