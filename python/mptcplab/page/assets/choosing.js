// Choosing a moment or a point of a chart, by the pointer and by keys.

// Chooses the moment under the pointer: that of the frame there, where a point has one. Shows the
// packets around it, where the page has them.
function pick(plot, chart, panel) {
  const { left, top } = plot.cursor;
  if (left < 0) return;
  let at = chart.exact ?? plot.posToVal(left, "x");
  let found = null;
  for (const series of panel.series) {
    if (!series.shown || series.kind !== "points") continue;
    const own = nearest(plot, series, series.pieces, at, chart.exact === undefined ? top : null);
    if (own?.piece.frames && !(found?.apart <= own.apart)) found = own;
  }
  const frame = found ? found.piece.frames[found.index] : null;
  const isTime = chart.x.title === "time";
  if (found && isTime) at = found.piece.x[found.index];
  if (!isTime) at = frame === null ? null : timeOf(chart, frame);
  if (at !== null) setMoment(isTime ? chart.group : momentGroup(chart), at);
  if (packetsOf(chart.figure) && (at !== null || frame !== null)) {
    chart.told = showPackets(chart, panel.element, at, frame);
  }
}

// The group of the charts over time in the same section.
const timeCharts = (chart) =>
  [...groups.values()]
    .flatMap((group) => group.charts)
    .filter((one) => one.x.title === "time" && one.figure.closest("section") === chart.figure.closest("section"));
const momentGroup = (chart) => timeCharts(chart)[0]?.group;

// The time of a frame, as a chart over time of the same section has it; null where none has.
function timeOf(chart, frame) {
  for (const other of timeCharts(chart))
    for (const { pieces } of other.panels.flatMap((panel) => panel.series))
      for (const { x, frames } of pieces) {
        const index = frames ? frames.indexOf(frame) : -1;
        if (index >= 0) return x[index];
      }
  return null;
}

// Forgets the points to which keys had moved: the pointer is where it is.
function forget(group) {
  for (const chart of group.charts) chart.exact = undefined;
}

// Moves the pointer to the next point of any series that is shown, or back to the one before.
function stepTo(plot, chart, panel, way) {
  const here = chart.exact ?? (plot.cursor.left >= 0 ? plot.posToVal(plot.cursor.left, "x") : rangeOf(chart.in)[0]);
  let best = null;
  for (const series of panel.series) {
    if (!series.shown) continue;
    for (const { x } of drawnPieces(series, binWidth(chart))) {
      let index = lowerBound(x, here);
      if (way < 0) index -= 1;
      else while (x[index] === here) index += 1;
      const own = x[index];
      if (own !== undefined && (best === null || (own - best) * way < 0)) best = own;
    }
  }
  if (best === null) return;
  const [low, high] = rangeOf(chart.in);
  if (best < low || best > high) zoom(chart.in, [best - (high - low) / 2, best + (high - low) / 2]);
  forget(chart.in);
  chart.byKeys = true;
  chart.exact = best;
  plot.setCursor({ left: plot.valToPos(best, "x"), top: 40 });
  tell(plot, chart, panel);
  chart.byKeys = false;
}

// Keys on a chart: the pointer goes by arrows, from point to point by N and P, the range by Shift and
// arrows, + and − zoom, Enter chooses the moment.
function press(event, plot, chart, panel, status) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const { width } = plot.over.getBoundingClientRect();
  const place = plot.cursor.left >= 0 ? plot.cursor.left : width / 2;
  const steps = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (steps && event.shiftKey) pan(plot, chart.in, steps * 0.2);
  else if (steps) {
    forget(chart.in);
    chart.byKeys = true;
    plot.setCursor({ left: Math.max(0, Math.min(width - 1, place + steps * 8)), top: 40 });
    chart.byKeys = false;
  }
  else if (event.key === "n" || event.key === "p") stepTo(plot, chart, panel, event.key === "n" ? 1 : -1);
  else if (event.key === "Enter") pick(plot, chart, panel);
  else if (event.key === "+" || event.key === "=") stretch(plot, chart.in, place, 0.75);
  else if (event.key === "-") stretch(plot, chart.in, place, 1 / 0.75);
  else if (event.key === "0" || event.key === "Escape") zoom(chart.in, null);
  else return;
  event.preventDefault();
  status.textContent = chart.told ?? "";
}
