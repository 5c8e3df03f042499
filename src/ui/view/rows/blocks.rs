//! Lays out the blocks of a step. Their words come from the report's document model; marks, colours, limits of rows and
//! what stands at the right edge are decided here.

use super::{MAX_CANCELLED_ROWS, Offer, PaneContent, Row, RowLayout, RowWriter, kind_role};
use crate::domain::ThoughtDisposition;
use crate::domain::{Reflection, Stage, Step, format_price, pluralize};
use crate::engine::State;
use crate::report::{Block, EDITED_BY_PERSON, Section, Span, Tone, plain_text, reflection_notes};
use crate::text::{one_line, width};
use crate::ui::glyphs::Glyphs;
use crate::ui::labels::progress_text;
use crate::ui::theme::Role;

/// Writes the blocks of a section.
struct BlockWriter<'a, 'b> {
    rows: RowWriter<'a>,
    /// `None` before the first step.
    step: Option<&'b Step>,
    state: &'b State,
    /// Whether the step's proposal waits for a decision. When its episode has ended, none does.
    waits: bool,
}

/// Returns the rows of a section: of a step, or of what precedes the first one.
pub(super) fn section_rows(
    section: &Section<'_>,
    step: Option<&Step>,
    state: &State,
    offer: Option<&Offer>,
    layout: RowLayout,
    glyphs: &Glyphs,
) -> Vec<Row> {
    let is_undecided = step.is_some_and(|s| s.stage == Stage::Decision && s.executed.is_none());
    let waits = is_undecided && state.open_episode().is_some();
    let rows = RowWriter::new(section.step, layout, glyphs);
    let mut w = BlockWriter { rows, step, state, waits };
    let is_draft = step.is_some_and(|s| s.stage < Stage::Reply);
    let is_shown = |block: &Block<'_>| match (layout.content, block) {
        // A draft that a person edited and that isn't sent yet is a live row.
        (_, Block::PromptEdited) if is_draft => false,
        (_, Block::Reasoning(_)) if !layout.shows_reasoning => false,
        (PaneContent::All, _) => true,
        (content, Block::Observation { .. }) => {
            content == PaneContent::Observations || layout.observation_rows > 0
        }
        (content, _) => content == PaneContent::ThoughtsAndActions,
    };
    let mut has_gap = !waits;
    for block in section.decision.iter().filter(|block| is_shown(block)) {
        if !has_gap && matches!(block, Block::Reasoning(_) | Block::Thought { .. } | Block::Proposal(_)) {
            has_gap = true;
            w.rows.push_gap();
        }
        w.write_block(block);
    }
    let mut outcome: Vec<&Block<'_>> = section.outcome.iter().collect();
    if let Some(at) = outcome.iter().position(|block| matches!(block, Block::Observation { .. }))
        && layout.content == PaneContent::ThoughtsAndActions
        && let Some(found) = outcome.get(at + 1)
        && w.beside_text(found).is_some_and(|(_, text)| w.rows.fits_tail(&text))
    {
        // Beside the action, what was found stays where it is when the observation is folded.
        outcome.swap(at, at + 1);
    }
    let last_reflection = outcome.iter().rposition(|b| matches!(b, Block::Reflection(_)));
    for (place, block) in outcome.into_iter().enumerate().filter(|(_, block)| is_shown(block)) {
        w.write_block(block);
        if let Some(offer) = offer.filter(|_| Some(place) == last_reflection) {
            let mark = (Role::Warning, &*format!("    {} ", glyphs.mistake));
            w.rows.push_text_limited(2, mark, 6, Role::Muted, &offer.text());
        }
    }
    w.rows.into_rows()
}

