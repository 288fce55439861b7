// Shows a Bokeh document in a frame of its own: no network, no globals in the notebook's page, its colours followed.

const PAGE = `<!doctype html><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:">
<style>html,body{margin:0;background:transparent;overflow:hidden}#chart{width:100%}
#chart.failed{font:13px sans-serif;padding:12px}</style>
<div id="chart"></div>
<script>
const chart = document.getElementById("chart");
let documents = [];
const tell = (message) => parent.postMessage(message, "*");
const fail = (error) => {
  chart.className = "failed";
  chart.textContent = "The chart could not be drawn: " + (error && error.message || error);
  tell({ gpuprof: "height", height: 60 });
};
const TEXT = ["major_label_text_color", "axis_label_text_color", "label_text_color", "text_color"];
const LINES = ["grid_line_color"];
function paint(colour, scheme) {
  document.body.style.color = colour;
  // a frame whose colour scheme is not its page's gets an opaque background
  document.documentElement.style.colorScheme = scheme;
  for (const doc of documents) for (const model of doc._all_models.values())
    for (const name of [...TEXT, ...LINES])
      if (name in model.attributes && typeof model.attributes[name] !== "object") model[name] = colour;
}
addEventListener("message", async ({ data, source }) => {
  if (source !== parent || !data) return;
  try {
    if (data.library) {
      const script = document.createElement("script");
      script.textContent = data.library;
      document.head.append(script);
      const views = await Bokeh.embed.embed_item(JSON.parse(data.item), chart);
      documents = [...(views.roots || views)].map((view) => view.model.document);
      // in a hidden tab nothing has a size: the last one stays
      const measure = () => innerWidth > 0 && tell({ gpuprof: "height", height: chart.scrollHeight });
      new ResizeObserver(measure).observe(chart);
    }
    paint(data.colour, data.scheme);
    if (data.library) tell({ gpuprof: "drawn" });
  } catch (error) { fail(error); }
});
tell({ gpuprof: "ready" });
</script>`;

async function inflate(buffer) {
  const stream = new Blob([buffer]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts allow-downloads");
  frame.title = model.get("title");
  frame.style.cssText = `display:block;width:100%;border:0;height:${model.get("height")}px`;
  const look = () => ({
    colour: getComputedStyle(el).color,
    scheme: getComputedStyle(el).colorScheme,
  });
  const repaint = () => frame.contentWindow?.postMessage(look(), "*");

  async function listen({ data, source }) {
    if (source !== frame.contentWindow || !data) return;
    if (data.gpuprof === "height" && data.height > 0) frame.style.height = `${Math.ceil(data.height)}px`;
    if (data.gpuprof === "drawn") frame.dataset.drawn = "yes";
    if (data.gpuprof === "ready") {
      const library = await inflate(await model.get("library"));
      frame.contentWindow?.postMessage({ library, item: model.get("item"), ...look() }, "*");
    }
  }

  addEventListener("message", listen);
  // JupyterLab changes its theme by an attribute of the body, without loading the page anew
  const themes = new MutationObserver(() => requestAnimationFrame(repaint));
  themes.observe(document.body, { attributes: true });
  frame.srcdoc = PAGE;
  el.append(frame);
  return () => {
    removeEventListener("message", listen);
    themes.disconnect();
    frame.remove();
  };
}

export default { render };
