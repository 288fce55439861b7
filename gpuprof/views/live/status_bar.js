// Draws one status of a running cell after the other; the newest is always at the right edge. Texts are only ever text.

const LONGEST_GAP_S = 1.5; // readings further apart than this are not joined by a line

function element(parent, tag, name, text) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

function draw(canvas, curve, look, dark) {
  const scale = Math.min(window.devicePixelRatio || 1, 2);
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (!width || !height) return;
  canvas.width = width * scale;
  canvas.height = height * scale;
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.fillStyle = "rgba(128,128,128,.10)";
  context.fillRect(0, 0, width, height);
  for (const name of ["utilisation", "memory"]) {
    context.strokeStyle = look[name === "memory" ? "memory" : "kernel"][dark ? 1 : 0];
    context.lineWidth = 1.6;
    context.beginPath();
    let before = null;
    curve.ago_s.forEach((ago, i) => {
      const share = curve[name][i];
      if (share === null) { before = null; return; }
      const x = width * (1 - ago / look.curve_s), y = 2 + (height - 4) * (1 - share);
      if (before === null || before - ago > LONGEST_GAP_S) context.moveTo(x, y); else context.lineTo(x, y);
      before = ago;
    });
    context.stroke();
  }
}

function isDark(node) {
  const [r, g, b] = (getComputedStyle(node).color.match(/\d+/g) || [0, 0, 0]).map(Number);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 128;
}

export default {
  render({ model, el }) {
    const root = element(el, "div", "gpuprof-live");
    root.setAttribute("role", "status");
    root.setAttribute("aria-label", "what the cell does while it runs");
    const show = () => {
      const stage = model.get("stage"), now = model.get("status"), look = model.get("look");
      const dark = isDark(root);
      root.style.setProperty("--gpuprof-live-kernel", look.kernel[dark ? 1 : 0]);
      root.replaceChildren();
      const line = element(root, "div", "line");
      if (stage) {
        element(element(line, "span"), "i", "dot idle");
        line.lastChild.append(`gpuprof · ${stage}`);
        return;
      }
      if (!now.elapsed) return;
      const doing = element(line, "span");
      element(doing, "i", "dot");
      doing.append(`gpuprof · ${now.doing}`);
      element(line, "span", "soft", now.elapsed);
      for (const text of [now.steps, now.memory]) if (text) element(line, "span", "soft", text);
      if (now.progress !== null) {
        const way = element(root, "div", "way");
        element(way, "i").style.width = `${100 * Math.min(now.progress, 1)}%`;
      }
      for (const device of now.devices) {
        const row = element(root, "div", "device");
        const words = element(row, "div");
        element(words, "div", "", device.name);
        const gauges = element(words, "div", "gauges");
        for (const gauge of device.gauges) {
          const shown = element(gauges, "span", "gauge");
          const colour = { utilisation: look.kernel, memory: look.memory }[gauge.label];
          if (colour && gauge.share !== null) element(shown, "i", "key").style.background = colour[dark ? 1 : 0];
          element(shown, "span", "soft", gauge.label);
          element(shown, "b", "", gauge.text);
        }
        if (device.warning) element(words, "div", "warning", device.warning);
        const canvas = element(row, "canvas");
        canvas.setAttribute("role", "img");
        canvas.setAttribute("aria-label", `utilisation and memory of ${device.name}, the last ${look.curve_s} seconds`);
        draw(canvas, device.curve, look, dark);
      }
    };
    model.on("change:status", show);
    model.on("change:stage", show);
    show();
    return () => { model.off("change:status", show); model.off("change:stage", show); };
  },
};
