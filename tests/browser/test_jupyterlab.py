"""A profiled cell in a real JupyterLab, from the first run to the notebook reopened without its kernel."""

from __future__ import annotations

import re
import time
from types import SimpleNamespace

import nbformat
import pytest

from tests.support.jupyter import jupyterlab

pytestmark = pytest.mark.browser

# mostly asleep: a machine that is busy with other work then changes little of it
CELLS = (
    "%load_ext gpuprof\nimport time, torch\nfrom torch.utils.data import DataLoader, Dataset\n"
    "import torch._dynamo  # which the first optimizer would import, for a second",
    '''%%gpuprofile --name "train one epoch" --memory --no-close-look
class Slow(Dataset):
    def __len__(self):
        return 640

    def __getitem__(self, index):
        time.sleep(0.005)
        return torch.randn(1, 8, 8), index % 10

layers = torch.nn.Conv2d(1, 16, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(576, 10)
model = torch.nn.Sequential(*layers)
optimizer = torch.optim.Adam(model.parameters(), foreach=False)
total = 0.0
for inputs, targets in DataLoader(Slow(), batch_size=32):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(inputs), targets)
    loss.backward()
    optimizer.step()
    total += loss.item()
f"total above zero: {total > 0}"''',
    "import gpuprof\ngpuprof.last().plots.memory()",
)
# the second where the processor is idle meanwhile; the third where others held the cores: nothing is found then
FOUND = re.compile(
    "The training loop waits for data|Samples are fetched one by one|so this run cannot be judged|Stop other programs"
)
CARD = ".gpuprof-summary"
DASHBOARD = ".gpuprof-dashboard"
TABS = f"{DASHBOARD} .lm-TabBar-tab"
PANEL = f"{DASHBOARD} .widget-tab-contents > :not(.lm-mod-hidden)"
CORNER = "canvas => [...canvas.getContext('2d').getImageData(0, canvas.height - 1, 1, 1).data]"
REPORT = ".jp-RenderedHTML:has-text('How far to trust this')"


@pytest.fixture(scope="module")
def lab(browser, screenshots, tmp_path_factory):
    """The notebook, open and run up to the profiled cell."""
    with jupyterlab(tmp_path_factory.mktemp("lab")) as server:
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
        notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(notebook, server.folder / "train.ipynb")
        context = browser.new_context(viewport={"width": 1100, "height": 1900})
        outside: list[str] = []
        context.route(lambda url: not _local(url), lambda route: (outside.append(route.request.url), route.abort()))
        page = context.new_page()
        page.set_default_timeout(40_000)
        opened = SimpleNamespace(page=page, server=server, outside=outside, pictures=screenshots)
        _open(opened)
        _run(page, 0)
        _run(page, 1)
        page.wait_for_selector(CARD)
        page.wait_for_selector(REPORT, state="attached")
        yield opened
        context.close()


def _local(url: str) -> bool:
    return url.startswith(("http://127.0.0.1", "ws://127.0.0.1", "data:", "blob:", "about:"))


def _open(lab) -> None:
    lab.page.goto(lab.server.url("lab/tree/train.ipynb"))
    lab.page.wait_for_selector(".jp-Notebook .jp-Cell")
    lab.page.keyboard.press("Control+b")
    # what runs while the kernel still connects is dropped without a word, or asks for a kernel
    lab.page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()


def _choose(page, menu: str, *items: str) -> None:
    page.click(f".lm-MenuBar-itemLabel:text-is('{menu}')")
    for item in items:
        page.click(f".lm-Menu-itemLabel:text-is('{item}')")


def _run(page, index: int) -> None:
    cell = page.locator(".jp-CodeCell").nth(index)
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    _until(lambda: cell.locator(".jp-InputPrompt").inner_text() == f"[{index + 1}]:", 60)


def _picture(lab, name: str, selector: str | None = None) -> None:
    path = str(lab.pictures / f"lab-{name}.png")
    (lab.page.locator(selector).first if selector else lab.page).screenshot(path=path)


