"""The public recordings are brought whole and unchanged, or not at all."""

from __future__ import annotations

import gzip
import hashlib
import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.recordings import fetch
from tests.support.shared import NAMES, shared_facts

TRACE, SNAPSHOT = b'{"traceEvents": []}', b"\x80\x04."
COMMIT = "a" * 40


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """A folder laid out as the repositories are published, with its manifest."""
    folder = tmp_path / "published"
    entries = [("gpu/a.json.gz", "data/a 1.json", TRACE), ("snapshots/s.pickle", "s.pickle", SNAPSHOT)]
    text = ""
    for name, path, content in entries:
        at = folder / "someone" / "somewhere" / COMMIT / path
        at.parent.mkdir(parents=True, exist_ok=True)
        at.write_bytes(content)
        text += (
            f'[[recording]]\nname = "{name}"\nrepository = "someone/somewhere"\ncommit = "{COMMIT}"\npath = "{path}"\n'
        )
        text += f'license = "MIT"\nsha256 = "{hashlib.sha256(content).hexdigest()}"\nconfirmed = true\n'
    (tmp_path / "manifest.toml").write_text(text)
    return folder


@pytest.fixture
def server(published: Path) -> Iterator[str]:
    """Serves that folder on this machine."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

    serving = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(published)))
    thread = threading.Thread(target=partial(serving.serve_forever, 0.01), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{serving.server_port}"
    serving.shutdown()
    serving.server_close()


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """`call(*options)` brings the recordings of that manifest to tmp_path/"kept": its status and its lines."""
    monkeypatch.setattr(fetch, "BESIDE", tmp_path / "nowhere")

    def call(*options: str) -> tuple[int, list[str]]:
        status = fetch.main(["--manifest", str(tmp_path / "manifest.toml"), "--to", str(tmp_path / "kept"), *options])
        return status, capsys.readouterr().out.splitlines()

    return call


def test_downloads_are_kept_under_their_names_one_line_each(tmp_path: Path, server: str, call: Any) -> None:
    status, lines = call("--base-url", server)
    assert status == 0
    assert lines == [
        f"gpu/a.json.gz: downloaded from {server}/someone/somewhere/{COMMIT}/data/a%201.json",
        f"snapshots/s.pickle: downloaded from {server}/someone/somewhere/{COMMIT}/s.pickle",
        f"2 recordings are in {tmp_path / 'kept'}",
    ]
    assert gzip.decompress((tmp_path / "kept" / "gpu" / "a.json.gz").read_bytes()) == TRACE
    assert (tmp_path / "kept" / "snapshots" / "s.pickle").read_bytes() == SNAPSHOT


def test_what_a_folder_has_is_copied_as_it_is(tmp_path: Path, server: str, call: Any) -> None:
    packed = gzip.compress(TRACE, 1)
    (tmp_path / "mine" / "gpu").mkdir(parents=True)
    (tmp_path / "mine" / "gpu" / "a.json.gz").write_bytes(packed)
    status, lines = call("--from", str(tmp_path / "mine"), "--base-url", server)
    assert status == 0
    assert lines[0] == f"gpu/a.json.gz: copied from {tmp_path / 'mine'}" and "downloaded" in lines[1]
    assert (tmp_path / "kept" / "gpu" / "a.json.gz").read_bytes() == packed


@pytest.mark.parametrize(
    ("served", "says"),
    [(b'{"traceEvents": [1]}', "has the sha256"), (gzip.compress(TRACE)[:-9], "is a damaged gzip file")],
    ids=["other content", "cut off"],
)
def test_anything_else_is_refused(
    tmp_path: Path, published: Path, server: str, call: Any, served: bytes, says: str
) -> None:
    at = published / "someone" / "somewhere" / COMMIT / "data" / "a 1.json"
    at.write_bytes(served)
    status, lines = call("--base-url", server)
    assert status == 1
    assert re.match(rf"gpu/a\.json\.gz: refused, http\S+ {says}", lines[0])
    assert lines[-1] == "1 of 2 recordings are missing; the next call brings only those"
    assert [path.name for path in (tmp_path / "kept").rglob("*") if path.is_file()] == ["s.pickle"]
    at.write_bytes(TRACE)
    status, lines = call("--base-url", server)
    assert status == 0 and "downloaded" in lines[0] and lines[1] == "snapshots/s.pickle: already here"


def test_a_kept_file_that_was_damaged_is_brought_again(tmp_path: Path, server: str, call: Any) -> None:
    call("--base-url", server)
    (tmp_path / "kept" / "gpu" / "a.json.gz").write_bytes(b"half")
    status, lines = call("--base-url", server)
    assert status == 0 and "downloaded" in lines[0]


def test_what_is_not_published_is_one_line(published: Path, server: str, call: Any) -> None:
    (published / "someone" / "somewhere" / COMMIT / "data" / "a 1.json").unlink()
    status, lines = call("--base-url", server)
    assert status == 1 and len(lines) == 3
    assert re.fullmatch(r"gpu/a\.json\.gz: http\S+ could not be downloaded: 404 .*", lines[0])
    assert lines[1].startswith("snapshots/s.pickle: downloaded")


def test_a_place_that_does_not_answer_is_asked_once(tmp_path: Path, published: Path, call: Any) -> None:
    status, lines = call("--base-url", (tmp_path / "away").as_uri())
    assert status == 1
    assert "could not be reached: " in lines[0] and lines[1] == "snapshots/s.pickle: not tried"
    assert lines[2] == "2 of 2 recordings are missing; the next call brings only those"


def test_the_manifest_names_exact_versions() -> None:
    every = fetch.recordings()
    assert len({each.name for each in every}) == len(every)
    assert {f"gpu/{name}.json.gz" for name in NAMES} <= {each.name for each in every}
    for each in every:
        assert re.fullmatch("[0-9a-f]{40}", each.commit) and re.fullmatch("[0-9a-f]{64}", each.sha256)
        assert re.fullmatch(r"[\w.-]+/[\w.-]+", each.repository) and each.license in {
            "MIT",
            "BSD-3-Clause",
            "Apache-2.0",
        }
        assert each.confirmed or each.why


@pytest.mark.parametrize("name", NAMES)
def test_every_trace_has_its_figures(name: str) -> None:
    assert shared_facts(name)["events"] > 0
