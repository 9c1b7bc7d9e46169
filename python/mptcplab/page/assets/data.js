// Reads the charts of the page: whole numbers in units, of places the differences.

async function chartsOfPage() {
  const charts = (await dataOfPage("charts")) ?? [];
  for (const chart of charts)
    for (const panel of chart.panels) panel.series.forEach(decode);
  return charts;
}

// The data in an element of the page; null where it has none.
async function dataOfPage(id) {
  const element = document.getElementById(id);
  if (!element) return null;
  const text = element.dataset.encoding ? await inflated(element.textContent) : element.textContent;
  return JSON.parse(text);
}

async function inflated(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

function decode(series) {
  const [unitX, unitY] = series.units;
  series.pieces = series.pieces.map(([places, values, halves, frames]) => {
    const x = new Float64Array(places.length);
    let place = 0;
    places.forEach((difference, index) => (x[index] = (place += difference) * unitX));
    const scaled = (numbers) => numbers && Float64Array.from(numbers, (value) => value * unitY);
    return { x, y: scaled(values), half: scaled(halves), frames };
  });
  series.shown = true;
}

// The first place in a sorted array that is not below a value.
function lowerBound(sorted, value) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Means over bins of a width, from means since the place before; of the last bin what there is.
function binned(series, piece, width) {
  const { x, y } = piece;
  let since = series.since;
  let [sum, length] = [0, 0];
  const bins = { x: [], y: [] };
  for (let index = 0; index < x.length; index++) {
    const own = x[index] - since;
    sum += y[index] * own;
    length += own;
    since = x[index];
    const isLast = index === x.length - 1;
    if (length >= width * (1 - 1e-6) || isLast) {
      if (isLast && bins.x.length && length < width / 2) {
        const before = bins.x.length > 1 ? bins.x.at(-2) : series.since;
        const whole = bins.x.at(-1) - before;
        bins.y[bins.y.length - 1] = (bins.y.at(-1) * whole + sum) / (whole + length);
        bins.x[bins.x.length - 1] = x[index];
      } else {
        bins.x.push(x[index]);
        bins.y.push(length > 0 ? sum / length : 0);
      }
      [sum, length] = [0, 0];
    }
  }
  return bins;
}

// A value as a person reads it.
function shown(value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1000 || value === 0) return String(Math.round(value));
  return Number(value.toPrecision(4)).toString();
}
