//! The calibration plot of `docs/EFFECT.md`: how often simulated measurements are wrong, against the rate that they state.
//! `UPDATE=1 cargo test --release --test simulations -- --ignored calibration` simulates and writes it again.

use super::{MARGIN, Rates, Share};
use crate::cases::Rng;
use retrospect::timeline::effect::{Difference, Monitor, PairCounts, SplitMix64};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Simulated measurements of each point.
const RUNS: u64 = 4_000;
const PAIRS: u64 = 200;
/// The stated rates.
const STATED: [f64; 5] = [0.02, 0.05, 0.10, 0.20, 0.30];
const SEED: u64 = 20_261_120;

/// What is counted as wrong.
#[derive(Clone, Copy, PartialEq)]
enum Error {
    /// The running interval excludes the truth after some pair.
    Interval,
    /// A lesson without effect is reported as helping or as harmful after some pair.
    Alarm,
    /// A fixed exact test after every pair is significant: for comparison, what a running measurement must not do.
    Peeking,
}

/// A series of the plot.
struct Series {
    error: Error,
    name: &'static str,
    rates: [Rates; 2],
}

fn series() -> [Series; 3] {
    [
        Series {
            error: Error::Interval,
            name: "the interval excludes the truth",
            rates: [Rates::new(0.2, 0.4), Rates::new(0.0, 0.4)],
        },
        Series {
            error: Error::Alarm,
            name: "helped or harmful, without an effect",
            rates: [Rates::new(0.0, 0.1), Rates::new(0.0, 0.6)],
        },
        Series {
            error: Error::Peeking,
            name: "for comparison: an exact test after every pair",
            rates: [Rates::new(0.0, 0.1), Rates::new(0.0, 0.6)],
        },
    ]
}

impl Series {
    /// Simulates a measurement with a stated rate and returns whether it was wrong.
    fn is_wrong(&self, rates: Rates, stated: f64, random: &mut SplitMix64) -> bool {
        let mut monitor = Monitor::new(stated, MARGIN);
        let mut counts = PairCounts::default();
        let truth = rates.first_only - rates.second_only;
        for _ in 0..PAIRS {
            let difference = rates.draw(random);
            if self.error == Error::Peeking {
                counts.add(difference == Difference::FIRST_BETTER, difference == Difference::SECOND_BETTER);
                if difference != Difference::EQUAL && counts.mcnemar().exact <= stated {
                    return true;
                }
            } else {
                monitor.push(difference);
            }
        }
        // Bounds never loosen and a verdict counts from when it first holds, so the end says what was ever shown.
        let judgement = monitor.judgement();
        match self.error {
            Error::Interval => judgement.low > truth || judgement.high < truth,
            Error::Alarm => judgement.held.above_zero.is_some() || judgement.held.below_zero.is_some(),
            Error::Peeking => false,
        }
    }
}

/// A point of the plot.
struct Point {
    error: Error,
    stated: f64,
    observed: Share,
}

fn simulate() -> Vec<Point> {
    let mut points = Vec::new();
    let mut rng = Rng::new(SEED);
    for series in series() {
        for stated in STATED {
            for rates in series.rates {
                let mut observed = Share::default();
                for _ in 0..RUNS {
                    let mut random = SplitMix64::new(rng.next());
                    observed.count(series.is_wrong(rates, stated, &mut random));
                }
                points.push(Point { error: series.error, stated, observed });
            }
        }
    }
    points
}

/// The size of the picture and of the area of the points.
const WIDTH: f64 = 810.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 70.0;
const TOP: f64 = 24.0;
const AREA: (f64, f64) = (420.0, 330.0);
/// The ends of the axes.
const MAX_STATED: f64 = 0.35;
const MAX_OBSERVED: f64 = 0.90;

fn x(stated: f64) -> f64 {
    LEFT + stated / MAX_STATED * AREA.0
}

fn y(observed: f64) -> f64 {
    TOP + (1.0 - observed.min(MAX_OBSERVED) / MAX_OBSERVED) * AREA.1
}

