// The page: theme, tabs, and the timeline with the ranges of the findings.

const byId = (id) => document.getElementById(id);

function listenTheme() {
  const button = byId("theme");
  const root = document.documentElement;
  const apply = (dark) => {
    root.dataset.theme = dark ? "dark" : "light";
    button.textContent = dark ? "light page" : "dark page";
  };
  const now = () => (root.dataset.theme ? root.dataset.theme === "dark" : isDark(root));
  button.hidden = false;
  button.textContent = now() ? "light page" : "dark page";
  button.addEventListener("click", () => apply(!now()));
  let before = null;
  let unfolded = [];
  addEventListener("beforeprint", () => {
    // the appendix is longer than all the rest: on paper only where the reader opened it
    unfolded = [...document.querySelectorAll("details:not([open], .appendix)")];
    for (const folded of unfolded) folded.open = true;
    before = root.dataset.theme ?? null;
    root.dataset.theme = "light";
  });
  addEventListener("afterprint", () => {
    for (const folded of unfolded) folded.open = false;
    if (before === null) delete root.dataset.theme;
    else root.dataset.theme = before;
  });
}

function buildTabs() {
  const panels = [...document.querySelectorAll(".panel")];
  const bar = byId("tabs");
  bar.hidden = false;
  bar.setAttribute("role", "tablist");
  document.documentElement.classList.add("tabbed");
  const tabs = panels.map((panel) => {
    const tab = make("button", "tab", panel.dataset.title);
    tab.type = "button";
    tab.id = `tab-${panel.id}`;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", panel.id);
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    bar.append(tab);
    return tab;
  });
  const open = (index) => {
    tabs.forEach((tab, i) => {
      tab.setAttribute("aria-selected", String(i === index));
      tab.tabIndex = i === index ? 0 : -1;
      panels[i].hidden = i !== index;
    });
  };
  tabs.forEach((tab, i) => tab.addEventListener("click", () => open(i)));
  bar.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const next = (tabs.indexOf(document.activeElement) + by + tabs.length) % tabs.length;
    open(next);
    tabs[next].focus();
  });
  open(0);
  return open;
}

async function showTimeline(openTab) {
  const payload = JSON.parse(byId("payload").textContent);
  const data = openPayload(payload, await inflate(fromBase64(byId("buffer").textContent)));
  const timeline = mount(byId("timeline"), data);
  for (const button of document.querySelectorAll("[data-finding]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      openTab(0);
      timeline.focusRanges(payload.findings[Number(button.dataset.finding)].ranges);
      byId("panel-timeline").scrollIntoView({ block: "nearest" });
    });
  }
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input, textarea, .gp-timeline")) return;
    event.preventDefault();
    openTab(0);
    timeline.openSearch();
  });
}

listenTheme();
enlivenTables(document);
showTimeline(buildTabs()).catch((error) => {
  byId("timeline").append(make("p", "note", `The timeline could not be drawn: ${error.message}`));
  throw error;
});
