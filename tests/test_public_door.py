"""What stands at the front door: names, types, keywords, old names, README and the package's data."""

from __future__ import annotations

import ast
import inspect
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import typing
import venv
import warnings
from pathlib import Path

import pytest

import gpuprof
from gpuprof.capture.base.options import CaptureOptions
from gpuprof.errors import UsageError
from gpuprof.magics.options import options_as_rows
from tests.test_import_light import loaded_by

ROOT = Path(__file__).resolve().parents[1]
OWN = Path(__file__).parent / "data" / "cpu-training"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

FINDINGS = f"import gpuprof; run = gpuprof.load({str(OWN)!r}); run.findings"


# types


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A Python where the package lies as its wheel would put it, beside what it needs."""
    place = tmp_path_factory.mktemp("installed")
    venv.create(place / "venv", with_pip=False, symlinks=True)
    site = next((place / "venv").glob("lib/python*/site-packages"))
    (site / "beside.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    shutil.copytree(ROOT / "gpuprof", site / "gpuprof", ignore=shutil.ignore_patterns("__pycache__"))
    return place / "venv" / "bin" / "python"


def checked_strictly(source: str, python: Path, folder: Path) -> str:
    pytest.importorskip("mypy")
    # torch has its own types, which take most of mypy's time and say nothing of ours
    (folder / "mypy.ini").write_text("[mypy]\nstrict = True\n[mypy-torch.*]\nfollow_imports = skip\n")
    (folder / "user_script.py").write_text(source)
    command = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "--python-executable", str(python)]
    command += ["--cache-dir", str(python.parent / "cache")]
    done = subprocess.run([*command, "user_script.py"], cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_a_users_script_passes_mypy_strict(installed, tmp_path):
    source = (ROOT / "tests" / "data" / "user_script.py").read_text()
    assert checked_strictly(source, installed, tmp_path).startswith("Success")


def test_a_users_mistakes_are_seen_by_mypy(installed, tmp_path):
    # GIVEN a name that is not there, an option that is not there, a value of another type
    source = "import gpuprof\ngpuprof.lod('x')\ngpuprof.profile(stepz=3)\ngpuprof.profile(steps='3')\n"
    said = checked_strictly(source, installed, tmp_path)
    # THEN each line is objected to: nothing of ours is Any
    assert re.findall(r"user_script\.py:(\d): error", said) == ["2", "3", "4"], said


def test_the_wheel_says_that_it_is_typed():
    assert (ROOT / "gpuprof" / "py.typed").read_bytes() == b""
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel == {"packages": ["gpuprof"]}, "something may be left out: is py.typed still in the wheel?"


# names


def test_the_classes_that_users_meet_are_at_the_top():
    run = gpuprof.load(OWN)
    assert all(type(finding) is gpuprof.Finding for finding in run.findings)
    assert {type(finding.saving) for finding in run.findings if finding.saving} == {gpuprof.Saving}
    assert {type(each) for each in run.abstained} <= {gpuprof.Abstention}
    assert typing.get_type_hints(gpuprof.verify)["return"] is gpuprof.Measurement


def test_type_checkers_and_python_see_the_same_names():
    tree = ast.parse((ROOT / "gpuprof" / "__init__.py").read_text())
    seen = {
        alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
        for each in ([node] if isinstance(node, ast.ImportFrom) else node.body)
        if isinstance(each, ast.ImportFrom)
        for alias in each.names
    }
    assert set(gpuprof.__all__) <= seen | {"load"}


@pytest.mark.parametrize("name", sorted({*gpuprof.__all__} - {"GpuprofError", "__version__", "load"}))
def test_a_name_brings_neither_torch_nor_a_plotting_library(name):
    assert loaded_by(f"import gpuprof; gpuprof.{name}") == []


# what each step imports: docs/dependencies.md says so


@pytest.mark.parametrize(
    ("code", "brought"),
    [
        (FINDINGS, []),
        (f"{FINDINGS}; run.text(); run.to_dict()", []),
        (f"{FINDINGS}; run.write_html('/dev/null')", []),
        (f"{FINDINGS}; run.plots", []),
        (f"{FINDINGS}; run._repr_mimebundle_()", ["matplotlib"]),
        (f"{FINDINGS}; run.tables['operators']", ["pandas"]),
        (f"{FINDINGS}; run.widget()", ["ipywidgets", "anywidget"]),
    ],
)
def test_heavy_libraries_come_with_what_needs_them(code, brought):
    assert loaded_by(f"{code}; assert not {{'panel', 'libcst'}} & set(sys.modules)") == brought


def test_all_but_the_charts_works_without_the_libraries_of_the_charts():
    hidden = "".join(f"sys.modules[{name!r}] = None\n" for name in ("holoviews", "panel", "bokeh"))
    shown = "run.text(); run.write_html('/dev/null'); run._repr_mimebundle_(); run.tables['operators']; run.widget()"
    loaded_by(f"{hidden}{FINDINGS}; {shown}")
    with pytest.raises(AssertionError, match="ModuleNotFoundError"):
        loaded_by(f"{hidden}{FINDINGS}; run.plots.memory()")


def test_what_is_imported_is_declared_and_the_other_way_round():
    names = {"IPython": "ipython", "PIL": "pillow", "pynvml": "nvidia-ml-py"}
    imported = set()
    for path in (ROOT / "gpuprof").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                imported.add((node.module or "").partition(".")[0])
    imported -= sys.stdlib_module_names | {"gpuprof", "__main__"}
    imported.remove("comm")  # only where a widget has imported it
    declared = {re.split(r"[^\w-]", each)[0] for each in PROJECT["dependencies"]}
    run_not_imported = {"py-spy"}
    assert {names.get(each, each) for each in imported} | run_not_imported == declared


# the keywords of profile()


def test_the_keywords_of_profile_are_the_options_of_the_capture():
    keywords = inspect.signature(gpuprof.profile).parameters
    assert tuple(keywords) == CaptureOptions.__struct_fields__
    assert {each.kind for each in keywords.values()} == {inspect.Parameter.KEYWORD_ONLY}
    assert [each.default for each in keywords.values()] == list(CaptureOptions.__struct_defaults__)
    types = typing.get_type_hints(gpuprof.profile)
    wanted = typing.get_type_hints(CaptureOptions)
    assert types.pop("folder") == wanted.pop("folder") | str  # text is as good as a Path here
    assert {name: types[name] for name in wanted} == wanted


def test_the_docstring_of_profile_tells_every_keyword():
    told = re.findall(r"^    (\w+): [A-Z]", inspect.getdoc(gpuprof.profile).partition("Raises:")[0], re.MULTILINE)
    assert tuple(told) == CaptureOptions.__struct_fields__


def test_the_magic_has_the_same_options():
    typed = {option.split()[0].lstrip("-").replace("-", "_") for option, _ in options_as_rows()}
    assert set(CaptureOptions.__struct_fields__) - typed == {"folder"}


def test_the_keywords_reach_the_capture(tmp_path):
    given = {
        "name": "all", "steps": 3, "skip": 1, "max_seconds": 5, "memory": True, "stacks": True, "shapes": True,
        "nvml_hz": 5, "no_nvml": True, "no_lines": True, "close_look": True, "folder": str(tmp_path),
    }  # fmt: skip
    options = gpuprof.profile(**given)._options
    assert {name: getattr(options, name) for name in given} == given | {"folder": tmp_path}
    assert gpuprof.profile()._options == CaptureOptions()
    assert gpuprof.profile(no_close_look=True)._options.no_close_look
    with pytest.raises(UsageError, match="--close-look and --no-close-look: expected one of them"):
        gpuprof.profile(close_look=True, no_close_look=True)


def test_an_option_that_is_not_there_is_pythons_own_error():
    with pytest.raises(TypeError, match="stepz"):
        gpuprof.profile(stepz=3)
    with pytest.raises(UsageError, match="steps"):
        gpuprof.profile(steps="3")


# old names


def test_old_names_work_and_point_to_the_line_that_used_them(tmp_path):
    run = gpuprof.load(OWN)
    with pytest.warns(DeprecationWarning, match=r"Run\.details is now Run\.report_data; gpuprof 0\.3 removes") as seen:
        assert run.details is run.report_data
    assert seen[0].filename == __file__
    with pytest.warns(DeprecationWarning, match=r"Run\.report\(\) is now Run\.write_html\(\)") as seen:
        assert run.report(tmp_path / "old.html") == tmp_path / "old.html"
    assert seen[0].filename == __file__


def test_new_names_warn_of_nothing(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = gpuprof.load(OWN)
        assert run.write_html(tmp_path / "new.html").stat().st_size > 10_000
        assert run.findings == run.report_data.findings


def test_old_names_go_when_they_said():
    major, minor, *_ = gpuprof.__version__.split(".")
    assert (int(major), int(minor)) < (0, 3), "remove Run.details and Run.report"


# README on the package index


@pytest.fixture(scope="module")
def readme() -> str:
    """README as the package has it: pyproject.toml makes its relative links whole."""
    command = [sys.executable, "-m", "hatch_fancy_pypi_readme"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def addresses_in(text: str) -> list[str]:
    defined = re.findall(r"^\[[^\]]+\]: (\S+)", text, re.MULTILINE)
    return [*defined, *re.findall(r"\]\(([^)\s]+)", text), *re.findall(r"(?:src|href)=[\"']([^\"']+)", text)]


def test_every_address_in_readme_is_whole_and_its_file_is_there(readme):
    found = addresses_in(readme)
    base = PROJECT["urls"]["Source"]
    assert len(found) >= 10
    for address in found:
        if address.startswith("#"):
            continue
        assert address.startswith("https://"), f"{address}: the package index does not know where that is"
        if address.startswith(base):
            kind, branch, path = address.removeprefix(f"{base}/").split("/", 2)
            assert (kind, branch) in {("blob", "main"), ("raw", "main")}
            assert kind == ("raw" if path.endswith(".png") else "blob")
            assert (ROOT / path).exists(), f"{address}: there is no {path} in the repository"
    assert sum(address.startswith(base) for address in found) >= 10


def test_the_addresses_of_the_project_begin_with_its_source():
    addresses = PROJECT["urls"]
    assert {"Source", "Documentation", "Changelog", "Issues"} <= set(addresses)
    for address in addresses.values():
        assert address.startswith(addresses["Source"])
        if "/blob/main/" in address:
            assert (ROOT / address.partition("/blob/main/")[2]).is_file()


def test_the_package_index_can_show_readme(readme):
    from readme_renderer import markdown

    shown = markdown.render(readme)
    assert shown is not None
    # every reference was resolved
    assert set(re.findall(r'(?:src|href)="([^"#][^"]*)"', shown)) == set(addresses_in(readme))
    assert "<h1" in shown and "<img" in shown
