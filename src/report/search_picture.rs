//! The picture of a search for an instruction in an HTML page, as SVG: the reward of each evaluation, and the tried vectors in a
//! plane. Colours come from the page's style, so it fits light and dark pages.

use crate::domain::{ASSISTED_MEANING, SearchHistory};
use crate::text::escape_html;
use std::fmt::Write as _;

/// The size of each plot, in units of the picture.
const PLOT: (f64, f64) = (380.0, 240.0);
/// Room at the left and above for numbers and headings, and around the points.
const MARGIN: (f64, f64) = (46.0, 34.0);
const GAP: f64 = 30.0;
/// The styles of the points in the lowest, middle and highest third of the rewards: class of the page, radius, opacity.
const THIRDS: [(&str, f64, f64); 3] = [("soft", 3.0, 0.5), ("act", 4.0, 0.75), ("good", 5.0, 1.0)];

/// Returns the picture with its heading.
pub(super) fn search_picture(history: &SearchHistory) -> String {
    let (width, height) = (2.0 * PLOT.0 + 2.0 * MARGIN.0 + GAP, PLOT.1 + 2.0 * MARGIN.1);
    let mut out = format!(
        "<details open><summary><b>{}</b> ({})</summary>\n\
         <svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"rewards of the evaluations, and the tried vectors\" \
         style=\"width:100%;height:auto\" font-size=\"12\" fill=\"currentColor\">\n",
        escape_html(&history.title()),
        escape_html(&history.extent())
    );
    write_rewards(&mut out, history);
    write_plane(&mut out, history);
    out.push_str("</svg>\n<p class=\"soft\">Round 0 has the first vectors. ");
    if let Some([middle, highest]) = history.third_limits() {
        let _ = write!(
            out,
            "Larger points have larger rewards (from {middle:.2} and from {highest:.2} on); the ring is the best. "
        );
    }
    if history.has_assisted() {
        let _ = write!(out, "Hollow points are {ASSISTED_MEANING}.");
    }
    out.push_str("</p></details>\n");
    out
}

/// Maps a value of a range to a length; the middle if the range is empty.
fn scaled(value: f64, [low, high]: [f64; 2], length: f64) -> f64 {
    if high > low { (value - low) / (high - low) * length } else { length / 2.0 }
}

fn write_frame(out: &mut String, left: f64, heading: &str) {
    let _ = writeln!(
        out,
        "<text x=\"{left}\" y=\"{:.0}\" font-weight=\"bold\">{heading}</text>\n\
         <rect x=\"{:.0}\" y=\"{:.0}\" width=\"{:.0}\" height=\"{:.0}\" fill=\"none\" stroke=\"var(--line)\"/>",
        MARGIN.1 - 16.0,
        left - 8.0,
        MARGIN.1 - 8.0,
        PLOT.0 + 16.0,
        PLOT.1 + 16.0
    );
}

fn write_point(out: &mut String, history: &SearchHistory, index: usize, x: f64, y: f64) {
    let point = &history.points[index];
    let (class, radius, opacity) = THIRDS[history.third(point)];
    let fill = if point.assisted { "none" } else { "currentColor" };
    let _ = writeln!(
        out,
        "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{fill}\" stroke=\"currentColor\" \
         opacity=\"{opacity}\"><title>evaluation {}, round {}: reward {:.3}</title></circle>",
        index + 1,
        point.round,
        point.reward
    );
    if history.best() == Some(index) {
        let _ = writeln!(
            out,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"9\" fill=\"none\" stroke=\"var(--markline)\" stroke-width=\"2\"/>"
        );
    }
}

fn write_rewards(out: &mut String, history: &SearchHistory) {
    let Some((low, high)) = history.reward_range() else { return };
    let (left, top) = MARGIN;
    write_frame(out, left, "Reward of each evaluation, and the best so far");
    let last = history.points.len().max(usize::try_from(history.planned).unwrap_or(0)).max(2) - 1;
    let x = |index: usize| left + index as f64 / last as f64 * PLOT.0;
    let y = |reward: f64| top + PLOT.1 - scaled(reward, [low, high], PLOT.1);
    for value in if high > low { vec![low, high] } else { vec![low] } {
        let _ = writeln!(
            out,
            "<text class=\"soft\" x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{value:.2}</text>",
            left - 12.0,
            y(value) + 4.0
        );
    }
    write_rounds(out, history, &x);
    let line: Vec<String> = history
        .best_so_far()
        .into_iter()
        .enumerate()
        .filter_map(|(index, best)| Some(format!("{:.1},{:.1}", x(index), y(best?))))
        .collect();
    let _ = writeln!(
        out,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"var(--markline)\" stroke-width=\"1.5\"/>",
        line.join(" ")
    );
    for index in 0..history.points.len() {
        write_point(out, history, index, x(index), y(history.points[index].reward));
    }
}

