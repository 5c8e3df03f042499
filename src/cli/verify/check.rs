//! Checks one branch event by event, against the events before, the environment and this program's own results.

use super::accepted::AcceptedDifferences;
use super::difference::{comparable, describe_difference};
use super::recomputation::Recomputation;
use super::{VerifyReport, WorldObstacle};
use crate::catalog::find_environment;
use crate::cli::settings::{describe_invalid, invalid_settings};
use crate::domain::{
    ActionVerbs, BranchId, CallId, ModelRole, PromptRecord, Seq, StepResult, Task, Truncation,
};
use crate::driver::worlds;
use crate::engine::{Effect, Envelope, Event, ParsedActorReply, State, episode_end};
use crate::env::{EnvError, Environment, TaskOptions};
use crate::journal::import::imported_format;
use crate::prompt::{action_verbs, body_hash, interface, read_actor_reply, render};
use crate::text::{program_name, truncate};
use std::sync::Arc;

/// The state of the check of one branch.
pub(super) struct BranchCheck {
    pub(super) state: State,
    branch: BranchId,
    options: TaskOptions,
    with_world: bool,
    world: Option<Box<dyn Environment>>,
    pending_action: Option<String>,
    /// The actor's reply whose proposal is expected next.
    pending_reply: Option<(ParsedActorReply, Option<Truncation>)>,
    accepted: AcceptedDifferences,
    pub(super) recomputation: Recomputation,
}

impl BranchCheck {
    /// Creates a check that starts from the state before the first event to check.
    pub(super) fn new(
        state: State,
        branch: BranchId,
        options: TaskOptions,
        with_world: bool,
        accepted: AcceptedDifferences,
    ) -> Self {
        let mut check = Self {
            recomputation: Recomputation::new(branch.clone()),
            state,
            branch,
            options,
            with_world,
            world: None,
            pending_action: None,
            pending_reply: None,
            accepted,
        };
        check.restart_recomputation();
        check
    }

    /// Restarts the recomputation, and its counts, at this point.
    pub(super) fn restart_recomputation(&mut self) {
        self.recomputation = Recomputation::new(self.branch.clone());
        if let Some(run) = &self.state.run {
            self.recomputation.start(run);
        }
    }

    /// Checks the next event, adds its problems to the report and folds it.
    pub(super) fn check_event(&mut self, envelope: &Arc<Envelope>, report: &mut VerifyReport) {
        let mut problems = self.contradictions(envelope);
        problems.extend(self.view_problem(&envelope.event));
        self.recomputation.add_event(envelope, &self.state);
        self.state.apply(envelope);
        report.events += 1;
        match &envelope.event {
            Event::PromptSent { prompt } | Event::PromptDrafted { prompt } => {
                report.prompts += 1;
                if body_hash(&render(&self.state, prompt)) != prompt.sha256 {
                    problems.push(format!(
                        "the prompt of step {} of episode {} can't be rebuilt: the rebuilt text has a different hash",
                        prompt.step, prompt.episode
                    ));
                }
            }
            Event::TextDefined { hash, text } if crate::prompt::text_hash(text) != *hash => {
                problems.push(format!("the stored text doesn't have the hash {hash}"));
            }
            Event::RunStarted { spec, .. } | Event::RunChanged { spec } => {
                problems.extend(invalid_settings(spec));
                self.recomputation.start(spec);
            }
            Event::SettingChanged { name, value } => problems.extend(describe_invalid(name, value)),
            Event::EpisodeStarted { task, .. } => {
                report.episodes += 1;
                (self.pending_action, self.pending_reply) = (None, None);
                self.world = if self.with_world { self.open_world(task, report) } else { None };
            }
            Event::WorldReset { result, .. } => {
                let trial = self.state.trial_info();
                let replayed = self.world.as_mut().map(|w| {
                    w.set_trial(trial);
                    w.reset()
                });
                problems.extend(self.compare_with_world(result, replayed, envelope.seq, report));
            }
            Event::ActionTaken { executed, call: Some(_), admissible_only: false, .. } => {
                self.pending_action = Some(executed.sent.clone().unwrap_or_else(|| executed.action.clone()));
            }
            Event::Observed { result, .. } => {
                if let Some(sent) = self.pending_action.take() {
                    let replayed = self.world.as_mut().map(|w| w.step(&sent));
                    problems.extend(self.compare_with_world(result, replayed, envelope.seq, report));
                }
            }
            _ => {}
        }
        let location = self.describe_event(envelope.seq);
        report.problems.extend(problems.into_iter().map(|problem| format!("{location}: {problem}")));
    }

    /// Names an event, with its branch unless that is the trunk.
    pub(super) fn describe_event(&self, seq: Seq) -> String {
        if self.branch == BranchId::trunk() {
            return format!("event {seq}");
        }
        format!("branch {}, event {seq}", self.branch)
    }

