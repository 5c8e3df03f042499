//! A step as rows of a given width. Pure: the same step and width give the same rows, so they can be kept.

mod interrupted;

use crate::domain::{
    Author, NoteKind, Reflection, ReflectionKind, Stage, Step, ThoughtDisposition, format_price,
};
use crate::engine::State;
use crate::report::reply_source;
use crate::text::{truncate, width, wrap_at_most};
use crate::ui::context::Context;
use crate::ui::glyphs::Glyphs;
use crate::ui::keymap::{Action, Mode};
use crate::ui::overlay::open_texts;
use crate::ui::theme::Role;

/// Which parts of a step a pane shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Parts {
    /// Everything: the story.
    All,
    /// What was thought and done.
    Done,
    /// What was seen.
    Seen,
}

/// One row: pieces from the left, and one at the right edge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// The step it belongs to; 0 is the beginning.
    pub step: u32,
    /// Pieces from the left.
    pub pieces: Vec<(Role, String)>,
    /// The piece at the right edge.
    pub tail: Option<(Role, String)>,
}

/// How rows are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Measure {
    /// Which parts.
    pub parts: Parts,
    /// Columns of a row.
    pub columns: u16,
    /// Columns of a step number.
    pub digits: u16,
}

/// Rows of an answer that was broken off at most; Enter shows the whole.
pub(super) const MOST_BROKEN: usize = 3;
/// Rows of one text at most; Enter shows the whole.
const MOST_ROWS: usize = 60;

/// Puts rows together.
pub struct Writer<'a> {
    measure: Measure,
    glyphs: &'a Glyphs,
    step: u32,
    numbered: bool,
    rows: Vec<Row>,
}

impl<'a> Writer<'a> {
    /// A writer for one step.
    pub fn new(step: u32, measure: Measure, glyphs: &'a Glyphs) -> Self {
        Self { measure, glyphs, step, numbered: false, rows: Vec::new() }
    }

    /// A row says what a key does.
    pub fn names_a_key(&self) -> bool {
        self.rows.iter().any(|row| row.pieces.iter().any(|(role, _)| *role == Role::Key))
    }

    /// The rows written.
    pub fn rows(self) -> Vec<Row> {
        self.rows
    }

    /// The number of the step on its first row, blanks of the same width on the others.
    fn margin(&mut self) -> (Role, String) {
        let digits = usize::from(self.measure.digits);
        if self.numbered || self.step == 0 {
            return (Role::Dim, " ".repeat(digits + 2));
        }
        self.numbered = true;
        (Role::Dim, format!(" {:>digits$} ", self.step))
    }

    /// A text after a mark, wrapped under itself in so many rows at most; the last ends with the mark of a cut.
    pub fn within(&mut self, most: usize, mark: (Role, &str), indent: u16, role: Role, text: &str) {
        let first = self.rows.len();
        self.text(mark, indent, role, text);
        if self.rows.len() > first + most {
            self.rows.truncate(first + most);
            // One column is kept free at the right of every text, so the mark of the cut always finds room.
            if let Some(piece) = self.rows.last_mut().and_then(|row| row.pieces.last_mut()) {
                piece.1 = format!("{}{}", piece.1.trim_end(), self.glyphs.more);
            }
        }
    }

    /// A text after a mark, wrapped under itself.
    pub fn text(&mut self, mark: (Role, &str), indent: u16, role: Role, text: &str) {
        let margin = self.measure.digits + 2;
        let room = usize::from(self.measure.columns.saturating_sub(margin + indent + 1)).max(4);
        let (lines, more) = wrap_at_most(text, room, MOST_ROWS);
        for (place, line) in lines.iter().enumerate() {
            let lead = if place == 0 { mark.1 } else { "" };
            let lead = format!(
                "{lead:<pad$}",
                pad = usize::from(indent).saturating_sub(width(lead) - lead.chars().count())
            );
            let margin = self.margin();
            self.rows.push(Row {
                step: self.step,
                pieces: vec![margin, (mark.0, lead), (role, line.clone())],
                tail: None,
            });
        }
        if more {
            let margin = self.margin();
            let words = format!("{} the rest is shown by Enter", self.glyphs.more);
            self.rows.push(Row {
                step: self.step,
                pieces: vec![margin, (Role::Dim, " ".repeat(usize::from(indent))), (Role::Dim, words)],
                tail: None,
            });
        }
    }

