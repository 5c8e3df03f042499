//! Calls the mentor: a model, or the symbolic rules in its place. Also derives settings from the choice of mentor.

use super::omnireflect::settings::{GENERATION, Generation, REFLECT, ReflectionTrigger};
use crate::domain::{
    Author, ModelRole, PromptRecord, Question, RunSpec, SettingOrigin, Settings, with_model,
};
use crate::engine::{Intent, MentorReply, Method, State};
use crate::symbolic::SymbolicRules;

/// Returns the intents that ask the run's mentor a question. The symbolic rules answer at once, and the method handles
/// their answer like a model's; without a mentor nothing is asked.
pub(super) fn ask_mentor(
    method: &dyn Method,
    rules: SymbolicRules,
    state: &State,
    question: Question,
) -> Vec<Intent> {
    match state.run.as_ref().map_or("none", |r| r.mentor.as_str()) {
        "none" => Vec::new(),
        "symbolic" => {
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

/// Returns whether a mentor, as given on the command line, is a model or a recording of one.
pub fn is_model(mentor: &str) -> bool {
    mentor.starts_with("openai:") || mentor.starts_with("recorded:")
}

/// Returns the value of `generation` implied by the mentor if nobody has set it, or `None` if it stays unchanged.
/// `origin` is the origin of its current value, `preset` whether a preset was chosen.
pub fn derived_generation(
    mentor: &str,
    origin: SettingOrigin,
    preset: bool,
) -> Option<(&'static str, SettingOrigin)> {
    let is_default = match origin {
        SettingOrigin::BuiltIn | SettingOrigin::Mentor => true,
        // Version 0.1 also recorded the origin `paper` for our default; today only presets set it.
        SettingOrigin::Paper => !preset,
        _ => false,
    };
    match (is_default, is_model(mentor)) {
        (true, true) => Some((Generation::Neural.word(), SettingOrigin::Mentor)),
        (true, false) if origin == SettingOrigin::Mentor => {
            Some((Generation::Symbolic.word(), SettingOrigin::BuiltIn))
        }
        _ => None,
    }
}

/// Derives `generation` from the mentor if nobody has set it: naming a model means that it should be called.
pub fn derive_generation(mentor: &str, settings: &mut Settings) {
    let preset = settings.contains("preset");
    let current_origin = settings.recorded(GENERATION.spec.name).map(|s| s.origin);
    if let Some((value, origin)) =
        current_origin.and_then(|current_origin| derived_generation(mentor, current_origin, preset))
    {
        settings.set(GENERATION.spec.name, value, origin);
    }
}

/// Makes reflections never due, because nobody would write them.
pub fn disable_reflections(settings: &mut Settings, origin: SettingOrigin) {
    settings.set(REFLECT.spec.name, ReflectionTrigger::Never.word(), origin);
}

/// Returns the run with another model for a role, and the settings that follow from it; [`with_model`] describes
/// the format of `model`.
pub fn switch_model(run: &RunSpec, role: ModelRole, model: &str) -> RunSpec {
    let mut run = with_model(run, role, model);
    derive_generation(&run.mentor, &mut run.settings);
    run
}