/// Writes a line where a round begins, and the number of each round below the middle of its evaluations.
fn write_rounds(out: &mut String, history: &SearchHistory, x: &dyn Fn(usize) -> f64) {
    let (left, top) = MARGIN;
    let label_y = top + PLOT.1 + 22.0;
    let _ = writeln!(
        out,
        "<text class=\"soft\" x=\"{:.0}\" y=\"{label_y:.0}\" text-anchor=\"end\">round</text>",
        left - 12.0
    );
    let starts = history.round_starts();
    for (place, (round, first)) in starts.iter().enumerate() {
        let last = starts.get(place + 1).map_or(history.points.len(), |(_, next)| *next) - 1;
        let middle = f64::midpoint(x(*first), x(last));
        let _ = writeln!(
            out,
            "<text class=\"soft\" x=\"{middle:.1}\" y=\"{label_y:.0}\" text-anchor=\"middle\">{round}</text>"
        );
        if *first > 0 {
            let at = f64::midpoint(x(first - 1), x(*first));
            let _ = writeln!(
                out,
                "<line x1=\"{at:.1}\" y1=\"{:.0}\" x2=\"{at:.1}\" y2=\"{:.0}\" stroke=\"var(--line)\" stroke-dasharray=\"3 3\"/>",
                top - 8.0,
                top + PLOT.1 + 8.0
            );
        }
    }
}

fn write_plane(out: &mut String, history: &SearchHistory) {
    let left = MARGIN.0 + PLOT.0 + GAP + 16.0;
    write_frame(out, left, &history.plane_heading());
    let [x_bounds, y_bounds] = history.bounds();
    for (index, point) in history.points.iter().enumerate() {
        let x = left + scaled(point.place[0], x_bounds, PLOT.0);
        let y = MARGIN.1 + PLOT.1 - scaled(point.place[1], y_bounds, PLOT.1);
        write_point(out, history, index, x, y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::SearchedPoint;

    #[test]
    fn every_evaluation_is_in_both_plots_and_the_best_has_a_ring() {
        let point = |round, reward, assisted| SearchedPoint {
            round,
            reward,
            assisted,
            place: [reward, -reward],
            ..SearchedPoint::default()
        };
        let points = vec![point(0, 0.25, false), point(0, 0.5, false), point(1, 1.0, true)];
        let history =
            SearchHistory { points, planned: 46, dimension: 10, shown_variance: 0.4, task_type: None };
        let picture = search_picture(&history);
        assert_eq!(picture.matches("<title>evaluation ").count(), 6);
        assert_eq!(picture.matches("r=\"9\"").count(), 2);
        assert_eq!(
            picture
                .matches("<title>evaluation 2, round 0: reward 0.500</title></circle>\n<circle cx")
                .count(),
            2
        );
        assert_eq!(picture.matches("fill=\"none\" stroke=\"currentColor\"").count(), 2);
        assert!(
            picture.contains(">round</text>")
                && picture.contains(">0</text>")
                && picture.contains(">1</text>")
                && picture.contains("plane of 40 % of their variance")
        );
        assert!(!picture.contains("NaN") && !picture.contains("inf"));
        // A type of tasks is text from outside.
        let named = SearchHistory { task_type: Some("<script>".to_owned()), ..history };
        let picture = search_picture(&named);
        assert!(picture.contains("Search for &lt;script&gt;") && !picture.contains("<script"), "{picture}");
    }

    #[test]
    fn one_evaluation_makes_a_picture() {
        let point = SearchedPoint::default();
        let history = SearchHistory {
            points: vec![point],
            planned: 1,
            dimension: 2,
            shown_variance: 1.0,
            task_type: None,
        };
        let picture = search_picture(&history);
        assert!(!picture.contains("NaN") && !picture.contains("inf"), "{picture}");
    }
}