def test_the_card_stands_below_the_value_of_the_cell_and_in_place_of_the_saved_report(lab):
    value = lab.page.get_by_text("'total above zero: True'", exact=True)
    assert value.count() == 1
    card = lab.page.locator(CARD)
    assert value.bounding_box()["y"] < card.bounding_box()["y"]
    assert card.count() == 1 and not lab.page.locator(REPORT).is_visible()
    assert lab.page.locator(DASHBOARD).count() == 0
    assert "Where the time went" in card.locator(".gpuprof-bar").get_attribute("aria-label")
    _picture(lab, "profiled", ".jp-CodeCell:has(.gpuprof-summary)")
    _picture(lab, "card", CARD)
    for theme, width in (("Dark", 1100), ("Dark", 840), ("Light", 840), ("Light", 1100)):
        if not _themed(lab, theme):
            _theme(lab, f"JupyterLab {theme}")
        lab.page.set_viewport_size({"width": width, "height": 1900})
        time.sleep(0.6)
        _picture(lab, f"card-{theme.lower()}-{width}", CARD)
        assert card.bounding_box()["height"] <= (220 if width > 1000 else 300)
        assert card.evaluate("card => card.scrollWidth - card.clientWidth") <= 1


def test_a_fix_is_inserted_below_and_a_trial_runs_there(lab):
    cells = lab.page.locator(".jp-CodeCell")
    before = cells.count()
    insert = lab.page.get_by_role("button", name="Insert fix")
    if not insert.count():
        pytest.skip("other processes held the cores: the report says so and withholds the finding")
    insert.click()
    _until(lambda: cells.count() == before + 1)
    _until(lambda: "--compare last" in cells.nth(2).locator(".cm-content").inner_text())
    lab.page.get_by_text("The changed cell is below").wait_for()
    _picture(lab, "inserted")
    lab.page.get_by_role("button", name="Try it").click()
    _until(lambda: "%gputry" in cells.nth(2).locator(".cm-content").inner_text())
    lab.page.get_by_text("measuring the change of finding").wait_for()
    _until(lambda: cells.nth(2).locator(".jp-InputPrompt").inner_text() == "[3]:", 120)
    _picture(lab, "tried")
    for _ in range(2):  # the other tests count the cells as they were
        cells.nth(2).locator(".jp-InputPrompt").click()
        lab.page.keyboard.press("d")
        lab.page.keyboard.press("d")
    _until(lambda: cells.count() == before)


def test_the_dashboard_unfolds_below_the_card(lab):
    lab.page.get_by_role("button", name="All details").click()
    lab.page.wait_for_selector(DASHBOARD)
    lab.page.locator(TABS, has_text="Timeline").click()
    lab.page.wait_for_selector(f"{PANEL} canvas")
    time.sleep(0.5)  # the first frame of the timeline
    _picture(lab, "cell")
    assert lab.page.locator(f"{PANEL} canvas").first.evaluate(CORNER) == [255, 255, 255, 255]
    _picture(lab, "dashboard-timeline", DASHBOARD)


@pytest.mark.parametrize(
    ("title", "words", "drawn"),
    [
        ("Findings", FOUND, False),
        ("Transfers", "there are no copies to show", False),
        ("Memory", "peak allocated", True),
        ("Kernels & operators", "aten::", False),
        ("Steps", "", True),
    ],
)
def test_every_tab_shows_what_it_promises(lab, title, words, drawn):
    lab.page.locator(TABS, has_text=title).click()
    panel = lab.page.locator(PANEL)
    panel.locator(":not(:text('Building this tab'))").first.wait_for()
    if drawn:
        panel.locator("iframe[data-drawn=yes]").first.wait_for()
    if words:
        panel.get_by_text(words).first.wait_for()
    time.sleep(0.4)  # the last repaint of a chart
    _picture(lab, f"dashboard-{title.split()[0].lower()}", DASHBOARD)
    assert "could not be built" not in panel.inner_text()


