//! Places of switches and links in the drawing.
//!
//! Switches stand in columns by their distance from the first one that has hosts, so that the paths
//! between hosts go from left to right. A link joins neighbouring columns, or two switches of one.

use std::collections::{BTreeMap, VecDeque};

/// Pixels between columns: room for two loads.
const COLUMN_GAP: f64 = 230.0;
/// Pixels between boxes of a column.
const ROW_GAP: f64 = 44.0;
/// Pixels around all.
const MARGIN: f64 = 24.0;
/// Pixels by which parallel links are bent away from each other.
const BEND: f64 = 70.0;

/// A point, px.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// A box, px: its left upper corner, and its size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    pub(super) at: Point,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// The curve of a link: its ends, and the point that it bends to (a quadratic Bézier curve).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Curve(pub(super) [Point; 3]);

/// All places.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) width: f64,
    pub(super) height: f64,
    /// By the boxes given.
    pub(super) places: Vec<Place>,
    /// By the links given.
    pub(super) curves: Vec<Curve>,
}

/// Lays out boxes of the given sizes, joined by links. `first`: those at which columns begin, where
/// they have part in a link, the best one first.
pub(super) fn lay_out(sizes: &[(f64, f64)], links: &[(usize, usize)], first: &[usize]) -> Layout {
    let mut layout = Layout {
        places: vec![
            Place {
                at: Point { x: 0.0, y: 0.0 },
                width: 0.0,
                height: 0.0
            };
            sizes.len()
        ],
        ..Layout::default()
    };
    let mut columns_of = vec![None; sizes.len()];
    let mut top = MARGIN;
    for begin in first.iter().copied().chain(0..sizes.len()) {
        if columns_of[begin].is_some() {
            continue;
        }
        let columns = columns(begin, links, &mut columns_of);
        top += place(&columns, sizes, top, &mut layout) + ROW_GAP;
    }
    layout.width += MARGIN;
    layout.height = top - ROW_GAP + MARGIN;
    layout.curves = curves(links, &columns_of, &mut layout);
    layout
}

/// The boxes that can be reached from one, by their distances from it. In each column they stand in
/// the order of their neighbours in the one before.
fn columns(
    begin: usize,
    links: &[(usize, usize)],
    columns_of: &mut [Option<usize>],
) -> Vec<Vec<usize>> {
    let mut columns: Vec<Vec<usize>> = Vec::new();
    let mut next = VecDeque::from([(begin, 0)]);
    columns_of[begin] = Some(0);
    while let Some((own, column)) = next.pop_front() {
        if columns.len() == column {
            columns.push(Vec::new());
        }
        columns[column].push(own);
        for (one, other) in links {
            let neighbour = match own {
                own if own == *one => *other,
                own if own == *other => *one,
                _ => continue,
            };
            if columns_of[neighbour].is_none() {
                columns_of[neighbour] = Some(column + 1);
                next.push_back((neighbour, column + 1));
            }
        }
    }
    columns
}

/// Places the columns of joined boxes below `top`, and returns their height.
fn place(columns: &[Vec<usize>], sizes: &[(f64, f64)], top: f64, layout: &mut Layout) -> f64 {
    let height_of = |column: &Vec<usize>| {
        let boxes: f64 = column.iter().map(|own| sizes[*own].1).sum();
        boxes + ROW_GAP * (column.len() - 1) as f64
    };
    let height = columns.iter().map(height_of).fold(0.0, f64::max);
    let mut x = MARGIN;
    for column in columns {
        let widths = column.iter().map(|own| sizes[*own].0);
        let width = widths.fold(0.0, f64::max);
        let mut y = top + (height - height_of(column)) / 2.0;
        for own in column {
            let height = sizes[*own].1;
            let at = Point { x, y };
            layout.places[*own] = Place { at, width, height };
            y += height + ROW_GAP;
        }
        x += width + COLUMN_GAP;
    }
    layout.width = layout.width.max(x - COLUMN_GAP);
    height
}

/// The curves of links. Those between boxes of one column bend to the right, and may make the
/// drawing wider.
fn curves(
    links: &[(usize, usize)],
    columns_of: &[Option<usize>],
    layout: &mut Layout,
) -> Vec<Curve> {
    let mut parallel: BTreeMap<(usize, usize), (usize, usize)> = BTreeMap::new();
    let key = |(one, other): (usize, usize)| (one.min(other), one.max(other));
    for link in links {
        parallel.entry(key(*link)).or_default().0 += 1;
    }
    let mut curves = Vec::new();
    for (link, [from, to]) in links.iter().zip(ends(links, columns_of, &layout.places)) {
        let (all, drawn) = parallel.entry(key(*link)).or_default();
        let bend = BEND * (*drawn as f64 - (*all - 1) as f64 / 2.0);
        *drawn += 1;
        let mut over = between(from, to);
        if columns_of[link.0] == columns_of[link.1] {
            over.x = from.x.max(to.x) + COLUMN_GAP / 2.0 + bend + BEND * *all as f64 / 2.0;
            // A curve goes half the way to the point that it bends to; loads stand right of it.
            layout.width = layout.width.max(over.x + MARGIN);
        } else {
            over.y += bend;
        }
        curves.push(Curve([from, over, to]));
    }
    curves
}