impl BlockWriter<'_, '_> {
    fn write_block(&mut self, block: &Block<'_>) {
        let line = plain_text(&block.line());
        let glyphs = self.rows.glyphs;
        match block {
            Block::Observation { text, original } => {
                // The step details show the environment's own text.
                return self.write_observation(text, original.is_some());
            }
            Block::Reasoning(text) => self.rows.push_quote(Role::Reasoning, text),
            Block::Thought { text, decision, .. } => self.write_thought(text, decision.is_some()),
            Block::Action { decision: Some(_), .. } => {
                self.write_marked((Role::MarkPerson, glyphs.person), Role::Action, &line);
            }
            Block::Action { .. } => self.write_marked((Role::ActionMark, ">"), Role::Action, &line),
            Block::Proposal(_) if self.waits => {
                self.write_marked((Role::Proposal, glyphs.proposal), Role::Proposal, &line);
                self.write_proposal_facts();
            }
            Block::Proposal(_) => self.write_marked((Role::Muted, glyphs.off), Role::Muted, &line),
            // The step details show the evidence and the rate before.
            Block::Progress { .. } | Block::Finding { .. } => {
                if let Some((role, text)) = self.beside_text(block) {
                    self.rows.push_tail(role, &text);
                }
            }
            Block::ThoughtDropped(_) => self.rows.push_tail(Role::Person, &line),
            Block::SentAs { .. } | Block::NotRun => self.rows.push_tail(Role::Muted, &line),
            Block::PartialText(..) => {
                let mark = format!("  {} ", glyphs.reasoning_margin);
                let text = one_line(&line);
                self.rows.push_text_limited(MAX_CANCELLED_ROWS, (Role::Muted, &mark), 4, Role::Muted, &text);
            }
            Block::Reflection(reflection) => self.write_reflection(reflection),
            Block::Remark(_) => self.write_marked((Role::MarkPerson, glyphs.remark), Role::Person, &line),
            Block::Hit { is_watch, .. } => {
                let (mark, role) =
                    if *is_watch { (glyphs.watch, Role::Muted) } else { (glyphs.breakpoint, Role::Text) };
                self.write_marked((Role::MarkBreakpoint, mark), role, &line);
            }
            // What no longer counts stays in the background.
            Block::CancelledCall(_) => {
                self.write_marked((Role::MarkPerson, glyphs.person), Role::Muted, &line);
            }
            Block::Warning(_) => self.write_marked((Role::Warning, glyphs.mistake), Role::Warning, &line),
            _ => {
                let (mark, role) = tone_mark(block.tone(), glyphs);
                self.write_marked(mark, role, &line);
            }
        }
        push_note(&mut self.rows, block);
    }

    /// Returns what stands at the right edge of an action or observation, if the block is that.
    fn beside_text(&self, block: &Block<'_>) -> Option<(Role, String)> {
        if !matches!(block, Block::Progress { .. } | Block::Finding { .. }) {
            return None;
        }
        let ((role, mark), _) = tone_mark(block.tone(), self.rows.glyphs);
        let text = plain_text(&block.short_line(|rate| progress_text(rate, self.state)));
        Some((role, format!("{mark} {text}")))
    }

    fn write_marked(&mut self, (role, mark): (Role, &str), text_role: Role, text: &str) {
        self.rows.push_text((role, &format!("{mark} ")), 2, text_role, text);
    }

    fn write_thought(&mut self, text: &str, is_by_person: bool) {
        let executed = self.step.and_then(|step| step.executed.as_ref());
        let is_dropped = self.step.is_some_and(|step| step.dropped_by.is_some())
            || executed.is_some_and(|e| e.thought_disposition == ThoughtDisposition::Dropped);
        let role = if is_dropped { Role::Muted } else { Role::Thought };
        if self.waits && self.step.is_some_and(|step| step.proposed.is_none()) {
            let mark = format!("{} think  ", self.rows.glyphs.proposal);
            self.rows.push_text((Role::Proposal, &mark), 9, role, text);
            self.write_proposal_facts();
        } else {
            let mark = if is_by_person { Role::Person } else { Role::ThoughtMark };
            self.rows.push_text((mark, "think  "), 7, role, text);
        }
    }

    /// Writes what the proposal cost and how many lessons were in its prompt.
    fn write_proposal_facts(&mut self) {
        let Some(step) = self.step else { return };
        let mut facts = Vec::new();
        if step.usage.millis >= 100 {
            facts.push(format!("{}.{} s", step.usage.millis / 1000, step.usage.millis % 1000 / 100));
        }
        if !step.reasoning.is_empty() {
            facts.push("with reasoning".to_owned());
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
            self.rows.push_tail(Role::Muted, &facts.join(&format!(" {} ", self.rows.glyphs.separator)));
        }
    }

