// Columns as they travel (see encode.py): raw little-endian arrays for the widget, byte planes for the page.

const TYPES = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i32: Int32Array, f32: Float32Array, f64: Float64Array };

export function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

export async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Whole numbers from their bytes, one plane a byte, lowest first.
function joined(bytes, at, count, width) {
  const plane = (number) => bytes.subarray(at + number * count, at + (number + 1) * count);
  const [a, b, c, d] = [plane(0), plane(1), plane(2), plane(3)];
  if (width === 1) return a;
  const out = width === 2 ? new Uint16Array(count) : width <= 4 ? new Uint32Array(count) : new Float64Array(count);
  if (width === 2) for (let i = 0; i < count; i++) out[i] = a[i] | (b[i] << 8);
  else if (width === 3) for (let i = 0; i < count; i++) out[i] = a[i] | (b[i] << 8) | (c[i] << 16);
  else for (let i = 0; i < count; i++) out[i] = (a[i] | (b[i] << 8) | (c[i] << 16) | (d[i] << 24)) >>> 0;
  for (let high = 4; high < width; high++) {
    const more = plane(high);
    for (let i = 0; i < count; i++) out[i] += more[i] * 256 ** high;
  }
  return out;
}

function fromPlanes(bytes, { at, count, width, step }) {
  const whole = joined(bytes, at, count, width);
  if (!step || step === "gap") return whole;
  const out = new Float64Array(whole);
  if (step === "delta") {
    for (let i = 1; i < count; i++) out[i] += out[i - 1];
  } else if (step === "zigzag") {
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const half = Math.floor(out[i] / 2);
      sum += out[i] % 2 ? -half - 1 : half;
      out[i] = sum;
    }
  }
  return out;
}

function column(bytes, spec) {
  if (!spec) return null;
  if (spec.width) return fromPlanes(bytes, spec);
  return new TYPES[spec.type](bytes.buffer, bytes.byteOffset + spec.at, spec.count);
}

// Starts that travelled as the time since the end of the event before.
function fromGaps(gaps, duration) {
  const start = new Float64Array(gaps);
  for (let i = 1; i < start.length; i++) start[i] += start[i - 1] + duration[i - 1];
  return start;
}

// Only a hover or a click needs these: decoded when first asked for.
function lazily(read) {
  let value;
  return () => (value === undefined ? (value = read()) : value);
}

function openDetail(bytes, raw) {
  const values = lazily(() => column(bytes, raw.value));
  return { ...raw, at: (index) => values()[index] - raw.shift };
}

function openSeries(bytes, raw, first) {
  const duration = column(bytes, raw.duration);
  const start = fromGaps(column(bytes, raw.start), duration);
  const prefix = new Float64Array(start.length + 1);
  for (let i = 0; i < start.length; i++) prefix[i + 1] = prefix[i] + duration[i];
  const details = (raw.details || []).map((detail) => openDetail(bytes, detail));
  const link = lazily(() => column(bytes, raw.link));
  return { kind: raw.kind, start, duration, prefix, name: column(bytes, raw.name), details, first, get link() { return link(); } };
}

// The payload with every column a typed array, every series numbered from `first`.
export function openPayload(payload, buffer) {
  let bytes = buffer instanceof DataView ? new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength) : new Uint8Array(buffer);
  if (bytes.byteOffset % 8) bytes = bytes.slice();
  let first = 0;
  const open = (raw) => {
    const series = openSeries(bytes, raw, first);
    first += series.start.length;
    return series;
  };
  const lanes = payload.lanes.map((lane) => {
    if (lane.type === "curves") {
      const curves = lane.curves.map((c) => ({ ...c, time: column(bytes, c.time), value: column(bytes, c.value) }));
      return { ...lane, curves };
    }
    return { ...lane, rows: lane.rows.map((row) => row.map(open)) };
  });
  const stalls = payload.stalls.map((raw) => openSeries(bytes, raw, -1));
  return { ...payload, lanes, stalls, events: first };
}
