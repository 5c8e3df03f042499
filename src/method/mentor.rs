//! Asking whoever is the mentor: a model, or the symbolic rules in its place. And what a run's settings have to do with it:
//! which of them follow from who the mentor is, and which leave a mentor unasked.

use crate::domain::{Author, ModelRole, PromptRecord, Question, RunSpec, SettingOrigin, Settings};
use crate::engine::{Intent, MentorReply, Method, State, with_model};

/// The wants that put a question to the run's mentor. The symbolic rules answer at once, and the method hears them as it
/// hears a model; without a mentor nothing is asked.
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
            let heard = MentorReply {
                prompt: &prompt,
                question,
                author: Author::Symbolic,
                items,
                complaints: Vec::new(),
                dropped: Vec::new(),
                truncated: None,
            };
            method.on_mentor_reply(state, &heard)
        }
        _ => vec![Intent::AskMentor(question)],
    }
}

/// Whether a mentor, as on the command line, is somebody who is asked: a model, or a recording of one.
fn can_be_asked(mentor: &str) -> bool {
    mentor.starts_with("openai:") || mentor.starts_with("recorded:")
}

/// What `generation` is where nobody has set it, as it follows from the mentor; none where it stays as it is. `now` is where
/// its value comes from, `preset` whether a preset was chosen.
pub fn derived_generation(
    mentor: &str,
    now: SettingOrigin,
    preset: bool,
) -> Option<(&'static str, SettingOrigin)> {
    let open = match now {
        SettingOrigin::BuiltIn | SettingOrigin::Mentor => true,
        // Sessions of version 0.1 call our default the paper's, as a preset of a paper's row is called still.
        SettingOrigin::Paper => !preset,
        _ => false,
    };
    match (open, can_be_asked(mentor)) {
        (true, true) => Some(("neural", SettingOrigin::Mentor)),
        (true, false) if now == SettingOrigin::Mentor => Some(("symbolic", SettingOrigin::BuiltIn)),
        _ => None,
    }
}

/// Lets `generation` follow from who the mentor is, where nobody has set it: a model that is named is named to be asked.
pub fn derive_generation(mentor: &str, settings: &mut Settings) {
    let preset = settings.0.contains_key("preset");
    let now = settings.0.get("generation").map(|s| s.origin);
    if let Some((value, origin)) = now.and_then(|now| derived_generation(mentor, now, preset)) {
        settings.set("generation", value, origin);
    }
}

/// The same run with another model for a role, and what follows from that: see [`with_model`] for the words.
pub fn switch_model(run: &RunSpec, asked: ModelRole, words: &str) -> RunSpec {
    let mut run = with_model(run, asked, words);
    derive_generation(&run.mentor, &mut run.settings);
    run
}

/// Why a mentor that could be asked will not be asked in this run, and which setting changes that; none where it will be,
/// or where there is nobody to ask.
pub fn unused_mentor_reason(run: &RunSpec) -> Option<String> {
    if !can_be_asked(&run.mentor) {
        return None;
    }
    let settings = &run.settings;
    let (on, is) = (|name: &str| settings.flag(name, true), |name, word| settings.text(name, "") == word);
    let learns = !run.calibration_tasks().is_empty() || !run.exploration_tasks().is_empty();
    let silent =
        is("reflect", "never") || !["kind_abstract", "kind_error", "kind_progress"].into_iter().any(on);
    let summaries = settings.number("s_freq", 10);
    let summarised =
        run.method == "omnireflect" && summaries > 0 && run.test_tasks().len() as u64 >= summaries;
    let after_last = settings.flag("reflect_after_last", false);
    let once = run.trials <= 1 && !after_last;
    const ONE_TRIAL: (&str, &str) = (
        "there is one trial, and nothing is written after the last",
        "--trials 2 (or more) or --set reflect_after_last=true",
    );
    let (why, what) = match run.method.as_str() {
        "omnireflect" | "react" if is("generation", "symbolic") => (
            "generation is symbolic, so rules write the reflections",
            "--set generation=neural (or neuro-symbolic)",
        ),
        _ if learns && !silent => return None,
        "omnireflect" if silent && !summarised => (
            "no reflections are written",
            "--set reflect=periodic with a kind switched on (kind_abstract ...)",
        ),
        "react" => ("ReAct reflects on nothing", "another --method, or --calibrate,"),
        "reflexion" if is("strategy", "none") || is("strategy", "last-attempt") => {
            ("this strategy writes no plans", "--set strategy=reflexion (or both)")
        }
        "reflexion" if once => ONE_TRIAL,
        "fcrf" if once && !is("lesson_pool", "summary") => ONE_TRIAL,
        "sweet_sour" if !on("positive") && !on("negative") => {
            ("positive and negative reflections are both off", "--set positive=true or --set negative=true")
        }
        _ => return None,
    };
    Some(format!("the mentor {} will not be asked: {why}; {what} has it asked", run.mentor))
}
