// Draws one row of events: rectangles where they are few, exact busy shares per pixel column where they are many.
import { busyShares, visible } from "./series.js";
import { shortName } from "./text.js";

const FAINTEST = 0.22;

// One line of pixels, stretched over the height of a row.
export class Strip {
  constructor() {
    this.canvas = document.createElement("canvas");
    this.context = this.canvas.getContext("2d", { willReadFrequently: true });
    this.resize(1);
  }

  resize(width) {
    if (this.width === width) return;
    this.width = width;
    this.canvas.width = width;
    this.canvas.height = 1;
    this.image = this.context.createImageData(width, 1);
    this.shares = new Float64Array(width);
    this.total = new Float64Array(width);
    this.mixed = new Float64Array(width * 3);
  }

  clear() {
    this.total.fill(0);
    this.mixed.fill(0);
  }

  add(series, scale, rgb) {
    busyShares(series, scale.t0, scale.t1, this.width, this.shares);
    for (let j = 0; j < this.width; j++) {
      const share = this.shares[j];
      if (share <= 0) continue;
      this.total[j] += share;
      for (let c = 0; c < 3; c++) this.mixed[3 * j + c] += share * rgb[c];
    }
  }

  draw(context, x, y, width, height, opacity) {
    const pixels = this.image.data;
    for (let j = 0; j < this.width; j++) {
      const total = this.total[j];
      for (let c = 0; c < 3; c++) pixels[4 * j + c] = total > 0 ? this.mixed[3 * j + c] / total : 0;
      const ink = FAINTEST + (1 - FAINTEST) * Math.min(total, 1);
      pixels[4 * j + 3] = total > 0 ? 255 * ink * opacity : 0;
    }
    this.context.putImageData(this.image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(this.canvas, 0, 0, this.width, 1, x, y, width, height);
  }
}

function drawRectangles(tl, series, from, to, y, height, dim, narrowest) {
  const { context, scale, palette } = tl;
  const kind = palette.kinds[series.kind];
  const perNs = 1 / scale.nsPerPixel;
  const thinnest = 1 / tl.ratio;
  const right = scale.left + scale.width;
  context.fillStyle = kind.fill;
  for (let i = from; i < to; i++) {
    const begin = scale.left + (series.start[i] - scale.t0) * perNs;
    const x0 = Math.max(begin, scale.left);
    const x1 = Math.min(begin + series.duration[i] * perNs, right);
    if (x1 - x0 < narrowest) continue;
    const wide = x1 - x0 > 3;
    context.globalAlpha = dim && !dim[series.name[i]] ? 0.2 : 1;
    context.fillRect(x0, y, Math.max(x1 - x0 - (wide ? 0.75 : 0), thinnest), height);
  }
  context.globalAlpha = 1;
  if (height >= 12) drawNames(tl, series, from, to, y, height, dim);
}

function drawNames(tl, series, from, to, y, height, dim) {
  const { context, scale, data, palette } = tl;
  const perNs = 1 / scale.nsPerPixel;
  const right = scale.left + scale.width;
  const form = data.kinds[series.kind].key === "step" ? commonForm(tl, series, from, to) : null;
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (let i = from; i < to; i++) {
    const begin = scale.left + (series.start[i] - scale.t0) * perNs;
    const x0 = Math.max(begin, scale.left);
    const room = Math.min(begin + series.duration[i] * perNs, right) - x0 - 8;
    if (room < 12) continue;
    const name = data.names[series.name[i]];
    const text = form === null ? fitName(tl, name, room) : nameInForm(tl, name, form, room);
    context.fillStyle = dim && !dim[series.name[i]] ? palette.muted : palette.kinds[series.kind].ink;
    if (text) context.fillText(text, x0 + 4, y + height / 2 + 0.5);
  }
}

function widthOf(tl, text) {
  let width = tl.textWidths.get(text);
  if (width === undefined) {
    width = tl.context.measureText(text).width;
    tl.textWidths.set(text, width);
  }
  return width;
}

// Shorter forms of an event's name, the longest first: without what all its neighbours have too.
function shorterNames(text) {
  const step = /^(step (-?\d+)) · /.exec(text);
  if (step) return [step[1], step[2]];
  if (/^enumerate\(DataLoader\)#.*__next__$/.test(text)) return ["DataLoader.__next__", "DataLoader"];
  return [shortName(text).replace(/^(aten::|void )/, "")];
}

// Steps are all named alike: the longest form that fits the middle one of those in view.
function commonForm(tl, series, from, to) {
  const durations = Array.from(series.duration.slice(from, to)).sort((a, b) => a - b);
  const room = durations[durations.length >> 1] / tl.scale.nsPerPixel - 8;
  const name = tl.data.names[series.name[from]];
  return [name, ...shorterNames(name)].findIndex((form) => widthOf(tl, form) <= room);
}

function nameInForm(tl, name, form, room) {
  const text = [name, ...shorterNames(name)][form] ?? "";
  return widthOf(tl, text) <= room ? text : "";
}

// The name of an event where it fits, else the longest of its shorter forms that does, else its beginning, else nothing.
export function fitName(tl, text, room) {
  if (widthOf(tl, text) <= room) return text;
  const shorter = shorterNames(text);
  return shorter.find((form) => widthOf(tl, form) <= room) ?? (shorter.length > 1 ? "" : fitText(tl, shorter[0], room, 6));
}

// The text, or its beginning with an ellipsis, or nothing where not even `least` letters fit.
export function fitText(tl, text, room, least = 3) {
  const full = widthOf(tl, text);
  if (full <= room) return text;
  let keep = Math.floor((text.length * (room - 9)) / full);
  while (keep >= least) {
    const short = `${text.slice(0, keep)}…`;
    const width = tl.context.measureText(short).width;
    if (width <= room) return short;
    keep = Math.min(keep - 1, Math.floor((keep * (room - 9)) / width));
  }
  return "";
}

export function drawRow(tl, row, y, height) {
  const { context, scale, strip, hidden, palette } = tl;
  const shown = [];
  let count = 0;
  for (const series of row) {
    if (hidden.has(series.kind)) continue;
    const [from, to] = visible(series, scale.t0, scale.t1);
    if (from < to) shown.push([series, from, to]);
    count += to - from;
  }
  const dim = tl.search.names;
  const crowded = count >= scale.width / 2;
  if (crowded) {
    strip.clear();
    for (const [series] of shown) strip.add(series, scale, palette.kinds[series.kind].rgb);
    strip.draw(context, scale.left, y, scale.width, height, dim ? 0.45 : 1);
  }
  // In a crowded row the long events keep their edges and names; thin ones would cover their neighbours.
  for (const [series, from, to] of shown) {
    if (to - from < scale.width / 2) drawRectangles(tl, series, from, to, y, height, dim, crowded ? 3 : 0);
  }
}
