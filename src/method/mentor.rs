//! Calls the mentor: a model, or the symbolic rules in its place. Also derives settings from the choice of mentor, and
//! explains which settings prevent the mentor from being called.

use crate::domain::{Author, ModelRole, PromptRecord, Question, RunSpec, SettingOrigin, Settings};
use crate::engine::{Intent, MentorReply, Method, State, with_model};

/// Returns the intents that ask the run's mentor a question. The symbolic rules answer at once, and the method handles
/// their answer like a model's; without a mentor nothing is asked.
pub(super) fn ask_mentor(method: &dyn Method, state: &State, question: Question) -> Vec<Intent> {
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
            let items = crate::symbolic::answer_question(state, question);
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
fn is_model(mentor: &str) -> bool {
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
        (true, true) => Some(("neural", SettingOrigin::Mentor)),
        (true, false) if origin == SettingOrigin::Mentor => Some(("symbolic", SettingOrigin::BuiltIn)),
        _ => None,
    }
}

/// Derives `generation` from the mentor if nobody has set it: naming a model means that it should be called.
pub fn derive_generation(mentor: &str, settings: &mut Settings) {
    let preset = settings.0.contains_key("preset");
    let current_origin = settings.0.get("generation").map(|s| s.origin);
    if let Some((value, origin)) =
        current_origin.and_then(|current_origin| derived_generation(mentor, current_origin, preset))
    {
        settings.set("generation", value, origin);
    }
}

/// Returns the run with another model for a role, and the settings that follow from it; [`with_model`] describes
/// the format of `model`.
pub fn switch_model(run: &RunSpec, role: ModelRole, model: &str) -> RunSpec {
    let mut run = with_model(run, role, model);
    derive_generation(&run.mentor, &mut run.settings);
    run
}

/// Returns why the run never calls its mentor, and which setting changes that. Returns `None` if the mentor is called,
/// or if there is no model to call.
pub fn unused_mentor_reason(run: &RunSpec) -> Option<String> {
    if !is_model(&run.mentor) {
        return None;
    }
    let settings = &run.settings;
    let (is_on, has_value) =
        (|name: &str| settings.flag(name, true), |name, word| settings.text(name, "") == word);
    let has_calibration = !run.calibration_tasks().is_empty() || !run.exploration_tasks().is_empty();
    let never_reflects = has_value("reflect", "never")
        || !["kind_abstract", "kind_error", "kind_progress"].into_iter().any(is_on);
    let summary_period = settings.number("s_freq", 10);
    let is_summarized =
        run.method == "omnireflect" && summary_period > 0 && run.test_tasks().len() as u64 >= summary_period;
    let after_last = settings.flag("reflect_after_last", false);
    let has_one_trial = run.trials <= 1 && !after_last;
    const ONE_TRIAL: (&str, &str) = (
        "there is only one trial, and no reflection is written after the last trial",
        "--trials 2 (or more) or --set reflect_after_last=true",
    );
    let (reason, remedy) = match run.method.as_str() {
        "omnireflect" | "react" if has_value("generation", "symbolic") => (
            "generation is symbolic, so rules write the reflections",
            "--set generation=neural (or neuro-symbolic)",
        ),
        _ if has_calibration && !never_reflects => return None,
        "omnireflect" if never_reflects && !is_summarized => (
            "no reflections are written",
            "--set reflect=periodic with a kind switched on (kind_abstract ...)",
        ),
        "react" => ("ReAct doesn't reflect", "another --method or --calibrate"),
        "reflexion" if has_value("strategy", "none") || has_value("strategy", "last-attempt") => {
            ("this strategy writes no plans", "--set strategy=reflexion (or both)")
        }
        "reflexion" if has_one_trial => ONE_TRIAL,
        "fcrf" if has_one_trial && !has_value("lesson_pool", "summary") => ONE_TRIAL,
        "sweet_sour" if !is_on("positive") && !is_on("negative") => {
            ("positive and negative reflections are both off", "--set positive=true or --set negative=true")
        }
        _ => return None,
    };
    Some(format!("the mentor {} will never be called: {reason}; to call it, use {remedy}", run.mentor))
}
