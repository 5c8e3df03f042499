//! The settings of the start screen: values, origins, and what each may be.

use crate::cli::config::{Config, ENTRIES, From, Sort};
use crate::cli::settings::origin;
use crate::cli::{pool, setup};
use crate::domain::{Limits, RunSpec, SettingOrigin};
use crate::method::{self, DefaultValue, PaperOrCode, SETTINGS};
use crate::report::metrics::paper_rows;
use crate::ui::start::{Answers, Knob, Variant};
use serde_json::Value;

/// The preset.
pub(super) const PRESET: &str = "run.preset";
/// The word for none.
pub(super) const NO_PRESET: &str = "none";
/// Steps of an episode.
pub(super) const STEPS: &str = "run.steps";
/// Lessons to begin with: a pool file.
pub(super) const POOL: &str = "start.pool";
/// Lessons to begin with: a constitution.
pub(super) const CONSTITUTION: &str = "start.constitution";
/// Whether tasks are played first to learn from.
pub(super) const CALIBRATE: &str = "start.calibrate";

/// What a table of settings is made for.
struct For<'a> {
    config: &'a Config,
    preset: Option<&'a str>,
    spec: &'a RunSpec,
    /// Another method and reading than the configuration's.
    other: Option<(&'a str, &'a str)>,
    offered: &'a Offered,
}

/// What is the same in every table.
struct Offered {
    /// The presets.
    presets: Vec<String>,
    /// Pool files, and none.
    pools: Vec<String>,
}

impl Offered {
    fn of(config: &Config) -> Self {
        let own = config.preset_names().map(str::to_owned);
        let shipped = paper_rows().iter().map(|r| r.preset.clone());
        let mut presets: Vec<String> = [NO_PRESET.to_owned()].into_iter().chain(own).chain(shipped).collect();
        let mut told = std::collections::HashSet::new();
        presets.retain(|name| told.insert(name.clone()));
        let kept = Some(pool::path(config)).filter(|file| file.is_file());
        let pools = [String::new()].into_iter().chain(kept.map(|file| file.display().to_string())).collect();
        Self { presets, pools }
    }
}

/// The settings as they are before anything is chosen.
pub(super) fn of_plan(config: &Config, spec: &RunSpec) -> Vec<Knob> {
    For { config, preset: None, spec, other: None, offered: &Offered::of(config) }.knobs()
}

/// The settings for each preset and method in each reading, so that a choice on the screen shows its own at once.
pub(super) fn variants(config: &Config, spec: &RunSpec) -> Vec<Variant> {
    let readings = [("paper", PaperOrCode::Paper), ("code", PaperOrCode::Code)];
    let plain = method::METHOD_NAMES.iter().map(|name| (None, *name));
    let own =
        config.preset_names().flat_map(|p| method::METHOD_NAMES.iter().map(move |name| (Some(p), *name)));
    let shipped = paper_rows()
        .iter()
        .filter(|r| config.row(Some(&r.preset)).is_some())
        .map(|r| (Some(r.preset.as_str()), r.method.as_str()));
    let offered = &Offered::of(config);
    let mut all = Vec::new();
    for (preset, name) in plain.chain(own).chain(shipped) {
        for (word, reading) in readings {
            let (mut limits, mut settings, _) = method::defaults(name, reading);
            // A preset that this method cannot have is none of its variants.
            if setup::preset(config, preset, reading, &mut settings, &mut limits).is_err() {
                continue;
            }
            let of = RunSpec { method: name.to_owned(), settings, limits, ..spec.clone() };
            let knobs = For { config, preset, spec: &of, other: Some((name, word)), offered }.knobs();
            all.push(Variant {
                preset: preset.unwrap_or(NO_PRESET).to_owned(),
                method: name.to_owned(),
                reading: word.to_owned(),
                knobs,
            });
        }
    }
    all
}

