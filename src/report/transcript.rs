//! The session as lines of plain text: no frames, no colours, no cursor movement; suitable for logs and screen readers.

use super::document::{Block, event_blocks, lesson_line, plain_text, reflection_notes, step_section};
use crate::domain::Step;
use crate::engine::{Envelope, Episode, Event, Remark, State};
use crate::text::clean;
use std::fmt::Write as _;
use std::sync::Arc;

/// Writes a transcript event by event, so that a run can be followed while in progress.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    /// Whether an episode's heading has been written; further ones are preceded by a blank line.
    has_heading: bool,
    /// The episode's heading is still to be written: it begins with the goal, which the first observation may contain.
    heading_pending: bool,
}

/// Renders the whole transcript of a branch, with each remark at the step that it is about.
pub fn render_transcript(events: &[Arc<Envelope>]) -> String {
    let mut last = State::default();
    for envelope in events {
        last.apply(envelope);
    }
    let mut remarks = last.remarks;
    let (mut state, mut transcript, mut out) = (State::default(), Transcript::default(), String::new());
    let position = |state: &State| {
        state.episode.as_deref().map_or((0, 0), |episode| (episode.number, episode.steps.len() as u32))
    };
    for envelope in events {
        let before = position(&state);
        state.apply(envelope);
        let is_end = matches!(envelope.event, Event::EpisodeEnded { .. });
        let is_over = |remark: &mut Remark| {
            let at = (remark.episode, remark.step);
            at < position(&state) || is_end && at <= before
        };
        remarks.extract_if(.., is_over).for_each(|remark| write_remark(&mut out, &remark));
        if !matches!(envelope.event, Event::Remarked { .. }) {
            out.push_str(&transcript.event_lines(envelope, &state));
        }
    }
    for remark in &remarks {
        write_remark(&mut out, remark);
    }
    out
}

fn write_remark(out: &mut String, remark: &Remark) {
    write_block(out, &Block::Remark(&remark.text), remark.step);
}

impl Transcript {
    /// Creates a transcript that continues from `state`, omitting everything before it.
    pub fn from_state(state: &State) -> Self {
        let open = state.open_episode();
        let has_no_observation = open.is_some_and(|e| e.first_observation.is_none());
        Self {
            has_heading: state.ended_episodes.len() + usize::from(open.is_some() && !has_no_observation) > 0,
            heading_pending: has_no_observation,
        }
    }

    /// Returns the lines of an event, each with its line break; empty for events that readers don't need. `after` is
    /// the state after the event.
    pub fn event_lines(&mut self, envelope: &Envelope, after: &State) -> String {
        self.heading_pending |= matches!(envelope.event, Event::EpisodeStarted { .. });
        let blocks = event_blocks(&envelope.event, after);
        let mut lines = String::new();
        if let Some(episode) = after.episode.as_deref().filter(|_| self.heading_pending && !blocks.is_empty())
        {
            self.heading_pending = false;
            lines.push_str(if std::mem::replace(&mut self.has_heading, true) { "\n" } else { "" });
            write_block(&mut lines, &Block::Heading(episode), 0);
        }
        let step = step_of(&envelope.event);
        for block in &blocks {
            write_block(&mut lines, block, step);
        }
        lines
    }
}

/// Returns the lines of a finished step.
pub fn step_lines(step: &Step, episode: &Episode, state: &State) -> String {
    let mut lines = String::new();
    for block in step_section(step, episode, state).blocks() {
        write_block(&mut lines, block, step.number);
    }
    lines
}

/// Returns the step that an event names if its lines begin with the number; 0 for other events.
fn step_of(event: &Event) -> u32 {
    match event {
        Event::Proposed { step, .. }
        | Event::ActionOverridden { step, .. }
        | Event::ProposalRejected { step, .. }
        | Event::AskedAgain { step, .. }
        | Event::ActionTaken { step, .. }
        | Event::Observed { step, .. }
        | Event::ThoughtEdited { step, .. }
        | Event::ObservationEdited { step, .. }
        | Event::Remarked { episode: None, step, .. } => *step,
        _ => 0,
    }
}

fn write_block(out: &mut String, block: &Block<'_>, step: u32) {
    let mark = match block {
        Block::Observation { text, .. } => {
            let indent = if step == 0 { "    " } else { "      " };
            for part in clean(text).lines().filter(|l| !l.trim().is_empty()) {
                let _ = writeln!(out, "{indent}{}", part.trim_end());
            }
            return;
        }
        Block::Thought { .. } => "think  ",
        Block::Action { .. } => "> ",
        Block::Proposal(_) => "proposed  ",
        Block::Remark(_) => "remark  ",
        Block::Finding { .. } | Block::FailedCall { .. } => "! ",
        Block::Reflection(_) => "* ",
        Block::Hit { is_watch: true, .. } => "WATCH ",
        Block::Hit { .. } => "BREAK ",
        Block::Outcome(episode) => &format!("Episode {} ", episode.number),
        _ => "",
    };
    let margin = match block {
        Block::Heading(_) | Block::Outcome(_) | Block::Run(_) => String::new(),
        Block::Thought { .. }
        | Block::ThoughtDropped(_)
        | Block::ThoughtRewritten(_)
        | Block::Action { .. }
        | Block::Proposal(_)
        | Block::Rejected { .. }
        | Block::AskedAgain(_)
        | Block::Draft(_)
        | Block::Plan(_)
        | Block::Act { .. }
        | Block::Remark(_)
        | Block::Notice(_)
            if step > 0 =>
        {
            format!("{step:>3} ")
        }
        _ => " ".repeat(6),
    };
    let note = block.note().map_or_else(String::new, |note| format!("  ({})", plain_text(&note)));
    let text = plain_text(&block.line());
    if matches!(block, Block::Action { .. } | Block::Proposal(_)) && text.trim_end().contains('\n') {
        write_line(out, &format!("{margin}{}", mark.trim_end()), &note);
        for part in clean(&text).lines().filter(|line| !line.trim().is_empty()) {
            let _ = writeln!(out, "        {}", part.trim_end());
        }
        return;
    }
    write_line(out, &format!("{margin}{mark}"), &format!("{text}{note}"));
    if let Block::Reflection(reflection) = block {
        for item in &reflection.items {
            write_line(out, "        - ", &plain_text(&lesson_line(&item.text)));
        }
        for note in reflection_notes(reflection) {
            write_line(out, "        ", &plain_text(&note.line()));
        }
    }
}

/// Writes one line: a prefix, then the text with its line breaks replaced by spaces.
fn write_line(out: &mut String, prefix: &str, text: &str) {
    let flat = clean(text).replace('\n', " ");
    let _ = writeln!(out, "{prefix}{}", flat.trim_end());
}
