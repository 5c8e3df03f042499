//! Draws the list of samples.

use super::SampleList;
use super::rows::{Row, RowKind, Table};
use crate::domain::{format_price, pluralize};
use crate::driver::LiveSample;
use crate::text::{one_line, width};
use crate::ui::canvas::Canvas;
use crate::ui::component::Component as _;
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::theme::Role;
use crate::ui::widget::window::{Line, PresentKeys, Window, WindowPosition, paragraph, put_line, put_lines};
use ratatui::layout::Rect;

/// The most list rows for which the window grows.
const MAX_LIST_ROWS: usize = 8;

/// The most rows of thoughts below the list.
const MAX_THOUGHT_ROWS: usize = 6;

const COLUMNS: u16 = 110;

/// The actions about samples that have arrived.
const ACTIONS_WITH_SAMPLES: [Action; 4] =
    [Action::Open, Action::ForkSamples, Action::NextField, Action::PreviousField];

/// In fewer columns, texts are shorter.
const COLUMNS_OF_LONG_TEXTS: u16 = 70;

impl SampleList {
    /// Returns the rows inside the window.
    pub(super) fn window_rows(&self, context: &Context<'_>, screen: Rect) -> u16 {
        let Some(table) = self.table(context) else { return 3 };
        let rows = table.rows();
        let columns = Window::inner_columns(COLUMNS, context, screen);
        let thoughts = self.thought_lines(&rows, columns).len();
        let head = self.head_lines(&table, context, columns).len();
        let heading = usize::from(table.is_added().is_some());
        let wanted = head + heading + rows.len().clamp(1, MAX_LIST_ROWS) + thoughts + 1;
        (wanted as u16).min(screen.height.saturating_sub(6)).max(3)
    }

    fn title(&self, table: &Table<'_>) -> String {
        let Some((_, number)) = &self.lesson else { return format!("Samples of step {}", self.step) };
        match table.is_added() {
            Some(true) => format!("Step {} with and without lesson {number}", self.step),
            _ => format!("Step {} without and with lesson {number}", self.step),
        }
    }

    /// Returns what is known about the samples so far: how many arrived, what they cost, and, for one reply on each
    /// side, both proposals.
    fn head_lines(&self, table: &Table<'_>, context: &Context<'_>, columns: u16) -> Vec<Line> {
        let mut lines = Vec::new();
        if table.is_empty() {
            let text = match &self.lesson {
                Some((_, number)) => format!(
                    "Asks the actor at this prompt without lesson {number} or, if it isn't there, with it, \
                     with the same seed. Nothing is executed."
                ),
                None => {
                    "Asks the actor again at this prompt, with other seeds. Nothing is executed.".to_owned()
                }
            };
            return paragraph((Role::Muted, ""), Role::Muted, &text, columns);
        }
        lines.extend(paragraph(
            (Role::Muted, ""),
            Role::Muted,
            &self.progress_text(table, context, columns),
            columns,
        ));
        if let Some(text) = self.sentence(table) {
            lines.extend(paragraph((Role::Text, ""), Role::Text, &text, columns));
        }
        lines
    }

    /// Returns how many samples have ended, how many are in progress, and what they cost.
    fn progress_text(&self, table: &Table<'_>, context: &Context<'_>, columns: u16) -> String {
        let arm = usize::from(self.lesson.is_some());
        let replied = table.samples(arm).filter(|s| s.proposal().is_some()).count();
        let mut parts =
            vec![format!("{replied} of {}", pluralize(u64::from(table.requested(arm)), "sample"))];
        let live = || context.frame.live.samples.iter().filter(|live| table.has_group(live.group));
        let started = live().filter_map(LiveSample::started);
        let waiting = live().count();
        if let Some(first) = started.min() {
            let seconds = context.now.saturating_duration_since(first).as_secs();
            let received: u64 = live().map(LiveSample::received).sum();
            let text = if received == 0 { String::new() } else { format!(", {received} bytes") };
            parts.push(format!("{waiting} in progress, {seconds} s{text}"));
        } else if waiting > 0 {
            parts.push(format!("{waiting} in progress"));
        }
        let spent = table.spent();
        if spent.tokens() > 0 {
            let cost = spent.format_cost().map_or_else(String::new, |cost| format!(", cost {cost}"));
            let counted = if columns < COLUMNS_OF_LONG_TEXTS { "" } else { ", counted separately" };
            parts.push(format!("{} tokens{cost}{counted}", spent.tokens()));
        }
        parts.join(&format!(" {} ", context.glyphs.separator))
    }

