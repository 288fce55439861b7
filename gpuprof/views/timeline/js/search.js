// Finds events by a part of their name, in order of time.
import { countUntil } from "./series.js";
import { allSeries } from "./pick.js";

export function emptySearch() {
  return { text: "", names: null, times: new Float64Array(0), ids: new Float64Array(0), at: -1 };
}

function matchingNames(names, text) {
  const wanted = text.toLowerCase();
  return Uint8Array.from(names, (name) => (name.toLowerCase().includes(wanted) ? 1 : 0));
}

// The matches of one series: a run that is in order of time already.
function runOf(series, names) {
  let count = 0;
  for (let i = 0; i < series.start.length; i++) count += names[series.name[i]];
  const run = { times: new Float64Array(count), ids: new Float64Array(count) };
  for (let i = 0, at = 0; i < series.start.length; i++) {
    if (!names[series.name[i]]) continue;
    run.times[at] = series.start[i];
    run.ids[at] = series.first + i;
    at += 1;
  }
  return run;
}

function mergeTwo(a, b) {
  const length = a.times.length + b.times.length;
  const merged = { times: new Float64Array(length), ids: new Float64Array(length) };
  let i = 0;
  let j = 0;
  for (let at = 0; at < length; at++) {
    const fromA = j >= b.times.length || (i < a.times.length && a.times[i] <= b.times[j]);
    merged.times[at] = fromA ? a.times[i] : b.times[j];
    merged.ids[at] = fromA ? a.ids[i++] : b.ids[j++];
  }
  return merged;
}

function matches(data, names) {
  let runs = [...allSeries(data)].map((series) => runOf(series, names)).filter((run) => run.times.length);
  while (runs.length > 1) {
    const halved = [];
    for (let i = 0; i < runs.length; i += 2) halved.push(i + 1 < runs.length ? mergeTwo(runs[i], runs[i + 1]) : runs[i]);
    runs = halved;
  }
  return runs[0] || { times: new Float64Array(0), ids: new Float64Array(0) };
}

export function runSearch(tl, text) {
  if (!text) {
    tl.search = emptySearch();
    return;
  }
  const names = matchingNames(tl.data.names, text);
  tl.search = { text, names, ...matches(tl.data, names), at: -1 };
}

// Moves to the next (or the one before) match, starting from what is in view; its number or -1.
export function step(tl, direction) {
  const { search, scale } = tl;
  const count = search.times.length;
  if (!count) return -1;
  if (search.at < 0) {
    const first = countUntil(search.times, scale.t0);
    search.at = direction > 0 ? first % count : (first - 1 + count) % count;
  } else {
    search.at = (search.at + direction + count) % count;
  }
  return search.ids[search.at];
}

export function drawMatches(tl) {
  const { context, layout, palette, scale, search } = tl;
  if (!search.names) return;
  const width = Math.round(scale.width);
  context.fillStyle = palette.accent;
  let index = countUntil(search.times, scale.t0);
  const perNs = 1 / scale.nsPerPixel;
  while (index < search.times.length && search.times[index] <= scale.t1) {
    const column = Math.floor((search.times[index] - scale.t0) * perNs);
    context.fillRect(scale.left + Math.min(column, width - 1), layout.top - 5, 1.5, 5);
    index = countUntil(search.times, scale.t0 + (column + 1) / perNs, index + 1);
  }
}
