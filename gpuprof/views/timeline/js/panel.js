// The sum of a selected range, under the canvas: tables that a screen reader reads. Names are set as text.
import { bytesText, countText, durationText, percentText, rateText, shortName } from "./text.js";
import { button, make } from "./toolbar.js";
import { sumUp } from "./totals.js";

const MOST_NAMES = 6;

// `rows` are lists of texts, the first of each heads its row; `swatch(i)` colours row i.
function table(title, heads, rows, swatch) {
  const made = make("table", "gp-sum-table");
  made.setAttribute("aria-label", title);
  const head = make("tr");
  [title, ...heads].forEach((text, i) => {
    const cell = make("th", i ? "gp-figure" : "gp-sum-title", text);
    cell.scope = "col";
    head.append(cell);
  });
  const top = make("thead");
  top.append(head);
  const body = make("tbody");
  body.append(...rows.map((texts, i) => tableRow(texts, swatch && swatch(i))));
  made.append(top, body);
  return made;
}

function tableRow([name, ...figures], swatch) {
  const row = make("tr");
  const head = make("th", "gp-sum-name");
  head.scope = "row";
  const words = make("span", "", shortName(name));
  words.title = name;
  head.append(...(swatch ? [swatch] : []), words);
  row.append(head, ...figures.map((text) => make("td", "gp-figure", text)));
  return row;
}

function swatchOf(tl, index) {
  const swatch = make("i", "gp-swatch");
  swatch.style.background = tl.palette.kinds[index].fill;
  return swatch;
}

function deviceTable(tl, device, several) {
  const share = (ns) => (device.recorded > 0 ? percentText(ns / device.recorded) : "");
  const rows = [["busy", durationText(device.busy), share(device.busy)]];
  const colours = [tl.data.kinds.findIndex((kind) => kind.key === "kernel")];
  for (const { kind, ns } of device.idle) {
    rows.push([`idle: ${tl.data.kinds[kind].label.replace(/^idle, /, "")}`, durationText(ns), share(ns)]);
    colours.push(kind);
  }
  const unexplained = device.recorded - device.busy - device.idle.reduce((sum, { ns }) => sum + ns, 0);
  if (unexplained >= 0.5) {
    rows.push(["idle", durationText(unexplained), share(unexplained)]);
    colours.push(-1);
  }
  const swatch = (i) => (colours[i] < 0 ? make("i", "gp-swatch") : swatchOf(tl, colours[i]));
  const which = several ? `Device ${device.id}` : "Device";
  return table(device.whole ? which : `${which}, ${durationText(device.recorded)} recorded`, ["time", "share"], rows, swatch);
}

function nameTable(title, found, total) {
  const rows = found.slice(0, MOST_NAMES).map(({ name, ns, count }) => [name, durationText(ns), countText(count)]);
  const rest = found.slice(MOST_NAMES);
  if (rest.length) {
    const sum = (key) => rest.reduce((all, each) => all + each[key], 0);
    rows.push([`${countText(rest.length)} more`, durationText(sum("ns")), countText(sum("count"))]);
  }
  return table(title, ["time", "count"], rows);
}

function copyTable(copies) {
  const rows = copies.map((group) => [
    group.label, durationText(group.ns), countText(group.count),
    group.known ? bytesText(group.bytes) : "unknown",
    group.known && group.knownNs > 0 ? rateText(group.bytes, group.knownNs) : "unknown",
  ]);
  return table("Copies, each counted whole", ["time", "count", "size", "bandwidth"], rows);
}

function waitTable(tl, waits, span) {
  const index = (key) => tl.data.kinds.findIndex((kind) => kind.key === key);
  const rows = waits.map(({ key, ns }) => [tl.data.kinds[index(key)].label, durationText(ns), percentText(ns / span)]);
  return table("Main thread", ["time", "share"], rows, (i) => swatchOf(tl, index(waits[i].key)));
}

// Shares of the range at the left, what ran in it at the right.
function columns(tl, sum) {
  const left = sum.devices.filter((device) => device.recorded > 0).map((device) => deviceTable(tl, device, sum.devices.length > 1));
  if (sum.waits.length) left.push(waitTable(tl, sum.waits, sum.t1 - sum.t0));
  const right = [];
  if (sum.kernels.length) right.push(nameTable("Kernels, times added", sum.kernels));
  if (sum.operators.length) right.push(nameTable("Operators, time of their own", sum.operators));
  if (sum.copies.length) right.push(copyTable(sum.copies));
  return [left, right].filter((tables) => tables.length).map((tables) => {
    const column = make("div", tables === right ? "gp-sum-wide" : "gp-sum-narrow");
    column.append(...tables);
    return column;
  });
}

function sentenceOf(tl, sum) {
  const parts = sum.devices.filter((device) => device.recorded > 0).map((device) => {
    const which = sum.devices.length > 1 ? `device ${device.id}` : "the device";
    const part = device.whole ? "" : ` of the ${durationText(device.recorded)} recorded`;
    return `${which} is busy ${percentText(device.busy / device.recorded)}${part}`;
  });
  const [first] = sum.kernels.length ? sum.kernels : sum.operators;
  if (first) parts.push(`most time in ${shortName(first.name)}`);
  return `${durationText(sum.t1 - sum.t0)} summed up${parts.length ? `: ${parts.join("; ")}` : "; nothing runs in it"}.`;
}

// Fills `panel` with the sum of [t0, t1]; returns one sentence of it.
export function fillPanel(tl, panel, [t0, t1], actions) {
  const sum = sumUp(tl.data, t0, t1);
  const head = make("div", "gp-sum-head");
  head.append(make("b", "", `Range of ${durationText(t1 - t0)}`));
  head.append(make("span", "gp-sum-from", `from ${tl.timeText(t0)}`));
  head.append(button("Zoom to it", "Zoom to the range", actions.zoom), button("Close", "Close the sum (Escape)", actions.close));
  const all = make("div", "gp-sum-tables");
  const made = columns(tl, sum);
  all.append(...(made.length ? made : [make("p", "", "Nothing that can be summed up runs in this range.")]));
  panel.replaceChildren(head, all);
  if (tl.data.reduced) {
    panel.append(make("p", "gp-sum-note", "Only the longest events are in this view: kernels, copies and operators are of those."));
  }
  panel.hidden = false;
  return sentenceOf(tl, sum);
}
