//! OmniReflect.

use crate::catalog::lane::Lane;
use crate::catalog::method_entry::{Carryover, MethodEntry, ModelNeed, disabled_by};
use crate::catalog::method_option::{ExemplarFile, MethodOption, OptionError};
use crate::catalog::question_entry::{PreparedAttempts, QuestionEntry};
use crate::catalog::rules::RULES;
use crate::catalog::unused_mentor::UnusedMentor;
use crate::domain::{
    DefaultValue, Purpose, Question, ReflectionKind, RunSpec, SettingOrigin, Settings, Task,
};
use crate::env::OptionValues;
use crate::method::omnireflect::settings::{
    GENERATION, Generation, KIND_ABSTRACT, KIND_ERROR, KIND_PROGRESS, REFLECT, ReflectionTrigger, S_FREQ,
};
use crate::method::{OmniReflect, omnireflect};
use crate::prompt::{ReplyForm, Templates};
use std::sync::Arc;

pub(super) const LANES: &[Lane] = &[Lane::ABSTRACT, Lane::ERROR, Lane::PROGRESS];

/// As many tasks as lie between two summaries, so that the list to shorten is long.
const TEN_TASKS: PreparedAttempts = PreparedAttempts { outcomes: &[false], trials: 1, tasks: 10 };

const EXEMPLAR_FILE: ExemplarFile = ExemplarFile {
    option: MethodOption {
        name: "run.exemplars",
        meaning: "pool file from a symbolic calibration; its lessons are the examples for neuro-symbolic generation",
        values: OptionValues::Path,
        variable: "RETROSPECT_EXEMPLARS",
        flag: "--exemplars",
        value_name: "FILE",
    },
    kinds: &[ReflectionKind::Abstract, ReflectionKind::Error, ReflectionKind::Progress],
    unused: |settings| {
        (settings.get(GENERATION) != Generation::NeuroSymbolic)
            .then_some("only neuro-symbolic generation shows exemplars (--set generation=neuro-symbolic)")
    },
};

pub(super) const ENTRY: MethodEntry = MethodEntry {
    summary: "A mentor watches every step and writes Abstract, Error and Progress lessons; long lists become a constitution.",
    settings: omnireflect::settings::LIST,
    exemplar_file: Some(EXEMPLAR_FILE),
    published: &[include_str!("../../method/omnireflect/published.toml")],
    templates: &[
        ("omnireflect.toml", include_str!("../../method/omnireflect/prompts/omnireflect.toml")),
        (
            "omnireflect-abstract.toml",
            include_str!("../../method/omnireflect/prompts/omnireflect-abstract.toml"),
        ),
        ("omnireflect-error.toml", include_str!("../../method/omnireflect/prompts/omnireflect-error.toml")),
        (
            "omnireflect-progress.toml",
            include_str!("../../method/omnireflect/prompts/omnireflect-progress.toml"),
        ),
        (
            "omnireflect-summary-abstract.toml",
            include_str!("../../method/omnireflect/prompts/omnireflect-summary-abstract.toml"),
        ),
        (
            "omnireflect-summary-error.toml",
            include_str!("../../method/omnireflect/prompts/omnireflect-summary-error.toml"),
        ),
    ],
    questions: &[
        QuestionEntry {
            question: Question { kind: ReflectionKind::Error, purpose: Purpose::Reflect },
            when: "after every r_freq-th step of an attempt",
            reply_form: ReplyForm::List,
            sample_reply: "[{'mistake': '{}', 'solution': '(its solution)'}]",
            attempts: PreparedAttempts::LOST,
            settings: &[(KIND_ERROR.spec.name, DefaultValue::Switch(true))],
        },
        QuestionEntry {
            question: Question { kind: ReflectionKind::Abstract, purpose: Purpose::Reflect },
            when: "after every r_freq-th step of an attempt",
            reply_form: ReplyForm::List,
            sample_reply: "[\"{}\"]",
            attempts: PreparedAttempts::LOST,
            settings: &[(KIND_ABSTRACT.spec.name, DefaultValue::Switch(true))],
        },
        QuestionEntry {
            question: Question { kind: ReflectionKind::Progress, purpose: Purpose::Reflect },
            when: "after every r_freq-th step of an attempt",
            reply_form: ReplyForm::List,
            sample_reply: "[\"{}\"]",
            attempts: PreparedAttempts::LOST,
            settings: &[(KIND_PROGRESS.spec.name, DefaultValue::Switch(true))],
        },
        QuestionEntry {
            question: Question { kind: ReflectionKind::Abstract, purpose: Purpose::Summarise },
            when: "after every s_freq-th finished task and after a calibration",
            reply_form: ReplyForm::WholeList,
            sample_reply: "[\"{}\"]",
            attempts: TEN_TASKS,
            settings: &[
                (KIND_ABSTRACT.spec.name, DefaultValue::Switch(true)),
                (S_FREQ.spec.name, DefaultValue::Number(10)),
            ],
        },
        QuestionEntry {
            question: Question { kind: ReflectionKind::Error, purpose: Purpose::Summarise },
            when: "after every s_freq-th finished task and after a calibration",
            reply_form: ReplyForm::WholeList,
            sample_reply: "[{'mistake': '{}', 'solution': '(its solution)'}]",
            attempts: TEN_TASKS,
            settings: &[
                (KIND_ERROR.spec.name, DefaultValue::Switch(true)),
                (S_FREQ.spec.name, DefaultValue::Number(10)),
            ],
        },
    ],
    states_top_p: true,
    step_limits: (50, 50),
    limits_origin: SettingOrigin::Paper,
    lanes: LANES,
    check_texts: check_exemplars,
    empty_lane_text: |run, lane| match lane.kinds {
        [ReflectionKind::Abstract] => disabled_by(run, KIND_ABSTRACT),
        [ReflectionKind::Error] => disabled_by(run, KIND_ERROR),
        [ReflectionKind::Progress] => disabled_by(run, KIND_PROGRESS),
        _ => None,
    },
    unused_mentor,
    without_mentor: &[(REFLECT.spec.name, ReflectionTrigger::Never.as_default())],
    carryover: |_| Carryover::AllTasks("lessons".to_owned()),
    ..MethodEntry::new(
        "omnireflect",
        |run| Ok(Arc::new(OmniReflect::for_run(run, RULES)?)),
        ModelNeed::If(neural_generation),
    )
};

