//! A picture of a search for an instruction: the reward of each evaluation, and the tried vectors in a plane.

use crate::catalog::search_history;
use crate::domain::{ASSISTED_MEANING, SearchHistory};
use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::theme::Role;
use crate::ui::widget::window::{Window, WindowPosition, put_line};
use ratatui::layout::Rect;
use ratatui::style::Color;
use ratatui::text::{Line as TextLine, Span};
use ratatui::widgets::Widget as _;
use ratatui::widgets::canvas::Canvas as Plot;

/// Preferred inner size.
const WINDOW_SIZE: (u16, u16) = (150, 36);
/// Two plots stand side by side in a window at least this wide, otherwise one above the other.
const COLUMNS_FOR_TWO: u16 = 90;
/// The columns of the numbers at the left edge of a plot.
const SCALE_COLUMNS: u16 = 6;
/// A point in the lowest, middle and highest third of the rewards, and the best: characters, so that the colours aren't needed.
const MARKS: [&str; 4] = ["\u{b7}", "o", "\u{25cf}", "\u{2605}"];
const ASCII_MARKS: [&str; 4] = [".", "o", "O", "*"];
const ROLES: [Role; 4] = [Role::Muted, Role::Warning, Role::Good, Role::TitleFocus];
/// A point whose reward the optimiser didn't get.
const ASSISTED_MARK: &str = "x";

/// Overlay with the picture; it follows the run.
#[derive(Default)]
pub(super) struct SearchPicture;

impl Component for SearchPicture {
    fn name(&self) -> &'static str {
        "search-picture"
    }

    fn mode(&self, _: &Context<'_>) -> Mode {
        Mode::Overlay
    }

    fn on_action(&mut self, action: Action, _: &Context<'_>) -> Response {
        if action == Action::Close { Response::close() } else { Response::default() }
    }

    fn is_stale(&self, context: &Context<'_>) -> bool {
        search_history(context.displayed_state()).is_none()
    }

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let Some(history) = search_history(context.displayed_state()) else { return };
        let title = format!("Search: {}", history.extent());
        let (columns, rows) = WINDOW_SIZE;
        let position = WindowPosition::Middle;
        let window = Window { title: &title, position, rows, columns, mode: Mode::Overlay };
        let inside = window.draw(context, screen, canvas);
        draw_history(&history, inside, canvas);
    }
}

/// Draws both plots and the legend below them.
fn draw_history(history: &SearchHistory, inside: Rect, canvas: &mut Canvas<'_>) {
    let legend_rows = inside.height.min(1);
    let plots = Rect { height: inside.height - legend_rows, ..inside };
    let [left, right] = if inside.width >= COLUMNS_FOR_TWO {
        let width = plots.width / 2 - 1;
        [Rect { width, ..plots }, Rect { x: plots.right() - width, width, ..plots }]
    } else {
        let height = plots.height / 2;
        [Rect { height, ..plots }, Rect { y: plots.y + height, height: plots.height - height, ..plots }]
    };
    draw_rewards(history, left, canvas);
    draw_plane(history, right, canvas);
    let legend = Rect { y: plots.bottom(), height: legend_rows, ..inside };
    put_line(&legend_line(history, canvas), legend, canvas);
}

/// Returns the mark of a point: 0 to 2 for the thirds of the rewards, 3 for the best.
fn mark_index(history: &SearchHistory, index: usize) -> usize {
    if history.best() == Some(index) { 3 } else { history.third(&history.points[index]) }
}

fn marks(canvas: &Canvas<'_>) -> [&'static str; 4] {
    if canvas.glyphs.ellipsis.is_ascii() { ASCII_MARKS } else { MARKS }
}

/// Returns the background of the window: without it, a plot has the terminal's.
fn background(canvas: &Canvas<'_>) -> Color {
    canvas.style(Role::Background).bg.unwrap_or(Color::Reset)
}