    /// Pieces in one row.
    pub fn line(&mut self, indent: u16, pieces: impl IntoIterator<Item = (Role, String)>) {
        let margin = self.margin();
        let mut all = vec![margin, (Role::Dim, " ".repeat(usize::from(indent)))];
        all.extend(pieces);
        self.rows.push(Row { step: self.step, pieces: all, tail: None });
    }

    /// A piece at the right edge of the last row, or of a row of its own where that is full.
    pub fn tail(&mut self, role: Role, text: &str) {
        let text = truncate(
            text,
            usize::from(self.measure.columns.saturating_sub(self.measure.digits + 4)).max(8),
            self.glyphs.more,
        );
        let columns = usize::from(self.measure.columns);
        let fits = self
            .rows
            .last()
            .is_some_and(|row| row.tail.is_none() && row.columns() + width(&text) + 3 <= columns);
        if !fits {
            let margin = self.margin();
            self.rows.push(Row { step: self.step, pieces: vec![margin], tail: None });
        }
        if let Some(row) = self.rows.last_mut() {
            row.tail = Some((role, text));
        }
    }

    /// An empty row.
    pub fn gap(&mut self) {
        self.rows.push(Row { step: self.step, ..Row::default() });
    }
}

impl Row {
    /// Columns of the pieces from the left.
    pub fn columns(&self) -> usize {
        self.pieces.iter().map(|(_, text)| width(text)).sum()
    }
}

/// Texts of the mentor that were not kept and are no lesson yet, with the keys that take them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Offer {
    count: usize,
    keys: Option<(String, String)>,
}

impl Offer {
    /// That of a step, where it has one.
    pub fn of(step: &Step, look: &Context<'_>) -> Option<Self> {
        // Most steps have no reflection at all.
        let count = if step.reflections.is_empty() { 0 } else { open_texts(step, look) };
        let details = look.keymap.label(Action::Inspect).filter(|_| !look.reading());
        let keys = details.zip(look.keymap.label_in(Mode::Step, Action::AcceptLesson));
        (count > 0).then_some(Self { count, keys })
    }

    fn words(&self) -> String {
        let (texts, them) =
            if self.count == 1 { ("text", "it as a lesson") } else { ("texts", "them as lessons") };
        let keys = self.keys.as_ref();
        let keys =
            keys.map_or_else(String::new, |(details, take)| format!("; {details}, then {take} takes {them}"));
        format!("{} {texts} not kept{keys}", self.count)
    }
}

/// The rows of a settled or open step, without what a call under way adds.
pub fn step_rows(
    step: &Step,
    state: &State,
    offer: Option<&Offer>,
    measure: Measure,
    glyphs: &Glyphs,
) -> Vec<Row> {
    let mut w = Writer::new(step.number, measure, glyphs);
    if measure.parts != Parts::Seen {
        done(&mut w, step, state, glyphs);
    }
    if measure.parts != Parts::Done {
        seen(&mut w, step, measure);
    }
    if measure.parts != Parts::Seen {
        after(&mut w, step, state, offer, glyphs);
    }
    w.rows()
}

/// The rows of the first observation.
pub fn reset_rows(text: &str, measure: Measure, glyphs: &Glyphs) -> Vec<Row> {
    let mut w = Writer::new(0, measure, glyphs);
    if measure.parts != Parts::Done {
        for paragraph in text.lines().filter(|l| !l.trim().is_empty()) {
            w.text((Role::Dim, ""), 0, Role::Observation, paragraph);
        }
    }
    w.rows()
}

