//! A picture of a search for an instruction: the reward of each evaluation, and the tried vectors in a plane.

use crate::catalog::search_histories;
use crate::domain::{ASSISTED_MEANING, SearchHistory};
use crate::text::width;
use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::theme::Role;
use crate::ui::widget::window::{PresentKeys, Window, WindowPosition, put_line};
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

/// Overlay with the picture of one search; it follows the run until another one is chosen.
#[derive(Default)]
pub(super) struct SearchPicture {
    /// Which search is shown, from 0; `None`: the last one.
    chosen: Option<usize>,
}

impl SearchPicture {
    /// Returns the index of the search that is shown, of so many.
    fn shown(&self, count: usize) -> usize {
        let last = count.saturating_sub(1);
        self.chosen.map_or(last, |chosen| chosen.min(last))
    }

    /// Chooses the search after or before this one; after the last comes the first.
    fn choose_next(&mut self, count: usize, backwards: bool) {
        let steps = if backwards { count.saturating_sub(1) } else { 1 };
        let next = (self.shown(count) + steps) % count.max(1);
        self.chosen = Some(next).filter(|next| next + 1 < count);
    }
}

impl Component for SearchPicture {
    fn name(&self) -> &'static str {
        "search-picture"
    }

    fn mode(&self, _: &Context<'_>) -> Mode {
        Mode::SearchPicture
    }

    fn on_action(&mut self, action: Action, context: &Context<'_>) -> Response {
        match action {
            Action::Close => return Response::close(),
            Action::NextField | Action::PreviousField => {
                let count = search_histories(context.displayed_state()).len();
                self.choose_next(count, action == Action::PreviousField);
            }
            _ => {}
        }
        Response::default()
    }

    fn is_stale(&self, context: &Context<'_>) -> bool {
        search_histories(context.displayed_state()).is_empty()
    }

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let histories = search_histories(context.displayed_state());
        let (shown, count) = (self.shown(histories.len()), histories.len());
        let Some(history) = histories.get(shown) else { return };
        let (columns, rows) = WINDOW_SIZE;
        let title = title(history, (shown + 1, count), Window::inner_columns(columns, context, screen));
        let (position, mode) = (WindowPosition::Middle, Mode::SearchPicture);
        let window = Window { title: &title, position, rows, columns, mode };
        let other_searches = [Action::NextField, Action::PreviousField];
        let without_effect: &[Action] = if count > 1 { &[] } else { &other_searches };
        let keys = PresentKeys { without_effect, ..PresentKeys::default() };
        let inside = window.draw_with_keys(keys, context, screen, canvas);
        draw_history(history, inside, canvas);
    }
}