/// Returns what is printed for a point.
fn mark_of(history: &SearchHistory, index: usize, canvas: &Canvas<'_>) -> TextLine<'static> {
    let span = if history.points[index].assisted {
        Span::styled(ASSISTED_MARK, canvas.style(Role::Person))
    } else {
        let mark = mark_index(history, index);
        Span::styled(marks(canvas)[mark], canvas.style(ROLES[mark]))
    };
    TextLine::from(span)
}

/// Writes the heading of a plot and returns the area below it.
fn headed(heading: &str, area: Rect, canvas: &mut Canvas<'_>) -> Rect {
    canvas.put(area.x, area.y, area.width, heading, canvas.style(Role::Title));
    let taken = area.height.min(1);
    Rect { y: area.y + taken, height: area.height - taken, ..area }
}

/// Plots the reward of each evaluation, with the best so far as a line, and where each round begins below.
fn draw_rewards(history: &SearchHistory, area: Rect, canvas: &mut Canvas<'_>) {
    let Some((low, high)) = history.reward_range() else { return };
    let area = headed("Reward of each evaluation", area, canvas);
    if area.height < 3 || area.width <= SCALE_COLUMNS {
        return;
    }
    let plot = Rect {
        x: area.x + SCALE_COLUMNS,
        width: area.width - SCALE_COLUMNS,
        height: area.height - 1,
        ..area
    };
    // Where all are equal, they are drawn in the middle.
    let (bottom, top) = if high > low { (low, high) } else { (low - 0.5, high + 0.5) };
    for (value, y) in [(top, plot.y), (bottom, plot.bottom() - 1)] {
        canvas.put(area.x, y, SCALE_COLUMNS - 1, &format!("{value:>5.2}"), canvas.style(Role::Muted));
    }
    let count = history.points.len().max(usize::try_from(history.planned).unwrap_or(0)).max(2);
    let line = if canvas.glyphs.ellipsis.is_ascii() { "-" } else { "\u{2500}" };
    let line_style = canvas.style(Role::Frame);
    let printed: Vec<TextLine<'static>> =
        (0..history.points.len()).map(|index| mark_of(history, index, canvas)).collect();
    // The best so far in each column from the first evaluation to the last.
    let best = history.best_so_far();
    let columns = f64::from(plot.width - 1).max(1.0);
    let best_line: Vec<(f64, f64)> = (0..plot.width)
        .map(|column| f64::from(column) / columns * (count - 1) as f64)
        .take_while(|x| *x <= (history.points.len() - 1) as f64)
        .filter_map(|x| Some((x, (*best.get(x as usize)?)?)))
        .collect();
    Plot::default()
        .background_color(background(canvas))
        .x_bounds([0.0, (count - 1) as f64])
        .y_bounds([bottom, top])
        .paint(|plotted| {
            for (x, best) in &best_line {
                plotted.print(*x, *best, Span::styled(line, line_style));
            }
            for (index, printed) in printed.iter().enumerate() {
                plotted.print(index as f64, history.points[index].reward, printed.clone());
            }
        })
        .render(plot, canvas.buffer);
    // The rounds: the same columns as in the plot.
    canvas.put(area.x, plot.bottom(), SCALE_COLUMNS - 1, "round", canvas.style(Role::Muted));
    let mut round = None;
    let mut free = plot.x;
    for (index, point) in history.points.iter().enumerate() {
        let x = plot.x + (index as f64 / (count - 1) as f64 * f64::from(plot.width - 1)) as u16;
        if round != Some(point.round) && x >= free {
            let name = point.round.to_string();
            free = x + canvas.put(x, plot.bottom(), plot.right() - x, &name, canvas.style(Role::Muted)) + 1;
        }
        round = Some(point.round);
    }
}

/// Plots the tried vectors.
fn draw_plane(history: &SearchHistory, area: Rect, canvas: &mut Canvas<'_>) {
    let area = headed(&history.plane_heading(), area, canvas);
    if area.height < 2 || area.width < 2 {
        return;
    }
    let [x_bounds, y_bounds] = history.bounds();
    let mut order: Vec<usize> = (0..history.points.len()).collect();
    // Of points in one cell the best is seen.
    order.sort_by(|a, b| history.points[*a].reward.total_cmp(&history.points[*b].reward));
    order.sort_by_key(|index| history.best() == Some(*index));
    let printed: Vec<([f64; 2], TextLine<'static>)> = order
        .into_iter()
        .map(|index| (history.points[index].place, mark_of(history, index, canvas)))
        .collect();
    Plot::default()
        .background_color(background(canvas))
        .x_bounds(x_bounds)
        .y_bounds(y_bounds)
        .paint(|plotted| {
            for ([x, y], mark) in &printed {
                plotted.print(*x, *y, mark.clone());
            }
        })
        .render(area, canvas.buffer);
}

fn legend_line(history: &SearchHistory, canvas: &Canvas<'_>) -> Vec<(Role, String)> {
    let Some((low, _)) = history.reward_range() else { return Vec::new() };
    let Some([middle, highest]) = history.third_limits() else {
        return vec![(Role::Muted, format!("all rewards are {low:.2}"))];
    };
    let names = [format!(" below {middle:.2}  "), format!(" below {highest:.2}  "), " higher  ".to_owned()];
    let best = history.best().map(|index| format!(" best, {:.2}", history.points[index].reward));
    let mut line: Vec<(Role, String)> = Vec::new();
    for ((mark, role), name) in marks(canvas).into_iter().zip(ROLES).zip(names.into_iter().chain(best)) {
        line.push((role, mark.to_owned()));
        line.push((Role::Muted, name));
    }
    if history.has_assisted() {
        line.push((Role::Person, format!("  {ASSISTED_MARK}")));
        line.push((Role::Muted, format!(" {ASSISTED_MEANING}")));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::SearchedPoint;
    use crate::ui::glyphs::{ASCII, Glyphs, UNICODE};
    use crate::ui::theme::Theme;
    use ratatui::buffer::Buffer;

    /// Five evaluations in two rounds; an assisted one has the largest reward.
    fn history() -> SearchHistory {
        let point = |round, reward, assisted, place| SearchedPoint { round, reward, assisted, place };
        let points = vec![
            point(0, 0.1, false, [-1.0, 0.0]),
            point(0, 0.5, false, [0.0, 1.0]),
            point(0, 0.8, false, [1.0, -1.0]),
            point(1, 0.9, false, [0.5, 0.2]),
            point(1, 1.0, true, [-0.5, -0.4]),
        ];
        SearchHistory { points, planned: 10, dimension: 10, shown_variance: 0.4, task_type: None }
    }

    fn drawn(history: &SearchHistory, (width, height): (u16, u16), glyphs: &Glyphs) -> Vec<String> {
        let area = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area);
        let mut canvas = Canvas { buffer: &mut buffer, theme: &Theme::default(), glyphs };
        draw_history(history, area, &mut canvas);
        let row = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
        (0..height).map(row).collect()
    }

    #[test]
    fn every_evaluation_is_in_both_plots_and_in_the_legend() {
        for size in [(150, 36), (70, 20)] {
            let text = drawn(&history(), size, &UNICODE).join("\n");
            for mark in ["\u{b7}", "o ", "\u{25cf}", "\u{2605}", "x "] {
                assert!(text.contains(mark.trim()), "{mark} {text}");
            }
            for (mark, count) in [("\u{b7}", 3), ("\u{25cf}", 3), ("\u{2605}", 3)] {
                assert_eq!(text.matches(mark).count(), count, "{mark}\n{text}");
            }
            assert!(text.contains("40 % of"), "{text}");
            let rounds = text.split("round").nth(1).unwrap().lines().next().unwrap();
            let rounds: Vec<&str> = rounds.split_whitespace().take(2).collect();
            assert_eq!(rounds, ["0", "1"], "{text}");
        }
    }

    #[test]
    fn ascii_terminals_get_ascii() {
        let text = drawn(&history(), (150, 36), &ASCII).join("\n");
        assert!(text.is_ascii(), "{text}");
        assert_eq!(text.matches('*').count(), 3, "{text}");
    }

    #[test]
    fn any_size_and_equal_rewards_can_be_drawn() {
        let mut equal = history();
        for point in &mut equal.points {
            point.reward = 0.0;
        }
        for history in [&history(), &equal, &SearchHistory::default()] {
            for width in 0..12 {
                for height in 0..8 {
                    drawn(history, (width * 9, height), &UNICODE);
                }
            }
        }
        assert!(drawn(&equal, (60, 20), &UNICODE).concat().contains("all rewards are 0.00"));
    }
}
