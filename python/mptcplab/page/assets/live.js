// A run that goes on: asks the server for what is new, and adds it to the charts.

const ASKED_EVERY = 500; // milliseconds
const PATIENCE = 3000; // where the server does not answer

async function follow() {
  const live = document.getElementById("live");
  let pause = ASKED_EVERY;
  try {
    const told = await newest(live.dataset);
    if (told.state !== live.dataset.state) await replacePage();
    else take(told, live);
    if (told.ended) pause = PATIENCE;
    document.documentElement.dataset.answers = "";
  } catch {
    document.getElementById("progress").textContent = "The command has ended, or does not answer.";
    pause = PATIENCE;
  }
  setTimeout(follow, pause);
}

async function newest({ state, samples }) {
  const question = new URLSearchParams({ state, since: samples });
  const answer = await fetch(`newest?${question}`, { cache: "no-store" });
  if (!answer.ok) throw new Error(answer.statusText);
  return answer.json();
}

// Shows the page anew: another run has begun, or a path has come.
async function replacePage() {
  const answer = await fetch(".", { cache: "no-store" });
  const other = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const place of ["main", "#charts"]) {
    document.querySelector(place).replaceWith(other.querySelector(place));
  }
  document.title = other.title;
  await showCharts();
}

function take(told, live) {
  for (const [name, text] of Object.entries(told.shown)) {
    document.getElementById(name).innerHTML = text;
  }
  live.dataset.samples = told.samples;
  for (const chart of shownCharts) {
    const [panel] = chart.panels;
    panel.series.forEach((series, place) => append(series, told.points[place]));
    [chart.x.range, chart.y.range] = told.range;
    chart.in.full = [...chart.x.range];
    for (const mark of told.marks.slice(panel.marks.length)) {
      panel.marks.push(mark);
      const plot = chart.figure.querySelector(".live").plot;
      if (plot) addMark(plot, ...mark);
    }
    redraw(chart);
  }
}

function append(series, points) {
  if (!points.length) return;
  if (!series.pieces.length) series.pieces.push({ x: new Float64Array(), y: new Float64Array() });
  const piece = series.pieces.at(-1);
  piece.x = Float64Array.of(...piece.x, ...points.map(([at]) => at));
  piece.y = Float64Array.of(...piece.y, ...points.map(([, value]) => value));
  series.binned = null;
}

document.addEventListener("DOMContentLoaded", () => setTimeout(follow, ASKED_EVERY));
