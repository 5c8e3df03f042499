//! Lays out a step as rows of a given width. Pure: the same step and width give the same rows, so they can be cached.

use crate::catalog::find_method;
use crate::domain::{ReflectionKind, Step};
use crate::engine::{Episode, State};
use crate::report::{not_kept, start_section, step_section};
use crate::text::{one_line, truncate, width, wrap_at_most, wrap_or_mark};
use crate::ui::facts::open_text_count;
use crate::ui::frame_data::Context;
use crate::ui::glyphs::Glyphs;
use crate::ui::keymap::{Action, Mode};
use crate::ui::theme::Role;

mod blocks;

pub use blocks::push_note;

/// The parts of a step that a pane shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PaneContent {
    /// Everything, as in Story.
    All,
    /// Thoughts and actions.
    ThoughtsAndActions,
    /// Observations.
    Observations,
}

/// One row: pieces from the left, and one at the right edge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// The step it belongs to; 0 is the reset.
    pub step: u32,
    pub pieces: Vec<(Role, String)>,
    /// The pieces at the right edge.
    pub tail: Vec<(Role, String)>,
}

/// The layout of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowLayout {
    pub content: PaneContent,
    /// Columns of a row.
    pub columns: u16,
    /// Columns of a step number.
    pub digits: u16,
    /// Whether the reasoning of models is unfolded.
    pub shows_reasoning: bool,
    /// The most rows of an observation among thoughts and actions; 0 leaves it to Observations.
    pub observation_rows: usize,
}

/// Maximum rows of a cancelled reply; Enter shows the rest.
pub(super) const MAX_CANCELLED_ROWS: usize = 3;
/// Maximum rows of one text; Enter shows the rest.
const MAX_TEXT_ROWS: usize = 60;
/// Maximum rows of a text at the right edge; the step details have the rest.
const MAX_TAIL_ROWS: usize = 2;
/// The indent of the second row of such a text.
const HANGING_COLUMNS: usize = 2;

/// Builds the rows of a step.
pub struct RowWriter<'a> {
    layout: RowLayout,
    glyphs: &'a Glyphs,
    step: u32,
    is_numbered: bool,
    rows: Vec<Row>,
}

impl<'a> RowWriter<'a> {
    /// Creates a writer for one step.
    pub fn new(step: u32, layout: RowLayout, glyphs: &'a Glyphs) -> Self {
        Self { layout, glyphs, step, is_numbered: false, rows: Vec::new() }
    }

    /// Returns whether a row names a key.
    pub fn has_key(&self) -> bool {
        self.rows.iter().any(|row| row.pieces.iter().any(|(role, _)| *role == Role::Key))
    }

    /// Returns the rows.
    pub fn into_rows(self) -> Vec<Row> {
        self.rows
    }

    /// Returns the step number for its first row, spaces of the same width for the others.
    fn next_margin(&mut self) -> (Role, String) {
        let digits = usize::from(self.layout.digits);
        if self.is_numbered || self.step == 0 {
            return (Role::Muted, " ".repeat(digits + 2));
        }
        self.is_numbered = true;
        (Role::Muted, format!(" {:>digits$} ", self.step))
    }

    /// Adds a text after a mark, wrapped with a hanging indent to at most `most` rows; if it is cut, the last row
    /// ends with an ellipsis.
    pub fn push_text_limited(
        &mut self,
        most: usize,
        mark: (Role, &str),
        indent: u16,
        role: Role,
        text: &str,
    ) {
        let first = self.rows.len();
        self.push_text(mark, indent, role, text);
        self.cut_rows(first, most);
    }

    /// Cuts what was added since there were `first` rows to at most `most` rows; if it is cut, the last one ends with an ellipsis.
    fn cut_rows(&mut self, first: usize, most: usize) {
        if self.rows.len() > first.saturating_add(most) {
            self.rows.truncate(first + most);
            // One column at the right of every text stays free, so the ellipsis always fits.
            if let Some(piece) = self.rows.last_mut().and_then(|row| row.pieces.last_mut()) {
                piece.1 = format!("{}{}", piece.1.trim_end(), self.glyphs.ellipsis);
            }
        }
    }

