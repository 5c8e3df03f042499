//! What keeps a run from being compared with a row of a paper's table.

use crate::catalog::{
    self, CALIBRATION_METHOD, ModelNeed, PaperRow, TaskFacts, find_environment, find_method,
};
use crate::domain::common_settings::{COMMON_SETTINGS, MENTOR_AT_ONCE, PER_TYPE};
use crate::domain::{
    ModelRole, PaperOrCode, RoleSource, RunSpec, SAMPLING_PARAMS, SamplingParam, Setting, SettingOrigin,
    TEMPLATES_SETTING, Task, pluralize,
};
use crate::report::metrics::Metrics;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

impl PaperRow {
    /// Returns why a run with this specification doesn't correspond to this row; empty if it does.
    pub(super) fn differences(&self, metrics: &Metrics, spec: &RunSpec, env: &str) -> Vec<String> {
        let mut reasons = role_differences(spec);
        reasons.extend(self.task_differences(metrics, env));
        if metrics.open_sessions > 0 {
            reasons.push("finished runs in the paper, a run in progress here".to_owned());
        }
        if let Some(interface) = self.interface_in(env).filter(|interface| *interface != spec.interface) {
            reasons.push(format!(
                "interface {} in the paper, {} here",
                interface.word(),
                spec.interface.word()
            ));
        }
        if spec.trials != self.trials {
            reasons.push(format!("trials {} in the paper, {} here", self.trials, spec.trials));
        }
        if spec.limits.steps != self.steps && Some(spec.limits.steps) != self.paper.code_steps {
            reasons.push(format!("steps {} in the paper, {} here", self.steps, spec.limits.steps));
        }
        reasons.extend(self.lesson_difference(metrics, spec));
        reasons.extend(self.setting_differences(spec, env));
        reasons.extend(self.option_differences(spec, env));
        reasons.extend(self.sampling_differences(spec));
        reasons.extend(prompt_difference(spec));
        reasons.extend(self.caveat.clone());
        reasons
    }

    /// Compares the tasks with those of the paper: the same split, and all of it.
    fn task_differences(&self, metrics: &Metrics, env: &str) -> Vec<String> {
        let mut reasons = Vec::new();
        let tasks: BTreeMap<String, &Task> =
            metrics.attempts.iter().map(|a| (a.task.key(), &a.task)).collect();
        let facts = find_environment(env).map(|entry| &entry.task_facts);
        let split = self.paper.split.as_deref();
        let outside = match (facts.and_then(|facts| facts.published), split) {
            (Some(published), _) => published.count_others(tasks.values().copied()),
            (None, Some(split)) if facts.is_some_and(|facts| facts.split_in_id) => {
                tasks.values().filter(|task| !is_in_split(&task.id, split)).count()
            }
            _ => 0,
        };
        // Which tasks of a type it evaluates on, such a paper doesn't say.
        let has_list = self.paper.tasks_per_type.is_empty();
        let published = self.paper.tasks.get(env).copied().filter(|_| has_list);
        if !has_list {
            let short_type = facts.map_or(TaskFacts::NONE.short_type, |facts| facts.short_type);
            reasons.extend(self.task_type_difference(env, tasks.values().copied(), short_type));
        }
        if outside > 0 {
            let name = split
                .filter(|_| facts.is_some_and(|facts| facts.split_in_id))
                .map_or_else(|| "the tasks of the benchmark".to_owned(), |split| format!("tasks of {split}"));
            reasons.push(format!("{name} in the paper, {outside} of {} tasks here are others", tasks.len()));
        } else if let Some(total) = published.filter(|total| *total != tasks.len()) {
            reasons.push(format!("{total} tasks in the paper, {} here", tasks.len()));
        }
        reasons
    }

