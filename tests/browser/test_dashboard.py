"""The dashboard in a real JupyterLab: tables, comparison, export, and what becomes of it when cells run again."""

from __future__ import annotations

import time
from types import SimpleNamespace

import nbformat
import pytest

from tests.support.jupyter import jupyterlab

pytestmark = pytest.mark.browser

TRAIN = """%%gpuprofile --name "train" --memory
import torch
model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
optimizer = torch.optim.Adam(model.parameters(), foreach=False)
inputs, targets = torch.randn(64, 64), torch.randint(0, 10, (64,))
total = 0.0
for step in range(12):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(inputs), targets)
    loss.backward()
    optimizer.step()
    total += loss.item()"""
CELLS = (
    "%load_ext gpuprof\nimport os, ipywidgets\nfrom ipywidgets.widgets import widget as registry",
    TRAIN,
    TRAIN.replace('"train"', '"another"').replace("range(12)", "range(8)"),
    "print(f'<{len(registry._instances)} models>')",
    "import gpuprof\ngpuprof.last().plots.memory()",
    "gpuprof.last().plots.steps() + gpuprof.last().plots.memory()",
    "import time\nwhile not os.path.exists('go'):\n    time.sleep(0.05)",
)
DASHBOARD = ".gpuprof-dashboard"
NOISY_URLS = ("http://127.0.0.1", "ws://127.0.0.1", "data:", "blob:", "about:")


@pytest.fixture(scope="module")
def lab(browser, screenshots, tmp_path_factory):
    """The notebook, open and run up to both profiled cells."""
    with jupyterlab(tmp_path_factory.mktemp("lab"), subshells=False) as server:
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
        notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(notebook, server.folder / "train.ipynb")
        context = browser.new_context(viewport={"width": 1100, "height": 1700})
        outside: list[str] = []
        context.route(
            lambda url: not url.startswith(NOISY_URLS), lambda route: (outside.append(route.request.url), route.abort())
        )
        page = context.new_page()
        page.set_default_timeout(60_000)
        opened = Lab(page, server, screenshots, outside)
        page.goto(server.url("lab/tree/train.ipynb"))
        page.wait_for_selector(".jp-Notebook .jp-Cell")
        page.keyboard.press("Control+b")
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
        for index in (0, 1, 1, 2):
            opened.run(index)
        for index in (1, 2):
            opened.unfold(index)
        yield opened
        context.close()


class Lab(SimpleNamespace):
    """The page of JupyterLab, and hands in it."""

    def __init__(self, page, server, screenshots, outside):
        super().__init__(page=page, server=server, screenshots=screenshots, outside=outside, ran=0)

    def cell(self, index: int):
        return self.page.locator(".jp-CodeCell").nth(index)

    def run(self, index: int) -> None:
        self.ran += 1
        self.cell(index).locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        self.until(lambda: self.cell(index).locator(".jp-InputPrompt").inner_text() == f"[{self.ran}]:", 90)

    def unfold(self, index: int) -> None:
        """Open the dashboard below the card of that cell."""
        self.cell(index).get_by_role("button", name="All details").click()
        self.cell(index).locator(DASHBOARD).wait_for()

    def until(self, condition, seconds: float = 30) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "gave up waiting"
            time.sleep(0.2)

    def tab(self, index: int, title: str):
        """Open that tab of the dashboard under that cell; its panel."""
        dashboard = self.cell(index).locator(DASHBOARD)
        dashboard.locator(".lm-TabBar-tab", has_text=title).click()
        panel = dashboard.locator(".widget-tab-contents > :not(.lm-mod-hidden)")
        panel.locator(".gpuprof-sheet").first.wait_for()
        return panel

    def models(self) -> int:
        self.run(3)
        output = self.cell(3).locator(".jp-OutputArea-output", has_text="models>")
        return int(output.inner_text().strip("< models>\n"))

    def picture(self, name: str, locator=None) -> None:
        time.sleep(0.4)
        path = str(self.screenshots / f"lab-dashboard-{name}.png")
        (locator or self.page).screenshot(path=path)


def plain(locator) -> str:
    return locator.inner_text().replace("\u00a0", " ")


def figures(panel, table: int = 0, column: int = 2):
    cells = panel.locator("table.sortable").nth(table).locator(f"tbody tr td:nth-of-type({column})")
    return [float(each) for each in cells.evaluate_all("cells => cells.map(cell => cell.dataset.value)")]


def test_tables_sort_by_their_numbers_with_mouse_and_keys(lab):
    panel = lab.tab(1, "Kernels & operators")
    head = panel.locator("thead th", has_text="self time")
    for order in ("descending", "ascending"):
        head.get_by_role("button").click()
        assert head.get_attribute("aria-sort") == order
        found = figures(panel)
        assert len(found) > 12 and found == sorted(found, reverse=order == "descending")
    head.get_by_role("button").focus()
    lab.page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    lab.picture("sorted", lab.cell(1).locator(DASHBOARD))
    names = panel.locator("tbody th").all_inner_texts()
    panel.get_by_role("button", name="operator", exact=True).click()
    assert panel.locator("tbody th").all_inner_texts() != names
    assert head.get_attribute("aria-sort") is None