    /// Returns the columns of a text behind an indent; one at the right edge stays free.
    pub fn text_columns(&self, indent: u16) -> usize {
        usize::from(self.layout.columns.saturating_sub(self.layout.digits + 2 + indent + 1))
    }

    /// Adds a text after a mark, wrapped with a hanging indent.
    pub fn push_text(&mut self, mark: (Role, &str), indent: u16, role: Role, text: &str) {
        let room = self.text_columns(indent).max(4);
        let (lines, more) = wrap_at_most(text, room, MAX_TEXT_ROWS);
        for (place, line) in lines.iter().enumerate() {
            let lead = if place == 0 { mark.1 } else { "" };
            let lead = format!(
                "{lead:<pad$}",
                pad = usize::from(indent).saturating_sub(width(lead) - lead.chars().count())
            );
            let margin = self.next_margin();
            self.rows.push(Row {
                step: self.step,
                pieces: vec![margin, (mark.0, lead), (role, line.clone())],
                tail: Vec::new(),
            });
        }
        if more {
            let margin = self.next_margin();
            let text = format!("{} Enter shows the rest", self.glyphs.ellipsis);
            self.rows.push(Row {
                step: self.step,
                pieces: vec![margin, (Role::Muted, " ".repeat(usize::from(indent))), (Role::Muted, text)],
                tail: Vec::new(),
            });
        }
    }

    /// Adds a text with a rule at the left of each row.
    pub fn push_quote(&mut self, role: Role, text: &str) {
        const INDENT: u16 = 2;
        let rule = format!("{} ", self.glyphs.reasoning_margin);
        let used = self.layout.digits + 2 + INDENT + 1 + width(&rule) as u16;
        let room = usize::from(self.layout.columns.saturating_sub(used)).max(4);
        let (lines, more) = wrap_at_most(text, room, MAX_TEXT_ROWS);
        let rest = more.then(|| format!("{} the step details have the rest", self.glyphs.ellipsis));
        for line in lines.into_iter().chain(rest) {
            self.push_line(INDENT, [(Role::Muted, rule.clone()), (role, line)]);
        }
    }

    /// Adds one row of pieces.
    pub fn push_line(&mut self, indent: u16, pieces: impl IntoIterator<Item = (Role, String)>) {
        let margin = self.next_margin();
        let mut all = vec![margin, (Role::Muted, " ".repeat(usize::from(indent)))];
        all.extend(pieces);
        self.rows.push(Row { step: self.step, pieces: all, tail: Vec::new() });
    }

    /// Puts a text at the right edge of the last row, or of a new row if it doesn't fit there; a longer one has two rows.
    pub fn push_tail(&mut self, role: Role, text: &str) {
        self.push_tail_pieces(&[(role, text)]);
    }

    /// Returns whether a text fits at the right edge of the last row.
    pub fn fits_tail(&self, text: &str) -> bool {
        self.has_room_for_tail(width(text))
    }

    fn has_room_for_tail(&self, tail_columns: usize) -> bool {
        let columns = usize::from(self.layout.columns);
        let has_room = |row: &Row| row.tail.is_empty() && row.columns() + tail_columns + 3 <= columns;
        self.rows.last().is_some_and(has_room)
    }

    /// The same for a text of several pieces.
    pub fn push_tail_pieces(&mut self, pieces: &[(Role, &str)]) {
        let room = usize::from(self.layout.columns.saturating_sub(self.layout.digits + 4)).max(8);
        let tail_columns: usize = pieces.iter().map(|(_, text)| width(text)).sum();
        if tail_columns > room {
            return self.push_wrapped_tail(pieces, room);
        }
        if !self.has_room_for_tail(tail_columns) {
            let margin = self.next_margin();
            self.rows.push(Row { step: self.step, pieces: vec![margin], tail: Vec::new() });
        }
        if let Some(row) = self.rows.last_mut() {
            let shown = pieces.iter().filter(|(_, text)| !text.is_empty());
            row.tail =
                shown.map(|(role, text)| (*role, truncate(text, room, self.glyphs.ellipsis))).collect();
        }
    }