    /// Parses an actor's reply to the prompt of a call.
    fn parse_reply(&self, call: CallId, text: &str) -> ParsedActorReply {
        let verbs = match self.state.calls.get(&call) {
            Some(Effect::Ask { prompt, .. }) => action_verbs(&self.state, prompt),
            _ => ActionVerbs::default(),
        };
        read_actor_reply(self.state.settings(), &verbs, text)
    }

    /// Returns what in an event contradicts the events before it.
    fn contradictions(&mut self, envelope: &Envelope) -> Vec<String> {
        let mut problems = Vec::new();
        let steps = self.state.episode.as_ref().map_or(0, |e| e.steps.len() as u32);
        let check_step = |subject: &str, step: u32, problems: &mut Vec<String>| {
            if step != steps {
                problems
                    .push(format!("{subject} of step {step} within step {steps}: steps are out of order"));
            }
        };
        match &envelope.event {
            Event::PromptSent { prompt } | Event::PromptDrafted { prompt } => {
                problems.extend(self.prompt_problem(prompt, steps));
            }
            Event::EpisodeStarted { episode, .. } => {
                let expected = self.state.next_episode_number();
                if *episode != expected {
                    problems.push(format!("episode {episode} starts where episode {expected} is expected"));
                }
            }
            Event::StepOpened { step } if *step != steps + 1 => check_step("the start", *step, &mut problems),
            Event::ReplyReceived { call, text, truncated, .. } if self.state.is_asking(ModelRole::Actor) => {
                self.pending_reply = Some((self.parse_reply(*call, text), *truncated));
            }
            Event::Proposed { step, thought, action, planned, complaints } => {
                check_step("the proposal", *step, &mut problems);
                match self
                    .pending_reply
                    .take()
                    .map(|(parsed, truncated)| parsed.with_truncation_note(truncated))
                {
                    // Only the number of complaints counts: their wording may improve from version to version.
                    Some(parsed)
                        if (&parsed.thought, &parsed.action, &parsed.planned, parsed.complaints.len())
                            == (thought, action, planned, complaints.len()) => {}
                    // Where the forms of actions are checked, prose without a label is an action of an unknown form.
                    Some(parsed)
                        if parsed.is_unlabelled
                            && self.state.settings().checks_forms()
                            && (&None, &parsed.thought) == (thought, action) => {}
                    Some(parsed) => problems.push(format!(
                        "the reply is parsed as {}, but the proposal is {}",
                        describe_proposal(
                            parsed.thought.as_deref(),
                            parsed.action.as_deref(),
                            parsed.complaints.len()
                        ),
                        describe_proposal(thought.as_deref(), action.as_deref(), complaints.len())
                    )),
                    // A step without an actor call takes its action from a plan.
                    None if self.state.last_step().is_some_and(|s| s.call.is_none()) => {}
                    None => problems.push("proposal without a reply".to_owned()),
                }
            }
            Event::ActionTaken { step, .. } => check_step("the action", *step, &mut problems),
            Event::Observed { step, result, .. } => {
                check_step("the result", *step, &mut problems);
                // Without an action for the environment, the result is the unchanged previous one.
                let unchanged = self.state.unchanged_result();
                if self.pending_action.is_none() && **result != unchanged {
                    problems.push(format!(
                        "no action was sent to the environment; {}",
                        describe_difference(result, &unchanged)
                    ));
                }
            }
            Event::Noted { step, .. } => check_step("a note", *step, &mut problems),
            Event::EpisodeEnded { summary } => {
                if let Event::EpisodeEnded { summary: now } = episode_end(&self.state, summary.reason) {
                    // `assisted` may depend on the very event that ends the episode, so it is not compared.
                    let (mut recorded, mut now) = (summary.clone(), now);
                    (recorded.assisted, now.assisted) = (false, false);
                    (recorded.seq_range, now.seq_range) = ((0, 0), (0, 0));
                    if recorded != now {
                        problems.push(format!(
                            "the episode's recomputed summary is {now:?}, the recorded one is {recorded:?}"
                        ));
                    }
                } else {
                    problems.push("end of an episode that didn't start".to_owned());
                }
            }
            _ => {}
        }
        problems
    }

