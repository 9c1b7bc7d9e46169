// The page of a controller of switches: load of links and subflows of paths over the last minutes, as
// its API has them. Where the page follows the controller, charts and tables are brought up to date.

const FOLLOWED_EVERY = 1000; // milliseconds
const SLOTS = 7; // lines of a chart, as there are colours; the table behind it has the others, too
const MOST_MARKS = 24; // the last ones
const TOGETHER_S = 0.5; // events within this time have one mark
const BACK = [6, 4]; // dashes of a link's other direction
const MARKED = {
  link_up: ({ link }) => `${shortNames(link)} is up`,
  link_down: ({ link }) => `${shortNames(link)} is down`,
  switch_up: ({ switch: name }) => `switch ${shortNames(name)} is up`,
  switch_down: ({ switch: name }) => `switch ${shortNames(name)} is down`,
  moved: ({ subflow }) => `moved: ${subflow}`,
  falls_back: ({ subflow }) => `falls back: ${subflow}`,
  not_installed: ({ subflow }) => `not installed: ${subflow}`,
};
const slots = { load: new Map(), subflows: new Map() };

// Names of switches, ports and links without the zeros that datapaths begin with.
function shortNames(names) {
  return names.replace(/\b[0-9a-f]{16}\b/g, (datapath) => datapath.replace(/^0+(?=.)/, ""));
}

async function asked(path) {
  const answer = await fetch(path, { cache: "no-store" });
  if (!answer.ok) throw new Error(answer.statusText);
  return answer;
}

const documentOf = async (name) => (await asked(`/api/v1/${name}`)).json();

// Gives each of the largest courses a colour, which it keeps for as long as it is there.
function placed(kept, sizes) {
  for (const name of kept.keys()) if (!sizes.has(name)) kept.delete(name);
  const free = [...Array(SLOTS).keys()].filter((slot) => ![...kept.values()].includes(slot));
  const others = [...sizes].filter(([name]) => !kept.has(name)).sort((a, b) => b[1] - a[1]);
  for (const [name] of others.slice(0, free.length)) kept.set(name, free.shift());
  return kept;
}

const sum = (values) => values.reduce((all, value) => all + value, 0);

// A series over the times of the samples, but the first, from which means begin.
function courseOf(times, label, colour, dashes, kind, values) {
  const piece = { x: Float64Array.from(times.slice(1)), y: Float64Array.from(values.slice(1)) };
  return { label, colour: `var(--s${colour})`, dashes, kind, since: times[0], pieces: [piece], shown: true };
}

// Links by their ports in one order, so that both directions have one name.
function loadLines({ links }) {
  return links.map(({ from, to, load_bps }) => {
    const names = [shortNames(from), shortNames(to)];
    return {
      link: [...names].sort().join(" – "),
      label: names.join(" → "),
      isBack: names[0] > names[1],
      values: load_bps.map((load) => (load ?? 0) / 1e6),
    };
  });
}

function loadSeries(times, lines) {
  const sizes = new Map();
  for (const { link, values } of lines) sizes.set(link, (sizes.get(link) ?? 0) + sum(values));
  const colours = placed(slots.load, sizes);
  return lines
    .filter(({ link }) => colours.has(link))
    .map(({ link, label, isBack, values }) =>
      courseOf(times, label, colours.get(link), isBack ? BACK : [], "means", values),
    );
}

function pathLines({ paths }) {
  return paths.map(({ path, subflows }) => ({
    label: path.length ? path.map(shortNames).join(", ") : "the switch of both",
    values: subflows,
  }));
}

function pathSeries(times, lines) {
  const colours = placed(slots.subflows, new Map(lines.map(({ label, values }) => [label, sum(values)])));
  return lines
    .filter(({ label }) => colours.has(label))
    .map(({ label, values }) => courseOf(times, label, colours.get(label), [], "steps", values));
}

