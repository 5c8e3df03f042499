//! The curve of a search below its records: the best reward so far after each evaluation, and where each round begins.

use crate::domain::SearchHistory;
use crate::text::width;
use crate::ui::canvas::Canvas;
use crate::ui::theme::Role;
use ratatui::layout::Rect;

/// The most rows: a heading, six rows of the curve, and the rounds.
const MAX_ROWS: u16 = 8;
/// The rows that the curve would like to have in a lane.
pub(super) const WANTED_ROWS: u16 = 5;
/// The fewest columns in which it is drawn.
const MIN_COLUMNS: u16 = 24;
/// The columns of a number before or after the curve, with the space between.
const SCALE_COLUMNS: u16 = 6;
/// The most columns of an evaluation.
const MAX_COLUMNS_EACH: u16 = 3;

/// Returns how many of the rows of a lane are the curve's, if the newest record needs so many. The record keeps at least half.
pub(super) fn rows(lane: u16, record: u16) -> u16 {
    (lane - lane.min(record.min(lane.div_ceil(2)))).min(MAX_ROWS)
}

/// The columns of the curve and the evaluations that they stand for.
struct Columns {
    left: u16,
    count: u16,
    /// How many evaluations there may be, at least 1.
    evaluations: usize,
}

impl Columns {
    /// Spreads evaluations over a number of columns: each has as many as the others where there is room, otherwise a column stands
    /// for several evaluations.
    fn new(left: u16, room: u16, evaluations: usize) -> Self {
        let evaluations = evaluations.max(1);
        let each = usize::from(room) / evaluations;
        let count = match u16::try_from(each * evaluations) {
            Ok(all) if each >= 1 => all.min(MAX_COLUMNS_EACH * u16::try_from(evaluations).unwrap_or(room)),
            _ => room,
        };
        Self { left, count: count.max(1), evaluations }
    }

    /// Returns the first column of an evaluation.
    fn of(&self, evaluation: usize) -> u16 {
        self.left + u16::try_from(evaluation * usize::from(self.count) / self.evaluations).unwrap_or(0)
    }

    /// Returns the last evaluation that a column stands for.
    fn last_evaluation(&self, column: u16) -> usize {
        let place = usize::from(column - self.left) + 1;
        (place * self.evaluations).div_ceil(usize::from(self.count)).saturating_sub(1)
    }
}

/// Draws the curve of a search in rows of a lane. From two rows on the last one has the rounds, from five on the first one says
/// what it is. What isn't evaluated yet has a dot for every tenth evaluation and for the last one.
pub(super) fn draw(history: &SearchHistory, area: Rect, canvas: &mut Canvas<'_>) {
    let Some(best) = history.best().map(|index| history.points[index].reward) else { return };
    if area.is_empty() || area.width < MIN_COLUMNS {
        return;
    }
    let mut plot = Rect { height: area.height.min(MAX_ROWS), ..area };
    let muted = canvas.style(Role::Muted);
    if plot.height >= 5 {
        let forms = [
            format!("best so far, {}", history.evaluations()),
            format!("best so far, {} of {}", history.points.len(), history.planned),
        ];
        let heading = forms.into_iter().find(|form| width(form) + 6 <= usize::from(plot.width));
        let (x, room) = (plot.x + SCALE_COLUMNS, plot.width - SCALE_COLUMNS);
        canvas.put(x, plot.y, room, heading.as_deref().unwrap_or("best so far"), muted);
        plot = Rect { y: plot.y + 1, height: plot.height - 1, ..plot };
    }
    let rounds_y = (plot.height >= 2).then(|| plot.bottom() - 1);
    plot.height -= u16::from(rounds_y.is_some());
    let rewards = history.points.iter().filter(|point| !point.assisted).map(|point| point.reward);
    let low = rewards.fold(best, f64::min);
    let planned = usize::try_from(history.planned).unwrap_or(usize::MAX).min(1 << 16);
    // The best is at the right of a single row, otherwise above the lowest.
    let right = if plot.height == 1 { SCALE_COLUMNS } else { 0 };
    let room = plot.width - SCALE_COLUMNS - right;
    let columns = Columns::new(plot.x + SCALE_COLUMNS, room, planned.max(history.points.len()));
    let bottom = plot.bottom() - 1;
    canvas.put(plot.x, bottom, SCALE_COLUMNS - 1, &format!("{low:>5.2}"), muted);
    if best > low {
        let (x, number) = match plot.height {
            1 => (columns.left + columns.count + 1, format!("{best:.2}")),
            _ => (plot.x, format!("{best:>5.2}")),
        };
        canvas.put(x, plot.y, SCALE_COLUMNS - 1, &number, muted);
    }
    draw_bars(history, (low, best), &columns, plot, canvas);
    if let Some(y) = rounds_y {
        canvas.put(plot.x, y, SCALE_COLUMNS - 1, "round", muted);
        let (mut free, end) = (columns.left, plot.right());
        for (round, first) in history.round_starts() {
            let x = columns.of(first);
            if x >= free {
                free = x + canvas.put(x, y, end - x, &round.to_string(), muted) + 1;
            }
        }
    }
}

