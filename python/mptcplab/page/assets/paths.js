// Draws series on a canvas: of the points that fall on one column of pixels the extremes.

const DOT = 2.6;

// The pieces as they are drawn: of means bins of the width that is set.
function drawnPieces(series, width) {
  if (series.kind !== "means") return series.pieces;
  if (series.binned?.width !== width) {
    series.binned = { width, pieces: series.pieces.map((piece) => binned(series, piece, width)) };
  }
  return series.binned.pieces;
}

// The part of a piece within a range, and one point beyond at each end.
function visible(piece, low, high) {
  const first = Math.max(0, lowerBound(piece.x, low) - 1);
  return [first, Math.min(piece.x.length, lowerBound(piece.x, high) + 1)];
}

// The lowest and highest visible value of a series.
function heights(series, pieces, low, high) {
  let [least, most] = [Infinity, -Infinity];
  for (const piece of pieces) {
    const [first, last] = visible(piece, low, high);
    for (let index = first; index < last; index++) {
      const half = piece.half ? piece.half[index] : 0;
      if (piece.y[index] - half < least) least = piece.y[index] - half;
      if (piece.y[index] + half > most) most = piece.y[index] + half;
    }
  }
  return [least, most];
}

function drawSeries(plot, series, pieces, colour) {
  const { ctx, bbox } = plot;
  const { min, max } = plot.scales.x;
  const ratio = uPlot.pxRatio;
  const across = (value) => plot.valToPos(value, "x", true);
  const up = (value) => plot.valToPos(value, "y", true);
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top - ratio, bbox.width, bbox.height + 2 * ratio);
  ctx.clip();
  ctx.strokeStyle = ctx.fillStyle = colour;
  ctx.lineWidth = 1.5 * ratio;
  ctx.lineJoin = "round";
  ctx.setLineDash(series.dashes.map((length) => length * ratio));
  for (const piece of pieces) {
    const part = visible(piece, min, max);
    if (series.kind === "points") dots(ctx, piece, part, across, up, ratio);
    else line(ctx, piece, part, across, up, series.kind === "steps", bbox.width);
    if (piece.half) whiskers(ctx, piece, part, across, up, ratio);
  }
  ctx.restore();
}

function line(ctx, piece, [first, last], across, up, inSteps, width) {
  const { x, y } = piece;
  ctx.beginPath();
  if (last - first <= 2 * width) {
    let before = 0;
    for (let index = first; index < last; index++) {
      const [place, height] = [across(x[index]), up(y[index])];
      if (index === first) ctx.moveTo(place, height);
      else if (inSteps) ctx.lineTo(place, before);
      ctx.lineTo(place, height);
      before = height;
    }
  } else {
    let index = first;
    while (index < last) {
      const column = Math.round(across(x[index]));
      let [least, most] = [y[index], y[index]];
      const entry = y[index];
      let exit = entry;
      for (; index < last && Math.round(across(x[index])) === column; index++) {
        exit = y[index];
        if (exit < least) least = exit;
        if (exit > most) most = exit;
      }
      for (const value of [entry, least, most, exit]) ctx.lineTo(column, up(value));
    }
  }
  ctx.stroke();
}

function dots(ctx, piece, [first, last], across, up, ratio) {
  const size = DOT * ratio;
  const taken = new Set();
  for (let index = first; index < last; index++) {
    const [place, height] = [Math.round(across(piece.x[index])), Math.round(up(piece.y[index]))];
    const cell = place * 65536 + height;
    if (taken.has(cell)) continue;
    taken.add(cell);
    ctx.fillRect(place - size / 2, height - size / 2, size, size);
  }
}

function whiskers(ctx, piece, [first, last], across, up, ratio) {
  ctx.setLineDash([]);
  ctx.lineWidth = ratio;
  ctx.beginPath();
  for (let index = first; index < last; index++) {
    const place = across(piece.x[index]);
    const half = piece.half[index];
    const [low, high] = [up(piece.y[index] - half), up(piece.y[index] + half)];
    ctx.rect(place - 1.5 * ratio, up(piece.y[index]) - 1.5 * ratio, 3 * ratio, 3 * ratio);
    if (!half) continue;
    ctx.moveTo(place, low);
    ctx.lineTo(place, high);
    for (const end of [low, high]) {
      ctx.moveTo(place - 3 * ratio, end);
      ctx.lineTo(place + 3 * ratio, end);
    }
  }
  ctx.stroke();
}