function chartOf(id, y, times, series, marks) {
  const axis = (title, unit, range) => ({
    title, unit, range, log: false, zero: true, fixed: false, names: [], dates: false,
  });
  const most = Math.max(0, ...series.flatMap(({ pieces }) => pieces[0].y.reduce((a, b) => Math.max(a, b), 0)));
  return {
    id,
    group: "time",
    x: axis("time", "s", [times[0], times.at(-1)]),
    y: axis(...y, [0, most > 0 ? 1.06 * most : 1]),
    panels: [{ title: "", series, marks: [...marks] }],
  };
}

// Marks of the events that change the network or a path, with the rows that tell of them.
function marksOf({ events }, since) {
  const told = [];
  for (const event of events.filter(({ event, t_ns }) => MARKED[event] && t_ns / 1e9 >= since)) {
    const at = event.t_ns / 1e9;
    if (told.length && at - told.at(-1).at < TOGETHER_S) told.at(-1).more += 1;
    else told.push({ at, words: MARKED[event.event](event), more: 0, target: `event-${event.number}` });
  }
  return told.slice(-MOST_MARKS).map(({ at, words, more, target }) => {
    const hasRow = document.getElementById(target) !== null;
    return [at, more ? `${words} and ${more} more` : words, hasRow ? target : ""];
  });
}

// Least, mean and greatest of each line, and the last value.
function rowsOf(lines) {
  return lines.map(({ label, values }) => {
    const own = values.slice(1);
    const figures = [Math.min(...own), sum(own) / own.length, Math.max(...own), own.at(-1)];
    return [label, ...figures.map(shown)];
  });
}

const FIGURES = ["least", "mean", "greatest", "now"].map((name) => [name, "figure"]);

function made(kind, css, text = "") {
  const element = document.createElement(kind);
  if (css) element.className = css;
  element.textContent = text;
  return element;
}

function legendOf(series) {
  const list = made("ul", "legend");
  list.setAttribute("aria-label", "Series");
  for (const { label, colour, dashes } of series) {
    const item = list.appendChild(made("li", ""));
    item.innerHTML = '<svg viewBox="0 0 30 10" aria-hidden="true"><path d="M0 5H30"/></svg>';
    const line = item.querySelector("path");
    line.setAttribute("stroke", colour);
    if (dashes.length) line.setAttribute("stroke-dasharray", dashes.join(" "));
    item.append(` ${label}`);
  }
  return list;
}

// The figure of a chart: its legend, its plot, a note, and a table for those who cannot see it.
function figureOf(chart, note) {
  const figure = made("figure", "chart");
  figure.id = chart.id;
  const panel = made("div", "panel");
  panel.id = `${chart.id}-1`;
  const live = panel.appendChild(made("div", "live"));
  live.setAttribute("role", "group");
  const unit = chart.y.unit ? ` in ${chart.y.unit}` : "";
  live.setAttribute(
    "aria-label",
    `${chart.y.title}${unit} over time in s; arrows tell values, N and P go from point to point, plus and minus zoom, 0 shows all`,
  );
  const behind = made("details", "behind");
  behind.append(made("summary", "", "Figures of the chart"), made("div", "wide"));
  figure.append(legendOf(chart.panels[0].series), panel, made("figcaption", "soft", note), behind);
  return figure;
}

// Writes the table behind a chart, unless the reader is in it.
function writeTable(chart, head, lines) {
  const before = chart.figure.querySelector(".behind > .wide");
  if (before.contains(document.activeElement)) return;
  const heads = [[head], ...FIGURES];
  const table = madeTable(`Figures of the chart: ${chart.y.title}`, heads, rowsOf(lines));
  for (const row of table.querySelectorAll("tbody tr"))
    [...row.cells].forEach((cell, place) => (cell.dataset.head = heads[place][0]));
  before.replaceWith(table);
}

const lineNames = (charts) => JSON.stringify(charts.map(({ panels }) => panels[0].series.map(({ label }) => label)));

