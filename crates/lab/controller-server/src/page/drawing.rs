//! The drawing of the network with its load.

use std::collections::BTreeMap;

use super::html::Html;
use super::layout::{Curve, Point, lay_out};
use super::numbers::{megabits, share};
use crate::document::{Link, Switch, Topology};
use crate::names;

/// Switches of a drawing; one of more cannot be read.
const MOST_SWITCHES: usize = 64;
/// Addresses of hosts that stand at a switch.
const MOST_HOSTS: usize = 4;
/// Pixels of a line of text, and of a letter of it at most.
const LINE: f64 = 18.0;
const LETTER: f64 = 7.6;
/// Pixels between a box and its text.
const PADDING: f64 = 9.0;
/// The share of a link that a load is written at.
const LOAD_AT: f64 = 0.27;
/// Pixels of a load, about.
const LOAD_WIDTH: f64 = 76.0;
/// A link with less of its rate in use is drawn as one without load.
const USED: f64 = 0.01;
/// A link with more is drawn as full.
const FULL: f64 = 0.8;
/// The load from which a link of unknown rate is drawn as used, bit/s.
const USED_BPS: u64 = 100_000;

/// Both directions of a link: by the switches' places, from the first and from the second.
struct Pair<'a> {
    ends: (usize, usize),
    directions: [Option<&'a Link>; 2],
}

/// Writes the section of the drawing.
pub(super) fn draw(html: &mut Html, topology: &Topology) {
    html.raw("<section data-part=\"topology\">\n<h2>Topology</h2>\n");
    draw_network(html, topology);
    html.raw("</section>\n");
}

/// Draws the network, unless it has no switches or too many.
fn draw_network(html: &mut Html, topology: &Topology) {
    if topology.switches.is_empty() {
        html.raw("<p>No switch has connected yet.</p>\n");
        return;
    }
    if topology.switches.len() > MOST_SWITCHES {
        html.raw("<p>There are too many switches for a drawing: the tables have them.</p>\n");
        return;
    }
    let pairs = pairs(topology);
    let labels: Vec<Vec<String>> = topology
        .switches
        .iter()
        .map(|switch| label(switch, topology))
        .collect();
    let sizes: Vec<(f64, f64)> = labels.iter().map(|lines| size(lines)).collect();
    let links: Vec<(usize, usize)> = pairs.iter().map(|pair| pair.ends).collect();
    // A switch with hosts has more than one line.
    let with_hosts = labels.iter().enumerate();
    let with_hosts = with_hosts.filter(|(_, lines)| lines.len() > 1);
    let with_hosts: Vec<usize> = with_hosts.map(|(index, _)| index).collect();
    let layout = lay_out(&sizes, &links, &with_hosts);
    let (width, height) = (layout.width.ceil(), layout.height.ceil());
    html.raw("<figure class=\"wide network\" tabindex=\"0\" aria-label=\"Topology\"><svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"")
        .text(format_args!(
            "{} switches and {} links; the tables below have the same",
            labels.len(),
            pairs.len()
        ))
        .raw("\" width=\"")
        .text(width)
        .raw("\" height=\"")
        .text(height)
        .raw("\" viewBox=\"0 0 ")
        .text(format_args!("{width} {height}"))
        .raw("\">\n");
    let drawn = pairs.iter().zip(&layout.curves);
    for (pair, curve) in drawn.clone() {
        for (link, half) in pair.directions.iter().zip(curve.halves()) {
            draw_half(html, *link, &half);
        }
    }
    for (pair, curve) in drawn {
        let [from, _, to] = curve.0;
        let shares = [LOAD_AT, 1.0 - LOAD_AT];
        for (number, (link, share)) in pair.directions.iter().zip(shares).enumerate() {
            let at = curve.at(share);
            let side = match (to.x - from.x).abs() < 1.0 {
                true => Side::Right,
                // The first direction goes as the curve does.
                false if (number == 0) == (from.x < to.x) => Side::Above,
                false => Side::Below,
            };
            // A load does not stand in the way of a link that is steep.
            let slope = ((to.y - from.y) / (to.x - from.x).abs().max(1.0)).abs();
            write_load(html, *link, at, side, LOAD_WIDTH / 2.0 * slope.min(0.6));
        }
    }
    for ((switch, lines), place) in topology.switches.iter().zip(&labels).zip(&layout.places) {
        html.raw("<rect rx=\"4\" x=\"")
            .text(place.at.x)
            .raw("\" y=\"")
            .text(place.at.y)
            .raw("\" width=\"")
            .text(place.width)
            .raw("\" height=\"")
            .text(place.height)
            .raw("\"/>\n");
        for (number, line) in lines.iter().enumerate() {
            html.raw(match (number, switch.is_connected) {
                (0, true) => "<text class=\"name\" x=\"",
                (0, false) => "<text class=\"name gone\" x=\"",
                _ => "<text x=\"",
            })
            .text(place.at.x + PADDING)
            .raw("\" y=\"")
            .text(place.at.y + PADDING + LINE * (number as f64 + 0.7))
            .raw("\">")
            .text(line)
            .raw("</text>\n");
        }
    }
    html.raw(
        "</svg></figure>\n<p class=\"soft\">Load of the rate in Mbit/s, beside the switch that sends: above \
              the link to the right, below it to the left. Thin and grey: below 1 % of the rate; \
              thick and orange: 80 % and more.</p>\n",
    );
}

/// The links, each with both of its directions.
fn pairs(topology: &Topology) -> Vec<Pair<'_>> {
    let switches = topology.switches.iter().enumerate();
    let places: BTreeMap<&str, usize> = switches
        .map(|(place, switch)| (switch.switch.as_str(), place))
        .collect();
    let place = |port: &str| places.get(switch_of(port)).copied();
    let links = topology.links.iter();
    let by_ends: BTreeMap<(&str, &str), &Link> = links
        .map(|link| ((link.from.as_str(), link.to.as_str()), link))
        .collect();
    let pairs = by_ends.iter().filter_map(|((from, to), link)| {
        let back = by_ends.get(&(*to, *from)).copied();
        // A link with both directions is there twice; it is drawn from the lesser name.
        if back.is_some() && from > to {
            return None;
        }
        Some(Pair {
            ends: (place(from)?, place(to)?),
            directions: [Some(link), back],
        })
    });
    pairs.collect()
}