fn done(w: &mut Writer<'_>, step: &Step, state: &State, glyphs: &Glyphs) {
    for (was, why) in &step.rejections {
        w.text(
            (Role::MarkPerson, &format!("{} ", glyphs.person)),
            2,
            Role::Dim,
            &format!("rejected: {was} ({why})"),
        );
    }
    interrupted::rows(w, step, glyphs);
    if step.unusable_replies > 0 {
        let words = match step.unusable_replies {
            1 => "a reply could not be used".to_owned(),
            n => format!("{n} replies could not be used"),
        };
        w.text((Role::Warn, &format!("{} ", glyphs.mistake)), 2, Role::Dim, &words);
    }
    for warning in &step.warnings {
        w.text((Role::Warn, &format!("{} ", glyphs.mistake)), 2, Role::Warn, warning);
    }
    for told in &step.unsent_settings {
        let words = format!("request changed from here on: {told}");
        w.text((Role::Warn, &format!("{} ", glyphs.mistake)), 2, Role::Dim, &words);
    }
    let proposed = step.stage == Stage::Decision && step.executed.is_none();
    // A proposal waits for nobody once its episode has ended.
    let given_up = proposed && state.open_episode().is_none();
    let waits = proposed && !given_up;
    let thinks = step.executed.as_ref().and_then(|e| e.action.trim_start().strip_prefix("think:"));
    let fate = step.executed.as_ref().map(|e| &e.thought_disposition);
    if waits && (step.thought.is_some() || step.action().is_some()) {
        w.gap();
    }
    let dropped =
        step.dropped_by.is_some() || (step.is_person_action() && fate == Some(&ThoughtDisposition::Dropped));
    if let Some(thought) = step.thought.as_deref().filter(|t| thinks.is_none_or(|own| own.trim() != t.trim()))
    {
        let role = if dropped { Role::Dim } else { Role::Thought };
        if waits && step.proposed.is_none() {
            w.text((Role::Proposal, &format!("{} think  ", glyphs.proposal)), 9, role, thought);
            facts(w, step, glyphs);
        } else {
            w.text((Role::Dim, "think  "), 7, role, thought);
        }
        if dropped {
            w.tail(Role::Person, "out of the prompt");
        } else if step.thought_edited {
            w.tail(Role::Person, EDITED);
        }
        if let Some(ThoughtDisposition::Rewritten(words)) = fate {
            w.text((Role::MarkPerson, &format!("{} ", glyphs.person)), 7, Role::Person, words);
        }
    }
    if let Some(own) = thinks {
        let mark = if step.is_person_action() { Role::Person } else { Role::Dim };
        w.text((mark, "think  "), 7, if dropped { Role::Dim } else { Role::Thought }, own.trim());
        if step.dropped_by.is_some() {
            w.tail(Role::Person, "out of the prompt");
        } else if step.thought_edited {
            w.tail(Role::Person, EDITED);
        }
    } else if let Some(action) = step.action() {
        let (mark, role) = match (waits, step.is_person_action()) {
            (true, _) => ((Role::Proposal, glyphs.proposal), Role::Proposal),
            _ if given_up => ((Role::Dim, glyphs.off), Role::Dim),
            (_, true) => ((Role::MarkPerson, glyphs.person), Role::Action),
            _ => ((Role::Dim, ">"), Role::Action),
        };
        w.text((mark.0, &format!("{} ", mark.1)), 2, role, action);
        if waits {
            facts(w, step, glyphs);
        }
        if step.is_person_action() {
            let was = step.proposal_text().filter(|p| Some(p.as_ref()) != step.action());
            w.tail(Role::Person, &was.map_or_else(|| "you".to_owned(), |p| format!("you, instead of: {p}")));
        }
        // What a rule or an alias made of the action, whoever chose it.
        if let Some(sent) = step.executed.as_ref().and_then(|e| e.sent.as_deref()) {
            w.tail(Role::Dim, &format!("sent as: {sent}"));
        }
    }
    if given_up && (step.thought.is_some() || step.action().is_some()) {
        w.tail(Role::Dim, "not done");
    }
    if let Some(from) = &step.reply_source {
        w.text((Role::MarkPerson, &format!("{} ", glyphs.person)), 2, Role::Person, &reply_source(from));
    }
    for complaint in &step.complaints {
        w.text((Role::Warn, &format!("{} ", glyphs.mistake)), 2, Role::Dim, complaint);
    }
}

/// What stands beside words that a person put in the place of the agent's or the world's.
const EDITED: &str = "edited by a person";

/// What the proposal cost and what was in its prompt.
fn facts(w: &mut Writer<'_>, step: &Step, glyphs: &Glyphs) {
    let mut facts = Vec::new();
    if step.usage.millis >= 100 {
        facts.push(format!("{}.{} s", step.usage.millis / 1000, step.usage.millis % 1000 / 100));
    }
    if step.usage.reply_tokens > 0 {
        facts.push(format!("{} tokens", step.usage.reply_tokens));
    }
    if step.usage.cost_nano > 0 {
        facts.push(format!("cost {}", format_price(step.usage.cost_nano)));
    }
    match step.lesson_count {
        0 => {}
        1 => facts.push("1 lesson in the prompt".to_owned()),
        n => facts.push(format!("{n} lessons in the prompt")),
    }
    if !facts.is_empty() {
        w.tail(Role::Dim, &facts.join(&format!(" {} ", glyphs.dot)));
    }
}

