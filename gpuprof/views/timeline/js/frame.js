// Draws the whole picture: overview, axis, stalls, lanes, and what is pointed at.
import { drawCurves } from "./curves.js";
import { drawRow, fitText } from "./marks.js";
import { Scale, tickText } from "./scale.js";
import { durationText, valueText } from "./text.js";
import { locate } from "./pick.js";
import { drawMatches } from "./search.js";

const STALL_OPACITY = 0.22;

export function drawFrame(tl) {
  const { context, layout, palette, ratio } = tl;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = palette.surface;
  // one more each way: at a ratio of 1.5 the last pixels are only half inside
  context.fillRect(0, 0, layout.width + 1, layout.height + 1);
  context.font = palette.font;
  drawOverview(tl);
  drawAxis(tl);
  drawMatches(tl);
  context.save();
  context.beginPath();
  context.rect(tl.scale.left, layout.top, tl.scale.width, layout.height - layout.top);
  context.clip();
  drawLanes(tl);
  drawStalls(tl);
  drawRange(tl);
  drawFocus(tl);
  drawLink(tl);
  drawPointer(tl);
  context.restore();
  drawRangeOnAxis(tl);
  drawLabels(tl);
}

function drawLanes(tl) {
  const { context, layout, palette, scale } = tl;
  tl.strip.resize(Math.max(1, Math.round(scale.width * tl.ratio)));
  for (const place of layout.lanes) {
    context.fillStyle = palette.lane;
    context.fillRect(scale.left, place.y, scale.width, place.height - 1);
    if (place.lane.type === "curves") drawCurves(tl, place);
    else for (const { row, y, height } of place.rows) drawRow(tl, row, y, height);
  }
}

function drawStalls(tl) {
  const { layout, data } = tl;
  const places = layout.lanes.filter((place) => place.lane.stalls);
  if (!places.length || !data.stalls.length) return;
  for (const place of places) drawShade(tl, place.y, place.height - 1);
}

function drawShade(tl, y, height) {
  const { scale, strip, palette, hidden, data, context } = tl;
  strip.clear();
  for (const series of data.stalls) {
    if (!hidden.has(series.kind)) strip.add(series, scale, palette.kinds[series.kind].rgb);
  }
  strip.draw(context, scale.left, y, scale.width, height, STALL_OPACITY);
}

// The whole run in one line, with the part in view framed; kept as an image until something but the view changes.
function drawOverview(tl) {
  const { context, layout, palette, scale } = tl;
  const { y, height } = layout.overview;
  const whole = new Scale(scale.span);
  whole.left = scale.left;
  whole.width = scale.width;
  context.fillStyle = palette.lane;
  context.fillRect(scale.left, y + 4, scale.width, height - 8);
  if (tl.overviewRow) {
    const view = tl.scale;
    tl.scale = whole;
    tl.strip.resize(Math.max(1, Math.round(scale.width * tl.ratio)));
    drawRowAsShares(tl, tl.overviewRow, y + 4, height - 8);
    tl.scale = view;
  }
  const x0 = whole.x(scale.t0);
  const x1 = Math.max(whole.x(scale.t1), x0 + 3);
  context.fillStyle = palette.surface;
  context.globalAlpha = 0.65;
  context.fillRect(scale.left, y + 4, x0 - scale.left, height - 8);
  context.fillRect(x1, y + 4, scale.left + scale.width - x1, height - 8);
  context.globalAlpha = 1;
  context.strokeStyle = palette.accent;
  context.lineWidth = 1.5;
  context.strokeRect(x0 + 0.75, y + 3.5, x1 - x0 - 1.5, height - 7);
}

function drawRowAsShares(tl, row, y, height) {
  const { scale, strip, hidden, palette, context } = tl;
  strip.clear();
  for (const series of row) {
    if (!hidden.has(series.kind)) strip.add(series, scale, palette.kinds[series.kind].rgb);
  }
  strip.draw(context, scale.left, y, scale.width, height, 1);
}

function drawAxis(tl) {
  const { context, layout, palette, range, scale } = tl;
  const { step, times } = scale.ticks();
  context.strokeStyle = palette.line;
  context.lineWidth = 1;
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (const time of times) {
    const x = Math.round(scale.x(time)) + 0.5;
    context.beginPath();
    context.moveTo(x, layout.axis.y + 4);
    context.lineTo(x, layout.height);
    context.stroke();
    const text = tickText(Math.round(time - scale.zero), step);
    const end = x + 5 + context.measureText(text).width;
    if (end > layout.width || (range && end > scale.x(range[0]) && x < scale.x(range[1]))) continue;
    context.fillStyle = palette.muted;
    context.fillText(text, x + 4, layout.axis.y + layout.axis.height / 2);
  }
}

