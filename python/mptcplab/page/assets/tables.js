// Tables that sort by a column, filter by words, and are copied as CSV.

const FILTERED_FROM = 9;

function csv(rows) {
  const cell = (text) => (/[",\n]/.test(text) ? `"${String(text).replaceAll('"', '""')}"` : text);
  return rows.map((row) => row.map(cell).join(",")).join("\n") + "\n";
}

// A button that copies a text, which is made when it is pressed.
function copyButton(text) {
  const made = button("Copy as CSV", () => copy(text(), made));
  made.className = "copy";
  return made;
}

async function copy(text, told) {
  const words = told.textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.body.appendChild(document.createElement("textarea"));
    area.value = text;
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  told.textContent = "Copied";
  setTimeout(() => (told.textContent = words), 1500);
}

const words = (cell) => cell.innerText.replace(/\s+/g, " ").trim();

const UNITS = { B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, ns: 1e-9, µs: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, days: 86400 };

// The figure with which a cell begins, in the unit that follows it; null where it begins with none,
// or with an address.
function figure(text) {
  const found = /^([-−+]?[\d\s,]*\d(?:\.\d+)?(?:e[-+]?\d+)?)(?![\d.:])\s*([A-Za-zµ]+)?/.exec(text);
  if (!found) return null;
  return parseFloat(found[1].replace("−", "-").replace(/[\s,]/g, "")) * (UNITS[found[2]] ?? 1);
}

function compare(first, second) {
  const [a, b] = [figure(first), figure(second)];
  if (a !== null && b !== null) return a - b;
  if ((a === null) !== (b === null)) return a === null ? 1 : -1;
  return first.localeCompare(second, undefined, { numeric: true });
}

function sortBy(table, heads, column) {
  const down = heads[column].getAttribute("aria-sort") === "ascending";
  heads.forEach((head) => head.removeAttribute("aria-sort"));
  heads[column].setAttribute("aria-sort", down ? "descending" : "ascending");
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => [row, words(row.cells[column])]);
  rows.sort((a, b) => (down ? -1 : 1) * compare(a[1], b[1]));
  body.append(...rows.map(([row]) => row));
}

// A table of heads, each with its name and class, and rows; one of them may be the chosen one.
function madeTable(label, heads, rows, chosen = -1) {
  const table = document.createElement("table");
  table.className = "close";
  const add = (row, kind, text, css) => {
    const cell = row.appendChild(document.createElement(kind));
    if (css) cell.className = css;
    cell.textContent = text;
  };
  const head = table.createTHead().insertRow();
  for (const [name, css] of heads) add(head, "th", name, css);
  const body = table.createTBody();
  rows.forEach((cells, index) => {
    const row = body.insertRow();
    if (index === chosen) row.className = "chosen";
    cells.forEach((text, column) => add(row, "td", text, heads[column][1]));
  });
  const wide = document.createElement("div");
  wide.className = "wide";
  wide.tabIndex = 0;
  wide.setAttribute("role", "group");
  wide.setAttribute("aria-label", label);
  wide.append(table);
  return wide;
}

function enhanceTables() {
  for (const table of document.querySelectorAll("table:not(.moving, .moving table)")) {
    const heads = [...(table.tHead?.rows[0]?.cells ?? [])];
    const body = table.tBodies[0];
    if (!heads.length || !body || body.rows.length < 2) continue;
    const isPlain = [...body.rows].every((row) => row.cells.length === heads.length);
    if (isPlain) {
      heads.forEach((head, column) => {
        if (!words(head)) return;
        const sort = button("", () => sortBy(table, heads, column));
        sort.append(...head.childNodes);
        head.append(sort);
      });
    }
    const tools = document.createElement("div");
    tools.className = "tools";
    if (body.rows.length >= FILTERED_FROM) {
      const label = tools.appendChild(document.createElement("label"));
      const input = document.createElement("input");
      input.type = "search";
      input.addEventListener("input", () => {
        const sought = input.value.toLowerCase();
        for (const row of body.rows) row.hidden = !row.textContent.toLowerCase().includes(sought);
      });
      label.append("Filter", input);
    }
    const rows = () =>
      [...table.rows].filter((row) => !row.hidden).map((row) => [...row.cells].map(words));
    tools.append(copyButton(() => csv(rows())));
    (table.closest(".wide") ?? table).before(tools);
  }
}
