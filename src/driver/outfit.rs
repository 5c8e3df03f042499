//! From the words of a run to what its driver needs.

use super::env_requests::DEADLINE;
use super::{DriverError, OpenWorld, RunConfig, RunFactory, open_read_only};
use crate::domain::{ModelRole, RunSpec};
use crate::method;
use crate::prompt::{self, PromptBuilder, Templates};
use crate::provider::rules::Rules;
use crate::provider::{Provider, Recorded};
use crate::timeline::Timeline;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The pause before each word of the built-in actor where a person watches: quick, and still seen to be typed.
pub const TYPING: Duration = Duration::from_millis(12);

/// The actors of this version, for messages.
const ACTORS: &str = "openai:MODEL, rules (built in), human, and recorded:SESSION";

/// The mentors of this version, for messages.
const MENTORS: &str = "openai:MODEL, symbolic (rules), recorded:SESSION and none";

/// A recorded session: its name and its timeline.
pub type Recording = (String, Timeline);

impl RunConfig {
    /// Outfits a run: its method with these templates, its actor and mentor by name, and a way to open its worlds.
    /// `typing` is the pause between two pieces of the built-in actor's answers (nothing without a screen).
    /// `recorded:` names a session's folder.
    ///
    /// # Errors
    /// [`DriverError::Refused`] when the method, the actor or the mentor is unknown here, or a recording holds no reply.
    pub fn of(
        spec: &RunSpec,
        templates: Arc<Templates>,
        open: OpenWorld,
        typing: Duration,
    ) -> Result<Self, DriverError> {
        let again = (templates.clone(), open.clone());
        let outfit: RunFactory =
            Arc::new(move |spec| Self::of(spec, again.0.clone(), again.1.clone(), typing));
        let find = |folder: &str| {
            let (session, timeline, _) = open_read_only(Path::new(folder))?;
            Ok((session.meta.session, timeline))
        };
        let launch = Self::with(spec, templates, open, typing, find, |_, model| {
            Err(DriverError::Refused(
                format!("openai:{model}: no model server was named"),
                "give the address of one".to_owned(),
            ))
        });
        launch.map(|launch| Self { outfit: Some(outfit), ..launch })
    }

    /// As [`RunConfig::of`], where `find` finds the session that `recorded:` names, and `serve` makes the provider of a role's
    /// model by the name that stands behind `openai:`.
    ///
    /// # Errors
    /// As [`RunConfig::of`], and those of `find` and `serve`.
    pub fn with(
        spec: &RunSpec,
        templates: Arc<Templates>,
        open: OpenWorld,
        typing: Duration,
        mut find: impl FnMut(&str) -> Result<Recording, DriverError>,
        mut serve: impl FnMut(ModelRole, &str) -> Result<Arc<dyn Provider>, DriverError>,
    ) -> Result<Self, DriverError> {
        let mentor: Option<Arc<dyn Provider>> = match spec.mentor.as_str() {
            "symbolic" | "none" => None,
            other => match (other.strip_prefix("openai:"), other.strip_prefix("recorded:")) {
                (Some(model), _) => Some(serve(ModelRole::Mentor, model)?),
                (None, Some(name)) => Some(Arc::new(recorded("mentor", name, &mut find)?)),
                (None, None) => return Err(unknown("mentor", other, MENTORS)),
            },
        };
        let desk = Arc::new(PromptBuilder::new(templates));
        let policy = method::build_policy_with(spec, desk.clone()).map_err(|e| {
            DriverError::Refused(e.to_string(), format!("choose one of: {}", method::METHOD_NAMES.join(", ")))
        })?;
        let actor: Arc<dyn Provider> = match spec.actor.as_str() {
            // Where a person plays, the rules stand ready for when the turn is given back.
            "rules" | "human" => Arc::new(Rules::with_delay(typing)),
            other => match (other.strip_prefix("openai:"), other.strip_prefix("recorded:")) {
                (Some(model), _) => serve(ModelRole::Actor, model)?,
                (None, Some(name)) => Arc::new(recorded("actor", name, &mut find)?),
                (None, None) => return Err(unknown("actor", other, ACTORS)),
            },
        };
        let render = Arc::new(move |state: &_, record: &_| desk.render(state, record));
        let (outfit, stand_in) = (None, None);
        Ok(Self {
            policy,
            render,
            actor,
            mentor,
            open,
            deadline: DEADLINE,
            outfit,
            stand_in,
            prefetch: false,
            noted: Vec::new(),
            carried: None,
            breaks: Vec::new(),
        })
    }
}

/// The answers of a recorded session, for a role.
///
/// # Errors
/// [`DriverError::Refused`] when it cannot be read, or no model answered anything in it.
pub fn recorded(
    role: &str,
    name: &str,
    find: &mut impl FnMut(&str) -> Result<Recording, DriverError>,
) -> Result<Recorded, DriverError> {
    let (session, timeline) = find(name)?;
    let recorded = Recorded::of(&session, timeline, prompt::render)
        .map_err(|why| DriverError::Refused(why, "name a session whose files are whole".to_owned()))?;
    if recorded.is_empty() {
        return Err(DriverError::Refused(
            format!("--{role} recorded:{name}: no model answered anything in this session"),
            format!("choose a session in which this {role} was asked"),
        ));
    }
    Ok(recorded)
}

fn unknown(role: &str, name: &str, there_are: &str) -> DriverError {
    DriverError::Refused(
        format!("there is no {role} {name:?}; there are {there_are}"),
        "choose one of them".to_owned(),
    )
}