fn draw_bars(
    history: &SearchHistory,
    (low, high): (f64, f64),
    columns: &Columns,
    plot: Rect,
    canvas: &mut Canvas<'_>,
) {
    let levels = 8 * plot.height;
    let so_far = history.best_so_far();
    let style = canvas.style(Role::ProgressFull);
    // The evaluations that columns before this one stand for.
    let mut before = 0;
    for x in columns.left..columns.left + columns.count {
        let evaluation = columns.last_evaluation(x);
        let first = before.min(evaluation);
        before = evaluation + 1;
        if first >= so_far.len() {
            let has_dot = (first..=evaluation).any(|e| (e + 1) % 10 == 0 || e + 1 == columns.evaluations);
            if has_dot && columns.of(evaluation) == x {
                canvas.put(x, plot.bottom() - 1, 1, canvas.glyphs.separator, canvas.style(Role::Frame));
            }
            continue;
        }
        let Some(Some(value)) = so_far.get(evaluation.min(so_far.len() - 1)) else { continue };
        // Equal rewards have the height of their value: a reward is from 0 to 1.
        let share = if high > low { (value - low) / (high - low) } else { *value };
        let level = (share.clamp(0.0, 1.0) * f64::from(levels - 1)).round() as u16;
        for row in 0..=level / 8 {
            let glyph = if row < level / 8 { 7 } else { usize::from(level % 8) };
            canvas.put(x, plot.bottom() - 1 - row, 1, canvas.glyphs.sparkline[glyph], style);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::SearchedPoint;
    use crate::ui::glyphs::{ASCII, Glyphs, UNICODE};
    use crate::ui::theme::Theme;
    use ratatui::buffer::Buffer;

    fn history(rewards: &[f64]) -> SearchHistory {
        let points = rewards.iter().enumerate().map(|(index, reward)| SearchedPoint {
            round: index as u32 / 4,
            reward: *reward,
            assisted: *reward > 0.95,
            ..SearchedPoint::default()
        });
        SearchHistory { points: points.collect(), planned: 12, dimension: 2, ..SearchHistory::default() }
    }

    fn drawn(history: &SearchHistory, (width, height): (u16, u16), glyphs: &Glyphs) -> Vec<String> {
        let area = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area);
        let mut canvas = Canvas { buffer: &mut buffer, theme: &Theme::default(), glyphs };
        draw(history, area, &mut canvas);
        let row = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
        (0..height).map(row).collect()
    }

    #[test]
    fn the_record_keeps_half_of_the_rows() {
        let cases =
            [(0, 3, 0), (1, 3, 0), (2, 3, 1), (3, 3, 1), (4, 3, 2), (4, 1, 3), (10, 4, 6), (40, 4, 8)];
        for (lane, record, curve) in cases {
            assert_eq!(rows(lane, record), curve, "{lane} {record}");
        }
    }

    #[test]
    fn columns_stand_for_all_evaluations_in_order() {
        for room in 1..120 {
            for evaluations in 1..150 {
                let columns = Columns::new(5, room, evaluations);
                assert!(columns.count >= 1 && columns.count <= room, "{room} {evaluations}");
                let all: Vec<usize> =
                    (5..5 + columns.count).map(|column| columns.last_evaluation(column)).collect();
                assert!(
                    all.is_sorted() && all.last() == Some(&(evaluations - 1)),
                    "{room} {evaluations}: {all:?}"
                );
                let places: Vec<u16> = (0..evaluations).map(|evaluation| columns.of(evaluation)).collect();
                assert!(places.is_sorted() && places[0] == 5 && places[evaluations - 1] < 5 + columns.count);
            }
        }
    }

    /// Three columns for each of at most twelve evaluations. The best of the assisted one isn't counted.
    #[test]
    fn the_curve_rises_to_the_best_so_far() {
        let history = history(&[0.2, 0.1, 0.96, 0.5, 0.5, 0.8]);
        let rows = drawn(&history, (60, 2), &UNICODE);
        assert_eq!(rows[0], " 0.10 ▂▂▂▂▂▂▂▂▂▅▅▅▅▅▅███         ·     ·   0.80");
        assert_eq!(rows[1], "round 0           1");
        let rows = drawn(&history, (60, 4), &UNICODE);
        assert!(rows[0].starts_with(" 0.80 ") && rows[2].starts_with(" 0.10 "), "{rows:#?}");
        assert_eq!(rows[0].matches('█').count(), 3, "{rows:#?}");
        let rows = drawn(&history, (60, 6), &UNICODE);
        assert_eq!(rows[0], "      best so far, 6 of at most 12 evaluations");
        assert!(drawn(&history, (60, 6), &ASCII).concat().is_ascii());
    }

    #[test]
    fn any_size_and_equal_rewards_can_be_drawn() {
        let many = vec![0.5; 90];
        for rewards in [&[][..], &[0.5], &[1.0], &[0.5, 0.5, 0.5], &many] {
            for width in 0..70 {
                for height in 0..10 {
                    drawn(&history(rewards), (width, height), &UNICODE);
                }
            }
        }
        let rows = drawn(&history(&[0.5, 0.5]), (60, 1), &UNICODE);
        assert!(rows[0].starts_with(" 0.50 ▅▅▅▅▅▅") && rows[0].matches("0.50").count() == 1, "{rows:?}");
    }

    /// Regression: rewards that were all 0.00 were drawn as full bars.
    #[test]
    fn a_reward_of_nothing_is_the_lowest_bar() {
        let rows = drawn(&history(&[0.0, 0.0]), (60, 3), &UNICODE);
        let all = rows.concat();
        assert!(all.contains("\u{2581}") && !all.contains("\u{2588}"), "{rows:#?}");
    }
}