    /// Returns a problem if goal or agent view differ from what the interface derives from the observation.
    /// `self.state` must be the state before the event.
    fn view_problem(&mut self, event: &Event) -> Option<String> {
        // What an interface makes of the texts of another program's environment, only that program knows.
        if self.state.episode.as_ref().is_some_and(|episode| find_environment(&episode.task.env).is_none()) {
            return None;
        }
        let (recorded, now) = match event {
            Event::WorldReset { result, agent_view: recorded, goal, .. } => {
                let parsed = interface::goal_from_reset(result);
                if parsed != *goal {
                    return Some(format!(
                        "the first observation states the goal {parsed:?}, but {goal:?} is recorded"
                    ));
                }
                (recorded, crate::catalog::rewrite_observation(&self.state, "", result, &[]))
            }
            Event::Observed { call, result, agent_view: recorded, .. } => {
                let executed = self.state.last_step()?.executed.as_ref()?;
                let is_listing = call.is_some() && self.pending_action.is_none();
                let admissible = match &mut self.world {
                    // No event has the list of actions: only the environment can supply it.
                    None if is_listing => return None,
                    Some(world) if is_listing => world.admissible().ok()?,
                    _ => Vec::new(),
                };
                let now =
                    crate::catalog::rewrite_observation(&self.state, &executed.action, result, &admissible);
                (recorded, if call.is_none() { Some(now.unwrap_or_default()) } else { now })
            }
            _ => return None,
        };
        (*recorded != now).then(|| {
            let quoted = |text: &Option<String>| {
                text.as_ref().map_or("the unchanged observation".to_owned(), |t| format!("{t:?}"))
            };
            format!("prompts show {}, but the interface makes it {}", quoted(recorded), quoted(&now))
        })
    }

    fn prompt_problem(&self, prompt: &PromptRecord, steps: u32) -> Option<String> {
        let seed = self.state.seed_for(prompt);
        // An edited prompt of a failed call keeps the call's seed until it is sent again.
        let keeps_seed = self.state.waiting_prompt(prompt.call).is_some_and(|p| p.seed == prompt.seed);
        let episode = self.state.episode.as_ref().map_or(0, |e| e.number);
        let last = self.state.last_step();
        let expected = match last {
            Some(open) if open.answer.is_none() => open.number,
            _ => steps + 1,
        };
        if prompt.seed != seed && !keeps_seed {
            return Some(format!("the request has the seed {}, but {seed} is expected here", prompt.seed));
        }
        if prompt.episode != episode {
            return Some(format!("prompt of episode {} within episode {episode}", prompt.episode));
        }
        (prompt.role == ModelRole::Actor && prompt.step != expected).then(|| {
            format!(
                "prompt of step {} where step {expected} is expected: steps are out of order",
                prompt.step
            )
        })
    }

    fn open_world(&self, task: &Task, report: &mut VerifyReport) -> Option<Box<dyn Environment>> {
        let options = match &self.state.run {
            Some(run) if imported_format(run).is_some() => {
                report.is_imported = true;
                return None;
            }
            Some(run) => self.options.with_recorded(&run.settings),
            None => self.options.clone(),
        };
        let (obstacle, why) = match worlds::open_guarded(task, &options) {
            Ok(world) if world.info().deterministic => return Some(world),
            Ok(_) => {
                (Some(WorldObstacle::NotDeterministic), "this environment is not deterministic".to_owned())
            }
            Err(_) if find_environment(&task.env).is_none() => (
                Some(WorldObstacle::Foreign),
                format!("{} has no environment {:?}", program_name(), task.env),
            ),
            Err(error) => {
                let obstacle = match &error {
                    _ if worlds::lacks_command(&task.env, &options) => Some(WorldObstacle::NoCommand),
                    EnvError::Refused { .. } | EnvError::Broken { .. } => None,
                    _ => Some(WorldObstacle::Failed),
                };
                (obstacle, error.to_string())
            }
        };
        report.obstacle = obstacle;
        report.unavailable_worlds.push(format!("{} {}: {why}", task.env, task.id));
        None
    }

    fn compare_with_world(
        &mut self,
        recorded: &StepResult,
        now: Option<Result<StepResult, EnvError>>,
        seq: Seq,
        report: &mut VerifyReport,
    ) -> Option<String> {
        let now = now?.map(comparable);
        let recorded = &comparable(recorded.clone());
        report.observations += 1;
        if let (Ok(result), Some(episode)) = (&now, &self.state.episode)
            && result != recorded
            && let step = episode.steps.len() as u32
            && let Some(accepting_event) =
                self.accepted.accepting_event(episode.number, step, seq, recorded, result)
        {
            let difference = describe_difference(recorded, result);
            report
                .accepted
                .push(format!("event {seq}: {difference}; accepted by a person in event {accepting_event}"));
            return None;
        }
        let difference = match now {
            Ok(result) if result == *recorded => return None,
            Ok(result) => describe_difference(recorded, &result),
            Err(error) => {
                let observation = truncate(&recorded.observation, 200, "...");
                format!("the environment now fails ({error}), but the journal has {observation:?}")
            }
        };
        // After one difference all later results differ, so stop comparing.
        self.world = None;
        Some(difference)
    }
}

/// Formats what is compared of a proposal: thought, action and number of complaints.
fn describe_proposal(thought: Option<&str>, action: Option<&str>, complaints: usize) -> String {
    let plural = if complaints == 1 { "" } else { "s" };
    format!("thought {thought:?}, action {action:?}, {complaints} complaint{plural}")
}
