//! The same facts in the same words: transcript, Markdown, HTML, the story and the step details show every kind of block.

use super::{Fixture, TestScreen};
use crate::domain::PersonAct;
use crate::engine::{Envelope, State};
use crate::report::{
    Block, Section, SessionRecorder, StepRef, reflection_notes, render_markdown, render_transcript,
    start_section, step_section, write_html,
};
use crate::ui::glyphs::UNICODE;
use crate::ui::overlay::step_details::detail_lines;
use crate::ui::view::rows::{PaneContent, Row, RowLayout, start_rows, step_rows};
use crate::ui::widget::window::Line;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;

/// The session. The number in `undone` is that of the event before it.
const SESSION: &str = include_str!("every_fact.jsonl");

fn events() -> Vec<Arc<Envelope>> {
    let lines = (1..).zip(SESSION.lines());
    let envelope = |(seq, line): (u64, &str)| {
        let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
        value["seq"] = seq.into();
        value["at"] = "2026-11-20T10:40:00Z".into();
        Arc::new(serde_json::from_value(value).unwrap_or_else(|e| panic!("{e}: {line}")))
    };
    lines.map(envelope).collect()
}

/// Returns the row of [`FACTS`] for a block that a step or a reflection can have; `None` for blocks that only events
/// and headings have. A new kind of block needs an arm here, and so a row there.
fn kind(block: &Block<'_>) -> Option<&'static str> {
    Some(match block {
        Block::Heading(_)
        | Block::Outcome(_)
        | Block::AskedAgain(_)
        | Block::LessonAdded(..)
        | Block::FailedCall { .. }
        | Block::Notice(_)
        | Block::Run(_) => return None,
        Block::Rejected { .. } => "rejected",
        Block::CancelledCall(_) => "cancelled call",
        Block::PartialText(..) => "partial text",
        Block::PromptEdited => "edited prompt",
        Block::FirstShown(_) => "first shown lessons",
        Block::UnusableReplies(_) => "unusable replies",
        Block::Draft(_) => "draft",
        Block::Warning(_) => "warning",
        Block::Samples(_) => "samples",
        Block::RequestChanged(..) => "changed request",
        Block::Reasoning(_) => "reasoning",
        Block::ToolCall(_) => "tool call",
        Block::Thought { .. } => "thought",
        Block::ThoughtDropped(_) => "dropped thought",
        Block::ThoughtRewritten(_) => "rewritten thought",
        Block::ReplySource(_) => "reply source",
        Block::Complaint(_) => "complaint",
        Block::Action { .. } => "action",
        Block::SentAs { .. } => "sent as",
        Block::Proposal(_) => "proposal",
        Block::Plan(_) => "plan",
        Block::NotRun => "not run",
        Block::Observation { .. } => "observation",
        Block::Progress { .. } => "progress",
        Block::Finding { .. } => "finding",
        Block::Reflection(_) => "reflection",
        Block::SameAdvice(_) => "same advice",
        Block::NoItems => "no items",
        Block::NotKept(_) => "not kept",
        Block::Hit { .. } => "hit",
        Block::Remark(_) => "remark",
        Block::Act { act, .. } => match **act {
            PersonAct::Lesson { .. } => "lesson change",
            PersonAct::AskedAgain => "asked again",
            PersonAct::Setting { .. } => "setting",
            PersonAct::Run { .. } => "run change",
            PersonAct::Summary { .. } => "summary",
        },
    })
}

/// The formats, as bits of a row.
const TRANSCRIPT: u8 = 1;
const PAGES: u8 = 2;
const STORY: u8 = 4;
const DETAILS: u8 = 8;
const ALL: u8 = TRANSCRIPT | PAGES | STORY | DETAILS;

/// Kind of block, its words, and the formats that show it; what isn't in all of them has its reason beside it. `PERSON`
/// is `you` in a terminal and `a person` on a page.
const FACTS: &[(&str, &str, u8)] = &[
    // The screen's first row names the goal, its end card the outcome.
    ("heading", "Episode 1: rest (household easy/heat/23), trial 1", TRANSCRIPT | PAGES),
    (
        "outcome",
        "lost (ended by a person) after 2 steps, 2 moves, progress 0.25, assisted by a person",
        TRANSCRIPT | PAGES,
    ),
    ("rejected", "rejected go to desk 1, because: wrong room", ALL),
    ("cancelled call", "PERSON cancelled the call (about 40 tokens, estimated)", ALL),
    ("partial text", "reasoning so far: It is hot.", ALL),
    ("partial text", "answer so far: go to the", ALL),
    ("edited prompt", "PERSON edited its prompt", ALL),
    ("first shown lessons", "lesson 2 (by PERSON) enters the prompt", ALL),
    // A step counts them; the event has the reason.
    ("unusable replies", "1 unusable reply", PAGES | STORY | DETAILS),
    ("asked again for a reason", "asked again: there was no action in the reply", TRANSCRIPT | DETAILS),
    ("draft", "draft, to be fitted to the state: look around", ALL),
    ("warning", "warning: the server is slow", ALL),
    ("samples", "2 of 3 samples (1 failed): go to desk 1 (1), think: Wait. (1)", ALL),
    ("samples", "1 sample without lesson 1: go to desk 2", ALL),
    ("changed request", "request to the actor's server changed: stop: it cut off", ALL),
    // A transcript is read while the run goes on; the reply says what counts.
    ("reasoning", "Heat needs a stove.", PAGES | STORY | DETAILS),
    ("tool call", "tool call (not run): look(at desk 1)", PAGES | STORY | DETAILS),
    ("thought", "The stove is hot.", ALL),
    ("dropped thought", "thought dropped from later prompts", ALL),
    ("rewritten thought", "thought in later prompts: I look at the shelf.", ALL),
    ("reply source", "cached reply", ALL),
    ("complaint", "about the reply: a second action was not read", ALL),
    ("action", "go to microwave 1", ALL),
    ("action", "by PERSON, instead of: go to stoveburner 1, shown as a human edit", ALL),
    ("action", "by PERSON, instead of: go to bed 1", ALL),
    ("sent as", "sent as goto shelf 1 by rule alias", ALL),
    ("plan", "planned after it: go to fridge 2, go to desk 1", ALL),
    ("plan", "planned at step 3, 2 of 3", ALL),
    ("proposal", "go to fridge 2", ALL),
    ("not run", "not run", ALL),
    ("observation", "You are in a room.", ALL),
    ("observation", "A clean shelf.", ALL),
    ("observation", "edited by a person", ALL),
    // The story's row is short; the step details show the text.
    ("observation", "A dusty shelf.", TRANSCRIPT | PAGES | DETAILS),
    // At the right edge of the story, in subgoals.
    ("progress", "progress 0.00 -> 0.50", TRANSCRIPT | PAGES | DETAILS),
    ("progress", "+ progress", STORY),
    ("progress", "progress 0.50 -> 0.25", ALL),
    ("finding", "wrong appliance", ALL),
    // The step details show the evidence.
    ("finding", "wrong appliance: stoveburner 1 is hot", TRANSCRIPT | PAGES | DETAILS),
    ("reflection", "Went to a stove.", ALL),
    ("reflection", "Go and take.", ALL),
    // The lanes show author and solution.
    ("reflection", "Error reflection (rules)", TRANSCRIPT | PAGES | DETAILS),
    ("reflection", "Went to a stove. -> Heat in a microwave.", TRANSCRIPT | PAGES | DETAILS),
    ("same advice", "same advice 3 times: the task ends early", ALL),
    ("no items", "nothing was used", ALL),
    // The story's offer counts the texts that haven't become lessons.
    ("not kept", "2 texts not kept", TRANSCRIPT | PAGES | DETAILS),
    // Lanes and pages list the lessons of a method.
    ("lesson of a method", "lesson 1 added (Advice): Look first.", TRANSCRIPT),
    ("lesson change", "PERSON taught lesson 2 (Error): Stoves burn. -> Use a microwave.", ALL),
    ("lesson change", "PERSON changed lesson 2, now: Stoves are hot.", ALL),
    ("lesson change", "PERSON switched off lesson 2", ALL),
    ("lesson change", "PERSON taught lesson 3 (Error): Be quick.", ALL),
    ("lesson change", "undone", ALL),
    ("asked again", "asked again by PERSON", ALL),
    ("setting", "setting max_steps = 9", ALL),
    ("run change", "run changed: omnireflect, actor openai:big, mentor symbolic", ALL),
    ("summary", "rejected lines of the summary: 1", ALL),
    // A step doesn't know the watch's condition at that time.
    ("hit", "watch 1: nothing happened three times", PAGES | STORY | DETAILS),
    ("hit", "watch 1 `nothing 3`: nothing happened three times", TRANSCRIPT),
    ("remark", "here it goes wrong", ALL),
    // Beside the story's live rows and in the step details while it waits; the state doesn't keep it longer.
    ("failed call", "a call failed: actor: connection refused; try again", TRANSCRIPT | PAGES),
];

fn story(state: &State) -> String {
    let layout = RowLayout {
        content: PaneContent::All,
        columns: 200,
        digits: 2,
        shows_reasoning: true,
        observation_rows: 0,
    };
    let episode = state.episode.as_deref().unwrap();
    let mut rows: Vec<Row> = start_rows(episode, state, layout, &UNICODE);
    for step in &episode.steps {
        rows.extend(step_rows(step, state, None, layout, &UNICODE));
    }
    let text = |row: Row| row.pieces.into_iter().chain(row.tail).map(|(_, text)| text).collect::<String>();
    rows.into_iter().map(text).collect::<Vec<_>>().join("\n")
}

fn details(events: &[Arc<Envelope>]) -> String {
    let mut fixture = Fixture::empty();
    for envelope in events {
        fixture.write(envelope.cause, envelope.event.clone());
    }
    let steps = fixture.state().episode.as_ref().unwrap().steps.len() as u32;
    let mut stage = TestScreen::new(fixture, 120, 36);
    let lines = stage.with_context(|_, _, _, context| {
        (0..=steps).flat_map(|number| detail_lines(number, context, 200)).collect::<Vec<_>>()
    });
    let text = |line: Line| line.into_iter().map(|(_, text)| text).collect::<String>();
    lines.into_iter().map(text).collect::<Vec<_>>().join("\n")
}

fn html(events: &[Arc<Envelope>]) -> String {
    let mut page = String::new();
    let mut write = |part: &str| -> Result<(), Infallible> {
        page.push_str(part);
        Ok(())
    };
    write_html(&record(events), StepRef::default(), None, &mut write).unwrap();
    let without_tags = page.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    without_tags.collect::<String>().replace("&#39;", "'").replace("&gt;", ">")
}

fn record(events: &[Arc<Envelope>]) -> crate::report::SessionRecord {
    let mut recorder = SessionRecorder::default();
    for envelope in events {
        recorder.add_event(envelope);
    }
    recorder.finish()
}

#[test]
fn every_format_shows_every_fact() {
    let events = events();
    let state = record(&events).final_state;
    let markdown = render_markdown(&record(&events));
    // Markdown marks texts from outside as code and escapes what it doesn't.
    let outputs = [
        (TRANSCRIPT, "you", "transcript", render_transcript(&events)),
        (PAGES, "a person", "Markdown", markdown.replace(['\\'], "")),
        (PAGES, "a person", "HTML", html(&events)),
        (STORY, "you", "story", story(&state)),
        (DETAILS, "you", "step details", details(&events)),
    ];
    for (format, person, name, output) in outputs {
        let output = output.replace('→', "->");
        let plain = if name == "Markdown" { output.replace(['`', '~'], "") } else { output };
        for (kind, words, formats) in FACTS {
            let words = words.replace("PERSON", person);
            let is_shown = formats & format != 0;
            assert_eq!(plain.contains(&words), is_shown, "{kind}: {words:?} in {name}:\n{plain}");
        }
    }
}

#[test]
fn every_kind_of_block_is_a_fact() {
    let state = record(&events()).final_state;
    let episode = state.episode.as_deref().unwrap();
    let steps = episode.steps.iter().map(|step| step_section(step, episode, &state));
    let sections: Vec<_> = [start_section(episode, &state)].into_iter().chain(steps).collect();
    let mut found: BTreeSet<&str> = sections.iter().flat_map(Section::blocks).filter_map(kind).collect();
    for reflection in &state.reflections {
        found.extend(reflection_notes(reflection).iter().filter_map(kind));
    }
    let others = ["heading", "outcome", "asked again for a reason", "lesson of a method", "failed call"];
    let facts: BTreeSet<&str> =
        FACTS.iter().map(|fact| fact.0).filter(|kind| !others.contains(kind)).collect();
    assert_eq!(found, facts);
}
