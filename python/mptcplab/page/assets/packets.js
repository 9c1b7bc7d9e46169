// Packets of a capture around a moment, decoded, and the command that prints those of any other.

const BESIDE = 8; // packets before and after the moment
const CLOSE = 0.01; // of what is shown: packets no further from the moment are near it
const PIXELS = 4; // on each side of the moment, over which the command lists packets
const USUAL = 25; // packets on each side, of a connection that sends evenly

let packets = {};

// The packets of the section that a figure is in; null where the page has none.
const packetsOf = (figure) => packets[figure.closest("section")?.id] ?? null;

// The piece that holds a frame at a time, or else is nearest to the time; null where none is near.
function pieceAt(pieces, at, frame, apart) {
  const holds = (piece) => piece.some((row) => row[4] === frame && (at === null || Math.abs(row[0] - at) < 1e-4));
  const exact = frame === null ? null : pieces.find(holds);
  if (exact || at === null) return exact ?? null;
  const distance = (piece) => Math.max(piece[0][0] - at, at - piece.at(-1)[0], 0);
  const nearest = pieces.reduce((a, b) => (a && distance(a) <= distance(b) ? a : b), null);
  return nearest && distance(nearest) <= apart ? nearest : null;
}

function placeIn(piece, at, frame) {
  const exact = piece.findIndex((row) => row[4] === frame && (at === null || Math.abs(row[0] - at) < 1e-4));
  if (exact >= 0) return exact;
  const distance = (index) => Math.abs(piece[index][0] - at);
  return piece.reduce((best, _, index) => (distance(index) < distance(best) ? index : best), 0);
}

// Bounds of the command in seconds: some pixels, or less where a connection sends many packets.
function boundsAround(chart, own, at, range) {
  const times = own.pieces.flat().map((row) => row[0]);
  const [first, last] = [times[0] ?? 0, times.at(-1) ?? 0];
  const gap = (last - first) / Math.max(own.packets, 1);
  const half = Math.max(Math.min((PIXELS * (range[1] - range[0])) / chart.figure.clientWidth, USUAL * gap), 1e-6);
  return [Math.floor(Math.max(at - half, 0) * 1e6), Math.ceil((at + half) * 1e6)].map((one) => `${(one / 1e6).toFixed(6)}s`);
}

// Shows packets below a panel; `at` is null where only the frame is known. Returns what it says.
function showPackets(chart, element, at, frame) {
  const own = packetsOf(chart.figure);
  const range = rangeOf(chart.in);
  const piece = pieceAt(own.pieces, at, frame, CLOSE * (range[1] - range[0]));
  let rows = [];
  let chosen = -1;
  if (piece) {
    const place = placeIn(piece, at, frame);
    const first = Math.max(0, place - BESIDE);
    rows = piece.slice(first, place + BESIDE + 1);
    chosen = place - first;
    at ??= rows[chosen][0];
  }
  const region = regionOf(chart, element);
  const moment = at === null ? `frame ${frame}` : `${at.toFixed(6)} s`;
  const title = document.createElement("h4");
  title.textContent = `Packets around ${moment}`;
  region.setAttribute("aria-label", title.textContent);
  const parts = [title];
  if (rows.length) {
    if (at < rows[0][0] || at > rows.at(-1)[0]) parts.push(note(`The nearest ones that this page holds, from ${rows[0][0].toFixed(6)} s on.`));
    parts.push(tableOf(rows, chosen));
  } else parts.push(note("This page does not hold them."));
  if (at !== null) {
    const [from, to] = boundsAround(chart, own, at, range);
    parts.push(commandOf(`${own.command} --from ${from} --to ${to}`));
  } else parts.push(commandOf(own.command));
  region.replaceChildren(closing(region, element), ...parts);
  return `${title.textContent}: ${rows.length ? `${rows.length} packets` : "none held here"}, shown below the chart`;
}

// The region of the figure, of which there is one at a time, below the panel.
function regionOf(chart, element) {
  let region = chart.figure.querySelector(".packets");
  if (!region) {
    region = document.createElement("div");
    region.className = "packets";
    region.setAttribute("role", "region");
  }
  element.after(region);
  return region;
}

function closing(region, element) {
  const made = button("Close", () => {
    region.remove();
    element.querySelector(".live").focus({ preventScroll: true });
  });
  made.className = "close";
  return made;
}

function note(text) {
  const made = document.createElement("p");
  made.className = "soft";
  made.textContent = text;
  return made;
}

const COLUMNS = [["s", "figure"], ["subflow", "figure"], ["from"], ["packet", "text"], ["frame", "figure"]];

function tableOf(rows, chosen) {
  const told = rows.map(([at, subflow, ...rest]) => [at.toFixed(6), subflow ?? "", ...rest]);
  return madeTable("Packets", COLUMNS, told, chosen);
}

function commandOf(text) {
  const line = document.createElement("p");
  line.className = "command";
  const code = line.appendChild(document.createElement("code"));
  code.textContent = text;
  const made = button("Copy", () => copy(text, made));
  line.append(" ", made);
  return line;
}
