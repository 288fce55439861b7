// Draws a lane of curves (memory, device samples): values that hold until the next reading, highest per pixel column.
import { countUntil } from "./series.js";
import { valueText } from "./text.js";

const DOT = 3;

export function valueAt(curve, t) {
  const index = countUntil(curve.time, t) - 1;
  return index < 0 ? null : { index, time: curve.time[index], value: curve.value[index] };
}

// The highest value that held at any instant of each pixel column; NaN where nothing had been recorded yet.
function columnMaxima(curve, scale, width) {
  const out = new Float64Array(width).fill(NaN);
  const columnNs = (scale.t1 - scale.t0) / width;
  const lasts = curve.time[curve.time.length - 1];
  let index = countUntil(curve.time, scale.t0);
  let held = index > 0 ? curve.value[index - 1] : NaN;
  for (let j = 0; j < width; j++) {
    const end = scale.t0 + (j + 1) * columnNs;
    let top = held;
    while (index < curve.time.length && curve.time[index] <= end) {
      held = curve.value[index];
      if (Number.isNaN(top) || held > top) top = held;
      index += 1;
    }
    out[j] = end - columnNs > lasts + (curve.hold ?? 0) ? NaN : top;
  }
  return out;
}

function tracePath(context, tops, x, y) {
  context.beginPath();
  let pen = false;
  tops.forEach((value, j) => {
    if (Number.isNaN(value)) {
      pen = false;
    } else if (pen) {
      context.lineTo(x(j), y(value));
    } else {
      context.moveTo(x(j), y(value));
      pen = true;
    }
  });
}

function fillUnder(context, tops, x, y, bottom) {
  const drawn = tops.reduce((seen, value, j) => (Number.isNaN(value) ? seen : [seen[0] ?? j, j]), []);
  if (drawn.length < 2) return;
  tracePath(context, tops, x, y);
  context.lineTo(x(drawn[1]), bottom);
  context.lineTo(x(drawn[0]), bottom);
  context.closePath();
  context.globalAlpha = 0.22;
  context.fill();
  context.globalAlpha = 1;
}

export function drawCurves(tl, place) {
  const { context, scale, palette } = tl;
  const { lane } = place;
  const bottom = place.y + place.height - 2;
  const room = place.height - 18;
  const y = (value) => bottom - (lane.top > 0 ? value / lane.top : 0) * room;
  const width = Math.max(1, Math.round(scale.width));
  const x = (j) => scale.left + ((j + 0.5) / width) * scale.width;
  for (const curve of lane.curves) {
    if (tl.hidden.has(curve.kind)) continue;
    const colour = palette.kinds[curve.kind].fill;
    const tops = columnMaxima(curve, scale, width);
    context.fillStyle = colour;
    if (curve.filled) fillUnder(context, tops, x, y, bottom);
    context.strokeStyle = colour;
    context.setLineDash(curve.dashed ? [4, 3] : []);
    context.lineWidth = 1.4;
    tracePath(context, tops, x, y);
    context.stroke();
    context.setLineDash([]);
    if (curve.dashed && !lane.limit) drawLevel(tl, curve, tops, y);
  }
  if (lane.limit) drawLimit(tl, lane, y);
  for (const curve of lane.curves) if (curve.peak && !tl.hidden.has(curve.kind)) drawPeak(tl, curve, y);
}

// What a dashed line is: its name and last value above its end.
function drawLevel(tl, curve, tops, y) {
  const { context, scale, palette } = tl;
  const last = tops.findLast((value) => !Number.isNaN(value));
  if (last === undefined) return;
  context.fillStyle = palette.muted;
  context.textAlign = "right";
  context.textBaseline = "bottom";
  context.fillText(`${curve.label} ${valueText(last, curve.unit)}`, scale.left + scale.width - 4, y(last) - 2);
}

function drawPeak(tl, curve, y) {
  const { context, scale, palette } = tl;
  const [time, value] = curve.peak;
  if (time < scale.t0 || time > scale.t1) return;
  const text = `peak ${valueText(value, curve.unit)}`;
  const at = scale.x(time);
  context.fillStyle = palette.kinds[curve.kind].fill;
  context.beginPath();
  context.arc(at, y(value), DOT, 0, 2 * Math.PI);
  context.fill();
  const flip = at + 8 + context.measureText(text).width > scale.left + scale.width;
  context.textAlign = flip ? "right" : "left";
  context.textBaseline = "middle";
  context.lineWidth = 4;
  context.strokeStyle = palette.lane;
  context.strokeText(text, at + (flip ? -6 : 6), y(value) - 7);
  context.fillStyle = palette.ink;
  context.fillText(text, at + (flip ? -6 : 6), y(value) - 7);
}

function drawLimit(tl, lane, y) {
  const { context, scale, palette } = tl;
  const level = Math.round(y(lane.limit)) + 0.5;
  context.strokeStyle = palette.limit;
  context.setLineDash([4, 3]);
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(scale.left, level);
  context.lineTo(scale.left + scale.width, level);
  context.stroke();
  context.setLineDash([]);
  context.fillStyle = palette.muted;
  context.textAlign = "right";
  context.textBaseline = "bottom";
  context.fillText(`limit ${valueText(lane.limit, lane.unit)}`, scale.left + scale.width - 4, level - 1);
}
