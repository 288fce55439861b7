// Tables that sort by a click on a head and, where they are long, filter by words. Texts are only ever text.

const LONG_TABLE = 12;
const FOLDED_ABOVE = 30;
const FIRST_ROWS = 20;

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

// Which rows are to be seen: those that hold every word; without a word the first ones, unless all are asked for.
class Rows {
  constructor(table) {
    this.table = table;
    this.words = [];
    this.folded = table.tBodies[0].rows.length > FOLDED_ABOVE;
  }

  show() {
    const rows = [...this.table.tBodies[0].rows];
    const left = rows.filter((row) => this.words.every((word) => row.textContent.toLowerCase().includes(word)));
    const seen = new Set(this.folded && !this.words.length ? left.slice(0, FIRST_ROWS) : left);
    for (const row of rows) row.hidden = !seen.has(row);
    return [left.length, rows.length];
  }
}

function addFolding(table, rows) {
  if (!rows.folded) return;
  const button = document.createElement("button");
  const label = () => {
    button.textContent = rows.folded ? `show all ${table.tBodies[0].rows.length} rows` : `show the first ${FIRST_ROWS} rows`;
    button.setAttribute("aria-expanded", String(!rows.folded));
  };
  button.type = "button";
  button.className = "more";
  button.addEventListener("click", () => {
    rows.folded = !rows.folded;
    rows.show();
    label();
  });
  label();
  table.after(button);
  rows.show();
}

function addSorting(table, rows) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const words = head.textContent;
    if (!words) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.textContent = words;
    button.addEventListener("click", () => {
      sortRows(table, head, column);
      rows.show();
    });
    head.replaceChildren(button);
  });
}

function addFilter(table, rows) {
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
    rows.words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const [left, all] = rows.show();
    found.textContent = rows.words.length ? `${left} of ${all} rows` : "";
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
    const count = table.tBodies[0].rows.length;
    if (!table.tHead || count < 2) continue;
    const rows = new Rows(table);
    addSorting(table, rows);
    if (count > LONG_TABLE) addFilter(table, rows);
    addFolding(table, rows);
  }
}