function drawLabels(tl) {
  const { context, layout, palette } = tl;
  context.textAlign = "left";
  context.textBaseline = "middle";
  for (const place of layout.lanes) {
    const curves = place.lane.type === "curves";
    const middle = curves ? place.y + place.height / 2 - 8 : place.y + (place.lane.row_height ?? 18) / 2;
    const sign = place.foldable ? (place.hiddenRows ? "▸ " : "▾ ") : "";
    const lines = curves ? inLines(tl, place.lane.label) : [sign + place.lane.label];
    const top = middle - (lines.length - 1) * 7;
    context.fillStyle = palette.ink;
    lines.forEach((line, i) => context.fillText(fitText(tl, line, layout.gutter - 14), 5, top + 14 * i + 0.5));
    context.fillStyle = palette.muted;
    if (curves) context.fillText(fitText(tl, rangeText(place.lane), layout.gutter - 6), 5, top + 14 * lines.length + 1);
    if (place.hiddenRows && place.rows.length > 1) {
      const more = `+${place.hiddenRows} level${place.hiddenRows > 1 ? "s" : ""}`;
      context.fillText(more, 17, place.rows[1].y + place.rows[1].height / 2);
    }
  }
  context.fillStyle = palette.muted;
  context.fillText("whole run", 5, layout.overview.y + layout.overview.height / 2);
}

function rangeText({ top, unit }) {
  return `0 to ${valueText(top, unit)}`;
}

// A label that is wider than the gutter in two lines, cut where a word ends.
function inLines(tl, label) {
  const room = tl.layout.gutter - 14;
  if (tl.context.measureText(label).width <= room) return [label];
  const words = label.split(" ");
  const first = [];
  while (words.length > 1 && tl.context.measureText([...first, words[0]].join(" ")).width <= room) first.push(words.shift());
  return first.length ? [first.join(" "), words.join(" ")] : [label];
}

function drawFocus(tl) {
  const { context, focus, layout, palette, scale } = tl;
  if (!focus) return;
  for (const [t0, t1] of focus) {
    if (t1 < scale.t0 || t0 > scale.t1) continue;
    const x0 = scale.x(t0);
    const width = Math.max(scale.x(t1) - x0, 2);
    context.strokeStyle = palette.accent;
    context.lineWidth = 1.5;
    context.setLineDash([5, 3]);
    context.strokeRect(x0, layout.top + 1, width, layout.height - layout.top - 3);
    context.setLineDash([]);
  }
}

function drawRange(tl) {
  const { context, layout, palette, range, scale } = tl;
  if (!range) return;
  const [x0, x1] = range.map((time) => scale.x(time));
  context.globalAlpha = 0.12;
  context.fillStyle = palette.accent;
  context.fillRect(x0, layout.top, Math.max(x1 - x0, 1), layout.height - layout.top);
  context.globalAlpha = 1;
  for (const x of [x0, x1]) context.fillRect(Math.round(x) - 0.75, layout.top, 1.5, layout.height - layout.top);
}

// The part of the axis over the selected range, with its length where that fits.
function drawRangeOnAxis(tl) {
  const { context, layout, palette, range, scale } = tl;
  if (!range) return;
  const x0 = Math.max(scale.x(range[0]), scale.left);
  const x1 = Math.min(scale.x(range[1]), scale.left + scale.width);
  if (x1 <= x0) return;
  const { y, height } = layout.axis;
  context.fillStyle = palette.accent;
  context.fillRect(x0, y + 3, Math.max(x1 - x0, 1.5), height - 3);
  const text = durationText(range[1] - range[0]);
  if (context.measureText(text).width > x1 - x0 - 8) return;
  context.fillStyle = palette.dark ? palette.surface : "#ffffff";
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(text, (x0 + x1) / 2, y + 2 + height / 2);
}

function drawPointer(tl) {
  const { context, layout, palette, pointer, scale } = tl;
  for (const hit of [tl.hover, tl.selected]) {
    if (!hit || hit.index === undefined) continue;
    const x0 = Math.max(scale.x(hit.start), scale.left);
    const x1 = Math.min(scale.x(hit.start + hit.duration), scale.left + scale.width);
    context.strokeStyle = palette.ink;
    context.lineWidth = hit === tl.selected ? 2 : 1;
    if (x1 >= x0) context.strokeRect(x0, hit.y, Math.max(x1 - x0, 2), hit.height);
  }
  if (pointer && pointer.x > scale.left && pointer.y > layout.top) {
    context.strokeStyle = palette.line;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(Math.round(pointer.x) + 0.5, layout.top);
    context.lineTo(Math.round(pointer.x) + 0.5, layout.height);
    context.stroke();
  }
}

// From the selected launch to each kernel it enqueued, or from the kernel back to its launch.
function drawLink(tl) {
  const { context, palette, scale, selected } = tl;
  if (!selected || !selected.links) return;
  const from = locate(tl, selected.id);
  context.strokeStyle = context.fillStyle = palette.accent;
  context.lineWidth = 1.5;
  for (const id of selected.links.slice(0, 500)) {
    const to = locate(tl, id);
    if (!from || !to) continue;
    const [launch, kernel] = from.start <= to.start ? [from, to] : [to, from];
    const x0 = scale.x(launch.start);
    const x1 = scale.x(kernel.start);
    const y0 = launch.y + launch.height / 2;
    const y1 = kernel.y + kernel.height / 2;
    context.beginPath();
    context.moveTo(x0, y0);
    context.bezierCurveTo(x0 + (x1 - x0) * 0.5, y0, x1 - (x1 - x0) * 0.5, y1, x1, y1);
    context.stroke();
    context.beginPath();
    context.arc(x1, y1, 3, 0, 2 * Math.PI);
    context.fill();
  }
}
