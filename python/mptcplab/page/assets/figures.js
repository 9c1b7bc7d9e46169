// The figures of the page that hold charts: what stands around the plots.

const WIDTHS = [
  ["automatic", 0],
  ["10 ms", 0.01],
  ["100 ms", 0.1],
  ["500 ms", 0.5],
  ["1 s", 1],
  ["10 s", 10],
];

function button(text, press) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.addEventListener("click", press);
  return made;
}

function redraw(chart) {
  chart.heights = null;
  const [min, max] = rangeOf(chart.in);
  for (const holder of chart.figure.querySelectorAll(".live")) {
    holder.plot?.batch(() => {
      holder.plot.setScale("x", { min, max });
      holder.plot.redraw(false, true);
    });
  }
}

function addTools(chart) {
  const tools = document.createElement("div");
  tools.className = "tools";
  const whole = button("Show all", () => zoom(chart.in, null));
  whole.className = "whole";
  whole.hidden = true;
  const every = chart.panels.flatMap((panel) => panel.series);
  if (every.some((series) => series.kind === "means")) {
    const label = tools.appendChild(document.createElement("label"));
    const select = document.createElement("select");
    for (const [name, seconds] of WIDTHS) select.add(new Option(name, seconds));
    select.addEventListener("change", () => {
      chart.bins = +select.value;
      redraw(chart);
    });
    label.append("Bins", select);
  }
  tools.append(copyButton(() => csvOf(chart)), whole);
  chart.figure.querySelector(".legend, .panel").before(tools);
}

// Makes each entry of the legend a button that shows and hides the series of its name.
function addLegend(chart) {
  for (const item of chart.figure.querySelectorAll(".legend li")) {
    const label = item.textContent.trim();
    const own = button("", () => {
      const isShown = own.getAttribute("aria-pressed") !== "true";
      own.setAttribute("aria-pressed", isShown);
      for (const series of chart.panels.flatMap((panel) => panel.series)) {
        if (series.label === label) series.shown = isShown;
      }
      redraw(chart);
    });
    own.setAttribute("aria-pressed", "true");
    own.append(...item.childNodes);
    item.append(own);
  }
}

// Every point as it is held, a row each.
function csvOf(chart) {
  const rows = [["panel", "series", chart.x.title, chart.y.title]];
  for (const panel of chart.panels)
    for (const series of panel.series)
      for (const { x, y } of series.pieces)
        x.forEach((place, index) => {
          const at = chart.x.dates ? dateOf(place) : +place.toPrecision(10);
          rows.push([panel.title, series.label, at, +y[index].toPrecision(7)]);
        });
  return csv(rows);
}

function showFigure(chart, watcher) {
  chart.figure = document.getElementById(chart.id);
  chart.in = groupOf(chart);
  addTools(chart);
  addLegend(chart);
  const status = chart.figure.appendChild(document.createElement("p"));
  status.className = "unseen";
  status.setAttribute("role", "status");
  chart.figure.querySelectorAll(".panel").forEach((element, place) => {
    const panel = chart.panels[place];
    const holder = element.querySelector(".live");
    panel.element = element;
    holder.tabIndex = 0;
    if (packetsOf(chart.figure)) holder.ariaLabel += ", Enter shows the packets there";
    holder.addEventListener("keydown", (event) => {
      if (holder.plot) press(event, holder.plot, chart, panel, status);
    });
    holder.begin = () => plotPanel(chart, panel, holder, place === chart.panels.length - 1);
    watcher.observe(holder);
  });
}

// Shows what is around a moment in all charts of a group, and the packets below the first panel of
// a figure.
function showMoment(at, name, id) {
  const group = groups.get(name);
  if (!group) return;
  const [low, high] = group.full;
  const half = (high - low) / 20;
  zoom(group, [at - half, at + half]);
  setMoment(name, at);
  const chart = group.charts.find((one) => one.id === id);
  if (chart && packetsOf(chart.figure)) showPackets(chart, chart.panels[0].element, at, null);
}

let shownCharts = [];
let watcher = null;

// Shows the charts that stand in the page now, in the place of those that stood there before.
const showCharts = async () => showInstead(await chartsOfPage());

// Shows charts, whose figures stand in the page, in the place of those that were shown before.
function showInstead(charts) {
  watcher?.disconnect();
  for (const { plots } of groups.values()) for (const plot of plots) plot.destroy();
  groups.clear();
  shownCharts = charts;
  watcher = new IntersectionObserver(
    (seen) => {
      for (const { isIntersecting, target } of seen) {
        if (!isIntersecting || target.plot) continue;
        watcher.unobserve(target);
        target.begin();
      }
    },
    { rootMargin: "300px" },
  );
  for (const chart of shownCharts) showFigure(chart, watcher);
}

async function begin() {
  enhanceTables();
  packets = (await dataOfPage("packets")) ?? {};
  await showCharts();
  for (const [id, runs] of Object.entries((await dataOfPage("loads")) ?? {})) addNetwork(id, runs);
  addEventListener("scroll", (event) => (scrolled = event.timeStamp), { passive: true });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => shownCharts.forEach(redraw));
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-moment]");
    if (link) showMoment(+link.dataset.moment, link.dataset.group, link.hash.slice(1));
  });
  document.documentElement.dataset.ready = "";
}

// Where a browser lacks a part that is needed, the drawings of the page stay as they are.
if (window.DecompressionStream && window.ResizeObserver) {
  document.documentElement.classList.add("scripted");
  document.addEventListener("DOMContentLoaded", begin);
}
