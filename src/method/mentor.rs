//! Calls the mentor: a model, or the symbolic rules in its place.

use crate::domain::{Author, ModelRole, PromptRecord, Question, RoleSource};
use crate::engine::{Intent, MentorReply, Method, State};
use crate::symbolic::SymbolicRules;

/// Returns the intents that ask the run's mentor a question. The symbolic rules answer at once, and the method handles
/// their answer like a model's; without a mentor nothing is asked.
pub fn ask_mentor(
    method: &dyn Method,
    rules: SymbolicRules,
    state: &State,
    question: Question,
) -> Vec<Intent> {
    let mentor = state.run.as_ref().map_or(RoleSource::Nobody, |run| run.role_source(ModelRole::Mentor));
    match mentor {
        RoleSource::Nobody => Vec::new(),
        RoleSource::Symbolic => {
            let prompt = PromptRecord {
                role: ModelRole::Mentor,
                question: Some(question),
                episode: state.episode.as_ref().map_or(0, |e| e.number),
                step: state.episode.as_ref().map_or(0, |e| e.answered_steps()),
                ..PromptRecord::default()
            };
            let items = rules.answer_question(state, question);
            let reply = MentorReply {
                prompt: &prompt,
                question,
                author: Author::Symbolic,
                items,
                complaints: Vec::new(),
                dropped: Vec::new(),
                truncated: None,
            };
            method.on_mentor_reply(state, &reply)
        }
        _ => vec![Intent::AskMentor(question)],
    }
}
