//! Builds a run's configuration from its spec.

use super::{DriverError, OpenWorld, RunConfig, RunFactory, open_read_only, worlds};
use crate::catalog;
use crate::domain::{ModelRole, RoleSource, RunSpec};
use crate::env::TaskOptions;
use crate::prompt::{self, PromptBuilder, Templates};
use crate::provider::RuleBasedActor;
use crate::provider::{Provider, RecordedProvider};
use crate::timeline::Timeline;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The delay before each word of the built-in actor while a person watches: quick, but visibly typed.
pub const TYPING_DELAY: Duration = Duration::from_millis(12);

/// A recorded session: its name and its timeline.
pub type NamedTimeline = (String, Timeline);

impl RunConfig {
    /// Builds a run's configuration: its method with these templates, its actor and mentor by name, and the function
    /// that opens its environments. `typing` is the delay between two deltas of the built-in actor (zero without a
    /// screen). `recorded:` is followed by a session's folder.
    ///
    /// # Errors
    /// Returns [`DriverError::Refused`] if the method, the actor or the mentor is unknown, or a recording contains no
    /// replies.
    pub fn from_spec(
        spec: &RunSpec,
        templates: Arc<Templates>,
        open_world: OpenWorld,
        typing: Duration,
    ) -> Result<Self, DriverError> {
        let shared = (templates.clone(), open_world.clone());
        let factory: RunFactory =
            Arc::new(move |spec| Self::from_spec(spec, shared.0.clone(), shared.1.clone(), typing));
        let find = |folder: &str| {
            let (session, timeline, _) = open_read_only(Path::new(folder))?;
            Ok((session.meta.session, timeline))
        };
        let run_config = Self::from_spec_with(spec, templates, open_world, typing, find, |_, model| {
            Err(DriverError::Refused(
                format!("{}: no model server is set", RoleSource::name_of_model(model)),
                "set its address".to_owned(),
            ))
        });
        run_config.map(|run_config| Self { run_factory: Some(factory), ..run_config })
    }

    /// Like [`RunConfig::from_spec`], but `find` opens the session after `recorded:`, and `serve` creates the
    /// provider for the model name after `openai:`.
    ///
    /// # Errors
    /// The same as [`RunConfig::from_spec`], and the errors of `find` and `serve`.
    pub fn from_spec_with(
        spec: &RunSpec,
        templates: Arc<Templates>,
        open_world: OpenWorld,
        typing: Duration,
        mut find: impl FnMut(&str) -> Result<NamedTimeline, DriverError>,
        mut serve: impl FnMut(ModelRole, &str) -> Result<Arc<dyn Provider>, DriverError>,
    ) -> Result<Self, DriverError> {
        for role in ModelRole::ALL {
            if !spec.role_source(role).is_allowed_as(role) {
                return Err(unknown_role_error(role, spec.provider_spec(role)));
            }
        }
        let mentor: Option<Arc<dyn Provider>> = match spec.role_source(ModelRole::Mentor) {
            RoleSource::Model(model) => Some(serve(ModelRole::Mentor, model)?),
            RoleSource::Recording(name) => Some(Arc::new(open_recording("mentor", name, &mut find)?)),
            _ => None,
        };
        let prompt_builder = Arc::new(PromptBuilder::new(templates));
        let policy = catalog::build_policy_with(spec, prompt_builder.clone())
            .map_err(|error| DriverError::Refused(error.to_string(), error.hint()))?;
        let actor: Arc<dyn Provider> = match spec.role_source(ModelRole::Actor) {
            RoleSource::Model(model) => serve(ModelRole::Actor, model)?,
            RoleSource::Recording(name) => Arc::new(open_recording("actor", name, &mut find)?),
            // When a person plays, the rules are ready to take over.
            _ => rule_based_actor(spec, typing),
        };
        let render_prompt = Arc::new(move |state: &_, record: &_| prompt_builder.render(state, record));
        Ok(Self {
            policy,
            render_prompt,
            actor,
            mentor,
            open_world,
            compute_job: Arc::new(catalog::compute_job),
            answer_deadlines: Arc::new(|task| worlds::answer_deadlines(task, &TaskOptions::default())),
            run_factory: None,
            reply_override: None,
            prefetch: false,
            recorded_settings: Vec::new(),
            typed_servers: Arc::default(),
            replay_start: None,
            breakpoints: Vec::new(),
        })
    }
}

/// Returns the recorded replies of a session, for a role.
///
/// # Errors
/// Returns [`DriverError::Refused`] if the session cannot be read or contains no model replies.
pub fn open_recording(
    role: &str,
    name: &str,
    find: &mut impl FnMut(&str) -> Result<NamedTimeline, DriverError>,
) -> Result<RecordedProvider, DriverError> {
    let (session, timeline) = find(name)?;
    let recorded = RecordedProvider::from_timeline(&session, timeline, prompt::render)
        .map_err(|why| DriverError::Refused(why, "choose a session with intact files".to_owned()))?;
    if recorded.is_empty() {
        return Err(DriverError::Refused(
            format!(
                "--{role} {}: this session contains no model replies",
                RoleSource::name_of_recording(name)
            ),
            format!("choose a session in which a model was the {role}"),
        ));
    }
    Ok(recorded)
}

fn unknown_role_error(role: ModelRole, name: &str) -> DriverError {
    DriverError::Refused(
        format!("unknown {} {name:?}; available: {}", role.name(), RoleSource::names(role)),
        "choose one of them".to_owned(),
    )
}

/// Returns the rule-based actor for the environments of a run; it waits this long before each word.
pub fn rule_based_actor(spec: &RunSpec, word_delay: Duration) -> Arc<dyn Provider> {
    let replies = catalog::rule_based_replies(spec.tasks.iter().map(|task| task.env.as_str()));
    Arc::new(RuleBasedActor::new(replies).with_word_delay(word_delay))
}