/// An end of a link at a side of a box: the place of the box that it leads to, px from above, the
/// link, and which end of it.
type End = (f64, usize, usize);

/// Both ends of each link: spread over a side of its box, in the order of the boxes that they lead
/// to.
fn ends(
    links: &[(usize, usize)],
    columns_of: &[Option<usize>],
    places: &[Place],
) -> Vec<[Point; 2]> {
    let mut sides: BTreeMap<(usize, bool), Vec<End>> = BTreeMap::new();
    for (index, (one, other)) in links.iter().enumerate() {
        for (end, own, far) in [(0, one, other), (1, other, one)] {
            let is_right = columns_of[*own] <= columns_of[*far];
            let side = sides.entry((*own, is_right)).or_default();
            side.push((places[*far].at.y, index, end));
        }
    }
    let mut ends = vec![[Point { x: 0.0, y: 0.0 }; 2]; links.len()];
    for ((own, is_right), mut side) in sides {
        side.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        let place = &places[own];
        let step = place.height / (side.len() + 1) as f64;
        for (number, (_, index, end)) in side.into_iter().enumerate() {
            ends[index][end] = Point {
                x: place.at.x + if is_right { place.width } else { 0.0 },
                y: place.at.y + step * (number + 1) as f64,
            };
        }
    }
    ends
}

impl Curve {
    /// Its first half and its second half, which ends where the first does.
    pub(super) fn halves(&self) -> [Self; 2] {
        let [from, over, to] = self.0;
        let middle = self.at(0.5);
        [
            Self([from, between(from, over), middle]),
            Self([to, between(over, to), middle]),
        ]
    }

    /// The point at a share of it.
    pub(super) fn at(&self, share: f64) -> Point {
        let [from, over, to] = self.0;
        let weights = [
            (1.0 - share) * (1.0 - share),
            2.0 * share * (1.0 - share),
            share * share,
        ];
        let sum = |of: fn(&Point) -> f64| {
            let points = [from, over, to];
            points
                .iter()
                .zip(weights)
                .map(|(point, weight)| of(point) * weight)
                .sum()
        };
        Point {
            x: sum(|point| point.x),
            y: sum(|point| point.y),
        }
    }
}

fn between(one: Point, other: Point) -> Point {
    Point {
        x: (one.x + other.x) / 2.0,
        y: (one.y + other.y) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: (f64, f64) = (80.0, 30.0);

    fn overlap(one: &Place, other: &Place) -> bool {
        let apart = |at: f64, size: f64, other: f64, other_size: f64| {
            at + size <= other || other + other_size <= at
        };
        !(apart(one.at.x, one.width, other.at.x, other.width)
            || apart(one.at.y, one.height, other.at.y, other.height))
    }

    #[test]
    fn paths_go_from_left_to_right_and_boxes_do_not_overlap() {
        // 0 – {2, 3} – {4, 5} – 1, two links between 4 and 1, one between 2 and 3; 6 – 7 and 8 alone.
        let links = [
            (0, 2),
            (0, 3),
            (2, 4),
            (3, 5),
            (4, 1),
            (1, 4),
            (5, 1),
            (2, 3),
            (6, 7),
        ];
        let layout = lay_out(&[SIZE; 9], &links, &[0]);
        let x: Vec<f64> = layout.places.iter().map(|place| place.at.x).collect();
        assert!(x[0] < x[2] && x[2] == x[3] && x[3] < x[4] && x[4] == x[5] && x[5] < x[1]);
        for (index, one) in layout.places.iter().enumerate() {
            assert!(one.at.x >= 0.0 && one.at.x + one.width <= layout.width);
            assert!(one.at.y >= 0.0 && one.at.y + one.height <= layout.height);
            let others = &layout.places[index + 1..];
            assert!(!others.iter().any(|other| overlap(one, other)));
        }
        // Parallel links are apart, whichever end is told first.
        let gap = layout.curves[4].at(0.5).y - layout.curves[5].at(0.5).y;
        assert!(gap.abs() > 30.0, "{gap}");
    }

    #[test]
    fn halves_meet_in_the_middle() {
        let curve = Curve([(0.0, 0.0), (10.0, 20.0), (20.0, 0.0)].map(|(x, y)| Point { x, y }));
        let [one, other] = curve.halves();
        assert_eq!(one.0[2], other.0[2]);
        assert_eq!(one.0[2], Point { x: 10.0, y: 10.0 });
        assert_eq!(one.at(0.5), curve.at(0.25));
    }

    #[test]
    fn nothing_is_laid_out_as_nothing() {
        let layout = lay_out(&[], &[], &[]);
        assert!(layout.places.is_empty() && layout.curves.is_empty());
    }
}