/// The models of the configuration, each with its profile.
pub(super) fn profile_of(config: &Config) -> Vec<(String, String)> {
    config.models().map(|(profile, model)| (format!("openai:{model}"), profile.to_owned())).collect()
}

fn words(all: &[&str]) -> Answers {
    Answers::Words(all.iter().map(|w| (*w).to_owned()).collect())
}

/// A value of the configuration as text.
fn value(config: &Config, name: &str) -> String {
    match ENTRIES.iter().find(|e| e.name == name).map(|e| e.sort) {
        Some(Sort::Number(_)) => config.number(name).to_string(),
        _ => config.text(name).to_owned(),
    }
}

impl For<'_> {
    fn knobs(&self) -> Vec<Knob> {
        let mut all = vec![self.preset()];
        all.extend(
            ["run.method", "run.as", "run.actor", "run.mentor"].into_iter().map(|name| self.entry(name)),
        );
        all.extend(["run.trials"].into_iter().map(|name| self.entry(name)));
        all.push(self.steps());
        all.push(self.entry("run.seed"));
        all.extend(self.settings(true));
        all.extend(self.lessons());
        let rest = [
            "run.profile",
            "run.base_url",
            "run.mentor_profile",
            "run.mentor_base_url",
            "run.api",
            "run.cache",
            "run.interface",
            "run.prompts",
            "run.exemplars",
        ];
        all.extend(rest.into_iter().map(|name| self.entry(name)));
        all.extend(self.settings(false));
        all
    }

    fn preset(&self) -> Knob {
        let about = match (self.preset, self.config.row(self.preset)) {
            (Some(name), Some(row)) if row.starts_with_lessons => {
                format!("{name}, {}: {}; it begins with a pool or a constitution", row.source(), row.label)
            }
            (Some(name), Some(row)) => format!("{name}, {}: {}", row.source(), row.label),
            (Some(_), None) => "settings of the configuration file".to_owned(),
            (None, _) => "the settings of a row of a paper's table, or your own".to_owned(),
        };
        Knob {
            name: PRESET.to_owned(),
            label: "preset".to_owned(),
            value: self.preset.unwrap_or(NO_PRESET).to_owned(),
            origin: SettingOrigin::BuiltIn,
            answers: Answers::Words(self.offered.presets.clone()),
            about,
        }
    }

    fn steps(&self) -> Knob {
        let Limits { steps, .. } = self.spec.limits;
        let by_code = self.other.is_some_and(|o| o.1 == "code") && steps == 49;
        Knob {
            name: STEPS.to_owned(),
            label: "steps".to_owned(),
            value: steps.to_string(),
            origin: if by_code { SettingOrigin::Code } else { SettingOrigin::Paper },
            answers: Answers::Number(1, u64::from(u32::MAX)),
            about: "steps an episode may take".to_owned(),
        }
    }

    /// A setting of the configuration.
    fn entry(&self, name: &'static str) -> Knob {
        let Self { config, spec, other, .. } = self;
        let row = config.row(self.preset);
        let value = match (name, other) {
            ("run.method", Some((method, _))) => (*method).to_owned(),
            ("run.as", Some((_, reading))) => (*reading).to_owned(),
            ("run.trials", _) => row.map_or_else(|| self.trials(), |r| u64::from(r.trials)).to_string(),
            _ => value(config, name),
        };
        let origin = match name {
            "run.method" | "run.trials" if row.is_some() => SettingOrigin::Paper,
            // How many trials a method has is from its paper.
            "run.trials" if self.trials_by_method() && method::default_trials(&spec.method) > 1 => {
                SettingOrigin::Paper
            }
            _ => origin(config.from(name)),
        };
        let entry = ENTRIES.iter().find(|e| e.name == name);
        Knob {
            name: name.to_owned(),
            label: name.trim_start_matches("run.").replace('_', " "),
            value,
            origin,
            answers: self.answers(name),
            about: entry.map_or("", |e| e.meaning).to_owned(),
        }
    }

    fn answers(&self, name: &str) -> Answers {
        let text = |none, what, offered: &[&str]| {
            let mut offered: Vec<String> = offered.iter().map(|w| (*w).to_owned()).collect();
            if name == "run.actor" || name == "run.mentor" {
                offered.extend(profile_of(self.config).into_iter().map(|p| p.0));
            }
            if name.ends_with("profile") {
                offered.push(String::new());
                offered.extend(self.config.profile_names());
            }
            let set = self.config.text(name);
            if !set.is_empty() && !offered.iter().any(|w| w == set) {
                offered.push(set.to_owned());
            }
            Answers::Text { none, offered, what }
        };
        match (name, ENTRIES.iter().find(|e| e.name == name).map(|e| e.sort)) {
            ("run.actor", _) => text("rules", "openai:MODEL or recorded:SESSION", &["rules", "human"]),
            ("run.mentor", _) => text("symbolic", "openai:MODEL or recorded:SESSION", &["symbolic", "none"]),
            ("run.profile", _) => text("none", "names of profiles, separated by commas", &[]),
            ("run.mentor_profile", _) => text("the actor's", "names of profiles", &[]),
            ("run.base_url", _) => text("none", "an address", &[]),
            ("run.mentor_base_url", _) => text("the actor's", "an address", &[]),
            ("run.exemplars", _) => text("built in", "the path of a pool file", &[]),
            (_, Some(Sort::Word(allowed))) => words(allowed),
            (_, Some(Sort::Number(from))) => Answers::Number(from, u64::MAX),
            _ => text("built in", "the path of a folder", &[]),
        }
    }

    /// What the run may begin with.
    fn lessons(&self) -> [Knob; 3] {
        let file = |name: &str, label: &str, about: &str| Knob {
            name: name.to_owned(),
            label: label.to_owned(),
            value: String::new(),
            origin: SettingOrigin::BuiltIn,
            answers: Answers::Text {
                none: "empty",
                offered: self.offered.pools.clone(),
                what: "the path of a file",
            },
            about: about.to_owned(),
        };
        [
            file(POOL, "pool", "lessons to begin with: a pool file"),
            file(
                CONSTITUTION,
                "constitution",
                "Abstract and Error lessons to begin with: what `calibrate` made, or a text of one lesson a line",
            ),
            Knob {
                name: CALIBRATE.to_owned(),
                label: "calibrate".to_owned(),
                value: "false".to_owned(),
                origin: SettingOrigin::BuiltIn,
                answers: words(&["false", "true"]),
                about: "first play tasks to learn from (per type, explore); they are in no rate".to_owned(),
            },
        ]
    }

    /// The method's own settings, or those that all methods have.
    fn settings(&self, own: bool) -> impl Iterator<Item = Knob> + '_ {
        SETTINGS.iter().filter(move |known| known.methods.is_empty() != own).filter_map(|known| {
            let setting = self.spec.settings.0.get(known.name)?;
            let answers = match known.default {
                DefaultValue::Number(_) => Answers::Number(known.range.0, known.range.1),
                DefaultValue::Switch(_) => words(&["true", "false"]),
                DefaultValue::Word(_, allowed) => words(allowed),
            };
            let value = match &setting.value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let (name, label) = (known.name.to_owned(), known.name.replace('_', " "));
            Some(Knob {
                name,
                label,
                value,
                origin: setting.origin,
                answers,
                about: known.meaning.to_owned(),
            })
        })
    }

    /// Nobody has said how many trials a task gets.
    fn trials_by_method(&self) -> bool {
        matches!(self.config.from("run.trials"), From::Default)
    }

    fn trials(&self) -> u64 {
        if self.trials_by_method() {
            u64::from(method::default_trials(&self.spec.method))
        } else {
            self.config.number("run.trials")
        }
    }
}
