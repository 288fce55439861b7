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

function matches(data, names) {
  const found = [];
  for (const series of allSeries(data)) {
    for (let i = 0; i < series.start.length; i++) if (names[series.name[i]]) found.push([series.start[i], series.first + i]);
  }
  return found.sort((a, b) => a[0] - b[0]);
}

export function runSearch(tl, text) {
  if (!text) {
    tl.search = emptySearch();
    return;
  }
  const names = matchingNames(tl.data.names, text);
  const found = matches(tl.data, names);
  tl.search = {
    text, names,
    times: Float64Array.from(found, (pair) => pair[0]),
    ids: Float64Array.from(found, (pair) => pair[1]),
    at: -1,
  };
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
