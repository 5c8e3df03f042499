//! Lays out a step as rows of a given width. Pure: the same step and width give the same rows, so they can be cached.

use crate::domain::{
    Author, NoteKind, Reflection, ReflectionKind, Stage, Step, ThoughtDisposition, format_price, pluralize,
};
use crate::engine::State;
use crate::report::reply_source;
use crate::text::{truncate, width, wrap_at_most};
use crate::ui::facts::open_text_count;
use crate::ui::frame_data::Context;
use crate::ui::glyphs::Glyphs;
use crate::ui::keymap::{Action, Mode};
use crate::ui::labels::progress_text;
use crate::ui::theme::Role;

mod interventions;

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
    /// The piece at the right edge.
    pub tail: Option<(Role, String)>,
}

/// The layout of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowLayout {
    pub content: PaneContent,
    /// Columns of a row.
    pub columns: u16,
    /// Columns of a step number.
    pub digits: u16,
}

/// Maximum rows of a cancelled reply; Enter shows the rest.
pub(super) const MAX_CANCELLED_ROWS: usize = 3;
/// Maximum rows of one text; Enter shows the rest.
const MAX_TEXT_ROWS: usize = 60;

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
        if self.rows.len() > first + most {
            self.rows.truncate(first + most);
            // One column at the right of every text stays free, so the ellipsis always fits.
            if let Some(piece) = self.rows.last_mut().and_then(|row| row.pieces.last_mut()) {
                piece.1 = format!("{}{}", piece.1.trim_end(), self.glyphs.ellipsis);
            }
        }
    }

    /// Adds a text after a mark, wrapped with a hanging indent.
    pub fn push_text(&mut self, mark: (Role, &str), indent: u16, role: Role, text: &str) {
        let margin = self.layout.digits + 2;
        let room = usize::from(self.layout.columns.saturating_sub(margin + indent + 1)).max(4);
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
                tail: None,
            });
        }
        if more {
            let margin = self.next_margin();
            let text = format!("{} Enter shows the rest", self.glyphs.ellipsis);
            self.rows.push(Row {
                step: self.step,
                pieces: vec![margin, (Role::Muted, " ".repeat(usize::from(indent))), (Role::Muted, text)],
                tail: None,
            });
        }
    }

    /// Adds one row of pieces.
    pub fn push_line(&mut self, indent: u16, pieces: impl IntoIterator<Item = (Role, String)>) {
        let margin = self.next_margin();
        let mut all = vec![margin, (Role::Muted, " ".repeat(usize::from(indent)))];
        all.extend(pieces);
        self.rows.push(Row { step: self.step, pieces: all, tail: None });
    }

    /// Puts a text at the right edge of the last row, or of a new row if it doesn't fit there.
    pub fn push_tail(&mut self, role: Role, text: &str) {
        let text = truncate(
            text,
            usize::from(self.layout.columns.saturating_sub(self.layout.digits + 4)).max(8),
            self.glyphs.ellipsis,
        );
        let columns = usize::from(self.layout.columns);
        let fits = self
            .rows
            .last()
            .is_some_and(|row| row.tail.is_none() && row.columns() + width(&text) + 3 <= columns);
        if !fits {
            let margin = self.next_margin();
            self.rows.push(Row { step: self.step, pieces: vec![margin], tail: None });
        }
        if let Some(row) = self.rows.last_mut() {
            row.tail = Some((role, text));
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
        let (texts, them) =
            if self.count == 1 { ("text", "it as a lesson") } else { ("texts", "them as lessons") };
        let keys = self.keys.as_ref();
        let keys =
            keys.map_or_else(String::new, |(details, take)| format!("; {details}, then {take} adds {them}"));
        format!("{} {texts} not kept{keys}", self.count)
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
    let mut w = RowWriter::new(step.number, layout, glyphs);
    if layout.content != PaneContent::Observations {
        write_decision(&mut w, step, state, glyphs);
    }
    if layout.content != PaneContent::ThoughtsAndActions {
        write_observation(&mut w, step, layout);
    }
    if layout.content != PaneContent::Observations {
        write_notes(&mut w, step, state, offer, glyphs);
    }
    w.into_rows()
}

/// Returns the rows of the first observation.
pub fn reset_rows(text: &str, layout: RowLayout, glyphs: &Glyphs) -> Vec<Row> {
    let mut w = RowWriter::new(0, layout, glyphs);
    if layout.content != PaneContent::ThoughtsAndActions {
        for paragraph in text.lines().filter(|l| !l.trim().is_empty()) {
            w.push_text((Role::Muted, ""), 0, Role::Observation, paragraph);
        }
    }
    w.into_rows()
}

fn write_decision(w: &mut RowWriter<'_>, step: &Step, state: &State, glyphs: &Glyphs) {
    for (was, why) in &step.rejections {
        w.push_text(
            (Role::MarkPerson, &format!("{} ", glyphs.person)),
            2,
            Role::Muted,
            &format!("rejected: {was} ({why})"),
        );
    }
    interventions::write_interventions(w, step, glyphs);
    if step.unusable_replies > 0 {
        let text = match step.unusable_replies {
            1 => "1 unusable reply".to_owned(),
            n => format!("{n} unusable replies"),
        };
        w.push_text((Role::Warning, &format!("{} ", glyphs.mistake)), 2, Role::Muted, &text);
    }
    for warning in &step.warnings {
        w.push_text((Role::Warning, &format!("{} ", glyphs.mistake)), 2, Role::Warning, warning);
    }
    for change in &step.setting_deviations {
        let text = format!("request changed from here on: {change}");
        w.push_text((Role::Warning, &format!("{} ", glyphs.mistake)), 2, Role::Muted, &text);
    }
    let proposed = step.stage == Stage::Decision && step.executed.is_none();
    // When its episode has ended, a proposal no longer waits for a decision.
    let given_up = proposed && state.open_episode().is_none();
    let waits = proposed && !given_up;
    let thinks = step.executed.as_ref().and_then(|e| e.action.trim_start().strip_prefix("think:"));
    let disposition = step.executed.as_ref().map(|e| &e.thought_disposition);
    if waits && (step.thought.is_some() || step.action().is_some()) {
        w.push_gap();
    }
    let dropped = step.dropped_by.is_some()
        || (step.is_person_action() && disposition == Some(&ThoughtDisposition::Dropped));
    if let Some(thought) = step.thought.as_deref().filter(|t| thinks.is_none_or(|own| own.trim() != t.trim()))
    {
        let role = if dropped { Role::Muted } else { Role::Thought };
        if waits && step.proposed.is_none() {
            w.push_text((Role::Proposal, &format!("{} think  ", glyphs.proposal)), 9, role, thought);
            write_proposal_facts(w, step, glyphs);
        } else {
            w.push_text((Role::Muted, "think  "), 7, role, thought);
        }
        if dropped {
            w.push_tail(Role::Person, "not in the prompt");
        } else if step.thought_edited {
            w.push_tail(Role::Person, EDITED_BY_PERSON);
        }
        if let Some(ThoughtDisposition::Rewritten(text)) = disposition {
            w.push_text((Role::MarkPerson, &format!("{} ", glyphs.person)), 7, Role::Person, text);
        }
    }
    if let Some(own) = thinks {
        let mark = if step.is_person_action() { Role::Person } else { Role::Muted };
        w.push_text((mark, "think  "), 7, if dropped { Role::Muted } else { Role::Thought }, own.trim());
        if step.dropped_by.is_some() {
            w.push_tail(Role::Person, "not in the prompt");
        } else if step.thought_edited {
            w.push_tail(Role::Person, EDITED_BY_PERSON);
        }
    } else if let Some(action) = step.action() {
        let (mark, role) = match (waits, step.is_person_action()) {
            (true, _) => ((Role::Proposal, glyphs.proposal), Role::Proposal),
            _ if given_up => ((Role::Muted, glyphs.off), Role::Muted),
            (_, true) => ((Role::MarkPerson, glyphs.person), Role::Action),
            _ => ((Role::Muted, ">"), Role::Action),
        };
        w.push_text((mark.0, &format!("{} ", mark.1)), 2, role, action);
        if waits {
            write_proposal_facts(w, step, glyphs);
        }
        if step.is_person_action() {
            let was = step.proposal_text().filter(|p| Some(p.as_ref()) != step.action());
            w.push_tail(
                Role::Person,
                &was.map_or_else(|| "you".to_owned(), |p| format!("you, instead of: {p}")),
            );
        }
        // How a rule or an alias rewrote the action.
        if let Some(sent) = step.executed.as_ref().and_then(|e| e.sent.as_deref()) {
            w.push_tail(Role::Muted, &format!("sent as: {sent}"));
        }
    }
    if given_up && (step.thought.is_some() || step.action().is_some()) {
        w.push_tail(Role::Muted, "not run");
    }
    if let Some(from) = &step.reply_source {
        w.push_text((Role::MarkPerson, &format!("{} ", glyphs.person)), 2, Role::Person, &reply_source(from));
    }
    for problem in &step.complaints {
        w.push_text((Role::Warning, &format!("{} ", glyphs.mistake)), 2, Role::Muted, problem);
    }
}

/// Label of a text that a person edited.
const EDITED_BY_PERSON: &str = "edited by a person";

/// Writes what the proposal cost and how many lessons were in its prompt.
fn write_proposal_facts(w: &mut RowWriter<'_>, step: &Step, glyphs: &Glyphs) {
    let mut facts = Vec::new();
    if step.usage.millis >= 100 {
        facts.push(format!("{}.{} s", step.usage.millis / 1000, step.usage.millis % 1000 / 100));
    }
    if step.usage.reply_tokens > 0 {
        facts.push(pluralize(step.usage.reply_tokens, "token"));
    }
    if step.usage.cost_nano > 0 {
        facts.push(format!("cost {}", format_price(step.usage.cost_nano)));
    }
    if step.lesson_count > 0 {
        facts.push(format!("{} in the prompt", pluralize(step.lesson_count.into(), "lesson")));
    }
    if !facts.is_empty() {
        w.push_tail(Role::Muted, &facts.join(&format!(" {} ", glyphs.separator)));
    }
}

fn write_observation(w: &mut RowWriter<'_>, step: &Step, layout: RowLayout) {
    let Some(text) = step.observation() else { return };
    let indent = if layout.content == PaneContent::Observations { 0 } else { 2 };
    // The reply to a thought carries no information; only Observations shows it.
    if step.is_thought_only()
        && layout.content == PaneContent::All
        && matches!(text.trim(), "OK." | "Nothing happens.")
    {
        return;
    }
    let valid = step.answer.as_ref().is_none_or(|a| a.valid);
    let role = match valid {
        _ if step.is_thought_only() => Role::Muted,
        // Next to the action, the detector's mark shows it; alone, the text must.
        false if layout.content == PaneContent::Observations => Role::ObservationFailed,
        _ => Role::Observation,
    };
    for paragraph in text.lines().filter(|l| !l.trim().is_empty()) {
        w.push_text((Role::Muted, ""), indent, role, paragraph);
    }
    if step.is_observation_edited() {
        w.push_tail(Role::Person, EDITED_BY_PERSON);
    }
}

fn write_notes(w: &mut RowWriter<'_>, step: &Step, state: &State, offer: Option<&Offer>, glyphs: &Glyphs) {
    let progress = step.notes.iter().any(|n| n.kind == NoteKind::Progress);
    if progress && let Some(answer) = &step.answer {
        w.push_tail(Role::Good, &format!("+ progress {}", progress_text(answer.progress, state)));
    }
    if let Some(note) = step.notes.iter().find(|n| n.kind == NoteKind::Mistake) {
        w.push_tail(Role::Bad, &format!("{} {}", glyphs.mistake, note.detector.replace('_', " ")));
    }
    for index in &step.reflections {
        if let Some(reflection) = state.reflections.get(*index as usize) {
            write_reflection(w, reflection, glyphs);
        }
    }
    if let Some(offer) = offer {
        w.push_text_limited(
            2,
            (Role::Warning, &format!("    {} ", glyphs.mistake)),
            6,
            Role::Muted,
            &offer.text(),
        );
    }
    for stop in &step.breakpoint_marks {
        let (glyph, word, role) = if stop.is_watch {
            (glyphs.watch, "watch", Role::Muted)
        } else {
            (glyphs.breakpoint, "breakpoint", Role::Text)
        };
        let text = format!("{word} {}: {}", stop.breakpoint_number, stop.reason);
        w.push_text((Role::MarkBreakpoint, &format!("{glyph} ")), 2, role, &text);
    }
    for remark in &step.remarks {
        w.push_text((Role::MarkPerson, &format!("{} ", glyphs.remark)), 2, Role::Person, remark);
    }
}

fn write_reflection(w: &mut RowWriter<'_>, reflection: &Reflection, glyphs: &Glyphs) {
    const MAX_ITEMS: usize = 3;
    const MAX_ITEM_ROWS: usize = 2;
    let name = reflection.question().name();
    let role = kind_role(reflection.kind);
    for item in reflection.items.iter().take(MAX_ITEMS) {
        let lead = format!("  {} {name}  ", glyphs.new_lesson);
        w.push_text_limited(MAX_ITEM_ROWS, (role, &lead), width(&lead) as u16, Role::Muted, &item.text.text);
    }
    if reflection.items.len() > MAX_ITEMS {
        let text = format!("{} {} more", glyphs.ellipsis, reflection.items.len() - MAX_ITEMS);
        w.push_line(4, [(Role::Muted, text)]);
    }
    if reflection.items.is_empty() && reflection.author == Author::Mentor {
        let lead = format!("  {} {name}  ", glyphs.off);
        w.push_text_limited(
            MAX_ITEM_ROWS,
            (role, &lead),
            width(&lead) as u16,
            Role::Muted,
            "no usable items",
        );
    }
    if reflection.prompt_edited {
        let text = "you edited its prompt";
        w.push_text((Role::MarkPerson, &format!("    {} ", glyphs.person)), 6, Role::Person, text);
    }
    if let Some(from) = &reflection.reply_source {
        w.push_text(
            (Role::MarkPerson, &format!("    {} ", glyphs.person)),
            6,
            Role::Person,
            &reply_source(from),
        );
    }
    for problem in reflection.complaints.iter().take(MAX_ITEMS) {
        w.push_text_limited(
            MAX_ITEM_ROWS,
            (Role::Warning, &format!("    {} ", glyphs.mistake)),
            6,
            Role::Muted,
            problem,
        );
    }
    if reflection.complaints.len() > MAX_ITEMS {
        let text = format!("{} {} more problems", glyphs.ellipsis, reflection.complaints.len() - MAX_ITEMS);
        w.push_line(4, [(Role::Muted, text)]);
    }
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
        | ReflectionKind::Advice => Role::Reflection,
    }
}
