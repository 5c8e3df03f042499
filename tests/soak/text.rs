//! Hostile text from models, environments, files and people: it must be read, shown and folded without harm.

use crate::cases::{Rng, Soak};
use crate::hostile;
use crate::rig::{Rig, assert_folds_to, spec};
use retrospect::domain::{
    Autonomy, EndReason, Interface, LessonId, LessonStatus, LessonText, MessageRole, Prompt, ReflectionKind,
    Scope, Segment, SegmentLabel, SegmentOrigin, ShownAs, StepResult, ThoughtDisposition, Usage,
};
use retrospect::engine::{Command, Effect, LessonCommand, Reply};
use retrospect::prompt::interface;
use retrospect::{catalog, prompt, stand_in, text};
use serde_json::json;
use std::sync::Arc;

/// On average one of this many texts contains a line of a megabyte.
const LARGE_ONCE_IN: usize = 250;
/// The number of texts that a session gets before its journal is folded and compared.
const TEXTS_PER_SESSION: u64 = 40;

#[test]
fn hostile_text_is_read_shown_and_folded() {
    let mut sessions = 0_u64;
    let mut session = TextSession::new(0);
    let mut texts: Vec<String> = vec![String::new()];
    Soak::new("texts", 100_000).run(|rng, number| {
        let words = hostile::text(rng, LARGE_ONCE_IN);
        check_display(rng, &words);
        check_reply_parsing(&words);
        check_rule_actor(rng, &texts, &words);
        session.feed_text(rng, &words);
        if number % TEXTS_PER_SESSION == TEXTS_PER_SESSION - 1 {
            assert_folds_to(&session.rig.journal, session.rig.state());
            sessions += 1;
            session = TextSession::new(sessions);
        }
        if words.len() > 1 << 16 {
            return;
        }
        if texts.len() < 24 {
            texts.push(words);
        } else {
            let index = rng.below(texts.len());
            texts[index] = words;
        }
    });
    println!("texts: {sessions} sessions got the texts, and their journals were folded again");
}

/// Checks that displayed text has no control characters and keeps its width.
fn check_display(rng: &mut Rng, words: &str) {
    let clean = text::clean(words);
    assert!(clean.chars().all(|c| !c.is_control() || c == '\n'), "{words:?}");
    assert_eq!(text::clean(&clean), clean, "clean text stays unchanged");
    let line = text::one_line(words);
    assert!(!line.chars().any(char::is_control));
    let columns = [0, 1, 2, 7, 40, 200][rng.below(6)];
    let truncated = text::truncate(words, columns, "…");
    assert!(text::width(&truncated) <= columns, "{truncated:?} in {columns}");
    for row in text::wrap_at_most(words, columns, 50).0 {
        assert!(!row.chars().any(char::is_control));
    }
    for row in text::wrap(words, columns) {
        assert!(text::width(&row) <= columns, "{row:?} in {columns}");
        assert!(!row.chars().any(char::is_control));
    }
    let found = text::search(words, "apple");
    for range in found {
        assert!(words.get(range).is_some());
    }
}

/// Parses a reply; every part of the result must appear in it.
fn check_reply_parsing(words: &str) {
    let reading = prompt::read_reply(words);
    if let Some(action) = &reading.action {
        // In a dictionary it may have escapes and span several lines.
        let mut rest = words.chars();
        let escaped = words.contains('\\');
        let is_quoted = action.chars().filter(|c| c.is_alphanumeric()).all(|c| rest.any(|w| w == c));
        assert!(is_quoted || escaped, "{action:?}");
    }
    let _ =
        interface::goal_from_reset(&StepResult { observation: words.to_owned(), ..StepResult::default() });
}

/// Feeds the built-in actor this text, and others before and after it, as lessons, task, thoughts and observations.
fn check_rule_actor(rng: &mut Rng, texts: &[String], words: &str) {
    let labels = [
        SegmentLabel::Instruction,
        SegmentLabel::Guidance,
        SegmentLabel::Abstract,
        SegmentLabel::Error,
        SegmentLabel::Progress,
        SegmentLabel::Memory,
        SegmentLabel::Example,
        SegmentLabel::Task,
        SegmentLabel::Thought,
        SegmentLabel::Action,
        SegmentLabel::Observation,
        SegmentLabel::Action,
        SegmentLabel::Observation,
        SegmentLabel::HumanEdit,
        SegmentLabel::Rejection,
        SegmentLabel::Cue,
    ];
    let mut segments = Vec::new();
    let count = 1 + rng.below(16);
    let index = rng.below(count);
    for n in 0..count {
        let words = if n == index { words } else { texts[rng.below(texts.len())].as_str() };
        segments.push(Segment {
            label: labels[rng.below(labels.len())],
            origin: SegmentOrigin::Task,
            message_role: MessageRole::User,
            text: Arc::from(words),
        });
    }
    let prompt = Prompt { segments };
    let replies = catalog::rule_based_replies(catalog::ENVIRONMENT_NAMES.iter().copied());
    let line = stand_in::answer(&replies, &prompt, rng.next());
    assert!(!line.contains('\n'), "{line:?}");
    let _ = prompt::body_hash(&prompt);
}

