// Numbers as people read them, written as gpuprof/units.py writes them.

export const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
const ROUNDS_UP = 0.9995;

function threeDigits(value) {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 99.95) return Math.round(value).toLocaleString("en-GB");
  return size >= 9.995 ? value.toFixed(1) : value.toFixed(2);
}

export function durationText(ns) {
  if (Math.abs(ns) >= 120e9) {
    const seconds = Math.round(Math.abs(ns) / 1e9);
    return `${ns < 0 ? "-" : ""}${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  }
  const [scale, unit] = UNITS.find(([s]) => Math.abs(ns) >= s * ROUNDS_UP) || UNITS[3];
  return scale === 1 ? `${Math.round(ns)} ns` : `${threeDigits(ns / scale)} ${unit}`;
}

export function bytesText(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (Math.abs(bytes) >= 1023.5 && unit < 4) {
    bytes /= 1024;
    unit += 1;
  }
  return unit === 0 ? `${Math.round(bytes)} B` : `${threeDigits(bytes)} ${units[unit]}`;
}

export function rateText(bytes, ns) {
  const rate = (bytes * 1e9) / ns;
  const [scale, unit] = [[1e9, "GB/s"], [1e6, "MB/s"], [1e3, "kB/s"]].find(([s]) => rate >= s * ROUNDS_UP) || [1, "B/s"];
  return scale === 1 ? `${Math.round(rate)} B/s` : `${threeDigits(rate / scale)} ${unit}`;
}

export function percentText(share) {
  const value = share * 100;
  if (value > 0 && value < 0.1) return "< 0.1 %";
  if (value > 99 && value < 100) return `${(Math.floor(value * 10) / 10).toFixed(1)} %`;
  return `${value >= 9.95 || value === 0 ? Math.round(value) : value.toFixed(1)} %`;
}

export function countText(number) {
  return number.toLocaleString("en-GB");
}

export function valueText(value, unit) {
  if (unit === "bytes") return bytesText(value);
  if (unit === "ns") return durationText(value);
  return `${Number.isInteger(value) ? countText(value) : threeDigits(value)}${unit ? ` ${unit}` : ""}`;
}

// A C++ function's name without `void` and its list of arguments; any other name as it is.
export function shortName(name) {
  if (!name.endsWith(")")) return name;
  let depth = 0;
  for (let i = name.length - 1; i > 0; i--) {
    if (name[i] === ")") depth += 1;
    else if (name[i] === "(" && (depth -= 1) === 0) {
      return name[i - 1] === " " ? name : name.slice(0, i).replace(/^void /, "");
    }
  }
  return name;
}
