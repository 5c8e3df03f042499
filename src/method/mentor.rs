//! Asking whoever is the mentor: a model, or the symbolic rules in its place.

use crate::domain::{Asked, Author, PromptRecord, Question};
use crate::engine::{Heard, Method, State, Want};

/// The wants that put a question to the run's mentor. The symbolic rules answer at once, and the method hears them as it
/// hears a model; without a mentor nothing is asked.
pub(super) fn ask(method: &dyn Method, state: &State, question: Question) -> Vec<Want> {
    match state.run.as_ref().map_or("none", |r| r.mentor.as_str()) {
        "none" => Vec::new(),
        "symbolic" => {
            let prompt = PromptRecord {
                asked: Asked::Mentor,
                question: Some(question),
                episode: state.episode.as_ref().map_or(0, |e| e.number),
                step: state.episode.as_ref().map_or(0, |e| e.answered()),
                ..PromptRecord::default()
            };
            let items = crate::symbolic::answer(state, question);
            let heard =
                Heard { prompt: &prompt, question, author: Author::Symbolic, items, complaints: Vec::new() };
            method.heard(state, &heard)
        }
        _ => vec![Want::AskMentor(question)],
    }
}