const STYLE: &str = "\
svg { font: 13px system-ui, sans-serif; --ink: #24292f; --soft: #8c959f; --kept: #eaf5ec; --a: #0550ae; --b: #1a7f37; --c: #cf222e; }
@media (prefers-color-scheme: dark) { svg { --ink: #d0d7de; --soft: #7d8590; --kept: #16301d; --a: #6cb6ff; --b: #57ab5a; --c: #f47067; } }
text { fill: var(--ink); } .soft { fill: var(--soft); } .axis { stroke: var(--soft); } .limit { stroke: var(--ink); stroke-dasharray: 5 4; }
.kept { fill: var(--kept); } .a { fill: var(--a); stroke: var(--a); } .b { fill: var(--b); stroke: var(--b); } .c { fill: none; stroke: var(--c); stroke-width: 1.6; }
";

/// Draws the points. Each is a circle with a title, `stated R observed R of N`, from which a test reads it.
fn picture(points: &[Point]) -> String {
    let mut page = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">\n\
         <title>How often simulated measurements are wrong, against the rate that they state</title>\n<style>{STYLE}</style>\n"
    );
    let corner = (x(MAX_STATED), y(MAX_STATED));
    let _ = writeln!(
        page,
        "<polygon class=\"kept\" points=\"{:.1},{:.1} {:.1},{:.1} {:.1},{:.1}\"/>",
        x(0.0),
        y(0.0),
        corner.0,
        y(0.0),
        corner.0,
        corner.1
    );
    for stated in [0.0, 0.1, 0.2, 0.3] {
        let (at, base) = (x(stated), y(0.0));
        let _ = writeln!(page, "<path class=\"axis\" d=\"M{at:.1} {base:.1}v5\"/>");
        let _ = writeln!(
            page,
            "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{:.0} %</text>",
            base + 20.0,
            stated * 100.0
        );
    }
    for observed in [0.0, 0.2, 0.4, 0.6, 0.8] {
        let (at, base) = (y(observed), x(0.0));
        let _ = writeln!(page, "<path class=\"axis\" d=\"M{:.1} {at:.1}h5\"/>", base - 5.0);
        let _ = writeln!(
            page,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{:.0} %</text>",
            base - 10.0,
            at + 4.0,
            observed * 100.0
        );
    }
    let _ = writeln!(
        page,
        "<path class=\"axis\" fill=\"none\" d=\"M{:.1} {TOP:.1}V{:.1}H{:.1}\"/>",
        x(0.0),
        y(0.0),
        corner.0
    );
    let _ = writeln!(
        page,
        "<path class=\"limit\" d=\"M{:.1} {:.1}L{:.1} {:.1}\"/>",
        x(0.0),
        y(0.0),
        corner.0,
        corner.1
    );
    let _ = writeln!(
        page,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">stated rate of errors</text>",
        LEFT + AREA.0 / 2.0,
        HEIGHT - 14.0
    );
    let _ = writeln!(page, "<text x=\"{:.1}\" y=\"{:.1}\">observed</text>", x(0.0) + 8.0, TOP + 12.0);
    for point in points {
        let (rate, class) = (point.observed.value(), class(point.error));
        let spread = point.observed.allowance(rate);
        let (at, low, high) = (x(point.stated), y((rate - spread).max(0.0)), y(rate + spread));
        let _ = writeln!(page, "<path class=\"{class}\" d=\"M{at:.1} {low:.1}V{high:.1}\"/>");
        let _ = writeln!(
            page,
            "<circle class=\"{class}\" cx=\"{at:.1}\" cy=\"{:.1}\" r=\"4\"><title>stated {} observed {rate} of {}</title></circle>",
            y(rate),
            point.stated,
            point.observed.runs
        );
    }
    for (row, series) in (0..).map(f64::from).zip(series()) {
        let (at, line) = (LEFT + AREA.0 + 24.0, TOP + 40.0 + 24.0 * row);
        let class = class(series.error);
        let _ = writeln!(page, "<circle class=\"{class}\" cx=\"{at:.1}\" cy=\"{:.1}\" r=\"4\"/>", line - 4.0);
        let _ = writeln!(
            page,
            "<text x=\"{:.1}\" y=\"{line:.1}\">{}</text>",
            at + 12.0,
            series.name.replace("for comparison: ", "")
        );
    }
    let notes = [
        "dashed: as often as stated; below it,".to_owned(),
        "the statement is kept".to_owned(),
        format!("{RUNS} measurements a point, {PAIRS} pairs,"),
        "looked at after every pair".to_owned(),
        "bars: three standard errors".to_owned(),
    ];
    for (row, note) in (0..).map(f64::from).zip(notes) {
        let line = TOP + 140.0 + 18.0 * row;
        let _ = writeln!(
            page,
            "<text class=\"soft\" x=\"{:.1}\" y=\"{line:.1}\">{note}</text>",
            LEFT + AREA.0 + 20.0
        );
    }
    page.push_str("</svg>\n");
    page
}

fn class(error: Error) -> &'static str {
    match error {
        Error::Interval => "a",
        Error::Alarm => "b",
        Error::Peeking => "c",
    }
}

fn plot_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/calibration.svg")
}

#[test]
#[ignore = "simulates 120,000 measurements"]
fn the_calibration_plot_is_what_the_simulation_gives() {
    let page = picture(&simulate());
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(plot_path(), page).unwrap();
        return;
    }
    let stored = std::fs::read_to_string(plot_path()).unwrap();
    assert!(stored == page, "docs/calibration.svg is stale: run this test with UPDATE=1");
}

/// The points in the committed picture keep what is stated, and the comparison doesn't.
#[test]
fn the_calibration_plot_shows_what_is_claimed() {
    let page = std::fs::read_to_string(plot_path()).unwrap();
    let mut counts = [0; 3];
    for line in page.lines().filter(|line| line.contains("<title>stated ")) {
        let number = |before: &str, after: &str| -> f64 {
            let rest = line.split_once(before).unwrap().1;
            rest.split_once(after).unwrap().0.parse().unwrap()
        };
        let (stated, observed) = (number("stated ", " "), number("observed ", " of"));
        let runs = number(" of ", "<") as u64;
        let share = Share { hits: (observed * runs as f64).round() as u64, runs };
        let series =
            ["class=\"a\"", "class=\"b\"", "class=\"c\""].iter().position(|c| line.contains(c)).unwrap();
        counts[series] += 1;
        if series == 2 {
            assert!(observed > stated, "peeking at a fixed test is wrong: {line}");
        } else {
            assert!(observed <= stated + share.allowance(stated), "{line}");
        }
    }
    assert_eq!(counts, [2 * STATED.len(); 3]);
}
