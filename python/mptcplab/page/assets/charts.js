// The charts of the page: zoom by wheel, drag and keys, values under the pointer, legends, bins.

const PANEL_HEIGHT = 190;
const LABEL_HEIGHT = 18;
const NEAR = 24; // pixels from the pointer within which a point is told
const RESTED = 350; // milliseconds after which a wheel over a chart no longer scrolls the page
const BINS = 300; // across a chart, where the reader has set no width

const groups = new Map();
const ink = (colour) => (colour.startsWith("var(") ? style(colour.slice(4, -1)) : colour);
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
let scrolled = 0;

function groupOf(chart) {
  if (!groups.has(chart.group)) {
    groups.set(chart.group, { full: [...chart.x.range], range: null, moment: null, plots: new Set(), charts: [] });
  }
  const group = groups.get(chart.group);
  group.full = [
    Math.min(group.full[0], chart.x.range[0]),
    Math.max(group.full[1], chart.x.range[1]),
  ];
  group.charts.push(chart);
  return group;
}

function rangeOf(group) {
  return group.range ?? group.full;
}

// Sets the range of all charts of a group; null: all of it.
function zoom(group, range) {
  if (range) {
    const [low, high] = group.full;
    const width = Math.min(range[1] - range[0], high - low);
    if (!(width > (high - low) * 1e-7)) return;
    const start = Math.max(low, Math.min(range[0], high - width));
    range = width >= (high - low) * 0.9999 ? null : [start, start + width];
  }
  group.range = range;
  const [min, max] = rangeOf(group);
  for (const chart of group.charts) {
    chart.heights = null;
    chart.figure.querySelector("button.whole").hidden = !range;
  }
  for (const plot of group.plots) plot.setScale("x", { min, max });
}

// Marks a moment in all charts of a group; where the page draws networks, they follow.
function setMoment(name, at) {
  const group = groups.get(name);
  if (group) {
    group.moment = at;
    for (const plot of group.plots) placeMoment(plot, group);
  }
  followMoment(name, at);
}

function placeMoment(plot, group) {
  const line = plot.over.querySelector(".moment-line");
  const place = group.moment === null ? -1 : plot.valToPos(group.moment, "x");
  line.hidden = !(place >= 0 && place <= plot.over.clientWidth);
  line.style.left = `${place}px`;
}

// The width of bins of means: the one set, or a round one of which so many fit.
function binWidth(chart) {
  if (chart.bins) return chart.bins;
  const [low, high] = rangeOf(chart.in);
  const rough = Math.max((high - low) / BINS, 1e-9);
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((times) => times * power).find((width) => width >= rough * 0.999);
}

// The ends of the axis of values: of all panels over what is visible, so that they stay alike.
function heightsOf(chart) {
  const every = chart.panels.flatMap((panel) => panel.series);
  const isWhole = !chart.in.range && every.every((series) => series.shown);
  if (chart.y.fixed || isWhole) return chart.y.range;
  if (!chart.heights) {
    const [low, high] = rangeOf(chart.in);
    let [least, most] = [Infinity, -Infinity];
    for (const series of every) {
      if (!series.shown) continue;
      const own = heights(series, drawnPieces(series, binWidth(chart)), low, high);
      least = Math.min(least, own[0]);
      most = Math.max(most, own[1]);
    }
    chart.heights = roomy(chart.y, least, most);
  }
  return chart.heights;
}

function roomy(axis, least, most) {
  if (!(least <= most)) return axis.range;
  if (axis.log && least > 0) return [least / 1.15, most * 1.15];
  if (axis.zero && least >= 0) return [0, most > 0 ? most * 1.06 : 1];
  const room = 0.04 * (most - least) || 0.5;
  return [least - room, most + room];
}

const DATE_STEPS = [60, 300, 900, 3600, 10800, 21600, 43200, 86400, 172800, 604800, 2419200];

// A time in seconds since 1970 in words, all of them UTC: `2026-11-29 10:05`.
const dateOf = (at) => new Date(at * 1000).toISOString().slice(0, 16).replace("T", " ");

function dateTick(at) {
  const words = dateOf(at);
  return words.endsWith("00:00") ? words.slice(5, 10) : words.slice(11);
}

