"""Builds the fake driver library and points nvidia-ml-py at it."""

from __future__ import annotations

import ctypes
import functools
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pynvml
import pytest

SOURCE = Path(__file__).with_name("fake_nvml.c")
UUIDS = tuple(f"GPU-a{index:07x}-0000-4000-8000-{index:012x}" for index in range(4))
MIB = 1024 * 1024


class FakeNvml:
    """The loaded fake. Orders (see fake_nvml.c) hold from the next call on, the last one that fits wins."""

    def __init__(self, library: Path, control: Path):
        self.folder = library.parent
        self.control = control
        self._loaded = ctypes.CDLL(str(library))
        control.write_text("")

    def order(self, *lines: str) -> None:
        with self.control.open("a") as file:
            file.write("".join(f"{line}\n" for line in lines))

    def clear(self) -> None:
        self.control.write_text("")

    def calls(self, function: str) -> int:
        """How often the function was called so far."""
        return int(self._loaded.fake_calls(function.encode()))

    @property
    def open_sessions(self) -> int:
        """nvmlInit calls that no nvmlShutdown has followed."""
        return int(self._loaded.fake_init_count())


def build(*missing: str) -> Path:
    """The library, without the functions in `missing`; built once in a process."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("the fake NVML needs a C compiler: apt-get install gcc")
    target = _folder() / f"{hash(missing):x}" / "libnvidia-ml.so.1"
    if target.exists():
        return target
    target.parent.mkdir()
    renamed = [f"-D{name}=absent_{name}" for name in missing]
    flags = ["-Wall", "-Werror", "-O1", "-shared", "-fPIC", "-Wl,-soname,libnvidia-ml.so.1"]
    subprocess.run([compiler, *flags, *renamed, "-o", target, SOURCE], check=True)
    return target


@functools.cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="fake-nvml-"))


@pytest.fixture(scope="session", autouse=True)
def _remove_folder() -> Iterator[None]:
    yield
    if _folder.cache_info().currsize:
        shutil.rmtree(_folder(), ignore_errors=True)


@pytest.fixture
def load_nvml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., FakeNvml]:
    """`load_nvml("nvmlDeviceGetName")` is the fake without that function, in place of the driver's library."""

    def load(*missing: str) -> FakeNvml:
        library = build(*missing)
        control = tmp_path / "nvml-orders"
        monkeypatch.setenv("FAKE_NVML_CONTROL", str(control))
        for name in ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"):
            monkeypatch.delenv(name, raising=False)
        # its soname would make glibc hand out whichever build came first
        monkeypatch.setattr(pynvml, "nvmlLib", ctypes.CDLL(str(library)))
        monkeypatch.setattr(pynvml, "_nvmlGetFunctionPointer_cache", {})
        return FakeNvml(library, control)

    return load


@pytest.fixture
def nvml(load_nvml: Callable[..., FakeNvml]) -> Iterator[FakeNvml]:
    """The fake with every function; a test that leaves it initialised has failed."""
    fake = load_nvml()
    before = fake.open_sessions
    yield fake
    fake.clear()
    assert fake.open_sessions == before
