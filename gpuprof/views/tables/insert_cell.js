// A new cell below the one that `el` is shown under, in JupyterLab 4 and Notebook 7, by their own toolbar and editor.

async function insertCell(el, code, run) {
  const cell = el.closest(".jp-CodeCell");
  const notebook = el.closest(".jp-NotebookPanel") ?? document;
  const button = (name) => {
    const item = notebook.querySelector(`.jp-NotebookPanel-toolbar [data-jp-item-name="${name}"]`);
    return item?.querySelector("jp-button, button") ?? item;
  };
  if (!cell || !button("insert") || (run && !button("run"))) return false;
  const prompt = cell.querySelector(".jp-InputPrompt");
  for (const type of ["mousedown", "mouseup", "click"]) {
    prompt?.dispatchEvent(new MouseEvent(type, { bubbles: true, cancelable: true, button: 0, view: window }));
  }
  if (!cell.classList.contains("jp-mod-active")) return false;
  press(button("insert"));
  const editor = await emptyEditor(notebook, cell);
  if (!editor) return false;
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", code);
  editor.focus();
  editor.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  if (run) press(button("run"));
  return true;
}

// by the key: some versions listen to clicks, some to the mouse going down, all to this
function press(button) {
  button.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
}

// the editor of the new cell, once it is the active one
async function emptyEditor(notebook, before) {
  for (let turn = 0; turn < 40; turn++) {
    await new Promise((done) => setTimeout(done, 50));
    const active = notebook.querySelector(".jp-CodeCell.jp-mod-active");
    const editor = active?.querySelector(".cm-content");
    if (active && active !== before && editor && !editor.textContent.trim()) return editor;
  }
  return null;
}
