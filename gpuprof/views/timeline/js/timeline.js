// The timeline: mount(element, data, options) draws `data` (openPayload's result) and answers to wheel, drag and keys.
import { fillCard, placeCard, sentence } from "./card.js";
import { nextFinding, nextPlace, showRanges, withRanges } from "./findings.js";
import { drawFrame } from "./frame.js";
import { listen } from "./input.js";
import { layOut } from "./layout.js";
import { Strip } from "./marks.js";
import { readPalette, watchTheme } from "./palette.js";
import { fillPanel } from "./panel.js";
import { allSeries, linked, locate } from "./pick.js";
import { Scale, tickText } from "./scale.js";
import { emptySearch, runSearch, step } from "./search.js";
import { countText } from "./text.js";
import { buildLegend, buildTools, make } from "./toolbar.js";

function kindsUsed(data) {
  const used = new Set();
  for (const series of allSeries(data)) used.add(series.kind);
  for (const series of data.stalls) used.add(series.kind);
  for (const lane of data.lanes) for (const curve of lane.curves || []) used.add(curve.kind);
  return [...used].sort((a, b) => a - b);
}

const KEYS = "Arrow keys move, plus and minus zoom, Home shows all, S sums up what is in view, slash searches.";
const HINT = "wheel: zoom · drag: move · Shift+drag: sum up · click: select · / : search";

class Timeline {
  constructor(element, data, options) {
    this.data = data;
    this.options = options;
    this.scale = new Scale(data.span_ns, data.zero_ns);
    this.expanded = new Set();
    this.hidden = new Set();
    this.search = emptySearch();
    this.strip = new Strip();
    this.textWidths = new Map();
    this.selected = this.hover = this.pointer = this.focus = this.range = null;
    this.findings = withRanges(data);
    this.finding = -1;
    this.place = 0;
    this.frame = 0;
    this.build(element);
    this.stopListening = listen(this);
    this.stopWatching = watchTheme(this.root, () => this.retheme());
    this.resizing = new ResizeObserver(() => this.relayout());
    this.resizing.observe(this.root);
    this.retheme();
    this.relayout();
  }

  build(element) {
    this.root = make("div", "gp-timeline");
    const tools = buildTools({
      search: (text) => this.find(text),
      match: (direction) => this.match(direction),
      zoom: (factor) => this.change(() => this.scale.zoom(factor, (this.scale.t0 + this.scale.t1) / 2)),
      reset: () => this.change(() => this.clear() || this.scale.show(0, this.scale.span)),
      sumUp: () => this.sumUp(this.scale.t0, this.scale.t1),
      focusCanvas: () => this.canvas.focus(),
    });
    this.searchBox = tools.search;
    this.count = tools.count;
    this.canvas = make("canvas", "gp-canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-label", `Timeline of ${this.data.title}. ${KEYS}`);
    this.context = this.canvas.getContext("2d", { alpha: false });
    this.card = make("div", "gp-card");
    this.card.popover = "manual";
    this.card.hidden = true;
    this.status = make("div", "gp-status");
    this.status.setAttribute("aria-live", "polite");
    this.panel = make("section", "gp-sum");
    this.panel.setAttribute("aria-label", "Sum of the selected range");
    this.panel.hidden = true;
    const hint = this.findings.length ? `${HINT} · F or Tab: next finding` : HINT;
    const legend = buildLegend(this.data.kinds, kindsUsed(this.data), hint, (kinds) => this.toggle(kinds));
    this.paintLegend = legend.paint;
    this.root.append(tools.tools, this.canvas, this.card, this.status, this.panel, legend.legend);
    if (this.data.reduced) this.root.append(make("div", "gp-reduced", this.data.reduced));
    element.append(this.root);
  }

  retheme() {
    this.palette = readPalette(this.root, this.data.kinds);
    this.paintLegend(this.palette);
    this.textWidths.clear();
    this.schedule();
  }

  relayout() {
    const width = this.root.clientWidth;
    if (!width) return;
    // a widget is mounted before it is attached, when no style reaches it yet
    if (!this.palette.surface) this.retheme();
    this.ratio = Math.min(globalThis.devicePixelRatio || 1, 2);
    this.layout = layOut(this.data.lanes, this.expanded, width);
    this.scale.left = this.layout.gutter;
    this.scale.width = Math.max(width - this.layout.gutter, 10);
    this.canvas.width = Math.round(width * this.ratio);
    this.canvas.height = Math.round(this.layout.height * this.ratio);
    this.canvas.style.height = `${this.layout.height}px`;
    const overview = this.data.lanes.find((lane) => lane.overview);
    this.overviewRow = overview ? overview.rows[0] : null;
    this.selected = this.selected && { ...locate(this, this.selected.id), links: this.selected.links };
    this.draw();
  }

