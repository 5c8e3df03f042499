//! From the words of a run to what its driver needs.

use super::env_requests::DEFAULT_ANSWER_DEADLINE;
use super::{DriverError, OpenWorld, RunConfig, RunFactory, open_read_only};
use crate::domain::{ModelRole, RunSpec};
use crate::method;
use crate::prompt::{self, PromptBuilder, Templates};
use crate::provider::rules::RuleBasedActor;
use crate::provider::{Provider, RecordedProvider};
use crate::timeline::Timeline;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The pause before each word of the built-in actor where a person watches: quick, and still seen to be typed.
pub const TYPING_DELAY: Duration = Duration::from_millis(12);

/// The actors of this version, for messages.
const ACTOR_NAMES: &str = "openai:MODEL, rules (built in), human, and recorded:SESSION";

/// The mentors of this version, for messages.
const MENTOR_NAMES: &str = "openai:MODEL, symbolic (rules), recorded:SESSION and none";

/// A recorded session: its name and its timeline.
pub type NamedTimeline = (String, Timeline);

impl RunConfig {
    /// Outfits a run: its method with these templates, its actor and mentor by name, and a way to open its worlds.
    /// `typing` is the pause between two pieces of the built-in actor's answers (nothing without a screen).
    /// `recorded:` names a session's folder.
    ///
    /// # Errors
    /// [`DriverError::Refused`] when the method, the actor or the mentor is unknown here, or a recording holds no reply.
    pub fn from_spec(
        spec: &RunSpec,
        templates: Arc<Templates>,
        open: OpenWorld,
        typing: Duration,
    ) -> Result<Self, DriverError> {
        let again = (templates.clone(), open.clone());
        let outfit: RunFactory =
            Arc::new(move |spec| Self::from_spec(spec, again.0.clone(), again.1.clone(), typing));
        let find = |folder: &str| {
            let (session, timeline, _) = open_read_only(Path::new(folder))?;
            Ok((session.meta.session, timeline))
        };
        let launch = Self::from_spec_with(spec, templates, open, typing, find, |_, model| {
            Err(DriverError::Refused(
                format!("openai:{model}: no model server was named"),
                "give the address of one".to_owned(),
            ))
        });
        launch.map(|launch| Self { run_factory: Some(outfit), ..launch })
    }

    /// As [`RunConfig::of`], where `find` finds the session that `recorded:` names, and `serve` makes the provider of a role's
    /// model by the name that stands behind `openai:`.
    ///
    /// # Errors
    /// As [`RunConfig::of`], and those of `find` and `serve`.
    pub fn from_spec_with(
        spec: &RunSpec,
        templates: Arc<Templates>,
        open: OpenWorld,
        typing: Duration,
        mut find: impl FnMut(&str) -> Result<NamedTimeline, DriverError>,
        mut serve: impl FnMut(ModelRole, &str) -> Result<Arc<dyn Provider>, DriverError>,
    ) -> Result<Self, DriverError> {
        let mentor: Option<Arc<dyn Provider>> = match spec.mentor.as_str() {
            "symbolic" | "none" => None,
            other => match (other.strip_prefix("openai:"), other.strip_prefix("recorded:")) {
                (Some(model), _) => Some(serve(ModelRole::Mentor, model)?),
                (None, Some(name)) => Some(Arc::new(open_recording("mentor", name, &mut find)?)),
                (None, None) => return Err(unknown_role_error("mentor", other, MENTOR_NAMES)),
            },
        };
        let desk = Arc::new(PromptBuilder::new(templates));
        let policy = method::build_policy_with(spec, desk.clone()).map_err(|e| {
            DriverError::Refused(e.to_string(), format!("choose one of: {}", method::METHOD_NAMES.join(", ")))
        })?;
        let actor: Arc<dyn Provider> = match spec.actor.as_str() {
            // Where a person plays, the rules stand ready for when the turn is given back.
            "rules" | "human" => Arc::new(RuleBasedActor::with_word_delay(typing)),
            other => match (other.strip_prefix("openai:"), other.strip_prefix("recorded:")) {
                (Some(model), _) => serve(ModelRole::Actor, model)?,
                (None, Some(name)) => Arc::new(open_recording("actor", name, &mut find)?),
                (None, None) => return Err(unknown_role_error("actor", other, ACTOR_NAMES)),
            },
        };
        let render = Arc::new(move |state: &_, record: &_| desk.render(state, record));
        let (outfit, stand_in) = (None, None);
        Ok(Self {
            policy,
            render_prompt: render,
            actor,
            mentor,
            open_world: open,
            answer_deadline: DEFAULT_ANSWER_DEADLINE,
            run_factory: outfit,
            reply_override: stand_in,
            prefetch: false,
            recorded_settings: Vec::new(),
            replay_seed: None,
            breakpoints: Vec::new(),
        })
    }
}

/// The answers of a recorded session, for a role.
///
/// # Errors
/// [`DriverError::Refused`] when it cannot be read, or no model answered anything in it.
pub fn open_recording(
    role: &str,
    name: &str,
    find: &mut impl FnMut(&str) -> Result<NamedTimeline, DriverError>,
) -> Result<RecordedProvider, DriverError> {
    let (session, timeline) = find(name)?;
    let recorded = RecordedProvider::from_timeline(&session, timeline, prompt::render)
        .map_err(|why| DriverError::Refused(why, "name a session whose files are whole".to_owned()))?;
    if recorded.is_empty() {
        return Err(DriverError::Refused(
            format!("--{role} recorded:{name}: no model answered anything in this session"),
            format!("choose a session in which this {role} was asked"),
        ));
    }
    Ok(recorded)
}

fn unknown_role_error(role: &str, name: &str, there_are: &str) -> DriverError {
    DriverError::Refused(
        format!("there is no {role} {name:?}; there are {there_are}"),
        "choose one of them".to_owned(),
    )
}