    /// Adds the rows of a text that one row at the right edge is too short for: a block with a hanging indent.
    fn push_wrapped_tail(&mut self, pieces: &[(Role, &str)], room: usize) {
        let text: String = pieces.iter().map(|(_, text)| *text).collect();
        let room = room.saturating_sub(HANGING_COLUMNS).max(1);
        let lines = wrap_or_mark(&one_line(&text), room, MAX_TAIL_ROWS, self.glyphs.ellipsis);
        let block = lines.iter().map(|line| width(line)).max().unwrap_or(0) + HANGING_COLUMNS;
        // The rows have the characters of the pieces in order, without the blanks between two rows.
        let mut roles = pieces.iter().flat_map(|(role, text)| text.chars().map(move |c| (c, *role)));
        let mut role = pieces.first().map_or(Role::Muted, |(role, _)| *role);
        for (place, line) in lines.iter().enumerate() {
            let indent = if place == 0 { 0 } else { HANGING_COLUMNS };
            let mut tail = vec![(Role::Muted, " ".repeat(indent))];
            for c in line.chars() {
                let known = roles.find(|(known, _)| *known == c).map(|(_, role)| role);
                role = known.unwrap_or(role);
                match tail.last_mut() {
                    Some((last, text)) if *last == role => text.push(c),
                    _ => tail.push((role, c.to_string())),
                }
            }
            tail.push((Role::Muted, " ".repeat(block.saturating_sub(indent + width(line)))));
            tail.retain(|(_, text)| !text.is_empty());
            let margin = self.next_margin();
            self.rows.push(Row { step: self.step, pieces: vec![margin], tail });
        }
    }

    /// Adds an empty row.
    pub fn push_gap(&mut self) {
        self.rows.push(Row { step: self.step, ..Row::default() });
    }
}

impl Row {
    /// Returns the total width of the pieces from the left.
    pub fn columns(&self) -> usize {
        self.pieces.iter().map(|(_, text)| width(text)).sum()
    }
}

/// Dropped mentor texts that haven't been added as lessons, with the keys that add them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Offer {
    count: usize,
    keys: Option<(String, String)>,
}

impl Offer {
    /// Returns the offer of a step, if it has one.
    pub fn for_step(step: &Step, context: &Context<'_>) -> Option<Self> {
        // Most steps have no reflection at all.
        let count = if step.reflections.is_empty() { 0 } else { open_text_count(step, context) };
        let details = context.keymap.key_label(Action::ShowDetails).filter(|_| !context.is_read_only());
        let keys = details.zip(context.keymap.key_label_in(Mode::StepDetails, Action::AcceptAsLesson));
        (count > 0).then_some(Self { count, keys })
    }

    fn text(&self) -> String {
        let them = if self.count == 1 { "it as a lesson" } else { "them as lessons" };
        let keys = self.keys.as_ref();
        let keys =
            keys.map_or_else(String::new, |(details, take)| format!("; {details}, then {take} adds {them}"));
        format!("{}{keys}", not_kept(self.count))
    }
}

/// Returns the rows of a step, without those of a call in flight.
pub fn step_rows(
    step: &Step,
    state: &State,
    offer: Option<&Offer>,
    layout: RowLayout,
    glyphs: &Glyphs,
) -> Vec<Row> {
    let Some(episode) = state.episode.as_deref() else { return Vec::new() };
    blocks::section_rows(&step_section(step, episode, state), Some(step), state, offer, layout, glyphs)
}

