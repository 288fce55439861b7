// Wheel, drag, click and keyboard.
import { enterFindings, tabFinding } from "./findings.js";
import { laneAt } from "./layout.js";
import { pick } from "./pick.js";

const CLICK_PIXELS = 4;

function position(tl, event) {
  const box = tl.canvas.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

// A wheel that arrives while the page itself scrolls belongs to the page: only a moved pointer claims it.
function listenWheel(tl, on) {
  let claimed = false;
  let seen = "";
  on(window, "scroll", () => {
    claimed = false;
    tl.card.hidden = true;
  }, { capture: true, passive: true });
  on(tl.canvas, "pointermove", (event) => {
    const here = `${event.screenX},${event.screenY}`;
    if (seen && here !== seen) claimed = true;
    seen = here;
  });
  on(tl.canvas, "pointerenter", (event) => {
    if (event.movementX || event.movementY) claimed = true;
  });
  on(tl.canvas, "wheel", (event) => {
    if (!claimed && !event.ctrlKey && document.activeElement !== tl.canvas) return;
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 16 : 1;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      tl.scale.pan((event.deltaX || event.deltaY) * unit * tl.scale.nsPerPixel);
    } else {
      const { x } = position(tl, event);
      const strength = event.ctrlKey ? 0.01 : 0.0022;
      tl.scale.zoom(Math.exp(event.deltaY * unit * strength), tl.scale.time(Math.max(x, tl.scale.left)));
    }
    tl.schedule();
  }, { passive: false });
}

function moveOverview(tl, x) {
  const { scale } = tl;
  const share = Math.min(Math.max((x - scale.left) / scale.width, 0), 1);
  const half = (scale.t1 - scale.t0) / 2;
  scale.show(share * scale.span - half, share * scale.span + half);
}

function listenPointer(tl, on) {
  let held = null;
  const touches = new Map();
  on(tl.canvas, "pointerdown", (event) => {
    const at = position(tl, event);
    tl.canvas.setPointerCapture(event.pointerId);
    touches.set(event.pointerId, at);
    const inside = at.x >= tl.scale.left;
    const overview = inside && at.y < tl.layout.overview.height;
    // a drag along the axis selects too: a finger has no Shift
    const select = inside && !overview && (event.shiftKey || at.y < tl.layout.top);
    held = { ...at, from: at, moved: false, overview, select: select ? tl.scale.time(at.x) : null };
    if (held.overview) moveOverview(tl, at.x);
    tl.schedule();
  });
  on(tl.canvas, "pointermove", (event) => {
    const at = position(tl, event);
    if (touches.size === 2 && touches.has(event.pointerId)) {
      held = { ...held, moved: true, select: null };
      pinch(tl, touches, event.pointerId, at);
    } else if (held) drag(tl, held, at);
    else tl.point(at, pick(tl, at.x, at.y));
  });
  const release = (event) => {
    touches.delete(event.pointerId);
    if (held && !held.overview && event.type === "pointerup") {
      const at = position(tl, event);
      if (!held.moved) click(tl, at);
      else if (held.select !== null) tl.sumUp(held.select, timeAt(tl, at.x));
    } else if (held && held.select !== null && held.moved) {
      tl.closeSum();
    }
    held = null;
  };
  on(tl.canvas, "pointerup", release);
  on(tl.canvas, "pointercancel", release);
  on(tl.canvas, "pointerleave", () => tl.point(null, null));
  on(tl.canvas, "dblclick", (event) => {
    const at = position(tl, event);
    const hit = pick(tl, at.x, at.y);
    if (hit && hit.index !== undefined) tl.reveal(hit.start, hit.start + hit.duration);
  });
}

function timeAt(tl, x) {
  const { scale } = tl;
  return scale.time(Math.min(Math.max(x, scale.left), scale.left + scale.width));
}

function drag(tl, held, at) {
  if (Math.hypot(at.x - held.from.x, at.y - held.from.y) > CLICK_PIXELS) held.moved = true;
  if (held.overview) moveOverview(tl, at.x);
  else if (held.select !== null) {
    if (held.moved) tl.range = [held.select, timeAt(tl, at.x)].sort((a, b) => a - b);
  } else if (held.moved) tl.scale.pan((held.x - at.x) * tl.scale.nsPerPixel);
  held.x = at.x;
  tl.point(null, null);
  tl.schedule();
}

function pinch(tl, touches, id, at) {
  const other = [...touches].find(([key]) => key !== id)[1];
  const before = Math.abs(touches.get(id).x - other.x);
  const after = Math.abs(at.x - other.x);
  if (before > 5 && after > 5) tl.scale.zoom(before / after, tl.scale.time((at.x + other.x) / 2));
  touches.set(id, at);
  tl.schedule();
}

function click(tl, at) {
  if (at.x < tl.scale.left) {
    const place = laneAt(tl.layout, at.y);
    if (place && place.foldable) tl.fold(place.index);
    return;
  }
  tl.select(pick(tl, at.x, at.y));
}

function listenKeys(tl, on) {
  const { scale } = tl;
  const shown = () => scale.t1 - scale.t0;
  const middle = () => (scale.t0 + scale.t1) / 2;
  const keys = {
    ArrowLeft: () => scale.pan(-0.2 * shown()),
    ArrowRight: () => scale.pan(0.2 * shown()),
    "+": () => scale.zoom(0.6, middle()),
    "=": () => scale.zoom(0.6, middle()),
    "-": () => scale.zoom(1 / 0.6, middle()),
    Home: () => scale.show(0, scale.span),
    End: () => scale.show(scale.span - shown(), scale.span),
    Escape: () => tl.clear(),
    "/": () => tl.openSearch(),
    s: () => tl.sumUp(scale.t0, scale.t1),
    "]": () => tl.nextPlace(1),
    "[": () => tl.nextPlace(-1),
    n: () => tl.match(1),
    N: () => tl.match(-1),
    f: () => tl.nextFinding(1),
    F: () => tl.nextFinding(-1),
  };
  on(tl.canvas, "focus", (event) => enterFindings(tl, event.relatedTarget));
  on(tl.canvas, "keydown", (event) => {
    if (event.key === "Tab" && !event.ctrlKey && !event.metaKey && !event.altKey) {
      tl.point(null, null);
      if (tabFinding(tl, event.shiftKey ? -1 : 1)) event.preventDefault();
      return;
    }
    const action = keys[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    tl.point(null, null);
    action();
    tl.schedule();
  });
}

// Starts listening; returns the function that stops.
export function listen(tl) {
  const stop = new AbortController();
  const on = (target, type, handler, options = {}) =>
    target.addEventListener(type, handler, { ...options, signal: stop.signal });
  listenWheel(tl, on);
  listenPointer(tl, on);
  listenKeys(tl, on);
  return () => stop.abort();
}