    /// Compares how many tasks of each type there are.
    fn task_type_difference<'t>(
        &self,
        env: &str,
        tasks: impl Iterator<Item = &'t Task>,
        short_type: fn(&str) -> &str,
    ) -> Option<String> {
        let in_paper = self.task_types_in(env);
        let mut here: BTreeMap<&str, usize> = in_paper.iter().map(|name| (*name, 0)).collect();
        for task in tasks {
            *here.entry(task.task_type.as_deref().map_or("no type", short_type)).or_default() += 1;
        }
        let is_other = |(name, count): &(&str, usize)| {
            !in_paper.contains(name) || !self.paper.tasks_per_type.contains(count)
        };
        let others: Vec<String> =
            here.into_iter().filter(is_other).map(|(name, count)| format!("{name} {count}")).collect();
        let numbers: Vec<String> = self.paper.tasks_per_type.iter().map(usize::to_string).collect();
        (!others.is_empty()).then(|| {
            format!(
                "{} tasks of each of {} types in the paper, other numbers here: {}",
                numbers.join(" or "),
                in_paper.len(),
                others.join(", ")
            )
        })
    }

    /// Compares the lessons at the start: none, or a constitution from one calibration task of each type.
    fn lesson_difference(&self, metrics: &Metrics, spec: &RunSpec) -> Option<String> {
        let calibrates = !spec.calibration_tasks().is_empty();
        let here = match (metrics.started_with_lessons, calibrates) {
            (true, _) => "lessons from a file",
            (false, true) => "a constitution from this run's calibration",
            (false, false) => "no lessons",
        };
        if self.starts_with_lessons {
            let per_type = self.calibration.get(PER_TYPE.spec.name).and_then(Value::as_u64).unwrap_or(1);
            let is_same =
                calibrates && !metrics.started_with_lessons && spec.settings.get(PER_TYPE) == per_type;
            if !is_same {
                return Some(format!(
                    "a constitution from {} of each type in the paper, {here} here (`--calibrate` makes one, with \
                     per_type {per_type})",
                    pluralize(per_type, "calibration task")
                ));
            }
            let advisor = self.advisor.as_ref().filter(|_| !self.is_advisor(&spec.mentor));
            return advisor.map(|advisor| {
                let mentor = spec.role_source(ModelRole::Mentor).describe();
                format!("a constitution by {advisor} in the paper, by {mentor} here")
            });
        }
        (calibrates || metrics.started_with_lessons)
            .then(|| format!("no lessons at the start in the paper, {here} here"))
    }

    /// Returns the settings of the method that plays the calibration of a row with a constitution, except the number of
    /// tasks, which [`Self::lesson_difference`] compares. A run without a calibration has none of them, and differs anyway.
    fn calibration_settings(&self, spec: &RunSpec) -> impl Iterator<Item = &str> {
        let is_compared = self.starts_with_lessons && !spec.calibration_tasks().is_empty();
        let settings = CALIBRATION_METHOD.settings.iter().filter(move |_| is_compared);
        settings.map(|setting| setting.name).filter(|name| *name != PER_TYPE.spec.name)
    }

    /// Compares the sampling parameters with the paper's, or with the temperature of the method's public code, or temperature 0 if
    /// neither names one; where the paper is silent, both are accepted. What the server doesn't take isn't compared: the paper's
    /// own models don't take all of them.
    fn sampling_differences(&self, spec: &RunSpec) -> Vec<String> {
        let zero = Value::from(0);
        let mut in_paper: BTreeMap<&str, &Value> = self.sampling().collect();
        let states_temperature = in_paper.contains_key("temperature");
        in_paper.entry("temperature").or_insert(&zero);
        let of_code = find_method(&self.method).map_or(&[][..], |entry| entry.code_sampling);
        let mut reasons = Vec::new();
        for role in ModelRole::ALL {
            let endpoint = spec.settings.recorded(&format!("{}.sampling", role.name()));
            let endpoint =
                endpoint.filter(|_| spec.role_source(role).is_model()).map(|setting| &setting.value);
            for (name, value) in &in_paper {
                let full_name = format!("{}.{name}", role.name());
                let of_run = spec.settings.recorded(&full_name).map(|setting| &setting.value);
                let here = of_run.or_else(|| endpoint?.get(name)).filter(|here| !here.is_null());
                let of_code = of_code
                    .iter()
                    .find(|(known, _)| *name == "temperature" && !states_temperature && *known == full_name)
                    .map(|(_, code)| code.to_json());
                let is_known = |here: &&Value| {
                    let known = [Some(*value), of_code.as_ref()];
                    known.into_iter().flatten().any(|known| known.as_f64() == here.as_f64())
                };
                if let Some(here) = here.filter(|here| !is_known(here)) {
                    let here = SamplingParam::format_value(here);
                    let known = of_code.as_ref().map_or_else(
                        || format!("{value} in the paper"),
                        |code| format!("{code} in the public code"),
                    );
                    reasons.push(format!("{full_name} {known}, {here} here"));
                }
            }
            // What the paper doesn't name was its models' default, unless somebody or another paper's preset has chosen it here.
            let chosen = SAMPLING_PARAMS
                .iter()
                .filter(|param| !in_paper.contains_key(param.name))
                .filter_map(|param| {
                    let name = param.setting_name(role);
                    let setting = spec.settings.recorded(&name).filter(|setting| {
                        is_chosen(setting.origin)
                            || (setting.origin == SettingOrigin::Paper && setting.value != false)
                    })?;
                    Some(format!(
                        "{name} not set in the paper, {} here",
                        SamplingParam::format_value(&setting.value)
                    ))
                });
            reasons.extend(chosen);
        }
        reasons
    }

    /// Compares every setting that has an influence on the result: with the row's value, or with those that the paper states, or
    /// else with the method's defaults. A default of this program is nobody's value: a run that has another one is listed with what
    /// the public code has, or as not stated.
    fn setting_differences(&self, spec: &RunSpec, env: &str) -> Vec<String> {
        let (mut reasons, settings) = (Vec::new(), self.settings_in(env));
        let defaults =
            [PaperOrCode::Paper, PaperOrCode::Code].map(|source| catalog::defaults(&self.method, source).1);
        let mut calibration = catalog::defaults(CALIBRATION_METHOD.name, PaperOrCode::Paper).1;
        if self.advisor.is_some() {
            // A model writes the constitution, so what follows from a mentor that is a model holds for it.
            catalog::apply_mentor_defaults(&RoleSource::name_of_model(""), &mut calibration);
        }
        let own = find_method(&self.method).map_or(&[][..], |entry| entry.settings);
        let shared = COMMON_SETTINGS.iter().filter(|setting| setting.name != MENTOR_AT_ONCE.spec.name);
        let of_environment = find_environment(env).map_or(&[][..], |entry| entry.settings);
        let names: BTreeSet<&str> = own
            .iter()
            .chain(shared)
            .chain(of_environment)
            .map(|setting| setting.name)
            .chain(settings.keys().copied())
            .chain(self.calibration_settings(spec))
            .collect();
        for name in names {
            let here = spec.settings.value(name);
            let stated = settings.get(name).copied().or_else(|| self.calibration.get(name)).into_iter();
            let stated: Vec<&Value> = stated.chain(self.stated_values(name)).collect();
            let recorded: Vec<&Setting> = if stated.is_empty() {
                let of_method: Vec<_> =
                    defaults.iter().filter_map(|settings| settings.recorded(name)).collect();
                if of_method.is_empty() {
                    calibration.recorded(name).into_iter().collect()
                } else {
                    of_method
                }
            } else {
                Vec::new()
            };
            let known = KnownValue::new(stated, &recorded);
            let Some(known) = known.filter(|known| here.is_none_or(|here| !known.accepted.contains(&here)))
            else {
                continue;
            };
            // A session of an earlier version doesn't have a newer setting.
            let here =
                here.map_or_else(|| "unknown in this session".to_owned(), |here| format!("{here} here"));
            reasons.push(format!("{name} {}, {here}", known.description).replace('"', ""));
        }
        reasons
    }
}