/// The switch of a port.
fn switch_of(port: &str) -> &str {
    port.rsplit_once(':').map_or(port, |(switch, _)| switch)
}

/// The lines at a switch: its name, and the hosts at its ports.
fn label(switch: &Switch, topology: &Topology) -> Vec<String> {
    let short = names::short(&switch.switch);
    let state = if switch.is_connected { "" } else { " (gone)" };
    let mut lines = vec![format!("switch {short}{state}")];
    let hosts = topology.hosts.iter();
    let hosts = hosts.filter(|host| switch_of(&host.port) == switch.switch);
    let mut hosts = hosts.map(|host| {
        let port = host.port.rsplit_once(':').map_or("", |(_, port)| port);
        format!("{port}: {}", host.host)
    });
    lines.extend(hosts.by_ref().take(MOST_HOSTS));
    let more = hosts.count();
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}

fn size(lines: &[String]) -> (f64, f64) {
    let letters = lines.iter().map(|line| line.chars().count()).max();
    (
        LETTER * letters.unwrap_or(0) as f64 + 2.0 * PADDING,
        LINE * lines.len() as f64 + 2.0 * PADDING,
    )
}

/// Draws the half of a link at the switch that sends.
fn draw_half(html: &mut Html, link: Option<&Link>, half: &Curve) {
    let [from, over, to] = half.0;
    html.raw(match link.map(usage) {
        Some(Usage::Full) => "<path class=\"full\" d=\"",
        Some(Usage::Used) => "<path class=\"used\" d=\"",
        Some(Usage::Idle) | None => "<path d=\"",
    })
    .text(format_args!(
        "M{:.1} {:.1} Q{:.1} {:.1} {:.1} {:.1}",
        from.x, from.y, over.x, over.y, to.x, to.y
    ))
    .raw("\">");
    if let Some(link) = link {
        html.raw("<title>")
            .text(format_args!(
                "{} to {}: {} Mbit/s",
                names::short(&link.from),
                names::short(&link.to),
                load(link)
            ))
            .raw("</title>");
    }
    html.raw("</path>\n");
}

/// The place of a load beside its link.
enum Side {
    Above,
    Below,
    Right,
}

/// Writes the load of a direction beside its sender, so many pixels farther from its link.
fn write_load(html: &mut Html, link: Option<&Link>, at: Point, side: Side, farther: f64) {
    let Some(link) = link else {
        return;
    };
    let (anchor, x, y) = match side {
        Side::Above => ("middle", at.x, at.y - 6.0 - farther),
        Side::Below => ("middle", at.x, at.y + 15.0 + farther),
        Side::Right => ("start", at.x + 8.0, at.y + 4.0),
    };
    html.raw("<text class=\"load\" text-anchor=\"")
        .text(anchor)
        .raw("\" x=\"")
        .text(format_args!("{x:.1}"))
        .raw("\" y=\"")
        .text(format_args!("{y:.1}"))
        .raw("\">")
        .text(load(link))
        .raw("</text>\n");
}

/// The load, of the rate where that is known.
fn load(link: &Link) -> String {
    let load = megabits(Some(link.load_bps));
    match link.rate_bps {
        Some(_) => format!("{load} of {}", megabits(link.rate_bps)),
        None => load,
    }
}

/// The use of a link.
enum Usage {
    Idle,
    Used,
    Full,
}

fn usage(link: &Link) -> Usage {
    match share(link.load_bps, link.rate_bps) {
        Some(FULL..) => Usage::Full,
        Some(USED..) => Usage::Used,
        Some(_) => Usage::Idle,
        None if link.load_bps >= USED_BPS => Usage::Used,
        None => Usage::Idle,
    }
}
