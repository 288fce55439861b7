// What is under the pointer, where an event stands, and which events belong together.
import { valueAt } from "./curves.js";
import { laneAt } from "./layout.js";
import { countUntil, eventAt } from "./series.js";

const SLACK_PIXELS = 2;

function describe(place, row, series, index) {
  return {
    place, series, index,
    id: series.first < 0 ? -1 : series.first + index,
    start: series.start[index],
    duration: series.duration[index],
    y: row ? row.y : place.y,
    height: row ? row.height : place.height - 1,
  };
}

// The event, stall or reading at canvas position (x, y); null where there is nothing.
export function pick(tl, x, y) {
  const { scale, layout } = tl;
  if (x < scale.left || y < layout.top) return null;
  const place = laneAt(layout, y);
  if (!place) return null;
  const time = scale.time(x);
  if (place.lane.type === "curves") {
    const values = place.lane.curves.map((curve) => ({ curve, at: valueAt(curve, time) }));
    return { place, time, values };
  }
  const slack = SLACK_PIXELS * scale.nsPerPixel;
  const row = place.rows.find((r) => y >= r.y && y < r.y + r.height + 1);
  for (const series of row ? row.row : []) {
    const index = tl.hidden.has(series.kind) ? -1 : eventAt(series, time, slack);
    if (index >= 0) return describe(place, row, series, index);
  }
  return place.lane.stalls ? pickStall(tl, place, time) : null;
}

function pickStall(tl, place, time) {
  for (const series of tl.data.stalls) {
    const index = tl.hidden.has(series.kind) ? -1 : eventAt(series, time, 0);
    if (index >= 0) return describe(place, null, series, index);
  }
  return null;
}

// The event of that number with its place; drawn at its lane's last visible row where its own is folded away.
export function locate(tl, id) {
  for (const place of tl.layout.lanes) {
    if (place.lane.type === "curves") continue;
    for (let r = 0; r < place.lane.rows.length; r++) {
      for (const series of place.lane.rows[r]) {
        if (id < series.first || id >= series.first + series.start.length) continue;
        return describe(place, place.rows[Math.min(r, place.rows.length - 1)], series, id - series.first);
      }
    }
  }
  return null;
}

export function* allSeries(data) {
  for (const lane of data.lanes) {
    if (lane.type === "curves") continue;
    for (const row of lane.rows) yield* row;
  }
}

// Numbers of the events linked with `hit`: a kernel's launch, or every device event of a launch.
export function linked(tl, hit) {
  if (hit.id < 0) return [];
  const { series, index } = hit;
  if (series.link) return series.link[index] >= 0 ? [series.link[index]] : [];
  const ids = [];
  for (const other of allSeries(tl.data)) {
    if (!other.link) continue;
    for (let i = 0; i < other.link.length; i++) if (other.link[i] === hit.id) ids.push(other.first + i);
  }
  return ids;
}

// The innermost operator around an event of a host thread: what the launch belongs to.
export function enclosing(tl, hit) {
  const rows = hit.place.lane.rows;
  const own = rows.findIndex((row) => row.includes(hit.series));
  for (let r = own - 1; r >= 0; r--) {
    for (const series of rows[r]) {
      const index = countUntil(series.start, hit.start) - 1;
      if (index >= 0 && series.start[index] + series.duration[index] >= hit.start + hit.duration) {
        return tl.data.names[series.name[index]];
      }
    }
  }
  return null;
}