  schedule() {
    if (!this.frame) this.frame = requestAnimationFrame(() => this.draw());
  }

  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    if (this.layout) drawFrame(this);
  }

  change(action) {
    action();
    this.schedule();
  }

  toggle(kinds) {
    const hide = !this.hidden.has(kinds[0]);
    for (const kind of kinds) hide ? this.hidden.add(kind) : this.hidden.delete(kind);
    this.schedule();
    return hide;
  }

  fold(index) {
    if (!this.expanded.delete(index)) this.expanded.add(index);
    this.relayout();
  }

  point(at, hit) {
    this.pointer = at;
    this.hover = hit;
    const { axis, gutter } = this.layout;
    const onAxis = at && at.x >= gutter && at.y >= axis.y && at.y < axis.y + axis.height;
    this.canvas.style.cursor = hit && hit.index !== undefined ? "pointer" : onAxis ? "crosshair" : "";
    if (hit) {
      fillCard(this, this.card, hit);
      placeCard(this, at.x, at.y);
    } else {
      this.card.hidden = true;
    }
    this.schedule();
  }

  select(hit) {
    this.selected = hit && hit.index !== undefined ? { ...hit, links: linked(this, hit) } : null;
    this.say(this.selected ? sentence(this, this.selected) : "");
    this.schedule();
  }

  say(text) {
    this.status.textContent = text;
  }

  timeText(time) {
    return tickText(time - this.scale.zero, 10 ** Math.floor(Math.log10(Math.max(this.scale.nsPerPixel, 1))));
  }

  clear() {
    this.focus = null;
    this.finding = -1;
    this.closeSum();
    this.select(null);
  }

  // Sums up [t0, t1] in the panel and shades it.
  sumUp(t0, t1) {
    this.range = [Math.max(Math.min(t0, t1), 0), Math.min(Math.max(t0, t1), this.scale.span)];
    const zoom = () => this.change(() => this.scale.show(...this.range));
    const close = () => this.closeSum() || this.canvas.focus();
    this.say(fillPanel(this, this.panel, this.range, { zoom, close }));
    this.schedule();
  }

  closeSum() {
    this.range = null;
    this.panel.hidden = true;
    this.panel.replaceChildren();
    this.schedule();
  }

  // Zooms so that [t0, t1] fills the middle third.
  reveal(t0, t1) {
    const margin = Math.max(t1 - t0, 50);
    this.change(() => this.scale.show(t0 - margin, t1 + margin));
  }

  find(text) {
    runSearch(this, text);
    const found = this.search.times.length;
    this.count.textContent = text ? `${countText(found)} found` : "";
    this.schedule();
  }

  match(direction) {
    const id = step(this, direction);
    if (id < 0) return;
    const hit = locate(this, id);
    this.count.textContent = `${countText(this.search.at + 1)} of ${countText(this.search.ids.length)}`;
    if (hit.start < this.scale.t0 || hit.start + hit.duration > this.scale.t1 || hit.duration < 3 * this.scale.nsPerPixel) {
      const half = Math.max(hit.duration * 8, (this.scale.t1 - this.scale.t0) / 20);
      const middle = hit.start + hit.duration / 2;
      this.scale.show(middle - half, middle + half);
    }
    this.select(hit);
  }

  openSearch() {
    this.searchBox.focus();
    this.searchBox.select();
  }

  nextFinding(direction) {
    nextFinding(this, direction);
  }

  nextPlace(direction) {
    nextPlace(this, direction);
  }

  destroy() {
    cancelAnimationFrame(this.frame);
    this.stopListening();
    this.stopWatching();
    this.resizing.disconnect();
    this.root.remove();
  }
}

export function mount(element, data, options = {}) {
  const timeline = new Timeline(element, data, options);
  return {
    destroy: () => timeline.destroy(),
    draw: () => timeline.draw(),
    view: () => [timeline.scale.t0, timeline.scale.t1],
    show: (t0, t1) => timeline.change(() => timeline.scale.show(t0, t1)),
    focus: (t0, t1) => showRanges(timeline, [[t0, t1]]),
    focusRanges: (ranges) => showRanges(timeline, ranges),
    sumUp: (t0, t1) => timeline.sumUp(t0, t1),
    search: (text) => timeline.find(text),
    openSearch: () => timeline.openSearch(),
  };
}