/// What is known of a setting in the paper's runs.
struct KnownValue<'a> {
    accepted: Vec<&'a Value>,
    /// The value and who has it, as a phrase.
    description: String,
}

impl<'a> KnownValue<'a> {
    /// Takes the values that the paper states, or else the defaults with their origins. Where the paper is silent, a default of this
    /// program is accepted beside the public code's, but isn't said to be the paper's. `None` if nothing is known.
    fn new(stated: Vec<&'a Value>, defaults: &[&'a Setting]) -> Option<Self> {
        if let Some(first) = stated.first() {
            let description = format!("{first} in the paper");
            return Some(Self { accepted: stated, description });
        }
        let default = defaults.first()?;
        let values = || defaults.iter().map(|setting| &setting.value);
        if default.origin != SettingOrigin::BuiltIn {
            let description = format!("{} in the paper", default.value);
            return Some(Self { accepted: values().collect(), description });
        }
        let of_code = defaults.iter().find(|setting| setting.origin == SettingOrigin::Code);
        let Some(of_code) = of_code else {
            let description = format!("not stated in the paper ({} by default)", default.value);
            return Some(Self { accepted: values().collect(), description });
        };
        let description = format!("{} in the public code", of_code.value);
        Some(Self { accepted: values().collect(), description })
    }
}

