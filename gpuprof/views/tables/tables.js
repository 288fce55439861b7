// Tables that sort by a click on a head and, where they are long, filter by words. Texts are only ever text.

const LONG_TABLE = 12;

// A figure brings its number; null is unknown.
function sortKey(cell) {
  const value = cell.dataset.value;
  if (value === undefined) return cell.textContent.trim().toLowerCase() || null;
  return value === "" || !Number.isFinite(Number(value)) ? null : Number(value);
}

function compareKeys(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

// Figures begin with the largest, words with the first; what is unknown stays last either way.
function sortRows(table, head, column) {
  const before = head.getAttribute("aria-sort");
  const down = before ? before === "ascending" : head.classList.contains("figure");
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const rows = [...table.tBodies[0].rows].map((row) => [sortKey(row.cells[column]), row]);
  const known = rows.filter(([key]) => key !== null);
  known.sort(([a], [b]) => compareKeys(a, b) * (down ? -1 : 1));
  table.tBodies[0].append(...[...known, ...rows.filter(([key]) => key === null)].map(([, row]) => row));
}

function addSorting(table) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const words = head.textContent;
    if (!words) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.textContent = words;
    button.addEventListener("click", () => sortRows(table, head, column));
    head.replaceChildren(button);
  });
}

function addFilter(table) {
  const field = document.createElement("input");
  const found = document.createElement("span");
  const bar = document.createElement("span");
  const caption = table.createCaption();
  const title = caption.textContent.trim() || "table";
  bar.className = "filter";
  bar.dataset.lmSuppressShortcuts = "true"; // JupyterLab's keys are not for what is typed here
  field.type = "search";
  field.placeholder = "filter the rows";
  field.setAttribute("aria-label", `Filter the rows: ${title}`);
  found.setAttribute("role", "status");
  table.setAttribute("aria-label", title); // not what is typed into its caption
  bar.append(field, found);
  caption.append(bar);
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = [...table.tBodies[0].rows];
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
    const left = rows.filter((row) => !row.hidden).length;
    found.textContent = words.length ? `${left} of ${rows.length} rows` : "";
  });
  field.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key !== "Escape" || !field.value) return;
    field.value = "";
    field.dispatchEvent(new Event("input"));
  });
}

function enlivenTables(root) {
  for (const table of root.querySelectorAll("table.sortable")) {
    const rows = table.tBodies[0].rows.length;
    if (!table.tHead || rows < 2) continue;
    addSorting(table);
    if (rows > LONG_TABLE) addFilter(table);
  }
}
