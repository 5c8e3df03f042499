//! One branch, event by event: what an event says that those before it, its world or this program gainsay.

use super::VerifyReport;
use super::accepted::AcceptedDifferences;
use super::difference::describe_difference;
use super::recomputation::Recomputation;
use crate::domain::{BranchId, ModelRole, PromptRecord, Seq, StepResult, Task, Truncation};
use crate::driver::worlds::{self, WorldOptions};
use crate::engine::{Envelope, Event, State, episode_end};
use crate::env::Environment;
use crate::prompt::{body_hash, interface, read, render};
use crate::text::truncate;
use std::sync::Arc;

pub(super) struct BranchCheck {
    pub(super) state: State,
    branch: BranchId,
    options: WorldOptions,
    with_world: bool,
    world: Option<Box<dyn Environment>>,
    pending_action: Option<String>,
    /// The actor's reply whose reading comes next.
    pending_reply: Option<(String, Option<Truncation>)>,
    accepted: AcceptedDifferences,
    pub(super) recomputation: Recomputation,
}

impl BranchCheck {
    /// Begins with the state before the events that are looked at.
    pub(super) fn new(
        state: State,
        branch: BranchId,
        options: WorldOptions,
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

    /// From here on it counts what is drawn.
    pub(super) fn restart_recomputation(&mut self) {
        self.recomputation = Recomputation::new(self.branch.clone());
        if let Some(run) = &self.state.run {
            self.recomputation.start(run);
        }
    }

    pub(super) fn check_event(&mut self, envelope: &Arc<Envelope>, found: &mut VerifyReport) {
        let mut wrong = self.contradictions(envelope);
        wrong.extend(self.view_problem(&envelope.event));
        self.recomputation.add_event(envelope, &self.state);
        self.state.apply(envelope);
        found.events += 1;
        match &envelope.event {
            Event::PromptSent { prompt } | Event::PromptDrafted { prompt } => {
                found.prompts += 1;
                if body_hash(&render(&self.state, prompt)) != prompt.sha256 {
                    wrong.push(format!(
                        "the prompt of step {} of episode {} cannot be rebuilt: its words have another hash",
                        prompt.step, prompt.episode
                    ));
                }
            }
            Event::TextDefined { hash, text } if crate::prompt::text_hash(text) != *hash => {
                wrong.push(format!("the stored text has another hash than {hash}"));
            }
            Event::RunStarted { spec, .. } | Event::RunChanged { spec } => self.recomputation.start(spec),
            Event::EpisodeStarted { task, .. } => {
                found.episodes += 1;
                (self.pending_action, self.pending_reply) = (None, None);
                self.world = if self.with_world { self.open_world(task, found) } else { None };
            }
            Event::WorldReset { result: turn, .. } => {
                let now = self.world.as_mut().map(|w| w.reset());
                wrong.extend(self.compare_with_world(turn, now, envelope.seq, found));
            }
            Event::ActionTaken { executed, call: Some(_), list_only: false, .. } => {
                self.pending_action = Some(executed.sent.clone().unwrap_or_else(|| executed.action.clone()));
            }
            Event::Observed { result: turn, .. } => {
                if let Some(sent) = self.pending_action.take() {
                    let now = self.world.as_mut().map(|w| w.step(&sent));
                    wrong.extend(self.compare_with_world(turn, now, envelope.seq, found));
                }
            }
            _ => {}
        }
        let place = self.describe_event(envelope.seq);
        found.problems.extend(wrong.into_iter().map(|what| format!("{place}: {what}")));
    }

    /// An event in words, with its branch where that is not the trunk.
    pub(super) fn describe_event(&self, seq: Seq) -> String {
        if self.branch == BranchId::trunk() {
            return format!("event {seq}");
        }
        format!("branch {}, event {seq}", self.branch)
    }

    /// What an event says that the events before it gainsay.
    fn contradictions(&mut self, envelope: &Envelope) -> Vec<String> {
        let mut wrong = Vec::new();
        let steps = self.state.episode.as_ref().map_or(0, |e| e.steps.len() as u32);
        let here = |what: &str, step: u32, wrong: &mut Vec<String>| {
            if step != steps {
                wrong.push(format!("{what} of step {step} in step {steps}: steps are out of order"));
            }
        };
        match &envelope.event {
            Event::PromptSent { prompt } | Event::PromptDrafted { prompt } => {
                wrong.extend(self.prompt_problem(prompt, steps));
            }
            Event::EpisodeStarted { episode, .. } => {
                let due = self.state.next_episode_number();
                if *episode != due {
                    wrong.push(format!("episode {episode} begins where episode {due} is due"));
                }
            }
            Event::StepOpened { step } if *step != steps + 1 => here("the opening", *step, &mut wrong),
            Event::ReplyReceived { text, truncated, .. } if self.state.is_asking(ModelRole::Actor) => {
                self.pending_reply = Some((text.clone(), *truncated));
            }
            Event::Proposed { step, thought, action, complaints } => {
                here("the proposal", *step, &mut wrong);
                match self
                    .pending_reply
                    .take()
                    .map(|(text, truncated)| read::read_reply(&text).with_truncation_note(truncated))
                {
                    // Only the number of complaints counts: their wording may improve from version to version.
                    Some(was)
                        if (&was.thought, &was.action, was.complaints.len())
                            == (thought, action, complaints.len()) => {}
                    Some(was) => wrong.push(format!(
                        "the reply reads as {:?}, the proposal says {:?}",
                        (was.thought, was.action),
                        (thought, action)
                    )),
                    // A step that nobody was asked for has its action from a plan.
                    None if self.state.last_step().is_some_and(|s| s.call.is_none()) => {}
                    None => wrong.push("a proposal without a reply".to_owned()),
                }
            }
            Event::ActionTaken { step, .. } => here("the action", *step, &mut wrong),
            Event::Observed { step, result: turn, .. } => {
                here("the answer", *step, &mut wrong);
                // Where the world was not asked it stands as it stood.
                let standing = self.state.unchanged_result();
                if self.pending_action.is_none() && **turn != standing {
                    wrong.push(format!("the world was not asked; {}", describe_difference(turn, &standing)));
                }
            }
            Event::Noted { step, .. } => here("a note", *step, &mut wrong),
            Event::EpisodeEnded { summary } => {
                if let Event::EpisodeEnded { summary: now } = episode_end(&self.state, summary.reason) {
                    // Whether a person had a hand in it can be told by the very event that ends it.
                    let (mut was, mut now) = (summary.clone(), now);
                    (was.assisted, now.assisted) = (false, false);
                    (was.seq_range, now.seq_range) = ((0, 0), (0, 0));
                    if was != now {
                        wrong.push(format!("the episode comes to {now:?}, its summary says {was:?}"));
                    }
                } else {
                    wrong.push("an end without an episode".to_owned());
                }
            }
            _ => {}
        }
        wrong
    }

    /// Whether goal and view are what the interface makes of the world's words. The state is the one before the event.
    fn view_problem(&mut self, event: &Event) -> Option<String> {
        let (seen, now) = match event {
            Event::WorldReset { result: turn, agent_view: seen, goal, .. } => {
                let read = interface::goal_from_reset(turn);
                if read != *goal {
                    return Some(format!(
                        "the first observation states the goal {read:?}, recorded is {goal:?}"
                    ));
                }
                (seen, interface::shown_observation(&self.state, "", turn, &[]))
            }
            Event::Observed { call, result: turn, agent_view: seen, .. } => {
                let executed = self.state.last_step()?.executed.as_ref()?;
                let lists = call.is_some() && self.pending_action.is_none();
                let admissible = match &mut self.world {
                    // The list was in no event: only the world itself can say it again.
                    None if lists => return None,
                    Some(world) if lists => world.admissible().ok()?,
                    _ => Vec::new(),
                };
                let now = interface::shown_observation(&self.state, &executed.action, turn, &admissible);
                (seen, if call.is_none() { Some(now.unwrap_or_default()) } else { now })
            }
            _ => return None,
        };
        (*seen != now).then(|| {
            let words = |text: &Option<String>| {
                text.as_ref().map_or("the world's words".to_owned(), |t| format!("{t:?}"))
            };
            format!("prompts show {}, by its interface it is {}", words(seen), words(&now))
        })
    }

    fn prompt_problem(&self, prompt: &PromptRecord, steps: u32) -> Option<String> {
        let seed = self.state.seed_for(prompt);
        // Other words for a failed call keep the seed it had, until it is made again.
        let kept = self.state.waiting_prompt(prompt.call).is_some_and(|was| was.seed == prompt.seed);
        let episode = self.state.episode.as_ref().map_or(0, |e| e.number);
        let last = self.state.last_step();
        let due = match last {
            Some(open) if open.answer.is_none() => open.number,
            _ => steps + 1,
        };
        if prompt.seed != seed && !kept {
            return Some(format!("the request has the seed {}, by its place it has {seed}", prompt.seed));
        }
        if prompt.episode != episode {
            return Some(format!("a prompt of episode {} in episode {episode}", prompt.episode));
        }
        (prompt.role == ModelRole::Actor && prompt.step != due).then(|| {
            format!("the prompt of step {} where step {due} is due: steps are out of order", prompt.step)
        })
    }

    fn open_world(&self, task: &Task, found: &mut VerifyReport) -> Option<Box<dyn Environment>> {
        match worlds::open(task, &self.options) {
            Ok(world) if world.info().deterministic => Some(world),
            Ok(_) => {
                found
                    .unavailable_worlds
                    .push(format!("{} {}: this world is not the same twice", task.env, task.id));
                None
            }
            Err(error) => {
                found.unavailable_worlds.push(format!("{} {}: {error}", task.env, task.id));
                None
            }
        }
    }

    fn compare_with_world(
        &mut self,
        recorded: &StepResult,
        now: Option<Result<StepResult, crate::env::EnvError>>,
        seq: Seq,
        found: &mut VerifyReport,
    ) -> Option<String> {
        let now = now?;
        found.observations += 1;
        if let (Ok(turn), Some(episode)) = (&now, &self.state.episode)
            && turn != recorded
            && let step = episode.steps.len() as u32
            && let Some(by) = self.accepted.accepting_event(episode.number, step, seq, recorded, turn)
        {
            let what = describe_difference(recorded, turn);
            found.accepted.push(format!("event {seq}: {what}; a person accepted that in event {by}"));
            return None;
        }
        let what = match now {
            Ok(turn) if turn == *recorded => return None,
            Ok(turn) => describe_difference(recorded, &turn),
            Err(error) => {
                let was = truncate(&recorded.observation, 200, "...");
                format!("the world now fails ({error}) where the journal has {was:?}")
            }
        };
        // One difference makes all that follows differ.
        self.world = None;
        Some(what)
    }
}
