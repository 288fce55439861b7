// Sums up a range of time: how busy each device was, which kernels and copies ran, why the device was idle.
import { busyNs, visible } from "./series.js";

function lanesOf(data) {
  return data.lanes.filter((lane) => lane.type !== "curves");
}

function* seriesOf(lane) {
  for (const row of lane.rows) yield* row;
}

// How much of [t0, t1] at least one of the series covers, exact; events of one series never overlap.
export function unionNs(all, t0, t1) {
  const parts = all.map((series) => ({ series, at: visible(series, t0, t1) })).filter(({ at }) => at[0] < at[1]);
  let covered = 0;
  let until = t0;
  while (parts.length) {
    let first = 0;
    for (let i = 1; i < parts.length; i++) if (nextStart(parts[i]) < nextStart(parts[first])) first = i;
    const { series, at } = parts[first];
    const start = Math.max(series.start[at[0]], until);
    const end = Math.min(series.start[at[0]] + series.duration[at[0]], t1);
    if (end > start) {
      covered += end - start;
      until = end;
    }
    at[0] += 1;
    if (at[0] === at[1]) parts.splice(first, 1);
  }
  return covered;
}

function nextStart({ series, at }) {
  return series.start[at[0]];
}

// A device is idle only where something was recorded. Where its idle time is known, it is busy for the rest, drawn or
// not. `whole`: all of the range was recorded.
function deviceTotals(data, lanes, t0, t1) {
  const from = Math.max(t0, data.zero_ns);
  const to = Math.min(t1, data.end_ns);
  const ids = [...new Set(lanes.map((lane) => lane.device).filter((id) => id !== null && id !== undefined))];
  return ids.map((id) => {
    const own = lanes.filter((lane) => lane.device === id);
    const recorded = Math.max(to - from, 0);
    const whole = recorded >= t1 - t0 - 0.5;
    if (!own.some((lane) => lane.stalls)) {
      return { id, recorded, whole, busy: unionNs(own.flatMap((lane) => [...seriesOf(lane)]), from, from + recorded), idle: [] };
    }
    const idle = data.stalls.map((series) => ({ kind: series.kind, ns: recorded ? busyNs(series, from, to) : 0 }));
    const causes = idle.filter(({ ns }) => ns >= 0.5).sort((a, b) => b.ns - a.ns);
    return { id, recorded, whole, busy: recorded - idle.reduce((sum, { ns }) => sum + ns, 0), idle: causes };
  });
}

// The time inside [t0, t1] and the number of the events by name, most time first; `own(series, i)` may take off more.
function byName(data, all, t0, t1, own = (start, end) => end - start) {
  const time = new Float64Array(data.names.length);
  const count = new Uint32Array(data.names.length);
  for (const series of all) {
    const [from, to] = visible(series, t0, t1);
    for (let i = from; i < to; i++) {
      const start = Math.max(series.start[i], t0);
      const end = Math.min(series.start[i] + series.duration[i], t1);
      if (end < start || (end === start && series.duration[i] > 0)) continue;
      time[series.name[i]] += own(start, end, series);
      count[series.name[i]] += 1;
    }
  }
  const used = [...count.keys()].filter((name) => count[name] > 0).sort((a, b) => time[b] - time[a]);
  return used.map((name) => ({ name: data.names[name], ns: time[name], count: count[name] }));
}

// Copies that touch the range, each counted whole, by direction and kind of host memory.
function copyTotals(all, t0, t1) {
  const groups = new Map();
  for (const series of all) {
    const [size, direction, memory] = ["size", "direction", "host memory"].map((label) =>
      series.details.find((detail) => detail.label === label));
    const word = (detail, i) => (detail && detail.at(i) !== detail.unknown ? detail.words[detail.at(i)] : "");
    const [from, to] = visible(series, t0, t1);
    for (let i = from; i < to; i++) {
      if (series.start[i] >= t1 || series.start[i] + series.duration[i] <= t0) continue;
      const label = [word(direction, i) || "direction unknown", word(memory, i)].filter(Boolean).join(", ");
      const group = groups.get(label) || { label, count: 0, bytes: 0, ns: 0, known: 0, knownNs: 0 };
      const bytes = size ? size.at(i) : -1;
      group.count += 1;
      group.ns += series.duration[i];
      if (bytes >= 0) {
        group.known += 1;
        group.bytes += bytes;
        group.knownNs += series.duration[i];
      }
      groups.set(label, group);
    }
  }
  return [...groups.values()].sort((a, b) => b.ns - a.ns);
}

// Operators of the host by the time that no event inside them takes.
function operatorTotals(data, lanes, wanted, t0, t1) {
  const all = [];
  const inside = new Map();
  for (const lane of lanes) {
    lane.rows.forEach((row, r) => {
      for (const series of row.filter(wanted)) {
        all.push(series);
        inside.set(series, lane.rows[r + 1] || []);
      }
    });
  }
  const own = (start, end, series) => {
    let left = end - start;
    for (const child of inside.get(series)) left -= busyNs(child, start, end);
    return Math.max(left, 0);
  };
  return byName(data, all, t0, t1, own);
}

export function sumUp(data, t0, t1) {
  const lanes = lanesOf(data);
  const host = lanes.filter((lane) => lane.device === null || lane.device === undefined);
  const kindOf = (series) => data.kinds[series.kind].key;
  const ofKinds = (from, ...keys) => from.flatMap((lane) => [...seriesOf(lane)]).filter((s) => keys.includes(kindOf(s)));
  const devices = deviceTotals(data, lanes, t0, t1);
  const main = lanes.filter((lane) => lane.main);
  const waits = ["input_wait", "sync"].flatMap((key) => {
    const ns = unionNs(ofKinds(main, key), t0, t1);
    return ns > 0 ? [{ key, ns }] : [];
  });
  return {
    t0, t1, devices, waits,
    kernels: byName(data, ofKinds(lanes, "kernel", "collective"), t0, t1),
    copies: copyTotals(ofKinds(lanes, "copy"), t0, t1),
    operators: devices.length ? [] : operatorTotals(data, host, (s) => kindOf(s) === "operator", t0, t1),
  };
}