fn seen(w: &mut Writer<'_>, step: &Step, measure: Measure) {
    let Some(text) = step.observation() else { return };
    let indent = if measure.parts == Parts::Seen { 0 } else { 2 };
    // What a world says to a thought says nothing; only the pane of observations keeps it.
    if step.is_thought_only()
        && measure.parts == Parts::All
        && matches!(text.trim(), "OK." | "Nothing happens.")
    {
        return;
    }
    let valid = step.answer.as_ref().is_none_or(|a| a.valid);
    let role = match valid {
        _ if step.is_thought_only() => Role::Dim,
        // Beside the action the detector's mark says it; alone, the text itself has to.
        false if measure.parts == Parts::Seen => Role::Failed,
        _ => Role::Observation,
    };
    for paragraph in text.lines().filter(|l| !l.trim().is_empty()) {
        w.text((Role::Dim, ""), indent, role, paragraph);
    }
    if step.is_observation_edited() {
        w.tail(Role::Person, EDITED);
    }
}

fn after(w: &mut Writer<'_>, step: &Step, state: &State, offer: Option<&Offer>, glyphs: &Glyphs) {
    let progress = step.notes.iter().any(|n| n.kind == NoteKind::Progress);
    if progress && let Some(answer) = &step.answer {
        w.tail(Role::Good, &format!("+ progress {}", super::status::portion(answer.progress, state)));
    }
    if let Some(note) = step.notes.iter().find(|n| n.kind == NoteKind::Mistake) {
        w.tail(Role::Bad, &format!("{} {}", glyphs.mistake, note.detector.replace('_', " ")));
    }
    for index in &step.reflections {
        if let Some(reflection) = state.reflections.get(*index as usize) {
            reflected(w, reflection, glyphs);
        }
    }
    if let Some(offer) = offer {
        w.within(2, (Role::Warn, &format!("    {} ", glyphs.mistake)), 6, Role::Dim, &offer.words());
    }
    for stop in &step.breakpoint_marks {
        let (glyph, word, role) = if stop.warn {
            (glyphs.watch, "watch", Role::Dim)
        } else {
            (glyphs.stop, "breakpoint", Role::Text)
        };
        let words = format!("{word} {}: {}", stop.breakpoint, stop.reason);
        w.text((Role::MarkStop, &format!("{glyph} ")), 2, role, &words);
    }
    for remark in &step.remarks {
        w.text((Role::MarkPerson, &format!("{} ", glyphs.remark)), 2, Role::Person, remark);
    }
}

fn reflected(w: &mut Writer<'_>, reflection: &Reflection, glyphs: &Glyphs) {
    const SHOWN: usize = 3;
    const ROWS: usize = 2;
    let name = reflection.question().name();
    let role = kind_role(reflection.kind);
    for item in reflection.items.iter().take(SHOWN) {
        let lead = format!("  {} {name}  ", glyphs.new);
        w.within(ROWS, (role, &lead), width(&lead) as u16, Role::Dim, &item.text.text);
    }
    if reflection.items.len() > SHOWN {
        let words = format!("{} {} more", glyphs.more, reflection.items.len() - SHOWN);
        w.line(4, [(Role::Dim, words)]);
    }
    if reflection.items.is_empty() && reflection.author == Author::Mentor {
        let lead = format!("  {} {name}  ", glyphs.off);
        w.within(ROWS, (role, &lead), width(&lead) as u16, Role::Dim, "nothing came of it");
    }
    if reflection.prompt_edited {
        let words = "you changed the words of the question";
        w.text((Role::MarkPerson, &format!("    {} ", glyphs.person)), 6, Role::Person, words);
    }
    if let Some(from) = &reflection.reply_source {
        w.text((Role::MarkPerson, &format!("    {} ", glyphs.person)), 6, Role::Person, &reply_source(from));
    }
    for complaint in reflection.complaints.iter().take(SHOWN) {
        w.within(ROWS, (Role::Warn, &format!("    {} ", glyphs.mistake)), 6, Role::Dim, complaint);
    }
    if reflection.complaints.len() > SHOWN {
        let words = format!("{} {} more complaints", glyphs.more, reflection.complaints.len() - SHOWN);
        w.line(4, [(Role::Dim, words)]);
    }
}

/// The colour of a kind of reflection.
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