/// Checks that neuro-symbolic generation differs from neural generation: for every kind of reflection that is written about a
/// task, the mentor is shown examples that rules wrote (`papers/omnireflect.txt` 2.2).
fn check_exemplars(run: &RunSpec, templates: &Templates) -> Result<(), OptionError> {
    let settings = &run.settings;
    let asks_mentor = settings.get(REFLECT) != ReflectionTrigger::Never;
    if settings.get(GENERATION) != Generation::NeuroSymbolic || !asks_mentor {
        return Ok(());
    }
    // Another method may play the tests.
    let tests = if run.method == ENTRY.name { run.test_tasks() } else { &[] };
    let (calibration, exploration) = (run.calibration_tasks(), run.exploration_tasks());
    let kinds = [
        (ReflectionKind::Abstract, KIND_ABSTRACT, vec![calibration, exploration, tests]),
        (ReflectionKind::Error, KIND_ERROR, vec![calibration, tests]),
        (ReflectionKind::Progress, KIND_PROGRESS, vec![tests]),
    ];
    let mut missing = Vec::new();
    for (kind, switch, tasks) in kinds.into_iter().filter(|(_, switch, _)| settings.get(*switch)) {
        let task = tasks.into_iter().flatten().find(|task| !templates.has_exemplars(task, kind));
        if let Some(Task { env, task_type, .. }) = task {
            let task_type = task_type.as_ref().map_or_else(String::new, |name| format!(" ({name})"));
            let name = kind.name();
            missing.push(format!(
                "of {name} reflections in {env}{task_type} (text exemplars_{}; {}=false writes no {name} reflections)",
                name.to_lowercase(),
                switch.spec.name
            ));
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let name = GENERATION.spec.name;
    Err(OptionError::usage(
        format!(
            "{name}=neuro-symbolic shows the mentor examples that rules wrote, but the templates have none {}",
            missing.join(" and none ")
        ),
        format!(
            "add the texts to the environment's file in a folder (--prompts DIR), name a pool file written by `retrospect \
             calibrate --mentor symbolic --out FILE` ({} FILE), or set {name}=neural",
            EXEMPLAR_FILE.option.flag
        ),
    ))
}

/// See [`MethodEntry::unused_mentor`].
pub(super) fn unused_mentor(run: &RunSpec) -> Option<UnusedMentor> {
    let settings = &run.settings;
    if settings.get(GENERATION) == Generation::Symbolic {
        return Some(UnusedMentor {
            reason: "generation is symbolic, so rules write the reflections",
            remedy: "--set generation=neural (or neuro-symbolic)",
        });
    }
    let has_kind = [KIND_ABSTRACT, KIND_ERROR, KIND_PROGRESS].into_iter().any(|kind| settings.get(kind));
    let never_reflects = settings.get(REFLECT) == ReflectionTrigger::Never || !has_kind;
    let period = settings.get(S_FREQ);
    let is_summarized = run.method == ENTRY.name && period > 0 && run.test_tasks().len() as u64 >= period;
    (never_reflects && !is_summarized).then_some(UnusedMentor {
        reason: "no reflections are written",
        remedy: "--set reflect=periodic with a kind switched on (kind_abstract ...)",
    })
}

/// Returns the setting because of which reflections need a model.
fn neural_generation(settings: &Settings) -> Option<String> {
    let generation = settings.get(GENERATION);
    (generation != Generation::Symbolic).then(|| format!("{}={}", GENERATION.spec.name, generation.word()))
}