def test_a_long_table_is_filtered_and_the_notebook_keeps_its_keys(lab):
    panel = lab.tab(1, "Kernels & operators")
    field = panel.get_by_role("searchbox")
    cells = lab.page.locator(".jp-CodeCell").count()
    field.click()
    lab.page.keyboard.type("addmm zz dd")
    assert panel.locator("tbody tr:visible").count() == 0
    assert lab.page.locator(".jp-CodeCell").count() == cells
    field.fill("ADDMM")
    left = panel.locator("tbody tr:visible th").all_inner_texts()
    assert left and all("addmm" in name.lower() for name in left)
    assert panel.get_by_role("status").first.inner_text().startswith(f"{len(left)} of ")
    lab.picture("filtered", lab.cell(1).locator(DASHBOARD))
    field.press("Escape")
    assert panel.locator("tbody tr:visible").count() > len(left)


def test_a_finding_leads_to_the_timeline(lab):
    panel = lab.tab(1, "Findings")
    lab.picture("cards", lab.cell(1).locator(DASHBOARD))
    if lab.cell(1).get_by_text("of the CPU time it asked for").count():
        pytest.skip("other processes held the cores: the report says so and withholds the finding")
    panel.get_by_role("button", name="show in timeline").first.click()
    lab.cell(1).locator(f"{DASHBOARD} .gp-canvas").wait_for(state="visible")


def test_the_report_is_exported_into_the_folder_of_the_notebook(lab):
    head = lab.cell(1).locator(f"{DASHBOARD} .gpuprof-sheet").first
    button = head.get_by_role("button", name="export as HTML")
    for name in ("gpuprof-report-2.html", "gpuprof-report-2-2.html"):
        button.click()
        head.get_by_text(name).wait_for()
        assert (lab.server.folder / name).stat().st_size > 50_000
    lab.picture("exported", lab.cell(1).locator(DASHBOARD))


def test_while_a_cell_runs_the_export_says_that_it_waits(lab):
    head = lab.cell(1).locator(f"{DASHBOARD} .gpuprof-sheet").first
    lab.ran += 1
    lab.cell(6).locator(".cm-content").click()
    lab.page.keyboard.press("Control+Enter")
    lab.until(lambda: lab.cell(6).locator(".jp-InputPrompt").inner_text() == "[*]:")
    button = head.get_by_role("button", name="export as HTML")
    button.click()
    # its text, seen or not: JupyterLab scrolls to the cell that runs and draws nothing of the others
    said = head.locator(".said")
    try:
        lab.until(lambda: "this waits for the cell" in said.text_content())
        lab.until(button.is_disabled)
    finally:  # or the kernel would keep every later test waiting
        (lab.server.folder / "go").touch()
    lab.until(lambda: "gpuprof-report-2-3.html" in said.text_content(), 60)
    lab.until(button.is_enabled)


def test_running_a_cell_again_replaces_its_dashboard_and_leaves_no_model(lab):
    # GIVEN two cells with dashboards, and how many models they need
    assert lab.page.locator(DASHBOARD).count() == 2
    lab.run(1)
    lab.unfold(1)
    before = lab.models()
    # WHEN one runs again, twice
    for _ in range(2):
        lab.run(1)
        lab.unfold(1)
    # THEN it has one dashboard, the other keeps its own, and nothing was left behind
    assert lab.cell(1).locator(DASHBOARD).count() == 1
    assert lab.models() == before
    panel = lab.tab(2, "Memory")
    panel.locator("iframe[data-drawn=yes]").first.wait_for()


@pytest.mark.parametrize(("width", "theme"), [(1100, "Light"), (700, "Light"), (1100, "Dark"), (700, "Dark")])
def test_the_previous_run_is_compared_and_another_can_be_picked(lab, width, theme):
    panel = lab.tab(1, "Compare")
    picker = panel.locator("select")
    assert "previous run of this cell" in plain(picker.locator("option:checked"))
    panel.get_by_text("the code is the same").wait_for()
    _look(lab, width, theme)
    lab.picture(f"compare-same-{theme.lower()}-{width}", lab.cell(1).locator(DASHBOARD))
    if (width, theme) != (1100, "Light"):
        return
    _pick(picker, "another")
    panel.locator(".gpuprof-diff .removed", has_text="range(8)").wait_for()
    lab.picture("compare", lab.cell(1).locator(DASHBOARD))
    _pick(picker, "previous")
    panel.get_by_text("the code is the same").wait_for()


@pytest.mark.parametrize(("width", "theme"), [(1100, "Light"), (700, "Dark")])
def test_a_question_of_ones_own_is_answered(lab, width, theme):
    panel = lab.tab(1, "What if")
    panel.locator("input[type=text]").first.fill("aten::*")
    panel.locator("button", has_text="Ask").click()
    answer = panel.get_by_text("in 50 % of their time").first
    answer.wait_for()
    assert plain(answer) == "Operators named aten::* in 50 % of their time"
    _look(lab, width, theme)
    lab.picture(f"what-if-{theme.lower()}-{width}", lab.cell(1).locator(DASHBOARD))


