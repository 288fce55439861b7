// The host in a live notebook: anywidget calls render() with the model that carries payload and buffer.
import { openPayload } from "./columns.js";
import { mount } from "./timeline.js";

function render({ model, el }) {
  let timeline = null;
  const show = () => {
    if (timeline) timeline.destroy();
    timeline = mount(el, openPayload(model.get("payload"), model.get("buffer")));
  };
  const focus = () => {
    const ranges = model.get("focus_ranges");
    if (timeline && ranges.length) timeline.focusRanges(ranges);
  };
  show();
  focus();
  model.on("change:buffer", show);
  model.on("change:focus_ranges", focus);
  return () => {
    model.off("change:buffer", show);
    model.off("change:focus_ranges", focus);
    if (timeline) timeline.destroy();
  };
}

export default { render };