    fn write_observation(&mut self, text: &str, is_edited: bool) {
        let is_alone = self.rows.layout.content == PaneContent::Observations;
        let is_thought = self.step.is_some_and(Step::is_thought_only);
        // The reply to a thought carries no information; only Observations shows it.
        if is_thought && !is_alone && matches!(text.trim(), "OK." | "Nothing happens.") {
            return;
        }
        let is_valid = self.step.and_then(|step| step.answer.as_ref()).is_none_or(|answer| answer.valid);
        // Among thoughts and actions it is a repetition of the pane beside them.
        let is_repeated = self.rows.layout.content == PaneContent::ThoughtsAndActions;
        let role = match is_valid {
            _ if is_thought || is_repeated => Role::Muted,
            // Next to the action, the detector's mark shows it; alone, the text must.
            false if is_alone => Role::ObservationFailed,
            _ => Role::Observation,
        };
        let indent = if is_alone || self.step.is_none() { 0 } else { 2 };
        let first = self.rows.rows.len();
        for paragraph in text.lines().filter(|l| !l.trim().is_empty()) {
            self.rows.push_text((Role::Muted, ""), indent, role, paragraph);
        }
        if is_repeated {
            self.rows.cut_rows(first, self.rows.layout.observation_rows);
        }
        if is_edited {
            self.rows.push_tail(Role::Person, EDITED_BY_PERSON);
        }
    }

    /// Writes the items and notes of a reflection, in full where the reasoning of models is unfolded; the lanes and the step details
    /// show the solutions and the rest.
    fn write_reflection(&mut self, reflection: &Reflection) {
        const MAX_ITEMS: usize = 3;
        const MAX_ITEM_ROWS: usize = 2;
        let role = kind_role(reflection.kind);
        let lead = |glyph: &str| format!("  {glyph} {}  ", reflection.question().name());
        let glyphs = self.rows.glyphs;
        let most = if self.rows.layout.shows_reasoning { usize::MAX } else { MAX_ITEM_ROWS };
        let mut write = |(mark_role, mark): (Role, &str), text_role, text: &str| {
            let indent = width(mark) as u16;
            self.rows.push_text_limited(most, (mark_role, mark), indent, text_role, text);
        };
        let more = |count: usize, what| format!("{} {} {what}", glyphs.ellipsis, count - MAX_ITEMS);
        for item in reflection.items.iter().take(MAX_ITEMS) {
            write((role, &lead(glyphs.new_lesson)), Role::Muted, &item.text.text);
        }
        if reflection.items.len() > MAX_ITEMS {
            write((Role::Muted, "    "), Role::Muted, &more(reflection.items.len(), "more"));
        }
        let mut complaints = 0;
        for note in reflection_notes(reflection) {
            complaints += usize::from(matches!(note, Block::Complaint(_)));
            let text = plain_text(&note.line());
            match &note {
                Block::Complaint(_) if complaints > MAX_ITEMS => {}
                // The step's offer says the same, and which keys add the texts as lessons.
                Block::NotKept(_) => {}
                Block::NoItems => write((role, &lead(glyphs.off)), Role::Muted, &text),
                _ => {
                    let ((mark_role, mark), text_role) = tone_mark(note.tone(), glyphs);
                    write((mark_role, &format!("    {mark} ")), text_role, &text);
                }
            }
        }
        if complaints > MAX_ITEMS {
            write((Role::Muted, "    "), Role::Muted, &more(complaints, "more problems"));
        }
    }
}

/// Adds what is said beside the words of a block: who decided, and what was replaced.
pub fn push_note(rows: &mut RowWriter<'_>, block: &Block<'_>) {
    let Some(note) = block.note() else { return };
    let pieces: Vec<(Role, String)> = note.iter().map(|span| (note_role(span), plain_span(span))).collect();
    let pieces: Vec<(Role, &str)> = pieces.iter().map(|(role, text)| (*role, text.as_str())).collect();
    rows.push_tail_pieces(&pieces);
}

/// Returns the role of a piece of a note about what a person did.
fn note_role(span: &Span<'_>) -> Role {
    if matches!(span, Span::Replaced(_)) { Role::ProposalReplaced } else { Role::Person }
}

fn plain_span(span: &Span<'_>) -> String {
    plain_text(std::slice::from_ref(span))
}

/// Returns the mark with its colour, and the colour of the text.
fn tone_mark(tone: Tone, glyphs: &Glyphs) -> ((Role, &'static str), Role) {
    match tone {
        Tone::Neutral => ((Role::Muted, " "), Role::Muted),
        Tone::Person => ((Role::MarkPerson, glyphs.person), Role::Person),
        Tone::Warning => ((Role::Warning, glyphs.mistake), Role::Muted),
        Tone::Good => ((Role::Good, "+"), Role::Good),
        Tone::Bad => ((Role::Bad, glyphs.mistake), Role::Bad),
    }
}