impl PaperRow {
    /// Compares how the tasks of an environment are opened.
    fn option_differences(&self, spec: &RunSpec, env: &str) -> Vec<String> {
        let of_env = |name: &str| name.split_once('.').is_some_and(|(prefix, _)| prefix == env);
        let options = self.options.iter().filter(|(name, _)| of_env(name));
        options
            .filter_map(|(name, in_paper)| {
                let here = spec.settings.value(name).and_then(Value::as_str);
                let here = here.map_or("unknown in this session".to_owned(), |here| format!("{here} here"));
                (here != format!("{in_paper} here"))
                    .then(|| format!("{name} {in_paper} in the paper, {here}"))
            })
            .collect()
    }
}

/// Returns whether a user has chosen a value, rather than a paper, a public code or this program.
fn is_chosen(origin: SettingOrigin) -> bool {
    matches!(origin, SettingOrigin::Flag | SettingOrigin::Config | SettingOrigin::Person)
}

/// The comparison is with this program's prompts; somebody else's may say anything.
fn prompt_difference(spec: &RunSpec) -> Option<String> {
    let templates = spec.settings.recorded(TEMPLATES_SETTING)?;
    (templates.origin != SettingOrigin::BuiltIn).then(|| "prompts or exemplars of a file here".to_owned())
}

/// In the papers, actor and mentor are language models; what stands in for one isn't comparable.
fn role_differences(spec: &RunSpec) -> Vec<String> {
    let mut reasons = Vec::new();
    let [actor, mentor] = ModelRole::ALL.map(|role| spec.role_source(role));
    if catalog::run_asks_actor(spec) && !actor.is_model() {
        reasons.push(format!("a language model acts in the paper, {} here", actor.describe()));
    }
    let needs_mentor = match find_method(&spec.method).map(|entry| entry.model_need) {
        Some(ModelNeed::Always) => true,
        Some(ModelNeed::If(reason)) => reason(&spec.settings).is_some(),
        _ => false,
    };
    let needs_mentor = needs_mentor || !spec.calibration_tasks().is_empty();
    if needs_mentor && !mentor.is_model() {
        reasons.push(format!("a language model reflects in the paper, {} here", mentor.describe()));
    }
    reasons
}

/// Returns whether an id is in a split: it is a path that contains the split's folder, whatever precedes it.
fn is_in_split(id: &str, split: &str) -> bool {
    id.split(['/', '\\']).any(|part| part == split)
}