def test_a_chart_follows_the_theme_and_keeps_its_canvas(lab):
    lab.page.locator(TABS, has_text="Memory").click()
    frame = lab.page.locator(f"{PANEL} iframe[data-drawn=yes]").first.element_handle().content_frame()
    light = frame.evaluate("getComputedStyle(document.body).color")
    _theme(lab, "JupyterLab Dark")
    time.sleep(0.5)
    dark = frame.evaluate("getComputedStyle(document.body).color")
    assert light != dark
    assert frame.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
    assert frame.evaluate("innerHeight") > 250
    _picture(lab, "dashboard-memory-dark", DASHBOARD)
    lab.page.set_viewport_size({"width": 780, "height": 1900})
    time.sleep(0.8)
    _theme(lab, "JupyterLab Light")
    lab.page.locator(TABS, has_text="Timeline").click()
    time.sleep(0.8)
    _picture(lab, "dashboard-narrow", DASHBOARD)
    lab.page.set_viewport_size({"width": 1100, "height": 1900})


def _themed(lab, theme: str) -> bool:
    return lab.page.locator(f"body[data-jp-theme-name='JupyterLab {theme}']").count() > 0


def _theme(lab, name: str) -> None:
    _choose(lab.page, "Settings", "Theme", name)
    lab.page.wait_for_selector(f"body[data-jp-theme-name='{name}']", state="attached")


def test_nothing_of_ours_asks_the_network(lab):
    assert lab.outside == []


def test_a_plot_of_ours_shows_without_a_network(lab):
    _run(lab.page, 2)
    plot = lab.page.locator(".jp-CodeCell").nth(2).locator(".jp-OutputArea-output iframe[data-drawn=yes]")
    plot.first.wait_for(state="visible")
    time.sleep(0.5)
    _picture(lab, "plot")
    assert lab.outside == []


def test_reopened_without_its_kernel_the_report_is_whole(lab):
    page = lab.page
    saved = lab.server.folder / "train.ipynb"
    for _ in range(10):
        _choose(page, "File", "Save Notebook")
        page.wait_for_timeout(1000)
        if "How far to trust" in saved.read_text():
            break
    _choose(page, "Kernel", "Shut Down Kernel")
    page.goto("about:blank")
    page.goto(lab.server.url("lab/tree/train.ipynb"))
    report = page.locator(REPORT)
    report.wait_for()
    words = report.text_content().replace("\u00a0", " ")
    assert FOUND.search(words)
    assert "Where the time went" in words
    _picture(lab, "saved-card", REPORT)
    report.locator("summary", has_text="All details").click()
    assert report.locator("img").evaluate("image => image.complete && image.naturalWidth") == 1200
    time.sleep(1)
    _picture(lab, "reopened")
    _picture(lab, "saved-unfolded", REPORT)
    assert report.locator("text='Error displaying widget'").count() == 0


def _until(condition, seconds: float = 15) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "gave up waiting"
        time.sleep(0.2)


def test_untrusted_the_report_is_legible(lab):
    notebook = nbformat.read(lab.server.folder / "train.ipynb", as_version=4)
    notebook.metadata.copied = True  # another file: the signature of the first does not hold for it
    nbformat.write(notebook, lab.server.folder / "stranger.ipynb")
    lab.page.goto(lab.server.url("lab/tree/stranger.ipynb"))
    report = lab.page.locator(REPORT)
    report.wait_for()
    assert FOUND.search(report.text_content().replace("\u00a0", " "))
    assert report.locator("iframe").count() == 0
    assert report.locator("img").count() == 1
    assert lab.page.locator("text='Error displaying widget'").count() == 0
    assert "need a live kernel" in lab.page.locator(".jp-Notebook").inner_text()
    time.sleep(0.5)
    _picture(lab, "untrusted")
