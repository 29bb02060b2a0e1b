//! A plot of time against h as an SVG file: points as measured, and the line g h + l through them.
//!
//! Both axes are logarithmic, because both h and the time run over many decades: on the left a curve is flat at l, on
//! the right it rises with g.

mod axis;
mod colour;

use super::parameters::Parameters;
use axis::Axis;
use std::fmt::Write;

/// Where the frame of the plot lies.
const LEFT: f64 = 92.0;
const RIGHT: f64 = 742.0;
const TOP: f64 = 84.0;
const BOTTOM: f64 = 524.0;
/// The whole picture.
const WIDTH: f64 = 980.0;
const HEIGHT: f64 = 596.0;
/// The legend's lines are this far apart, or closer if there are many.
const LEGEND_PITCH: f64 = 46.0;
/// How many pieces a fitted line is drawn in.
const PIECES: u32 = 120;

/// The whole file. Writing to a string cannot fail, so what `write!` returns is dropped throughout.
pub(super) fn plot(found: &[Parameters]) -> String {
    let points = || found.iter().flat_map(|of| &of.points);
    let x = Axis::around(points().map(|point| point.h as f64), LEFT, RIGHT);
    let times = points().map(|point| point.seconds).chain(found.iter().map(|of| of.l));
    let y = Axis::around(times, BOTTOM, TOP);
    let mut out = String::new();
    open(&mut out);
    grid(&mut out, &x, &y);
    for (at, of) in found.iter().enumerate() {
        series(&mut out, of, &colour::pick(at, found.len()), &x, &y);
    }
    legend(&mut out, found);
    out.push_str("</svg>\n");
    out
}

fn open(out: &mut String) {
    let (middle, centre) = (f64::midpoint(LEFT, RIGHT), f64::midpoint(TOP, BOTTOM));
    let (x_name, y_name) = (BOTTOM + 52.0, LEFT - 66.0);
    let _ = write!(
        out,
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"
  font-family="Helvetica, Arial, sans-serif" font-size="13" fill="#333">
<title>Time of a step against the words it moves</title>
<rect width="100%" height="100%" fill="#fff"/>
<text x="{LEFT}" y="36" font-size="20" font-weight="bold" fill="#111">What a superstep costs</text>
<text x="{LEFT}" y="60" fill="#666">total exchange by put: points as measured, lines g h + l as fitted</text>
<text x="{middle}" y="{x_name}" text-anchor="middle">
h, the words of 8 bytes that each processor sends and receives</text>
<text transform="translate({y_name} {centre}) rotate(-90)" text-anchor="middle">time of a step</text>
"##
    );
}

/// Lines at every decade with its name, and fainter ones between.
fn grid(out: &mut String, x: &Axis, y: &Axis) {
    for (value, is_decade) in x.ticks() {
        let at = x.place(value);
        let colour = if is_decade { "#d5d5d5" } else { "#f1f1f1" };
        let _ = writeln!(out, r#"<path d="M{at:.1} {TOP}V{BOTTOM}" stroke="{colour}"/>"#);
        if is_decade {
            let (name, below) = (axis::count(value), BOTTOM + 22.0);
            let _ = writeln!(out, r#"<text x="{at:.1}" y="{below}" text-anchor="middle">{name}</text>"#);
        }
    }
    for (value, is_decade) in y.ticks() {
        let at = y.place(value);
        let colour = if is_decade { "#d5d5d5" } else { "#f1f1f1" };
        let _ = writeln!(out, r#"<path d="M{LEFT} {at:.1}H{RIGHT}" stroke="{colour}"/>"#);
        if is_decade {
            let (name, beside, low) = (axis::duration(value), LEFT - 10.0, at + 4.5);
            let _ = writeln!(out, r#"<text x="{beside}" y="{low:.1}" text-anchor="end">{name}</text>"#);
        }
    }
    let _ =
        writeln!(out, r##"<path d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}" stroke="#555" stroke-width="1.2" fill="none"/>"##);
}

/// The fitted line, and the points on it.
fn series(out: &mut String, of: &Parameters, colour: &str, x: &Axis, y: &Axis) {
    let (Some(first), Some(last)) = (of.points.first(), of.points.last()) else { return };
    let (low, high) = ((first.h as f64).ln(), (last.h as f64).ln());
    let mut path = String::new();
    for piece in 0..=PIECES {
        let h = (low + (high - low) * f64::from(piece) / f64::from(PIECES)).exp();
        let letter = if piece == 0 { 'M' } else { 'L' };
        let _ = write!(path, "{letter}{:.1} {:.1}", x.place(h), y.place(of.g * h + of.l));
    }
    let _ =
        writeln!(out, r#"<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.8" stroke-opacity="0.75"/>"#);
    for point in &of.points {
        let (at, high) = (x.place(point.h as f64), y.place(point.seconds));
        let _ = writeln!(
            out,
            r##"<circle cx="{at:.1}" cy="{high:.1}" r="4" fill="{colour}" stroke="#fff" stroke-width="1.2"/>"##
        );
    }
}

/// Which colour is which, with the numbers found.
fn legend(out: &mut String, found: &[Parameters]) {
    let pitch = LEGEND_PITCH.min((BOTTOM - TOP) / found.len() as f64);
    let (size, detail) = (13.0_f64.min(0.6 * pitch), 12.0_f64.min(0.5 * pitch));
    let (dot, text) = (RIGHT + 30.0, RIGHT + 44.0);
    for (at, of) in found.iter().enumerate() {
        let (y, colour) = (TOP + 12.0 + at as f64 * pitch, colour::pick(at, found.len()));
        let (name, below) = (y + 4.5, y + 5.0 + 1.3 * detail);
        let (g, l) = (axis::duration(of.g), axis::duration(of.l));
        let _ = writeln!(out, r#"<circle cx="{dot}" cy="{y:.1}" r="4.5" fill="{colour}"/>"#);
        let _ = writeln!(
            out,
            r#"<text x="{text}" y="{name:.1}" font-size="{size:.1}" font-weight="bold">p = {}</text>"#,
            of.procs
        );
        let _ = writeln!(
            out,
            r##"<text x="{text}" y="{below:.1}" font-size="{detail:.1}" fill="#666">g = {g} a word, l = {l}</text>"##
        );
    }
}
