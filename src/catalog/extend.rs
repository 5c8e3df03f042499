//! Adds the entries of a program built on this crate, after checking them (`docs/EXTENDING.md`).

use super::extension::{self, Extension};
use super::method_entry::MethodEntry;
use super::method_option::MethodOption;
use super::published::parse_published;
use super::{environments, methods, settings, templates};
use crate::domain::common_settings::COMMON_SETTINGS;
use crate::env::OptionValues;
use crate::prompt::{TemplateError, Templates};
use std::collections::BTreeSet;

/// Entries that cannot be added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExtensionError {
    /// Entries have been added or looked up before.
    #[error("the catalog can be extended only once, before anything else; call extend() first in main()")]
    TooLate,
    /// Two entries have the same name.
    #[error("there are two {what}s named {name:?}; choose another name")]
    Duplicate { what: &'static str, name: String },
    /// Two lanes of a method show the same lessons.
    #[error("method {method}: two lanes show lessons of the kind {kind}; give it to one of them")]
    TwoLanes { method: &'static str, kind: &'static str },
    /// A lane would stay empty.
    #[error("method {method}: the lane {lane:?} shows no kind of lesson; give it one, or remove it")]
    EmptyLane { method: &'static str, lane: &'static str },
    /// The key of an option doesn't belong to its environment.
    #[error(
        "the option {option} of the environment {environment}: its name must begin with {environment:?} and a full stop"
    )]
    OptionPrefix { environment: &'static str, option: &'static str },
    /// An option of an environment has no words, so no default.
    #[error("the option {option} allows no words; its first word is the default")]
    NoWords { option: &'static str },
    /// Two environments have files of public code, which are about one.
    #[error(
        "the environments {first} and {second} both have files of public code; set public_files to None in one of them"
    )]
    PublicFiles { first: &'static str, second: &'static str },
    /// The default of an option isn't allowed.
    #[error("the option {option}: its default must be at least {minimum}")]
    DefaultTooSmall { option: &'static str, minimum: u64 },
    /// The key or the flag of a method's option can't be used.
    #[error(
        "the option {option} of the method {method}: its name must begin with `run.` and its flag with `--`"
    )]
    MethodOption { method: &'static str, option: &'static str },
    /// A preset has a value that its method doesn't accept.
    #[error("the preset {preset} of the method {method}: {reason}")]
    Preset { method: &'static str, preset: &'static str, reason: String },
    /// A question that the entry lists has no template, so its prompt would be empty.
    #[error(
        "the method {method} asks its mentor {question}, but has no prompt for it; add a file with `method = {method:?}`, \
         `question = {question:?}` and its segments to `templates` of its entry"
    )]
    QuestionTemplate { method: &'static str, question: String },
    /// A table of a paper can't be read.
    #[error("the published tables of the method {method}: {reason}")]
    Published { method: &'static str, reason: String },
    /// A prompt template can't be parsed.
    #[error(transparent)]
    Template(#[from] TemplateError),
}

/// Adds the entries of a program, which calls this first of all.
///
/// # Errors
/// Returns an [`ExtensionError`] for the first entry that can't be added, or if this is called too late.
pub fn extend(extension: Extension) -> Result<(), ExtensionError> {
    check(&extension)?;
    if extension::set(extension) { Ok(()) } else { Err(ExtensionError::TooLate) }
}

/// Checks the entries of an extension together with the built-in ones.
pub(super) fn check(extension: &Extension) -> Result<(), ExtensionError> {
    let methods = methods::with(extension);
    let environments = environments::with(extension);
    check_names("method", methods.iter().map(|entry| entry.name))?;
    check_names("environment", environments.iter().map(|entry| entry.name))?;
    check_names("job", methods.iter().flat_map(|entry| entry.jobs).map(|job| job.name))?;
    check_names("setting", settings::table(&methods, &environments).iter().map(|setting| setting.name))?;
    let mut presets: Vec<String> = Vec::new();
    for method in &methods {
        presets.extend(method.presets.iter().map(|preset| preset.name.to_owned()));
        let rows = parse_published(method)
            .map_err(|reason| ExtensionError::Published { method: method.name, reason })?;
        presets.extend(rows.into_iter().map(|row| row.preset));
    }
    check_names("preset", presets.iter().map(String::as_str))?;
    for method in &methods {
        let is_usable =
            |option: &&MethodOption| option.name.starts_with("run.") && option.flag.starts_with("--");
        if let Some(option) = method.all_options().find(|option| !is_usable(option)) {
            return Err(ExtensionError::MethodOption { method: method.name, option: option.name });
        }
        check_lanes(method)?;
        check_presets(method)?;
    }
    let of_environments =
        environments.iter().flat_map(|entry| entry.options).map(|option| (option.name, option.values));
    let of_methods =
        methods.iter().flat_map(|entry| entry.all_options()).map(|option| (option.name, option.values));
    for (option, values) in of_environments.chain(of_methods) {
        match values {
            OptionValues::Words([]) => return Err(ExtensionError::NoWords { option }),
            OptionValues::Number { minimum, default } if default < minimum => {
                return Err(ExtensionError::DefaultTooSmall { option, minimum });
            }
            _ => {}
        }
    }
    for environment in &environments {
        let is_own = |name: &str| name.strip_prefix(environment.name).is_some_and(|key| key.starts_with('.'));
        if let Some(option) = environment.options.iter().find(|option| !is_own(option.name)) {
            return Err(ExtensionError::OptionPrefix { environment: environment.name, option: option.name });
        }
    }
    let mut with_files = environments.iter().filter(|entry| entry.public_files.is_some());
    if let (Some(first), Some(second)) = (with_files.next(), with_files.next()) {
        return Err(ExtensionError::PublicFiles { first: first.name, second: second.name });
    }
    let files = templates::files(&methods, &environments);
    check_names("template file", files.files.iter().map(|(name, _)| *name))?;
    let templates = Templates::parse(&files, Vec::new())?;
    for method in &methods {
        let mut questions = method.questions.iter().map(|entry| entry.question);
        if let Some(question) = questions.find(|question| !templates.has_question(method.name, *question)) {
            return Err(ExtensionError::QuestionTemplate {
                method: method.name,
                question: question.template_name(),
            });
        }
    }
    Ok(())
}

fn check_names<'a>(what: &'static str, names: impl Iterator<Item = &'a str>) -> Result<(), ExtensionError> {
    let mut known = BTreeSet::new();
    for name in names {
        if !known.insert(name) {
            return Err(ExtensionError::Duplicate { what, name: name.to_owned() });
        }
    }
    Ok(())
}

/// Checks that the presets of a method set only what it has, to values that are allowed.
fn check_presets(method: &MethodEntry) -> Result<(), ExtensionError> {
    for preset in method.presets {
        let error =
            |reason: String| ExtensionError::Preset { method: method.name, preset: preset.name, reason };
        for (name, value) in preset.settings {
            let mut known = COMMON_SETTINGS.iter().chain(method.settings);
            let spec = known.find(|spec| spec.name == *name);
            let spec = spec.ok_or_else(|| error(format!("the method has no setting {name:?}")))?;
            spec.validate(&value.to_json()).map_err(|why| error(format!("setting {name}: {why}")))?;
        }
    }
    Ok(())
}

fn check_lanes(method: &MethodEntry) -> Result<(), ExtensionError> {
    let method_name = method.name;
    if let Some(lane) = method.lanes.iter().find(|lane| lane.kinds.is_empty()) {
        return Err(ExtensionError::EmptyLane { method: method_name, lane: lane.title });
    }
    let mut shown = BTreeSet::new();
    // Lanes of different formats may show different parts of a lesson.
    for (format, kind) in
        method.lanes.iter().flat_map(|lane| lane.kinds.iter().map(|kind| (lane.format, kind)))
    {
        if !shown.insert((format!("{format:?}"), kind.name())) {
            return Err(ExtensionError::TwoLanes { method: method_name, kind: kind.name() });
        }
    }
    Ok(())
}
