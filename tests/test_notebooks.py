"""The notebooks of the repository: what is kept of an executed one, and that those there are kept so."""

from pathlib import Path

import nbformat
import pytest

from gpuprof.views.notebook_report import render_bundle
from notebooks.saving import as_saved
from tests.support.reports import host_report, with_findings

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
NOTEBOOKS = sorted(path for path in FOLDER.glob("*.ipynb") if not path.name.endswith(".executed.ipynb"))
MOST_BYTES = 300_000


def executed(*outputs):
    cell = nbformat.v4.new_code_cell(
        "run()", outputs=list(outputs), metadata={"execution": {"iopub.status.busy": "now"}}
    )
    return nbformat.v4.new_notebook(cells=[cell], metadata={"language_info": {"name": "python", "version": "3.11.7"}})


def test_a_report_keeps_its_paper_and_its_picture_but_no_folded_page():
    data = render_bundle(with_findings(host_report()), embed=True)
    (output,) = as_saved(executed(nbformat.v4.new_output("display_data", data=data))).cells[0].outputs
    assert "<iframe" in data["text/html"] and "<iframe" not in output.data["text/html"]
    assert "What to change, best first" in output.data["text/html"]
    assert "How far to trust this" in output.data["text/html"]
    picture = data["text/html"].partition('src="data:image/png;base64,')[2].partition('"')[0]
    assert len(picture) > 1000 and picture in output.data["text/html"]
    assert output.data["text/plain"] == data["text/plain"]


def test_a_plot_that_needs_scripts_becomes_a_sentence_and_its_libraries_go():
    library = {"application/javascript": "x" * 9999, "application/vnd.holoviews_load.v0+json": "x"}
    plot = {"text/html": "<div></div><script>draw()</script>", "text/plain": ":Overlay"}
    outputs = [nbformat.v4.new_output("display_data", data=data) for data in (library, {}, plot)]
    (kept,) = as_saved(executed(*outputs)).cells[0].outputs
    assert list(kept.data) == ["text/plain"]
    assert "run the cell" in kept.data["text/plain"]


def test_nothing_of_the_machine_stays():
    text = "warning in /home/alice/ipykernel_4711/1.py: <Net at 0x7f00deadbeef>\n"
    saved = as_saved(executed(nbformat.v4.new_output("stream", text=text)))
    assert saved.cells[0].outputs[0].text == "warning in …/1.py: <Net at 0x…>\n"
    assert "execution" not in saved.cells[0].metadata
    assert saved.metadata.language_info == {"name": "python"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_those_here_are_as_saved(path):
    assert path.stat().st_size < MOST_BYTES
    assert as_saved(nbformat.read(path, as_version=4)) == nbformat.read(path, as_version=4)
