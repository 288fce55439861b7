// The controls above and below the canvas, made element by element: no markup is ever parsed.

const FOCUSABLE = ["button", "canvas", "input"];

export function make(tag, className, text) {
  const element = document.createElement(tag);
  // JupyterLab else takes a key pressed here for a command of its own: X cuts the cell
  if (FOCUSABLE.includes(tag)) element.dataset.lmSuppressShortcuts = "true";
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

export function button(text, label, action) {
  const element = make("button", "gp-button", text);
  element.type = "button";
  element.title = label;
  element.setAttribute("aria-label", label);
  element.addEventListener("click", action);
  return element;
}

export function buildTools(actions) {
  const tools = make("div", "gp-tools");
  const search = make("input", "gp-search");
  search.type = "search";
  search.placeholder = "Search names ( / )";
  search.setAttribute("aria-label", "Search the timeline by name");
  search.addEventListener("input", () => actions.search(search.value.trim()));
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") actions.match(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") {
      search.value = "";
      actions.search("");
      actions.focusCanvas();
    }
    event.stopPropagation();
  });
  const count = make("span", "gp-count");
  count.setAttribute("aria-live", "polite");
  const zoom = make("span", "gp-zoom");
  zoom.append(
    button("−", "Zoom out (−)", () => actions.zoom(2)),
    button("+", "Zoom in (+)", () => actions.zoom(0.5)),
    button("Whole run", "Show the whole run (Home)", () => actions.reset()),
    button("Sum up", "Sum up what is in view (S)", () => actions.sumUp()),
  );
  const find = make("span", "gp-find");
  find.append(search, button("‹", "Previous match (Shift+Enter)", () => actions.match(-1)));
  find.append(button("›", "Next match (Enter)", () => actions.match(1)), count);
  tools.append(find, zoom);
  return { tools, search, count };
}

// One toggle a label (an event and the stall it causes share theirs); `used` are the kinds that occur.
export function buildLegend(kinds, used, hint, toggle) {
  const legend = make("div", "gp-legend");
  legend.setAttribute("role", "group");
  legend.setAttribute("aria-label", "Kinds shown");
  const swatches = [];
  const byLabel = new Map();
  for (const index of used) byLabel.set(kinds[index].label, [...(byLabel.get(kinds[index].label) || []), index]);
  for (const indices of byLabel.values()) {
    const index = indices[0];
    const entry = make("button", "gp-kind");
    entry.type = "button";
    entry.title = `${indices.map((i) => kinds[i].meaning).join("; ")}. Click to hide or show.`;
    entry.setAttribute("aria-pressed", "true");
    const swatch = make("span", "gp-swatch");
    entry.append(swatch, make("span", "", kinds[index].label));
    entry.addEventListener("click", () => entry.setAttribute("aria-pressed", String(!toggle(indices))));
    swatches.push([swatch, index]);
    legend.append(entry);
  }
  legend.append(make("span", "gp-hint", hint));
  const paint = (palette) => {
    for (const [swatch, index] of swatches) swatch.style.background = palette.kinds[index].fill;
  };
  return { legend, paint };
}
