// The host in a live notebook: HTML of ours with living tables, and buttons that ask the kernel for something.

const COPIED = "This front end takes no new cell from here: the code is in the clipboard, to be pasted into one.";
const WAITS = "Asked the kernel. While a cell runs, this waits for the cell.";

function render({ model, el }) {
  el.classList.add("gpuprof-sheet");
  const said = document.createElement("p");
  const body = document.createElement("div");
  said.className = "note said";
  said.setAttribute("role", "status");
  el.append(body, said);
  const tell = (words) => {
    said.textContent = words;
    said.hidden = !words;
  };
  const show = () => {
    const asked = body.contains(document.activeElement) ? document.activeElement.dataset.ask : undefined;
    body.innerHTML = model.get("html"); // made by a template that escapes every name
    enlivenTables(body);
    if (asked) body.querySelector(`[data-ask="${CSS.escape(asked)}"]`)?.focus(); // the keyboard stays where it was
  };
  const answer = () => {
    for (const button of body.querySelectorAll("[data-ask]")) button.disabled = false;
    tell(model.get("said"));
  };
  const ask = (event) => {
    const button = event.target.closest("[data-ask]");
    if (!button) return;
    if (button.dataset.waits) {
      button.disabled = true;
      tell(WAITS);
    }
    model.send({ ask: button.dataset.ask });
  };
  const insert = async (message) => {
    if (typeof message?.insert === "string" && !(await insertCell(el, message.insert, message.run))) {
      tell(`${model.get("said")} ${COPIED}`);
      await navigator.clipboard?.writeText(message.insert).catch(() => tell(message.insert));
    }
  };
  body.addEventListener("click", ask);
  model.on("msg:custom", insert);
  model.on("change:html", show);
  model.on("change:answers", answer);
  show();
  tell(model.get("said"));
  return () => {
    model.off("change:html", show);
    model.off("change:answers", answer);
    model.off("msg:custom", insert);
    el.replaceChildren();
  };
}

export default { render };
