// The time axis: which part of [0, span] is shown, and its ticks.
import { UNITS } from "./text.js";

const MINIMUM_NS = 20;

export class Scale {
  // `zero` is the time that reads 0 on the axis.
  constructor(span, zero = 0) {
    this.span = Math.max(span, MINIMUM_NS);
    this.zero = zero;
    this.t0 = 0;
    this.t1 = this.span;
    this.left = 0;
    this.width = 1;
  }

  x(t) {
    return this.left + ((t - this.t0) / (this.t1 - this.t0)) * this.width;
  }

  time(x) {
    return this.t0 + ((x - this.left) / this.width) * (this.t1 - this.t0);
  }

  get nsPerPixel() {
    return (this.t1 - this.t0) / this.width;
  }

  show(t0, t1) {
    const length = Math.min(Math.max(t1 - t0, MINIMUM_NS), this.span);
    const start = Math.min(Math.max((t0 + t1 - length) / 2, 0), this.span - length);
    this.t0 = start;
    this.t1 = start + length;
  }

  zoom(factor, at) {
    const length = Math.min(Math.max((this.t1 - this.t0) * factor, MINIMUM_NS), this.span);
    const share = (at - this.t0) / (this.t1 - this.t0);
    const start = at - share * length;
    this.show(start, start + length);
  }

  pan(ns) {
    this.show(this.t0 + ns, this.t1 + ns);
  }

  // Tick times at a distance of 1, 2 or 5 times a power of ten, about `pixels` apart.
  ticks(pixels = 110) {
    const rough = Math.max(pixels * this.nsPerPixel, 1);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].find((m) => m * power >= rough) * power;
    const times = [];
    const { t0, t1, zero } = this;
    for (let i = Math.ceil((t0 - zero) / step); zero + i * step <= t1; i++) times.push(zero + i * step);
    return { step, times };
  }
}

export function tickText(t, step) {
  if (t < 0) return `−${tickText(-t, step)}`;
  const [scale, unit] = UNITS.find(([s]) => t >= s && t > 0) || UNITS.find(([s]) => step >= s) || UNITS[3];
  const digits = Math.max(0, Math.ceil(-Math.log10(step / scale) - 1e-9));
  return `${(t / scale).toFixed(Math.min(digits, 9))} ${unit}`;
}
