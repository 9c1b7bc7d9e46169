// The drawing of a network at a moment: load and state of each link, chosen by a slider.

const WIDTHS_OF_LINKS = [1.5, 7]; // of a link without load, and of one at its rate

const TIME = "time"; // the group of all charts over the time of a run

const networks = [];

// Puts a slider, a choice of the variant and a table below a drawing.
function addNetwork(id, runs) {
  const figure = document.getElementById(id);
  if (!figure || !runs.length) return;
  const busiest = runs.reduce((a, b) => (b.ways.length > a.ways.length ? b : a));
  const network = { figure, run: busiest, lines: linesOf(figure) };
  const tools = document.createElement("div");
  tools.className = "tools moment";
  if (runs.length > 1) {
    const select = document.createElement("select");
    for (const { variant } of runs) select.add(new Option(variant));
    select.selectedIndex = runs.indexOf(busiest);
    select.addEventListener("change", () => {
      const at = groups.get(TIME)?.moment ?? network.run.ends_s[+slider.value];
      network.run = runs[select.selectedIndex];
      slider.max = network.run.ends_s.length - 1;
      setMoment(TIME, at);
    });
    tools.appendChild(document.createElement("label")).append("Variant", select);
  }
  const slider = (network.slider = document.createElement("input"));
  slider.type = "range";
  slider.min = 0;
  slider.max = network.run.ends_s.length - 1;
  slider.value = slider.max / 2;
  network.told = document.createElement("output");
  tools.appendChild(document.createElement("label")).append("Time", slider, network.told);
  network.table = document.createElement("div");
  slider.addEventListener("input", () => setMoment(TIME, network.run.ends_s[+slider.value]));
  const holder = document.createElement("details");
  holder.className = "loads";
  holder.open = network.run.ways.length <= 12;
  network.summary = holder.appendChild(document.createElement("summary"));
  holder.append(network.table);
  const key = "Of each line the half at a node is what it sends, wider towards the rate; names have the load in Mbit/s. Orange: packets are lost at random. Red dashes: down.";
  figure.append(tools, note(key), holder);
  networks.push(network);
  drawNetwork(network);
}

// Of each link the two halves of its line, each at the node that sends into it, and its name.
function linesOf(figure) {
  const lines = new Map();
  for (const path of figure.querySelectorAll("path[data-link]")) {
    const link = path.dataset.link;
    const name = [...figure.querySelectorAll("text[data-name]")].find((one) => one.dataset.name === link);
    const halves = [0, 1].map((place) => {
      const half = path.cloneNode();
      half.removeAttribute("class");
      half.setAttribute("pathLength", 2);
      half.setAttribute("stroke-dasharray", place ? "0 1 1 0" : "1 1");
      half.setAttribute("class", "half");
      path.after(half);
      return half;
    });
    lines.set(link, { path, halves, name, start: path.dataset.start });
  }
  return lines;
}

// The value that holds at a place, of pairs of a place from which it holds and the value.
function holding(pairs, place) {
  let value = null;
  for (const [from, own] of pairs) {
    if (from > place) break;
    value = own;
  }
  return value;
}

const within = (pairs, place) => pairs.find(([own]) => own === place)?.[1] ?? 0;

function drawNetwork(network) {
  const { run, slider } = network;
  const place = +slider.value;
  const [since, at] = [place ? run.ends_s[place - 1] : 0, run.ends_s[place]];
  network.told.value = `${shown(at)} s`;
  network.summary.textContent = `Links of ${run.variant} at ${shown(at)} s`;
  slider.setAttribute("aria-valuetext", `${shown(at)} s`);
  const isDown = (link) => (run.down[link] ?? []).some(([from, to]) => from <= (since + at) / 2 && (since + at) / 2 < to);
  const rows = run.ways.map((way) => {
    const [rate, mbps] = [holding(way.rates, place), way.mbps[place]];
    const states = [];
    if (isDown(way.link)) states.push("down");
    const [lost, full] = [within(way.lost, place), within(way.full, place)];
    if (lost) states.push(`${shown(lost)} % lost`);
    if (full) states.push(`${shown(full)} % dropped by the queue`);
    return { way, rate, mbps, states, lossy: lost > 0 };
  });
  for (const [link, line] of network.lines) {
    const own = rows.filter((row) => row.way.link === link);
    drawLink(line, own, isDown(link));
  }
  network.table.replaceChildren(loadTable(rows));
}

function drawLink({ path, halves, name, start }, rows, down) {
  path.classList.toggle("down", down);
  const told = [];
  halves.forEach((half, place) => {
    const row = rows.find(({ way }) => (way.from.split(".")[0] === start) === (place === 0));
    const share = row && !down ? Math.min(1, row.rate ? row.mbps / row.rate : row.mbps ? 0.5 : 0) : 0;
    const [least, most] = WIDTHS_OF_LINKS;
    half.setAttribute("stroke-width", least + share * (most - least));
    half.setAttribute("class", `half${row?.lossy && !down ? " lossy" : ""}`);
    half.style.opacity = share > 0.005 ? 1 : 0;
    if (share > 0.005) told.push(`${place ? "←" : "→"} ${shown(+row.mbps.toPrecision(2))}`);
  });
  if (!name) return;
  const words = down ? "down" : told.join(" ");
  name.textContent = words ? `${path.dataset.link}: ${words}` : path.dataset.link;
}

const LOADS = [["link"], ["from"], ["to"], ["Mbit/s", "figure"], ["% of the rate", "figure"], ["state"]];

function loadTable(rows) {
  const told = rows.map(({ way, rate, mbps, states }) => {
    const share = rate ? shown(+((100 * mbps) / rate).toPrecision(3)) : "–";
    return [way.link, way.from, way.to, shown(mbps), share, states.join(", ") || "up"];
  });
  return madeTable("Links at this time", LOADS, told);
}

// Brings the sliders to a moment of the charts over time.
function followMoment(name, at) {
  if (name !== TIME) return;
  for (const network of networks) {
    const ends = network.run.ends_s;
    const place = Math.min(lowerBound(ends, at - 1e-9), ends.length - 1);
    network.slider.value = place;
    drawNetwork(network);
  }
}
