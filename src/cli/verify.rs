//! `verify`: whether a session is what it says. Its files are read, its prompts are rebuilt and compared with their
//! hashes, and its actions are taken again in its world.

use super::config::Config;
use super::fault::{Fault, FaultKind};
use super::out::Out;
use super::{args, place, setup};
use crate::domain::Task;
use crate::driver::worlds::{self, WorldOptions};
use crate::engine::{Envelope, Event, State};
use crate::env::Environment;
use crate::prompt::{body_hash, render};
use serde::Serialize;
use std::sync::Arc;

#[derive(Default, Serialize)]
struct Found {
    session: String,
    events: usize,
    episodes: usize,
    prompts: usize,
    observations: usize,
    torn: Option<String>,
    /// Worlds that could not be opened here; their observations were not compared.
    unopened: Vec<String>,
    problems: Vec<String>,
}

/// `verify PATH`.
pub(super) fn verify(config: &Config, args: &args::Verify, out: &mut Out) -> Result<(), Fault> {
    let opened = place::open(config, Some(&args.path))?;
    let mut found =
        Found { session: opened.meta.session.clone(), torn: opened.torn.clone(), ..Found::default() };
    let mut check = Check {
        state: State::default(),
        options: setup::world_options(config),
        with_world: !args.no_world,
        world: None,
        sent: None,
    };
    for envelope in &opened.events() {
        check.event(envelope, &mut found);
    }
    if opened.events().is_empty() {
        found.problems.push("there is no event in it".to_owned());
    }
    if args.json {
        out.json(&serde_json::to_string(&found).unwrap_or_default())?;
    } else {
        out.line(&format!(
            "{}: {} events, {} episodes, {} prompts rebuilt, {} observations taken again",
            found.session, found.events, found.episodes, found.prompts, found.observations
        ))?;
        if let Some(torn) = &found.torn {
            out.line(&format!("torn: {torn}"))?;
        }
        for world in &found.unopened {
            out.line(&format!("not compared: {world}"))?;
        }
        for problem in &found.problems {
            out.line(&format!("PROBLEM {}", crate::text::one_line(problem)))?;
        }
        if found.problems.is_empty() {
            out.line("whole: everything is as the journal says")?;
        }
    }
    if found.problems.is_empty() {
        return Ok(());
    }
    if args.json {
        // The object has said it; the exit code says it again.
        return Err(Fault { kind: FaultKind::Check, message: String::new(), hint: String::new() });
    }
    Err(Fault::new(
        FaultKind::Check,
        format!("{}: {} problem(s)", found.session, found.problems.len()),
        "a journal that was changed by hand, or a program or world of another version, are the usual reasons",
    ))
}

struct Check {
    state: State,
    options: WorldOptions,
    with_world: bool,
    world: Option<Box<dyn Environment>>,
    sent: Option<String>,
}

impl Check {
    fn event(&mut self, envelope: &Arc<Envelope>, found: &mut Found) {
        self.state.apply(envelope);
        found.events += 1;
        match &envelope.event {
            Event::PromptSent { prompt } | Event::PromptDrafted { prompt } => {
                found.prompts += 1;
                if body_hash(&render(&self.state, prompt)) != prompt.sha256 {
                    found.problems.push(format!(
                        "event {}: the prompt of step {} of episode {} cannot be rebuilt: its words have another hash",
                        envelope.seq, prompt.step, prompt.episode
                    ));
                }
            }
            Event::TextDefined { hash, text } if crate::prompt::text_hash(text) != *hash => {
                found
                    .problems
                    .push(format!("event {}: the stored text has another hash than {hash}", envelope.seq));
            }
            Event::EpisodeStarted { task, .. } => {
                found.episodes += 1;
                self.sent = None;
                self.world = if self.with_world { self.open(task, found) } else { None };
            }
            Event::WorldReset { turn, .. } => {
                let now = self.world.as_mut().map(|w| w.reset());
                self.compare(envelope, &turn.observation, now, found);
            }
            Event::ActionTaken { executed, call: Some(_), list: false, .. } => {
                self.sent = Some(executed.sent.clone().unwrap_or_else(|| executed.action.clone()));
            }
            Event::Observed { turn, .. } => {
                if let Some(sent) = self.sent.take() {
                    let now = self.world.as_mut().map(|w| w.step(&sent));
                    self.compare(envelope, &turn.observation, now, found);
                }
            }
            _ => {}
        }
    }

    fn open(&self, task: &Task, found: &mut Found) -> Option<Box<dyn Environment>> {
        match worlds::open(task, &self.options) {
            Ok(world) if world.info().deterministic => Some(world),
            Ok(_) => {
                found.unopened.push(format!("{} {}: this world is not the same twice", task.env, task.id));
                None
            }
            Err(error) => {
                found.unopened.push(format!("{} {}: {error}", task.env, task.id));
                None
            }
        }
    }

    fn compare(
        &mut self,
        envelope: &Envelope,
        recorded: &str,
        now: Option<Result<crate::domain::Turn, crate::env::EnvError>>,
        found: &mut Found,
    ) {
        let now = match now {
            None => return,
            Some(Ok(turn)) => turn.observation,
            Some(Err(error)) => format!("(the world failed: {error})"),
        };
        found.observations += 1;
        if now != recorded {
            found.problems.push(format!(
                "event {}: the world now says {now:?} where the journal has {recorded:?}",
                envelope.seq
            ));
            // One difference makes all that follows differ.
            self.world = None;
        }
    }
}