// Brings the charts that are shown to what is known now, or shows others where lines came or went.
function takeCourses(charts) {
  const place = document.getElementById("courses");
  if (lineNames(charts) !== lineNames(shownCharts)) {
    const notes = {
      load: "Load of each direction of a link, as its sender's port counts it.",
      subflows: "Subflows with rules, by the links of their paths, of the 500 connections opened last.",
    };
    const head = made("h2", "", "The last minutes");
    place.replaceChildren(head, ...charts.map((chart) => figureOf(chart, notes[chart.id])));
    showInstead(charts);
    return;
  }
  charts.forEach((chart, number) => {
    const own = shownCharts[number];
    chart.panels[0].series.forEach(({ pieces, since }, which) => {
      Object.assign(own.panels[0].series[which], { pieces, since, binned: null });
    });
    [own.x.range, own.y.range] = [chart.x.range, chart.y.range];
    own.in.full = [...own.x.range];
    own.panels[0].marks = chart.panels[0].marks;
    const plot = own.figure.querySelector(".live").plot;
    if (plot) remark(plot, own.panels[0].marks);
    redraw(own);
  });
}

// Puts these marks on a plot in the place of those that it has.
function remark(plot, marks) {
  const names = (all) => JSON.stringify(all);
  const held = [...plot.over.querySelectorAll(".mark")];
  const before = held.map((one) => [+one.dataset.at, one.textContent, (one.hash ?? "").slice(1)]);
  if (names(before) === names(marks)) return;
  for (const one of held) one.remove();
  for (const mark of marks) addMark(plot, ...mark);
}

async function bringCourses() {
  const [history, events] = await Promise.all(["history", "events"].map(documentOf));
  const times = history.times_ns.map((at) => at / 1e9);
  if (times.length < 2) return;
  const marks = marksOf(events, times[0]);
  const [loads, paths] = [loadLines(history), pathLines(history)];
  const charts = [
    chartOf("load", ["load", "Mbit/s"], times, loadSeries(times, loads), marks),
    chartOf("subflows", ["subflows", ""], times, pathSeries(times, paths), marks),
  ];
  takeCourses(charts);
  writeTable(shownCharts[0], "direction, Mbit/s", loads);
  writeTable(shownCharts[1], "path, subflows", paths);
}

// Replaces the parts of the page that have changed, but not the one that the reader is in; what was
// open stays open.
async function bringParts() {
  const text = await (await asked(location.pathname)).text();
  const other = new DOMParser().parseFromString(text, "text/html");
  for (const part of document.querySelectorAll("[data-part]")) {
    const next = other.querySelector(`[data-part="${part.dataset.part}"]`);
    if (!next || part.contains(document.activeElement)) continue;
    for (const { id } of part.querySelectorAll("details[open][id]")) {
      const details = next.querySelector(`#${CSS.escape(id)}`);
      if (details) details.open = true;
    }
    part.replaceWith(next);
  }
  linkEvents();
}

// The time of an event leads to the charts around it.
function linkEvents() {
  for (const row of document.querySelectorAll('tr[id^="event-"]')) {
    const cell = row.cells[0];
    if (cell.querySelector("a")) continue;
    const link = made("a", "", cell.textContent);
    link.href = "#load";
    link.dataset.moment = cell.textContent;
    link.dataset.group = "time";
    cell.replaceChildren(link);
  }
}

async function followController() {
  const status = document.getElementById("answers");
  try {
    await bringParts();
    await bringCourses();
    status.textContent = "";
  } catch {
    status.textContent = "The controller has ended, or does not answer.";
  }
  setTimeout(followController, FOLLOWED_EVERY);
}

async function beginController() {
  const place = document.getElementById("courses");
  const status = made("p", "soft");
  status.id = "answers";
  status.setAttribute("role", "status");
  place.before(status);
  linkEvents();
  if (place.dataset.follows !== undefined) return followController();
  try {
    await bringCourses();
  } catch {
    status.textContent = "The controller does not answer.";
  }
}

if (document.documentElement.classList.contains("scripted")) {
  document.addEventListener("DOMContentLoaded", beginController);
}
