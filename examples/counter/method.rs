//! The method `shortest`: a job computes the fewest additions that reach the goal; the method keeps them as a plan, which
//! a person can edit, and proposes one of its lines in each step. It asks no model.

use crate::environment::STEPS;
use retrospect::catalog::{
    ActionSource, GivenOptions, JobEntry, Lane, LaneFormat, MethodEntry, MethodOption, MethodPreset,
    ModelNeed, OptionError,
};
use retrospect::domain::{
    EndReason, Job, JobContext, Lesson, LessonId, LessonText, ReflectionKind, Scope, SettingOrigin, Settings,
    TypedSetting, setting_words,
};
use retrospect::engine::{Computed, Episode, Intent, LessonCommand, Method, State};
use retrospect::env::OptionValues;
use retrospect::method::next_by_task;
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) const ENTRY: MethodEntry = MethodEntry {
    summary: "Has the shortest way computed and remembers its length.",
    settings: &[ORDER.spec],
    options: &[LARGEST_OPTION],
    record_options,
    presets: &[MethodPreset {
        name: "shortest-ascending",
        meaning: "small numbers first, at most 20 additions",
        trials: 1,
        steps: 20,
        settings: &[(ORDER.spec.name, Order::SmallestFirst.as_default())],
    }],
    templates: &[("shortest.toml", include_str!("shortest.toml"))],
    questions: &[],
    jobs: &[JobEntry { name: JOB, label: "looking for the shortest way", compute: find_shortest }],
    step_limits: (300, 300),
    lanes: &[Lane { title: "Way", kinds: &[ReflectionKind::Plan], format: LaneFormat::Actions }],
    empty_lane_text: |_, lane| {
        (lane.kinds == [ReflectionKind::Plan]).then(|| "computed before the first step".to_owned())
    },
    action_source: ActionSource::Plan,
    current_action,
    ..MethodEntry::new("shortest", |_| Ok(Arc::new(Shortest)), ModelNeed::NoMentor)
};

const JOB: &str = "counter_shortest";

setting_words! {
    /// The order of the additions.
    enum Order {
        LargestFirst = "largest-first",
        SmallestFirst = "smallest-first",
    }
}

const ORDER: TypedSetting<Order> = Order::setting(
    "order",
    "the order in which the numbers are added",
    Order::LargestFirst,
    SettingOrigin::BuiltIn,
);

/// The setting that the option becomes.
const LARGEST_SETTING: &str = "largest";

const LARGEST_OPTION: MethodOption = MethodOption {
    name: "run.largest",
    meaning: "the largest number that may be added",
    values: OptionValues::Words(&["5", "3", "1"]),
    variable: "COUNTER_LARGEST",
    flag: "--largest",
    value_name: "NUMBER",
};

fn record_options(given: &dyn GivenOptions, settings: &mut Settings) -> Result<Option<String>, OptionError> {
    let text = given.text(&LARGEST_OPTION);
    let largest: u64 = text.parse().map_err(|_| {
        OptionError::usage(format!("{} {text}: not a number", LARGEST_OPTION.flag), "use 1, 3 or 5")
    })?;
    settings.set(LARGEST_SETTING, largest, given.origin(&LARGEST_OPTION));
    Ok(None)
}

struct Shortest;

impl Method for Shortest {
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
        match plan(state, open) {
            Some(plan) => match plan_lines(plan).nth(open.answered_steps() as usize) {
                Some(action) => vec![Intent::Propose { thought: None, action: action.to_owned() }],
                None => vec![Intent::EndEpisode(EndReason::PlanEnd)],
            },
            // A person continues without the job.
            None if state.memory == json!(open.number) => vec![Intent::EndEpisode(EndReason::PlanEnd)],
            None => {
                let largest = state.run.as_ref().and_then(|run| run.settings.value(LARGEST_SETTING));
                let inputs = json!({
                    "goal": open.shown["goal"],
                    "largest": largest,
                    "largest_first": state.setting(ORDER) == Order::LargestFirst,
                });
                vec![Intent::Compute {
                    job: Box::new(Job { name: JOB.to_owned(), inputs }),
                    texts: Vec::new(),
                }]
            }
        }
    }

    fn reflect_now(&self, _: &State, _: ReflectionKind) -> Vec<Intent> {
        Vec::new()
    }

    fn on_computed(&self, state: &State, computed: &Computed<'_>) -> Vec<Intent> {
        let Some(way) = computed.result.and_then(Value::as_str) else {
            return vec![Intent::SetMemory(json!(state.episode.as_ref().map(|episode| episode.number)))];
        };
        vec![Intent::Lesson(LessonCommand::Add {
            kind: ReflectionKind::Plan,
            scope: Scope::Episode,
            text: LessonText::plain(way),
            rule: Some(JOB.to_owned()),
            parents: Vec::new(),
            transition: None,
            evidence: format!("the goal is {}", computed.job.inputs["goal"]),
            pinned: false,
        })]
    }
}

/// Returns the plan of an episode.
fn plan<'a>(state: &'a State, episode: &Episode) -> Option<&'a Lesson> {
    let mut plans = state.pool.active_of_kind(ReflectionKind::Plan);
    plans.rfind(|lesson| lesson.learnt_at.0 == episode.number)
}

/// Returns the actions of a plan: one a line.
fn plan_lines(plan: &Lesson) -> impl Iterator<Item = &str> {
    plan.text().text.lines().map(str::trim).filter(|line| !line.is_empty())
}

/// Returns the plan and the number of its action for the last step, which the lane marks.
fn current_action(state: &State) -> Option<(&LessonId, u32)> {
    let episode = state.episode.as_deref()?;
    let step = episode.last_step()?;
    Some((&plan(state, episode)?.id, step.number))
}

/// Finds the fewest additions that reach the goal, one a line.
fn find_shortest(inputs: &Value, context: &JobContext) -> Result<Value, String> {
    let goal = inputs["goal"].as_u64().ok_or("the environment shows no goal")?;
    let largest = inputs["largest"].as_u64().unwrap_or(u64::MAX);
    // The last addition on the shortest way to each sum, and the number of additions.
    let mut ways: Vec<(u64, u64)> = vec![(0, 0)];
    for sum in 1..=goal {
        context.report(sum, goal)?;
        let last = STEPS.into_iter().filter(|step| *step <= sum.min(largest));
        let way = last.map(|step| (ways[(sum - step) as usize].1 + 1, step)).min();
        let (count, step) = way.ok_or("no way leads to the goal")?;
        ways.push((step, count));
    }
    let mut additions = Vec::new();
    let mut rest = goal;
    while rest > 0 {
        let step = ways[rest as usize].0;
        additions.push(step);
        rest -= step;
    }
    additions.sort_unstable();
    if inputs["largest_first"] == true {
        additions.reverse();
    }
    let lines: Vec<String> = additions.iter().map(|step| format!("add {step}")).collect();
    Ok(json!(lines.join("\n")))
}
