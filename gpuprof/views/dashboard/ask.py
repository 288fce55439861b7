"""The What if tab: a small form for a person's own question, and the answers below it, newest first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import ipywidgets

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.errors import UsageError
from gpuprof.report.answer import Answer, answer
from gpuprof.views.dashboard import fragments
from gpuprof.views.tables.html_widget import HtmlWidget
from gpuprof.views.widget_lifecycle import EndsQuietly
from gpuprof.whatif.questions import Question

if TYPE_CHECKING:
    from gpuprof.report import Report

_MOST_ANSWERS = 20
_WIDE = {"description_width": "initial"}
_NO_LINES = "Lines are numbers, separated by commas, such as 12, 14."


class Ask(EndsQuietly, ipywidgets.VBox):  # type: ignore[misc]  # untyped
    """The same questions as `Run.whatif`; what the run cannot be asked is said in the place of an answer."""

    def __init__(self, report: Report):
        self._report: Report | None = report
        self._answers: list[Mapping[str, str]] = []
        device = bool(report.results.get(DeviceActivity).recorded)
        self.kernels = ipywidgets.Text(
            description="kernels named" if device else "operators named",
            placeholder="*gemm*" if device else "aten::*mm",
            style=_WIDE,
        )
        self.times = ipywidgets.BoundedFloatText(
            value=2.0, min=0.01, max=1000.0, step=0.5, description="times as fast", style=_WIDE
        )
        self.lines = ipywidgets.Text(description="without lines", placeholder="12, 14", style=_WIDE)
        self.switches = {
            "data_ready": _switch("data ready at once"),
            **({"no_waits": _switch("no waits for the GPU")} if device else {}),
            **({"pinned_copies": _switch("copies from pinned memory")} if device else {}),
        }
        self.links = ipywidgets.BoundedFloatText(
            value=1.0, min=0.01, max=1000.0, step=0.5, description="links times as fast", style=_WIDE
        )
        self.button = ipywidgets.Button(description="Ask", tooltip="Simulate all of it together")
        self.html_widget = HtmlWidget(fragments.fragment("answers", answers=()))
        asked = [self.kernels, self.times, self.lines, *([self.links] if device else [])]
        form = ipywidgets.HBox(
            [*asked, *self.switches.values()], layout={"flex_flow": "row wrap", "grid_gap": "4px 16px"}
        )
        super().__init__([form, self.button, self.html_widget])
        self.button.on_click(self._asked)

    def close(self) -> None:
        """Also let go of the run."""
        self._report = None
        super().close()

    def _asked(self, _: Any) -> None:
        if self._report is None:
            return
        try:
            said = _words(answer(self._report.results, self._question()))
        except UsageError as error:
            said = _refused(str(error).removeprefix("whatif: "))
        # the boundary of the tab: a fault of ours is said here and nowhere else
        except Exception as error:  # noqa: BLE001
            said = _refused(f"That cannot be answered: {type(error).__name__}: {error}")
        self._answers = [said, *self._answers][:_MOST_ANSWERS]
        self.html_widget.html = fragments.fragment("answers", answers=self._answers)

    def _question(self) -> Question:
        pattern = self.kernels.value.strip()
        return Question(
            kernel_time={pattern: 1 / self.times.value} if pattern else {},
            without_lines=_lines(self.lines.value),
            link_speedup=self.links.value,
            **{name: switch.value for name, switch in self.switches.items()},
        )


def _switch(words: str) -> ipywidgets.Checkbox:
    return ipywidgets.Checkbox(value=False, description=words, indent=False, layout={"width": "auto"})


def _lines(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.replace(";", ",").split(",") if part.strip()]
    if not all(part.isdigit() for part in parts):
        raise UsageError(f"whatif: {_NO_LINES}")
    return tuple(int(part) for part in parts)


def _words(found: Answer) -> Mapping[str, str]:
    question, _, said = str(found).partition(": ")
    return {"question": question, "said": said, "refused": ""}


def _refused(why: str) -> Mapping[str, str]:
    return {"question": "", "said": "", "refused": f"{why[:1].upper()}{why[1:]}"}
