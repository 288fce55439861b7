"""The output folder of a GPU check: few files, small ones, whole after any kill, without names of the machine."""

from __future__ import annotations

import json
import tarfile

import pytest

from benchmarks.gpu_check import store as stores
from benchmarks.gpu_check.check import Check, plain, write_json
from benchmarks.gpu_check.redaction import redacted
from benchmarks.gpu_check.store import Store


@pytest.fixture
def files(tmp_path):
    folder = tmp_path / "files"
    (folder / "run").mkdir(parents=True)
    (folder / "run" / "trace.json").write_text("x" * 1000)
    return folder


def names(path):
    with tarfile.open(path) as packed:
        return packed.getnames()


def test_results_are_read_again(tmp_path):
    Store(tmp_path).put("machine", {"status": "held"})
    assert Store(tmp_path).done("machine")
    assert not Store(tmp_path).done("capture")


def test_files_of_several_checks_share_an_archive(tmp_path, files):
    store = Store(tmp_path / "out")
    for name in ("capture", "pair:record:workers0:mini"):
        store.put(name, {"files": store.add_files(name, files)})
    assert names(tmp_path / "out" / "files-1.tar") == [
        "capture/run/trace.json",
        "pair/record/workers0/mini/run/trace.json",
    ]


def test_a_second_attempt_replaces_the_first(tmp_path, files):
    store = Store(tmp_path / "out")
    store.add_files("capture", files)
    (files / "run" / "trace.json").write_text("y")
    store.add_files("capture", files)
    assert names(tmp_path / "out" / "files-1.tar") == ["capture/run/trace.json"]


def test_a_full_archive_is_followed_by_another_and_by_none_where_all_is_full(tmp_path, files, monkeypatch):
    monkeypatch.setattr(stores, "VOLUME_BYTES", 5_000)
    monkeypatch.setattr(stores, "MOST_BYTES", 30_000)
    store = Store(tmp_path / "out")
    placed = []
    for number in range(5):
        placed.append(store.add_files(f"check{number}", files))
        store.put(f"check{number}", {"files": placed[-1]})
    assert placed[0]["archive"] == "files-1.tar"
    assert placed[1]["archive"] == "files-2.tar"
    assert "no room" in placed[-1]["left_out"]


def test_a_folder_that_only_has_the_results_takes_new_archive_names(tmp_path, files):
    store = Store(tmp_path)
    store.put("capture", {"status": "held", "files": {"archive": "files-2.tar"}})
    assert store.add_files("machine", files)["archive"] == "files-3.tar"


def test_odd_numbers_become_json():
    assert plain({"a": float("nan"), 1: (2, {3})}) == {"a": None, "1": [2, [3]]}


def test_paths_and_the_kernels_version_do_not_leave_the_machine(tmp_path):
    path = tmp_path / "value.json"
    write_json(path, {"where": "/home/somebody/project/cell.py", "system": "Linux-6.1.0-17-cloud"})
    assert json.loads(path.read_text()) == {"where": "cell.py", "system": "Linux"}


@pytest.mark.parametrize(
    "text",
    [
        b"void at::native::(anonymous namespace)::kernel<float, 4>(int, a/b)",
        b'"aten::div","ts":1.5,"name":"enumerate(DataLoader)#_Single/next"',
    ],
)
def test_names_of_kernels_stay(text):
    assert redacted(text) == text


def test_packages_keep_their_own_path():
    assert (
        redacted(b"/opt/env/lib/python3.12/site-packages/torch/nn/f.py(1): g") == b"site-packages/torch/nn/f.py(1): g"
    )


def test_a_check_says_what_it_could_not_try(tmp_path):
    check = Check("c", "cpu", "small", tmp_path, tmp_path / "record.json", 0.0)
    check.expect("it holds", True)
    assert check.status == "held"
    check.only_on_device("kernels are there", False)
    assert check.status == "needs a CUDA device"
    check.expect("it does not", False)
    assert json.loads((tmp_path / "record.json").read_text())["status"] == "did not hold"
