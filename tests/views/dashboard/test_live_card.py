"""The live card: what its buttons ask for, and a dashboard that is not built before it is asked for."""

from ipywidgets.widgets import widget as registry

from gpuprof.views.dashboard.live_card import Insertion, LiveCard
from gpuprof.views.timeline.widget import TimelineWidget
from tests.support.reports import NASTY, device_report, host_report, with_findings
from tests.views.dashboard.test_dashboard import html, inside


def card_of(report, **actions):
    return LiveCard(report, actions=actions)


def title(card):
    return card.dashboard.tab.titles[card.dashboard.tab.selected_index]


def test_nothing_is_built_before_it_is_asked_for():
    before = len(registry._instances)
    card = card_of(with_findings(device_report()))
    assert card.dashboard is None and not card.below.children
    assert len(registry._instances) - before < 10
    card.card.ask("open details")
    assert card.below.children == (card.dashboard,) and title(card).startswith("Findings")
    assert 'aria-expanded="true"' in card.card.html


def test_all_details_folds_again_and_keeps_what_was_built():
    card = card_of(device_report())
    card.card.ask("open memory")
    built = card.dashboard
    assert title(card) == "Memory"
    card.card.ask("open details")
    assert not card.below.children and 'aria-expanded="false"' in card.card.html
    card.card.ask("open timeline")
    assert card.dashboard is built and title(card) == "Timeline"


def test_what_the_card_says_is_not_said_again_below_it():
    report = with_findings(device_report())
    card = card_of(report)
    card.card.ask("open details")
    below = html(card.below)
    said = html(card.card)
    assert report.verdict.headline.replace("\u00a0", " ") in said
    assert report.verdict.headline not in below and '"gpuprof-bar"' not in below
    assert "aves 22–38%" in said and "aves 22–38%" not in below
    assert NASTY not in below and "&lt;img src=x" in below


def test_show_leads_to_the_place_in_the_timeline_or_to_the_finding():
    report = with_findings(device_report())
    card = card_of(report)
    card.card.ask("show 1")
    assert title(card) == "Timeline"
    (timeline,) = [each for each in inside(card) if isinstance(each, TimelineWidget)]
    assert len(timeline.focus_ranges) == len(report.findings[0].where.ranges_ns)
    card.card.ask("show 2")
    assert title(card).startswith("Findings")


def test_buttons_act_and_say_what_they_did():
    sent, asked = [], []

    def fix(number):
        asked.append(number)
        return Insertion("x = 2", "It is below.")

    card = card_of(with_findings(device_report()), fix=fix)
    card.card.send = sent.append
    assert "Insert fix" in card.card.html and "Try it" not in card.card.html
    card.card.ask("fix 1")
    assert asked == [1] and sent == [{"insert": "x = 2", "run": False}]
    assert card.card.said == "It is below."


def test_without_changed_code_there_is_nothing_to_insert():
    card = card_of(device_report(), fix=None)
    assert "Insert fix" not in card.card.html and ">Show</button>" in card.card.html


def test_it_is_shown_anew_with_what_was_measured_and_closed_with_all_it_holds():
    before = len(registry._instances)
    card = card_of(host_report())
    card.card.ask("open details")
    card.refresh(with_findings(host_report()))
    assert "Load with DataLoader" in card.card.html
    card.fold()
    card.close()
    assert len(registry._instances) == before
    card.refresh(host_report())
    card.open_tab("memory")
    assert card.dashboard is None
