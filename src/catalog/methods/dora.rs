//! DORA.

mod options;

use crate::catalog::lane::{Lane, LaneFormat};
use crate::catalog::method_entry::{Carryover, JobEntry, MethodEntry, ModelNeed};
use crate::catalog::question_entry::{PreparedAttempts, QuestionEntry};
use crate::catalog::rules::{RULES, find_environment};
use crate::catalog::uninformed_mentor_warning;
use crate::domain::{DefaultValue, Purpose, Question, ReflectionKind, SettingOrigin};
use crate::engine::State;
use crate::method::dora::jobs;
use crate::method::dora::settings::{ATTEMPTS, N_INIT, PROMPTER, Prompter, ROUNDS};
use crate::method::{Dora, dora};
use crate::prompt::ReplyForm;
use std::sync::Arc;

pub(super) const ENTRY: MethodEntry = MethodEntry {
    summary: "After a lost attempt the mentor writes advice; the instruction for this is tuned by Bayesian optimisation.",
    settings: dora::settings::LIST,
    options: options::OPTIONS,
    record_options: options::record,
    published: &[include_str!("../../method/dora/published.toml")],
    templates: &[
        ("dora.toml", include_str!("../../method/dora/prompts/dora.toml")),
        ("dora-advice.toml", include_str!("../../method/dora/prompts/dora-advice.toml")),
    ],
    questions: &[QuestionEntry {
        question: Question { kind: ReflectionKind::Advice, purpose: Purpose::Reflect },
        when: "after each lost attempt",
        reply_form: ReplyForm::Text,
        sample_reply: "{}",
        attempts: PreparedAttempts::LOST_REPEATEDLY,
        settings: &[],
    }],
    jobs: &[
        JobEntry {
            name: jobs::NEXT_POINTS,
            label: "fitting the rewards and choosing the next vectors",
            compute: jobs::compute_next_points,
        },
        JobEntry {
            name: jobs::INSTRUCT,
            label: "turning the vector into an instruction",
            compute: dora::compute_instruction,
        },
    ],
    // Its agent and its reflector; the paper names no temperature.
    code_sampling: &[
        ("actor.temperature", DefaultValue::Decimal(30)),
        ("actor.top_p", DefaultValue::Switch(false)),
        ("mentor.temperature", DefaultValue::Decimal(50)),
        ("mentor.top_p", DefaultValue::Switch(false)),
    ],
    code_remark: "the searches for expected improvement begin at the best vectors, not all at the first one, and the first vectors are a Latin hypercube, not a scrambled Sobol sequence; web pages have one action a reply unless `acting=screen-plan` is set (docs/methods/dora.md)",
    // The paper says nothing about ALFWorld's limit: this is Reflexion's. The code ends an attempt at a web page after ten actions.
    step_limits: (50, 10),
    limits_origin: SettingOrigin::BuiltIn,
    lanes: &[
        Lane::plain("Prompt", &[ReflectionKind::Instruction]),
        Lane::plain("Advice", &[ReflectionKind::Advice]),
        Lane { title: "Objective", kinds: &[ReflectionKind::Progress], format: LaneFormat::Record },
    ],
    mentor_only: &[ReflectionKind::Instruction],
    empty_lane_text: |run, lane| {
        let text = match lane.kinds {
            [ReflectionKind::Instruction] => match run.settings.get(PROMPTER) {
                Prompter::Text => {
                    "text steering, not the paper's soft prompt: chosen before the first attempt"
                }
                Prompter::Local => "written by a local model before the first attempt",
            },
            [ReflectionKind::Advice] => "written after a lost attempt",
            [ReflectionKind::Progress] => "the reward of each evaluation, after its last task",
            _ => return None,
        };
        Some(text.to_owned())
    },
    trial_labels,
    search_histories: dora::search_histories,
    job_position: dora::job_position,
    lesson_note: dora::describe_evaluation,
    // Whether advice was effective, ineffective or toxic, a measurement says.
    unmeasured_note: (&[ReflectionKind::Advice], "effect not measured"),
    pin_effect: |state, lesson| dora::has_vector(state, lesson).then_some("fixes its vector"),
    lane_labels: |state, lane| match (lane.kinds, &state.run) {
        ([ReflectionKind::Instruction], Some(run)) => dora::prompter_labels(run),
        ([ReflectionKind::Progress], _) => dora::budget_labels(state),
        _ => Vec::new(),
    },
    what_follows: dora::what_follows,
    run_notes: |run| {
        let mut notes = dora::run_notes(run);
        // Rules that know nothing about the environment write no advice, which is said elsewhere.
        if uninformed_mentor_warning(run).is_some() {
            notes.retain(|(name, _)| *name != dora::ADVICE_NOTE);
        }
        notes
    },
    carryover: |_| Carryover::AllTasks("advice, and the search for an instruction".to_owned()),
    // One evaluation.
    dry_run_settings: &[
        (N_INIT.spec.name, DefaultValue::Number(1)),
        (ROUNDS.spec.name, DefaultValue::Number(0)),
    ],
    ..MethodEntry::new(
        "dora",
        |run| Ok(Arc::new(Dora::for_run(run, RULES, element_counter)?)),
        ModelNeed::Always,
    )
};

/// Returns how the elements in an environment's observations are counted.
fn element_counter(env: &str) -> Option<dora::CountElements> {
    find_environment(env)?.task_facts.count_elements
}

/// Its budget decides how often a task is played, not the number of trials.
fn trial_labels(state: &State, _: &str, _: &str) -> Vec<String> {
    let Some(episode) = state.episode.as_deref() else { return Vec::new() };
    if dora::is_manual_attempt(state, episode.number) {
        return vec!["your attempt, not counted by the search".to_owned(), "not counted".to_owned()];
    }
    let attempts = state.setting(ATTEMPTS).max(1);
    let before = u64::from(episode.trial.saturating_sub(1));
    vec![
        format!("evaluation {}, attempt {}/{attempts}", before / attempts + 1, before % attempts + 1),
        format!("evaluation {}", before / attempts + 1),
    ]
}
