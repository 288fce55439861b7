// The card beside the pointer. Names come from the trace, so everything is set as text, never as markup.
import { enclosing, linked, locate } from "./pick.js";
import { durationText, rateText, shortName, valueText } from "./text.js";

function line(card, label, value) {
  const row = document.createElement("div");
  row.className = "gp-card-row";
  const term = document.createElement("span");
  term.textContent = label;
  const text = document.createElement("b");
  text.textContent = value;
  row.append(term, text);
  card.append(row);
}

function heading(card, text) {
  const title = document.createElement("div");
  title.className = "gp-card-title";
  title.textContent = text;
  card.append(title);
}

function titleOf(tl, hit) {
  const { series, index } = hit;
  return series.name ? shortName(tl.data.names[series.name[index]]) : `device idle: ${tl.data.kinds[series.kind].label}`;
}

// `kernels` is what the legend says of many.
function oneOf(label) {
  return label.replace(/ies$/, "y").replace(/ches$/, "ch").replace(/s$/, "");
}

// Its value in words; null where it was not recorded.
function detailText(tl, detail, index) {
  const value = detail.at(index);
  if (value === detail.unknown) return null;
  if (detail.named) return tl.data.names[value];
  return detail.words ? detail.words[value] : valueText(value, detail.unit);
}

function describeEvent(tl, card, hit) {
  const { series, index, place } = hit;
  const kind = tl.data.kinds[series.kind];
  heading(card, titleOf(tl, hit));
  line(card, "duration", durationText(hit.duration));
  line(card, "start", tl.timeText(hit.start));
  line(card, "lane", place.lane.title || place.lane.label);
  line(card, series.name ? "kind" : "meaning", series.name ? oneOf(kind.label) : kind.meaning);
  for (const detail of series.details) {
    const text = detailText(tl, detail, index);
    if (text !== null) line(card, detail.label, text);
  }
  const copied = kind.key === "copy" ? bandwidth(series, index) : null;
  if (copied) line(card, "bandwidth", copied);
  if (series.link) describeLaunch(tl, card, hit);
  else if (kind.key === "launch") describeAround(tl, card, hit);
}

function bandwidth(series, index) {
  const bytes = series.details.find((detail) => detail.label === "size")?.at(index) ?? -1;
  return bytes > 0 && series.duration[index] > 0 ? rateText(bytes, series.duration[index]) : null;
}

function describeLaunch(tl, card, hit) {
  const [id] = linked(tl, hit);
  const launch = id === undefined ? null : locate(tl, id);
  if (launch) line(card, "launched", `${durationText(hit.start - launch.start)} earlier, on ${launch.place.lane.label}`);
}

function describeAround(tl, card, hit) {
  const operator = enclosing(tl, hit);
  if (operator) line(card, "operator", operator);
}

function describeValues(tl, card, hit) {
  heading(card, hit.place.lane.title || hit.place.lane.label);
  line(card, "time", tl.timeText(hit.time));
  for (const { curve, at } of hit.values) {
    line(card, curve.label, at === null || Number.isNaN(at.value) ? "not recorded yet" : valueText(at.value, curve.unit));
  }
}

export function fillCard(tl, card, hit) {
  card.replaceChildren();
  if (hit.values) describeValues(tl, card, hit);
  else describeEvent(tl, card, hit);
}

const AWAY = 14;
const EDGE = 4;

// Beside the pointer and inside the window, in the top layer: a notebook's output area would else cut it off.
export function placeCard(tl, x, y) {
  const { canvas, card } = tl;
  card.hidden = false;
  if (card.showPopover && !card.matches(":popover-open")) card.showPopover();
  const { left, top } = canvas.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = card;
  card.style.left = `${beside(left + x, width, innerWidth)}px`;
  card.style.top = `${beside(top + y, height, innerHeight)}px`;
}

// Behind `at` where that fits, else before it, else as far as the window goes.
function beside(at, size, end) {
  if (at + AWAY + size <= end - EDGE) return at + AWAY;
  return at - AWAY - size >= EDGE ? at - AWAY - size : Math.max(end - EDGE - size, 0);
}

// The same words in one line, for the status line and for screen readers.
export function sentence(tl, hit) {
  const { lane } = hit.place;
  const more = hit.series.details
    .filter((detail) => ["operator", "cell line"].includes(detail.label))
    .map((detail) => [detail.label, detailText(tl, detail, hit.index)])
    .flatMap(([label, text]) => (text === null ? [] : [`${label} ${text}`]));
  const main = [titleOf(tl, hit), durationText(hit.duration), lane.label, `starts at ${tl.timeText(hit.start)}`];
  return [...main, ...more].join(" · ");
}
