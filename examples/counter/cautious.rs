//! The method `cautious`: an actor plays, and after each lost attempt the mentor writes what to be careful about. The actor reads
//! that from then on.

use retrospect::catalog::{Lane, LaneFormat, MethodEntry, ModelNeed, PreparedAttempts, QuestionEntry, RULES};
use retrospect::domain::{Purpose, Question, ReflectionKind};
use retrospect::engine::{Intent, Method, State};
use retrospect::method::{ask_mentor, next_by_task};
use retrospect::prompt::ReplyForm;
use std::sync::Arc;

pub(crate) const ENTRY: MethodEntry = MethodEntry {
    summary: "Acts, and learns a caution from each lost attempt.",
    templates: &[
        ("cautious.toml", include_str!("cautious.toml")),
        ("cautious-question.toml", include_str!("cautious-question.toml")),
    ],
    questions: &[QuestionEntry {
        question: CAUTION,
        when: "after a lost attempt",
        reply_form: ReplyForm::List,
        sample_reply: "[\"{}\"]",
        attempts: PreparedAttempts::LOST,
        settings: &[],
    }],
    lanes: &[Lane { title: "Cautions", kinds: &[ReflectionKind::Negative], format: LaneFormat::Plain }],
    ..MethodEntry::new("cautious", |_| Ok(Arc::new(Cautious)), ModelNeed::Always)
};

const CAUTION: Question = Question { kind: ReflectionKind::Negative, purpose: Purpose::Reflect };

struct Cautious;

impl Method for Cautious {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn next(&self, state: &State) -> Vec<Intent> {
        let Some(open) = state.open_episode() else {
            return next_by_task(state);
        };
        if open.first_observation.is_none() {
            return Vec::new();
        }
        if !state.is_episode_ending() {
            return vec![Intent::AskActor];
        }
        let is_won = open.last_step().and_then(|step| step.answer.as_ref()).is_some_and(|answer| answer.won);
        if is_won || state.is_answered(CAUTION) {
            Vec::new()
        } else {
            ask_mentor(self, RULES, state, CAUTION)
        }
    }

    fn reflect_now(&self, state: &State, kind: ReflectionKind) -> Vec<Intent> {
        if kind == CAUTION.kind { ask_mentor(self, RULES, state, CAUTION) } else { Vec::new() }
    }
}