/// Returns the longest form of the title that fits into so many columns. `place` is the search's number and how many there are.
fn title(history: &SearchHistory, (number, count): (usize, usize), columns: u16) -> String {
    let place = if count > 1 { format!(" {number} of {count}") } else { String::new() };
    let name = history.task_type.as_ref().map_or_else(String::new, |name| format!(", {name}"));
    let short = format!("{} of {} evaluations", history.points.len(), history.planned);
    let forms = [
        format!("Search{place}{name}: {}", history.extent()),
        format!("Search{place}{name}: {}", history.evaluations()),
        format!("Search{place}{name}: {short}"),
        format!("Search{place}{name}: {}/{}", history.points.len(), history.planned),
    ];
    let fits = |form: &String| width(form) + 2 <= usize::from(columns);
    forms.into_iter().find(fits).unwrap_or_else(|| format!("Search{place}: {short}"))
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
    put_line(&legend_line(history, inside.width, canvas), legend, canvas);
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

/// Returns what is printed for a point, and its role.
fn mark_of(history: &SearchHistory, index: usize, canvas: &Canvas<'_>) -> (&'static str, Role) {
    if history.points[index].assisted {
        return (ASSISTED_MARK, Role::Person);
    }
    let mark = mark_index(history, index);
    (marks(canvas)[mark], ROLES[mark])
}

/// Writes the heading of a plot and returns the area below it.
fn headed(heading: &str, area: Rect, canvas: &mut Canvas<'_>) -> Rect {
    canvas.put(area.x, area.y, area.width, heading, canvas.style(Role::Title));
    let taken = area.height.min(1);
    Rect { y: area.y + taken, height: area.height - taken, ..area }
}

/// Plots the reward of each evaluation, with the best so far as a line. Where a round begins there is a line from above to its
/// number below.
fn draw_rewards(history: &SearchHistory, area: Rect, canvas: &mut Canvas<'_>) {
    let Some((low, high)) = history.reward_range() else { return };
    let forms = [
        "Reward of each evaluation, by round (0: the first vectors)",
        "Reward by round (0: the first vectors)",
    ];
    let heading = forms.into_iter().find(|form| width(form) <= usize::from(area.width)).unwrap_or("Reward");
    let area = headed(heading, area, canvas);
    if area.height < 3 || area.width <= SCALE_COLUMNS + 1 {
        return;
    }
    let plot = Rect {
        x: area.x + SCALE_COLUMNS,
        width: area.width - SCALE_COLUMNS,
        height: area.height - 1,
        ..area
    };
    let (left, across, right, height) = (plot.x, plot.width - 1, plot.right(), plot.height - 1);
    let last = history.points.len().max(usize::try_from(history.planned).unwrap_or(0)).max(2) - 1;
    let column = |index: usize| left + scaled(index as f64, [0.0, last as f64], across);
    let row = |reward: f64| plot.bottom() - 1 - scaled(reward, [low, high], height);
    let mut labels = vec![low];
    if high > low {
        labels.push(high);
        // Only where both neighbours leave a row free.
        labels.extend(Some(f64::midpoint(low, high)).filter(|_| plot.height >= 7));
    }
    for reward in labels {
        let text = format!("{reward:>5.2}");
        canvas.put(area.x, row(reward), SCALE_COLUMNS - 1, &text, canvas.style(Role::Muted));
    }
    let is_ascii = canvas.glyphs.ellipsis.is_ascii();
    let [across_glyph, down_glyph] = if is_ascii { ["-", ":"] } else { ["\u{2500}", "\u{2502}"] };
    let muted = canvas.style(Role::Muted);
    let frame = canvas.style(Role::Frame);
    canvas.put(area.x, plot.bottom(), SCALE_COLUMNS - 1, "round", muted);
    let mut free = left;
    for (round, first) in history.round_starts() {
        let x = column(first);
        if first > 0 {
            for y in plot.top()..plot.bottom() {
                canvas.put(x, y, 1, down_glyph, frame);
            }
        }
        if x >= free {
            free = x + canvas.put(x, plot.bottom(), right - x, &round.to_string(), muted) + 1;
        }
    }
    // The best so far in each column from the first evaluation to the last.
    let best = history.best_so_far();
    let columns = history.points.len().saturating_sub(1);
    for x in left..=column(columns) {
        let index = (0..=columns).rev().find(|index| column(*index) <= x).unwrap_or(0);
        if let Some(Some(best)) = best.get(index) {
            canvas.put(x, row(*best), 1, across_glyph, frame);
        }
    }
    for index in by_reward(history) {
        let (mark, role) = mark_of(history, index, canvas);
        canvas.put(column(index), row(history.points[index].reward), 1, mark, canvas.style(role));
    }
}

/// Maps a value of a range to a number of cells from 0 to `cells`; the middle if the range is empty.
fn scaled(value: f64, [low, high]: [f64; 2], cells: u16) -> u16 {
    let share = if high > low { (value - low) / (high - low) } else { 0.5 };
    (share.clamp(0.0, 1.0) * f64::from(cells)).round() as u16
}

/// Returns the indices of the evaluations in the order in which they are drawn: of those in one cell the best is seen.
fn by_reward(history: &SearchHistory) -> Vec<usize> {
    let mut order: Vec<usize> = (0..history.points.len()).collect();
    order.sort_by(|a, b| history.points[*a].reward.total_cmp(&history.points[*b].reward));
    order.sort_by_key(|index| history.best() == Some(*index));
    order
}

/// Plots the tried vectors, with what the axes are and their ends.
fn draw_plane(history: &SearchHistory, area: Rect, canvas: &mut Canvas<'_>) {
    let area = headed(&history.plane_heading(), area, canvas);
    if area.height < 3 || area.width <= SCALE_COLUMNS + 1 {
        return;
    }
    let plot = Rect {
        x: area.x + SCALE_COLUMNS,
        width: area.width - SCALE_COLUMNS,
        height: area.height - 1,
        ..area
    };
    let [x_bounds, y_bounds] = history.bounds();
    let printed: Vec<([f64; 2], TextLine<'static>)> = by_reward(history)
        .into_iter()
        .map(|index| {
            let (mark, role) = mark_of(history, index, canvas);
            (history.points[index].place, TextLine::from(Span::styled(mark, canvas.style(role))))
        })
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
        .render(plot, canvas.buffer);
    let muted = canvas.style(Role::Muted);
    for (value, y) in [(y_bounds[1], plot.y), (y_bounds[0], plot.bottom() - 1)] {
        canvas.put(area.x, y, SCALE_COLUMNS - 1, &format!("{value:>5.2}"), muted);
    }
    let [low, high] = x_bounds.map(|value| format!("{value:.2}"));
    let used = canvas.put(plot.x, plot.bottom(), plot.width, &low, muted);
    canvas.put_right(plot.right(), plot.bottom(), plot.width - used, &high, muted);
    // Two columns apart from the numbers.
    let room = usize::from(plot.width).saturating_sub(width(&low) + width(&high) + 4);
    let names = history.axis_names();
    if let Some(names) = names.iter().find(|names| width(names) <= room) {
        let x = plot.x + (plot.width - width(names) as u16) / 2;
        canvas.put(x, plot.bottom(), plot.width, names, muted);
    }
}

/// Returns what the marks mean, in so many columns.
fn legend_line(history: &SearchHistory, columns: u16, canvas: &Canvas<'_>) -> Vec<(Role, String)> {
    let Some((low, _)) = history.reward_range() else { return Vec::new() };
    let mut line: Vec<(Role, String)> = Vec::new();
    if let Some([middle, highest]) = history.third_limits() {
        let names =
            [format!(" below {middle:.2}  "), format!(" below {highest:.2}  "), " higher  ".to_owned()];
        let best = history.best().map(|index| format!(" best, {:.2}", history.points[index].reward));
        // With a fifth mark there may be no room for its number.
        let is_narrow = history.has_assisted() && columns < 64;
        let best = best.map(|text| if is_narrow { " best".to_owned() } else { text });
        for ((mark, role), name) in marks(canvas).into_iter().zip(ROLES).zip(names.into_iter().chain(best)) {
            line.push((role, mark.to_owned()));
            line.push((Role::Muted, name));
        }
    } else {
        line.push((Role::Muted, format!("all rewards are {low:.2}")));
    }
    if history.has_assisted() {
        let used: usize = line.iter().map(|(_, text)| width(text)).sum();
        let room = usize::from(columns).saturating_sub(used + 4);
        let meaning = if width(ASSISTED_MEANING) <= room { ASSISTED_MEANING } else { "assisted" };
        line.push((Role::Person, format!("  {ASSISTED_MARK}")));
        line.push((Role::Muted, format!(" {meaning}")));
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
        let point = |round, reward, assisted, place| SearchedPoint {
            round,
            reward,
            assisted,
            place,
            ..SearchedPoint::default()
        };
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
            let rounds = text.lines().find_map(|line| line.strip_prefix("round")).unwrap();
            let rounds: Vec<&str> = rounds.split_whitespace().take(2).collect();
            assert_eq!(rounds, ["0", "1"], "{text}");
        }
    }

    /// Regression: the numbers of the rounds stood beside the columns of their first evaluations, and the line of the best so far
    /// had gaps.
    #[test]
    fn rounds_are_numbered_below_their_first_evaluation_and_the_line_has_no_gaps() {
        let point = |index: u32| SearchedPoint {
            round: index.div_ceil(4),
            reward: if index == 0 { 1.0 } else { f64::from(index) / 100.0 },
            assisted: false,
            place: [f64::from(index), 0.0],
            ..SearchedPoint::default()
        };
        for count in [2, 9, 26, 46] {
            let points: Vec<SearchedPoint> = (0..count).map(point).collect();
            let history = SearchHistory { points, planned: u64::from(count), ..SearchHistory::default() };
            let rows = drawn(&history, (60, 24), &UNICODE);
            let line: String = rows[1].chars().skip(6).collect();
            assert_eq!(
                line.trim_end_matches(['\u{2500}', '\u{b7}', 'o', '\u{25cf}']),
                "\u{2605}",
                "{rows:?}"
            );
            let numbers = rows.iter().find(|row| row.starts_with("round")).unwrap();
            for (x, digit) in numbers.char_indices().filter(|(_, c)| c.is_ascii_digit() && *c != '0') {
                let before = numbers[..x].chars().last();
                if before.is_some_and(|c| c.is_ascii_digit()) {
                    continue;
                }
                // The line from above, or the first evaluation itself, ends at the number.
                let above = rows[2].chars().nth(x);
                assert!(
                    above.is_some_and(|c| c == '\u{2502}' || c == '\u{25cf}'),
                    "{digit} at {x}: {rows:#?}"
                );
            }
        }
    }

    #[test]
    fn the_title_says_which_search_it_is_in_as_many_words_as_fit() {
        let mut history = history();
        assert_eq!(title(&history, (1, 1), 80), "Search: 5 of at most 10 evaluations in 10 dimensions");
        history.task_type = Some("pick_heat_then_place".to_owned());
        let expected = "Search 2 of 6, pick_heat_then_place: 5 of at most 10 evaluations in 10 dimensions";
        assert_eq!(title(&history, (2, 6), 90), expected);
        assert_eq!(title(&history, (2, 6), 64), "Search 2 of 6, pick_heat_then_place: 5 of 10 evaluations");
        assert_eq!(title(&history, (2, 6), 48), "Search 2 of 6, pick_heat_then_place: 5/10");
        assert_eq!(title(&history, (2, 6), 40), "Search 2 of 6: 5 of 10 evaluations");
    }

    #[test]
    fn the_searches_are_shown_in_turn_and_the_last_one_is_followed() {
        let mut picture = SearchPicture::default();
        assert_eq!(picture.shown(3), 2);
        picture.choose_next(3, false);
        assert_eq!(picture.shown(3), 0);
        picture.choose_next(3, true);
        assert_eq!(picture.shown(3), 2);
        // Another type has begun.
        assert_eq!(picture.shown(4), 3);
        picture.choose_next(4, true);
        assert_eq!((picture.shown(4), picture.shown(5)), (2, 2));
        picture.choose_next(1, false);
        assert_eq!(picture.shown(1), 0);
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

    /// Regression: with equal rewards the legend didn't say what the mark of an assisted evaluation means.
    #[test]
    fn equal_rewards_keep_the_legend_of_the_assisted_mark() {
        let mut equal = history();
        for point in &mut equal.points {
            point.reward = 0.0;
        }
        let rows = drawn(&equal, (118, 30), &UNICODE);
        let legend = rows.last().unwrap();
        assert!(legend.contains("all rewards are 0.00  x assisted"), "{legend}");
    }
}