function axisOf(axis, whole) {
  const named = axis.names.length > 0;
  return {
    stroke: () => style("--ink"),
    grid: { stroke: () => style("--rule"), width: 1, show: whole.grid },
    ticks: { stroke: () => style("--soft"), width: 1, size: 4 },
    font: "11px system-ui, sans-serif",
    labelFont: "11px system-ui, sans-serif",
    label: whole.label ? (axis.unit ? `${axis.title} in ${axis.unit}` : axis.title) : undefined,
    labelSize: LABEL_HEIGHT,
    size: whole.size,
    space: whole.space,
    ...(axis.dates
      ? { incrs: DATE_STEPS, values: (_, places) => places.map(dateTick) }
      : named
      ? {
          splits: () => axis.names.map(([place]) => place),
          values: () => axis.names.map(([, name]) => name),
        }
      : { values: (_, places) => places.map((one) => (one === null ? "" : String(+one.toPrecision(9)))) }),
  };
}

function plotPanel(chart, panel, holder, isLast) {
  const scale = (axis, range) => ({ time: false, distr: axis.log ? 3 : 1, log: 10, range });
  const plot = new uPlot(
    {
      width: holder.clientWidth,
      height: PANEL_HEIGHT + (isLast ? LABEL_HEIGHT : 0),
      scales: {
        x: scale(chart.x, () => rangeOf(chart.in)),
        y: scale(chart.y, () => heightsOf(chart)),
      },
      axes: [
        axisOf(chart.x, { grid: false, label: isLast, size: 24, space: 60 }),
        axisOf(chart.y, { grid: true, label: true, size: 44, space: 34 }),
      ],
      series: [{}, { show: true, points: { show: false }, paths: () => null }],
      legend: { show: false },
      cursor: {
        y: false,
        points: { show: false },
        drag: { x: true, y: false, setScale: false },
        sync: { key: chart.group, scales: ["x", null] },
      },
      padding: [6, 18, 0, 0],
      hooks: {
        draw: [
          (own) => {
            for (const series of panel.series) {
              if (!series.shown) continue;
              drawSeries(own, series, drawnPieces(series, binWidth(chart)), ink(series.colour));
            }
            drawMarks(own, panel);
            if (panel.hover) placeMoment(own, chart.in);
          },
        ],
        setCursor: [(own) => tell(own, chart, panel)],
        setSelect: [
          (own) => {
            const { left, width } = own.select;
            if (width < 4) return;
            const range = [own.posToVal(left, "x"), own.posToVal(left + width, "x")];
            own.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            zoom(chart.in, range);
          },
        ],
      },
    },
    [rangeOf(chart.in), [heightsOf(chart)[0], heightsOf(chart)[1]]],
    holder,
  );
  const line = plot.over.appendChild(document.createElement("div"));
  line.className = "moment-line";
  line.hidden = true;
  panel.hover = plot.over.appendChild(document.createElement("div"));
  panel.hover.className = "hover";
  panel.hover.hidden = true;
  for (const [time, label, target] of panel.marks) addMark(plot, time, label, target);
  plot.over.addEventListener("wheel", (event) => turn(event, plot, chart.in), { passive: false });
  plot.over.addEventListener("dblclick", () => zoom(chart.in, null));
  let begun = 0;
  plot.over.addEventListener("mousemove", () => forget(chart.in), { capture: true });
  plot.over.addEventListener("mousedown", (event) => (begun = event.clientX));
  plot.over.addEventListener("click", (event) => {
    if (Math.abs(event.clientX - begun) < 4 && !event.target.closest(".mark")) pick(plot, chart, panel);
  });
  plot.over.addEventListener("mouseleave", () => (panel.hover.hidden = true));
  chart.in.plots.add(plot);
  placeMoment(plot, chart.in);
  holder.plot = plot;
  new ResizeObserver(() => {
    if (holder.clientWidth && Math.abs(holder.clientWidth - plot.width) > 1) {
      plot.setSize({ width: holder.clientWidth, height: plot.height });
    }
  }).observe(holder);
  return plot;
}

function addMark(plot, time, label, target) {
  const mark = plot.over.appendChild(document.createElement(target ? "a" : "span"));
  mark.className = "mark";
  mark.textContent = label;
  mark.dataset.at = time;
  if (target) mark.href = `#${target}`;
}