/// Returns the rows of what precedes the first step. Where the first observation doesn't say the goal, they begin with it, since
/// the first row of the screen cuts a long one. Where the first observation has a pane of its own, they also say what the
/// method does.
pub fn start_rows(episode: &Episode, state: &State, layout: RowLayout, glyphs: &Glyphs) -> Vec<Row> {
    let mut rows = Vec::new();
    let goal = episode.task.goal.trim();
    let without_articles = |text: &str| text.to_lowercase().replace("the ", "");
    let is_said = |text: &str| without_articles(text).contains(&without_articles(goal));
    let is_unsaid = || {
        episode
            .first_observation
            .as_ref()
            .is_some_and(|first| !is_said(first.agent_view.as_deref().unwrap_or(&first.raw)))
    };
    let mut writer = RowWriter::new(0, layout, glyphs);
    let mut write = |label: &str, role, text: &str| {
        writer.push_text((Role::Muted, &format!("{label:<8}")), 8, role, text);
    };
    if layout.content == PaneContent::All && !goal.is_empty() && is_unsaid() {
        write("goal", Role::Title, goal);
        rows = writer.into_rows();
    } else if layout.content == PaneContent::ThoughtsAndActions {
        write("goal", Role::Title, goal);
        let method = state.run.as_ref().and_then(|run| find_method(&run.method));
        if let Some(method) = method.filter(|method| !method.summary.is_empty()) {
            write("method", Role::Muted, &format!("{}: {}", method.name, method.summary));
        }
        writer.push_gap();
        rows = writer.into_rows();
    }
    // Among thoughts and actions, the last row of the first observation is empty.
    let gap = (layout.observation_rows > 1).then(Row::default);
    let observation_rows = layout.observation_rows - usize::from(gap.is_some());
    let layout = RowLayout { observation_rows, ..layout };
    rows.extend(blocks::section_rows(&start_section(episode, state), None, state, None, layout, glyphs));
    rows.extend(gap);
    rows
}

/// Returns the colour of a kind of reflection.
pub fn kind_role(kind: ReflectionKind) -> Role {
    match kind {
        ReflectionKind::Abstract => Role::Abstract,
        ReflectionKind::Error | ReflectionKind::Negative => Role::Error,
        ReflectionKind::Progress | ReflectionKind::Positive => Role::Progress,
        ReflectionKind::Plan
        | ReflectionKind::Experience
        | ReflectionKind::Lesson
        | ReflectionKind::Advice
        | ReflectionKind::Instruction => Role::Reflection,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::glyphs::UNICODE;

    fn tails(columns: u16, pieces: &[(Role, &str)]) -> Vec<Vec<(Role, String)>> {
        let content = PaneContent::All;
        let layout = RowLayout { content, columns, digits: 2, shows_reasoning: false, observation_rows: 0 };
        let mut writer = RowWriter::new(15, layout, &UNICODE);
        writer.push_text((Role::ActionMark, "> "), 2, Role::Action, "move mug 1 to coffeemachine 1");
        writer.push_tail_pieces(pieces);
        writer.into_rows().into_iter().map(|row| row.tail).filter(|tail| !tail.is_empty()).collect()
    }

    /// Regression: the note of a mistake was cut before its point, `... last at step…`.
    #[test]
    fn a_note_too_long_for_a_row_goes_on_in_the_next_one() {
        let note = "! repeated: move mug 1 to coffeemachine 1, 3 times, last at step 15";
        let rows = tails(60, &[(Role::Warning, note)]);
        let texts: Vec<String> =
            rows.iter().map(|row| row.iter().map(|(_, text)| text.as_str()).collect()).collect();
        assert_eq!(texts.len(), 2, "{texts:?}");
        assert_eq!(texts.iter().map(|text| text.trim()).collect::<Vec<_>>().join(" "), note);
        assert!(texts.iter().all(|text| width(text) == width(&texts[0]) && width(text) <= 54), "{texts:?}");
        assert_eq!(tails(90, &[(Role::Warning, note)]).len(), 1);
    }

    /// Regression: what a person's action replaced was cut to `instead of: think: …` at every size.
    #[test]
    fn a_replaced_thought_keeps_its_colour_in_the_second_row() {
        let thought = "think: I'll find a mug, heat it, and put it in/on the coffeemachine.";
        let rows = tails(60, &[(Role::Person, "by you, instead of: "), (Role::ProposalReplaced, thought)]);
        let second = rows[1].iter().find(|(_, text)| !text.trim().is_empty()).unwrap();
        assert_eq!(second.0, Role::ProposalReplaced);
        assert_eq!(rows[0].first().unwrap(), &(Role::Person, "by you, instead of: ".to_owned()));
        let long = format!("{thought} {thought} {thought}");
        let rows = tails(60, &[(Role::Person, "by you, instead of: "), (Role::ProposalReplaced, &long)]);
        assert!(rows.len() == 2 && rows[1].iter().any(|(_, text)| text.ends_with('…')), "{rows:?}");
    }
}