    /// Returns both proposals in one sentence if there is one reply with and one without the lesson.
    fn sentence(&self, table: &Table<'_>) -> Option<String> {
        let (_, number) = self.lesson.as_ref()?;
        let added = table.is_added()?;
        if (table.replies(0), table.replies(1)) != (1, 1) {
            return None;
        }
        let rows = table.rows();
        let of_arm = |arm: usize| rows.iter().find(|row| row.counts[arm] > 0).map(|row| one_line(&row.text));
        let (own, other) = (of_arm(0)?, of_arm(1)?);
        let (with, without) = if added { (other, own) } else { (own, other) };
        Some(format!("without lesson {number}: {without} · with it: {with}"))
    }

    /// Returns the row that says what another request would cost.
    fn next_line(&self, context: &Context<'_>) -> Line {
        let key = |action| context.keymap.key_label_in(Mode::Samples, action).unwrap_or_default();
        let step = self.current_step(context);
        let usage = step.map(|step| step.usage).unwrap_or_default();
        let has_samples = self.table(context).is_some_and(|table| !table.is_empty());
        let tokens = usage.tokens().saturating_mul(u64::from(self.count));
        let cost = usage.cost_nano.saturating_mul(u64::from(self.count));
        let about = match (tokens, cost) {
            (0, _) => String::new(),
            (tokens, 0) => format!(", about {tokens} tokens"),
            (tokens, cost) => format!(", about {tokens} tokens, cost {}", format_price(cost)),
        };
        vec![
            (Role::Key, key(Action::Sample)),
            (Role::Muted, " asks for ".to_owned()),
            (Role::Text, self.count.to_string()),
            (Role::Muted, if has_samples { " more (" } else { " (" }.to_owned()),
            (Role::Key, format!("{} {}", key(Action::MoreSamples), key(Action::FewerSamples))),
            (Role::Muted, format!(" or digits){about}")),
        ]
    }

    /// Returns the thoughts of the selected row, if they are shown.
    fn thought_lines(&self, rows: &[Row], columns: u16) -> Vec<Line> {
        if !self.shows_thoughts {
            return Vec::new();
        }
        let Some(row) = rows.get(self.selected_index(rows)) else { return Vec::new() };
        if row.thoughts.is_empty() {
            return vec![vec![(Role::Muted, "  no thoughts before this proposal".to_owned())]];
        }
        let mut lines = Vec::new();
        for (number, thought) in &row.thoughts {
            let lead = match number {
                0 => "  step  ".to_owned(),
                number => format!("  {number:>4}  "),
            };
            lines.extend(paragraph((Role::ThoughtMark, &lead), Role::Thought, &one_line(thought), columns));
        }
        lines.truncate(MAX_THOUGHT_ROWS);
        lines
    }