/// A session whose commands and replies contain the hostile text.
struct TextSession {
    rig: Rig,
}

impl TextSession {
    fn new(number: u64) -> Self {
        let interface = [Interface::Raw, Interface::React, Interface::Agentboard][(number % 3) as usize];
        let method = ["react", "omnireflect"][(number % 2) as usize];
        let mut rig = Rig::new(spec(method, interface, &["easy/put/1"; 3]));
        rig.send(&Command::ChangeSetting { name: "max_steps".to_owned(), value: 1_000.into() }).unwrap();
        rig.send(&Command::Run).unwrap();
        Self { rig }
    }

    fn feed_text(&mut self, rng: &mut Rng, words: &str) {
        let outgoing = retrospect::catalog::rewrite_action(self.rig.state(), words);
        assert!(outgoing.sent.is_none_or(|s| s.len()
            <= words.len() + 3 * words.matches(" on ").count() + 4 * words.matches(" in ").count()));
        let command = self.random_command(rng, words);
        // An error has a message; an accepted command is journaled.
        if let Some(Err(error)) = command.map(|c| self.rig.send(&c)) {
            assert!(!error.message.is_empty() && !error.hint.is_empty());
        }
        for _ in 0..3 {
            let Some(call) = self.rig.state().calls.values().next().cloned() else { break };
            self.rig.reply(reply_with_text(rng, &call, words));
            let _ = retrospect::catalog::RULES.detect(self.rig.state());
        }
        if !self.rig.state().run_over && self.rig.state().calls.is_empty() {
            let _ = self.rig.send(&Command::SetAutonomy(Autonomy::Auto));
            let _ = self.rig.send(&Command::Run);
        }
    }

    fn random_command(&self, rng: &mut Rng, words: &str) -> Option<Command> {
        let words = words.to_owned();
        let lessons: Vec<LessonId> = self.rig.state().pool.all().map(|l| l.id.clone()).collect();
        let id = match lessons.get(rng.below(lessons.len() + 1)) {
            Some(id) => id.clone(),
            None => LessonId(words.as_str().into()),
        };
        let kind =
            [ReflectionKind::Abstract, ReflectionKind::Error, ReflectionKind::Progress, ReflectionKind::Plan]
                [rng.below(4)];
        let scope = [Scope::Episode, Scope::Task, Scope::TaskType, Scope::Environment][rng.below(4)];
        let text = LessonText { text: words.clone(), solution: rng.once_in(3).then(|| words.clone()) };
        Some(match rng.below(22) {
            0..=2 => Command::Lesson(LessonCommand::add(kind, scope, text, words)),
            3 => Command::Lesson(LessonCommand::Edit { id, text }),
            4 => {
                let status =
                    [LessonStatus::On, LessonStatus::Pinned, LessonStatus::Off, LessonStatus::Retired]
                        [rng.below(4)];
                Command::Lesson(LessonCommand::Status { id, status })
            }
            5 => Command::Lesson(LessonCommand::Move { id, to: [0, 1, usize::MAX][rng.below(3)] }),
            6 => Command::Lesson(LessonCommand::Rescope { id, scope }),
            7 => Command::Undo,
            8 => Command::Redo,
            9 => Command::Remark { episode: None, step: [0, 1, u32::MAX][rng.below(3)], text: words },
            10 => Command::ChangeSetting { name: words.clone(), value: json!(words) },
            11 => Command::SetAutonomy([Autonomy::Auto, Autonomy::Confirm, Autonomy::Human][rng.below(3)]),
            12 => Command::Override {
                action: words.clone(),
                shown_as: [ShownAs::AgentAction, ShownAs::HumanEdit][rng.below(2)],
                thought_disposition: [
                    ThoughtDisposition::Kept,
                    ThoughtDisposition::Dropped,
                    ThoughtDisposition::Rewritten(words),
                ][rng.below(3)]
                .clone(),
            },
            13 => Command::Act(words),
            14 => Command::Reject(words),
            15 => Command::AskAgain,
            16 => Command::Reflect(kind),
            17 if rng.once_in(6) => Command::EndEpisode(EndReason::Person),
            18 => Command::Cancel,
            19 => Command::Retry,
            _ => return None,
        })
    }
}

fn reply_with_text(rng: &mut Rng, call: &Effect, words: &str) -> Reply {
    let id = call.call();
    if matches!(call, Effect::Ask { .. }) {
        let (text, reasoning) =
            (words.to_owned(), if rng.once_in(4) { words.to_owned() } else { String::new() });
        Reply::Model {
            tool_calls: Vec::new(),
            truncated: None,
            call: id,
            text,
            reasoning,
            usage: Usage::default(),
        }
    } else {
        let result = StepResult {
            observation: words.to_owned(),
            reward: 0.1 + 0.2,
            progress: rng.below(7) as f64 / 6.0,
            valid: !words.contains("Nothing happens."),
            shown: json!({"place": words, "seen": {"fridge 1": {"open": true, "items": [words]}}}),
            truth: if rng.once_in(2) { json!(words) } else { json!(null) },
            ..StepResult::default()
        };
        let admissible = if rng.once_in(2) { vec![words.to_owned(); 3] } else { Vec::new() };
        Reply::World { call: id, result: Box::new(result), admissible }
    }
}