function drawMarks(plot, panel) {
  const { ctx, bbox } = plot;
  const ratio = uPlot.pxRatio;
  ctx.save();
  ctx.strokeStyle = style("--soft");
  ctx.lineWidth = ratio;
  ctx.setLineDash([2 * ratio, 2 * ratio]);
  for (const mark of plot.over.querySelectorAll(".mark")) {
    const place = plot.valToPos(+mark.dataset.at, "x");
    mark.hidden = place < 0 || place > plot.over.clientWidth;
    if (mark.hidden) continue;
    mark.style.left = `${Math.min(place + 2, plot.over.clientWidth - 13)}px`;
    ctx.beginPath();
    ctx.moveTo(bbox.left + place * ratio, bbox.top);
    ctx.lineTo(bbox.left + place * ratio, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

// Zooms about the pointer; out of what is shown whole, and while the page is scrolled, it scrolls.
function turn(event, plot, group) {
  if (event.timeStamp - scrolled < RESTED && !event.ctrlKey) return;
  if (!group.range && event.deltaY > 0) return;
  event.preventDefault();
  const box = plot.over.getBoundingClientRect();
  if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    pan(plot, group, event.deltaX / box.width);
    return;
  }
  stretch(plot, group, event.clientX - box.left, event.deltaY < 0 ? 0.75 : 1 / 0.75);
}

function stretch(plot, group, place, factor) {
  const width = plot.over.clientWidth;
  const end = (edge) => plot.posToVal(place + (edge - place) * factor, "x");
  zoom(group, [end(0), end(width)]);
}

function pan(plot, group, share) {
  const width = plot.over.clientWidth;
  if (group.range) zoom(group, [plot.posToVal(share * width, "x"), plot.posToVal((1 + share) * width, "x")]);
}

// The point of a series that is nearest to a place, at any height where that is null; of what holds
// until the next, the one before.
function nearest(plot, series, pieces, at, height) {
  const place = plot.valToPos(at, "x");
  let best = null;
  for (const piece of pieces) {
    const after = lowerBound(piece.x, at);
    const scattered = series.kind === "points";
    const reach = scattered ? 200 : 1;
    const last = Math.min(piece.x.length - 1, after + reach - 1);
    for (let index = Math.max(0, after - reach); index <= last; index++) {
      let apart = Math.abs(plot.valToPos(piece.x[index], "x") - place);
      if (series.kind === "steps" && index < after) apart /= 1e6;
      else if (series.kind === "means" && index === after && at > series.since) apart /= 1e6;
      else if (scattered && height !== null) apart = Math.hypot(apart, plot.valToPos(piece.y[index], "y") - height);
      if (!best || apart < best.apart) best = { apart, piece, index };
    }
  }
  const limit = series.kind === "steps" && best?.apart < 1 ? Infinity : NEAR;
  return best && best.apart <= limit ? best : null;
}

// Writes the values under the pointer beside it.
function tell(plot, chart, panel) {
  const { left } = plot.cursor;
  // Keys move across alone.
  const top = chart.byKeys ? null : plot.cursor.top;
  const at = chart.exact ?? plot.posToVal(left, "x");
  const box = panel.hover;
  if (!box) return;
  if (left === null || left < 0) {
    box.hidden = true;
    return;
  }
  const rows = [];
  for (const series of panel.series) {
    if (!series.shown) continue;
    const found = nearest(plot, series, drawnPieces(series, binWidth(chart)), at, top);
    if (!found) continue;
    rows.push({ series, value: found.piece.y[found.index], at: found.piece.x[found.index],
      half: found.piece.half?.[found.index], frame: found.piece.frames?.[found.index] });
  }
  box.replaceChildren(entry(null, named(chart.x, at)), ...rows.map((row) => entry(
    row.series,
    `${row.series.label}: ${shown(row.value)}${row.half ? ` ± ${shown(row.half)}` : ""}` +
      `${chart.y.unit ? ` ${chart.y.unit}` : ""}` +
      (row.series.kind === "points" ? ` at ${shown(row.at)}${chart.x.unit ? ` ${chart.x.unit}` : ""}` : "") +
      (row.frame === undefined ? "" : `, frame ${row.frame}`),
  )));
  box.hidden = false;
  const onLeft = left > plot.over.clientWidth / 2;
  box.style.left = onLeft ? "" : `${left + 14}px`;
  box.style.right = onLeft ? `${plot.over.clientWidth - left + 14}px` : "";
  chart.told = [...box.children].map((one) => one.textContent).join("; ");
}

function named(axis, value) {
  if (axis.dates) return `${dateOf(value)} UTC`;
  if (!axis.names.length) return `${axis.title} ${shown(value)}${axis.unit ? ` ${axis.unit}` : ""}`;
  const apart = ([place]) => Math.abs(place - value);
  return `${axis.title} ${axis.names.reduce((a, b) => (apart(a) <= apart(b) ? a : b))[1]}`;
}

function entry(series, text) {
  const line = document.createElement("div");
  if (series) line.appendChild(document.createElement("i")).style.background = ink(series.colour);
  line.append(text);
  return line;
}
