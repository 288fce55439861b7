"""Carries what a bare machine lacks: wheels, downloaded here, unpacked there where their module is missing.

python -m benchmarks.gpu_check.wheels DIR [--python 3.12]    download them (needs pip and a network)
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

NEEDED = ("msgspec", "psutil", "libcst", "pyyaml", "nvidia-ml-py")
# only the notebook's side uses these; without them the checks run their cells themselves
NOTEBOOK = (
    *("ipython", "traitlets", "decorator", "jedi", "parso", "matplotlib-inline", "pexpect", "ptyprocess"),
    *("prompt-toolkit", "wcwidth", "pygments", "ipython-pygments-lexers", "stack-data", "executing", "asttokens"),
    *("pure-eval", "typing-extensions"),
)
# a real kernel, for the checks that run cells as a person does
KERNEL = (
    *(
        "ipykernel",
        "comm",
        "debugpy",
        "jupyter-client",
        "jupyter-core",
        "nest-asyncio",
        "nest-asyncio2",
        "platformdirs",
    ),
    *("pyzmq", "tornado", "nbclient", "nbformat", "fastjsonschema", "jsonschema", "jsonschema-specifications"),
    *("referencing", "rpds-py", "attrs", "ipywidgets", "widgetsnbextension", "jupyterlab-widgets", "anywidget"),
    "psygnal",
)
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64", "manylinux1_x86_64")


def download(folder: Path, python: str) -> None:
    """All of them, for CPython of that version on Linux x86-64, by pip; CalledProcessError where it cannot."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    command += ["--python-version", python, "--implementation", "cp", "--dest", str(folder)]
    for platform in PLATFORMS:
        command += ["--platform", platform]
    subprocess.run([*command, *NEEDED, *NOTEBOOK, *KERNEL], check=True)


def unpack_missing(wheels: Path, folder: Path) -> list[str]:
    """Unpack those whose distribution is not installed into `folder`; their names."""
    taken = []
    for wheel in sorted(wheels.glob("*.whl")):
        name = wheel.name.split("-")[0].replace("_", "-")
        try:
            version(name)
        except PackageNotFoundError:
            with zipfile.ZipFile(wheel) as packed:
                packed.extractall(folder)
            taken.append(name)
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--python", default="3.12", help="the Python of the machine with the GPU")
    chosen = parser.parse_args()
    download(chosen.folder, chosen.python)
    size = sum(path.stat().st_size for path in chosen.folder.glob("*.whl"))
    print(f"{len(list(chosen.folder.glob('*.whl')))} wheels, {size / 1e6:.0f} MB, in {chosen.folder}")


if __name__ == "__main__":
    main()