    /// Returns the row of a proposal: its share, its text, and whether it is the step's own.
    fn row_line(&self, row: &Row, is_selected: bool, totals: [usize; 2], context: &Context<'_>) -> Line {
        let mark = if is_selected { context.glyphs.proposal } else { " " };
        let mut line = vec![(Role::Proposal, format!("{mark} "))];
        let share = |arm: usize| {
            let (count, total) = (row.counts[arm], totals[arm]);
            format!("{count:>width$}/{total}  ", width = total.to_string().len())
        };
        let role = match row.kind {
            _ if is_selected => Role::Selection,
            RowKind::Proposal => Role::Text,
            RowKind::Unusable => Role::Muted,
            RowKind::Failed => Role::Bad,
        };
        if row.kind == RowKind::Proposal {
            let cells = context.glyphs.progress_cells;
            let bar = |arm: usize| -> String {
                const CELLS: usize = 5;
                let filled = (row.counts[arm] * CELLS).div_ceil(totals[arm].max(1)).min(CELLS);
                (0..CELLS).map(|cell| cells[usize::from(cell >= filled)]).collect()
            };
            line.push((Role::Muted, format!("{} {}", bar(0), share(0))));
            if self.lesson.is_some() {
                line.push((Role::Muted, format!("{} {}", bar(1), share(1))));
            }
        } else {
            let count = row.counts[0] + row.counts[1];
            line.push((Role::Muted, format!("{count} {} ", context.glyphs.separator)));
        }
        line.push((role, one_line(&row.text).into_owned()));
        if row.is_own {
            let what = if self.waits(context) { "the proposal" } else { "as proposed" };
            line.push((Role::Muted, format!("  {what}")));
        }
        line
    }

    /// Returns the heading of the columns, for a comparison with and without a lesson.
    fn column_heading(table: &Table<'_>) -> Option<Line> {
        let added = table.is_added()?;
        let [own, other] = if added { ["without", "with"] } else { ["with", "without"] };
        let share = |arm: usize| 2 * table.replies(arm).to_string().len() + 1 + 6 + 2;
        let pad =
            |text: &str, columns: usize| format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))));
        Some(vec![(Role::Muted, format!("  {}{other}", pad(own, share(0))))])
    }

    pub(super) fn draw_list(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let Some(table) = self.table(context) else { return };
        let title = self.title(&table);
        let window = Window {
            title: &title,
            position: WindowPosition::Bottom,
            rows: self.window_rows(context, screen),
            columns: COLUMNS,
            mode: self.mode(context),
        };
        let closing = (self.in_progress(context) > 0).then_some("cancel");
        let mut without_effect = if table.is_empty() { ACTIONS_WITH_SAMPLES.to_vec() } else { Vec::new() };
        // Samples of the step's own prompt are about no lesson.
        without_effect.extend(self.lesson.is_none().then_some(Action::MeasureEffect));
        let inside = window.draw_with_keys(
            PresentKeys { closing_label: closing, without_effect: &without_effect, ..PresentKeys::default() },
            context,
            screen,
            canvas,
        );
        if inside.height < 3 {
            return put_line(&self.next_line(context), inside, canvas);
        }
        let rows = table.rows();
        let mut head = self.head_lines(&table, context, inside.width);
        head.truncate(usize::from(inside.height) - 2);
        let used = head.len() as u16;
        put_lines(&head, Rect { height: used, ..inside }, canvas);
        let last = Rect { y: inside.bottom() - 1, height: 1, ..inside };
        put_line(&self.next_line(context), last, canvas);
        let mut body = Rect { y: inside.y + used, height: inside.height - used - 1, ..inside };
        if let Some(heading) = Self::column_heading(&table).filter(|_| body.height > 2) {
            put_line(&heading, Rect { height: 1, ..body }, canvas);
            body = Rect { y: body.y + 1, height: body.height - 1, ..body };
        }
        let mut thoughts = self.thought_lines(&rows, inside.width);
        thoughts.truncate(usize::from(body.height.saturating_sub(1)));
        let below = thoughts.len() as u16;
        let list = Rect { height: body.height - below, ..body };
        put_lines(&thoughts, Rect { y: list.bottom(), height: below, ..body }, canvas);
        let totals = [table.replies(0).max(1), table.replies(1).max(1)];
        let selected = self.selected_index(&rows);
        self.scroll.draw_list(selected, rows.len(), list, canvas, |index| {
            rows.get(index)
                .map(|row| self.row_line(row, index == selected, totals, context))
                .unwrap_or_default()
        });
    }
}
