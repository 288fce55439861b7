"""The joined script is one valid module without a way to markup."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gpuprof.views.html import page
from gpuprof.views.timeline import bundle

SOURCES = Path(bundle.__file__).parent / "js"


def test_every_module_is_bundled_and_nothing_is_imported():
    assert {path.stem for path in SOURCES.glob("*.js")} == {*bundle._MODULES, "widget"}
    assert not re.search(r"^\s*(import|export)\b", bundle.script(), re.MULTILINE)
    assert "import " not in re.sub(r"//.*", "", bundle.widget_module())


@pytest.mark.parametrize("script", [bundle.widget_module, page._script])
def test_top_level_names_are_unique(script):
    names = re.findall(r"^(?:async )?(?:function\*?|class|const|let) (\w+)", script(), re.MULTILINE)
    assert len(names) == len(set(names))


def test_no_module_parses_markup_or_ends_its_element():
    script = bundle.widget_module()
    assert "</script" not in script.lower()
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
        assert way not in script


def test_it_is_one_valid_module(tmp_path):
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed; the browser tests load the module too")
    module = tmp_path / "timeline.mjs"
    module.write_text(bundle.widget_module(), encoding="utf-8")
    subprocess.run([node, "--check", str(module)], check=True)