def _pick(picker, words: str) -> None:
    labels = picker.locator("option").all_inner_texts()
    picker.select_option(index=next(i for i, label in enumerate(labels) if words in label))


def _look(lab, width: int, theme: str) -> None:
    name = f"JupyterLab {theme}"
    if lab.page.locator(f"body[data-jp-theme-name='{name}']").count() == 0:
        for selector, words in (
            (".lm-MenuBar-itemLabel", "Settings"),
            (".lm-Menu-itemLabel", "Theme"),
            (".lm-Menu-itemLabel", name),
        ):
            lab.page.click(f"{selector}:text-is('{words}')")
        lab.page.wait_for_selector(f"body[data-jp-theme-name='{name}']", state="attached")
    lab.page.set_viewport_size({"width": width + 140, "height": 1700})
    time.sleep(0.6)


@pytest.mark.parametrize("theme", ["Light", "Dark"])
@pytest.mark.parametrize(
    "title", ["Findings", "Transfers", "Memory", "Lines", "Kernels & operators", "Steps", "Environment"]
)
def test_every_tab_fits_a_narrow_column(lab, title, theme):
    _look(lab, 700, theme)
    panel = lab.tab(1, title)
    assert panel.evaluate("panel => panel.scrollWidth - panel.clientWidth") <= 1
    lab.picture(f"narrow-{title.split()[0].lower()}-{theme.lower()}", lab.cell(1).locator(DASHBOARD))


@pytest.mark.parametrize(("theme", "grey"), [("Light", "rgb(91, 79, 76)"), ("Dark", "rgb(118, 102, 98)")])
def test_colours_are_those_of_the_theme_and_the_timeline_has_the_notebook_s_background(lab, theme, grey):
    _look(lab, 1100, theme)
    dashboard = lab.cell(1).locator(DASHBOARD)
    bar = lab.cell(1).locator(".gpuprof-summary .gpuprof-bar .k-host_other").first
    assert bar.evaluate("part => getComputedStyle(part).backgroundColor") == grey
    dashboard.locator(".lm-TabBar-tab", has_text="Timeline").click()
    timeline = dashboard.locator(".gp-timeline")
    timeline.wait_for()
    corner = timeline.locator("canvas").evaluate(
        "c => [...c.getContext('2d').getImageData(1, 1, 1, 1).data].slice(0, 3)"
    )
    behind = dashboard.locator(".widget-tab-contents").evaluate("box => getComputedStyle(box).backgroundColor")
    assert f"rgb({', '.join(map(str, corner))})" == behind
    lab.picture(f"timeline-{theme.lower()}", dashboard)


def test_plots_show_offline_and_bokeh_stands_in_the_notebook_once(lab):
    _look(lab, 1100, "Light")
    lab.run(4)
    lab.run(5)
    for index in (4, 5):
        frame = lab.cell(index).locator("iframe[data-drawn=yes]")
        frame.wait_for()
        lab.cell(index).frame_locator("iframe").locator("canvas").first.wait_for(state="attached")
        lab.picture(f"plot-{index}", lab.cell(index))
    assert lab.outside == []


def test_after_a_restart_the_reports_stay_and_the_cell_runs_again(lab):
    for selector, words in ((".lm-MenuBar-itemLabel", "Kernel"), (".lm-Menu-itemLabel", "Restart Kernel…")):
        lab.page.click(f"{selector}:text-is('{words}')")
    lab.page.get_by_role("button", name="Confirm Kernel Restart").click()
    lab.page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
    reports = lab.page.locator(".jp-RenderedHTML:has-text('How far to trust this')")
    assert reports.count() == 2
    assert lab.page.get_by_text("Error displaying widget").count() == 0
    lab.picture("restarted")
    lab.ran = 0
    for index in range(2):
        lab.run(index)
    lab.unfold(1)
    panel = lab.tab(1, "Compare")
    assert "previous run of this cell" in plain(panel.locator("select option:checked"))


def test_the_notebook_saved_with_plots_opens_without_a_kernel(lab):
    saved = lab.server.folder / "train.ipynb"
    for _ in range(10):
        for selector, words in ((".lm-MenuBar-itemLabel", "File"), (".lm-Menu-itemLabel", "Save Notebook")):
            lab.page.click(f"{selector}:text-is('{words}')")
        lab.page.wait_for_timeout(1000)
        if "gpuprofLibraries" in saved.read_text():
            break
    lab.picture("saved")
    assert saved.read_text().count("H4sIAAAAAAA") == 1
    lab.page.goto("about:blank")
    lab.page.goto(lab.server.url("lab/tree/train.ipynb"))
    lab.cell(5).locator("iframe[data-drawn=yes]").wait_for()
    assert lab.outside == []
