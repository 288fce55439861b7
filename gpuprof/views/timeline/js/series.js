// A series: sorted, non-overlapping events of one kind in one row, with prefix sums of their durations.

// How many of the sorted values are <= t, looking from `low` on.
export function countUntil(values, t, low = 0) {
  let high = values.length;
  // Gallop: callers walk from left to right, so the answer is usually near `low`.
  let step = 1;
  while (low + step < high && values[low + step] <= t) {
    low += step;
    step *= 2;
  }
  if (low + step < high) high = low + step;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] <= t) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Indices [from, to) of the events that touch [t0, t1].
export function visible(series, t0, t1) {
  let from = countUntil(series.start, t0);
  if (from > 0 && series.start[from - 1] + series.duration[from - 1] >= t0) from -= 1;
  return [from, countUntil(series.start, t1, from)];
}

// The busy time of each of `width` equal columns of [t0, t1] as a share 0..1, exact; `out` has room for `width`.
export function busyShares(series, t0, t1, width, out) {
  const { start, duration, prefix } = series;
  const columnNs = (t1 - t0) / width;
  let index = 0;
  let before = 0;
  for (let j = 0; j <= width; j++) {
    const t = t0 + j * columnNs;
    index = countUntil(start, t, index > 0 ? index - 1 : 0);
    const last = index - 1;
    const until = last < 0 ? 0 : prefix[last] + Math.min(t - start[last], duration[last]);
    if (j > 0) out[j - 1] = (until - before) / columnNs;
    before = until;
  }
}

function busyUntil({ start, duration, prefix }, t) {
  const last = countUntil(start, t) - 1;
  return last < 0 ? 0 : prefix[last] + Math.min(t - start[last], duration[last]);
}

// The busy time inside [t0, t1] in ns, exact.
export function busyNs(series, t0, t1) {
  return busyUntil(series, t1) - busyUntil(series, t0);
}

// The event under t, or the longest one within `slack` ns of it; -1 if there is none.
export function eventAt(series, t, slack) {
  const [from, to] = visible(series, t - slack, t + slack);
  let best = -1;
  let longest = -1;
  for (let i = from; i < to; i++) {
    if (series.start[i] <= t && t < series.start[i] + series.duration[i]) return i;
    if (series.duration[i] > longest) {
      longest = series.duration[i];
      best = i;
    }
  }
  return best;
}
