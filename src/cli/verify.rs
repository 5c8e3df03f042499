//! `verify`: whether a session is what it says. Its files are read, its prompts are rebuilt and compared with their
//! hashes, replies are read again, seeds and the sums of episodes are worked out again, and its actions are taken again in
//! its world, whose whole answer is compared; so are goal and view that the interface made of it.
//!
//! Two kinds of differences are told and are no failure: those of a rebuilt world that a person accepted, and notes,
//! reflections and lessons that the rules of this program would draw otherwise (rules change from version to version).

mod accepted;
mod differing;
mod drawn;

use super::config::Config;
use super::fault::{Fault, FaultKind};
use super::out::Out;
use super::{args, place, setup};
use crate::domain::{Asked, BranchId, PromptRecord, Seq, Task, Turn};
use crate::driver::worlds::{self, WorldOptions};
use crate::engine::{Envelope, Event, State, episode_end, request_seed, seeded_episode};
use crate::env::Environment;
use crate::journal::{Use, branch_path, kept_states};
use crate::prompt::{body_hash, interface, read, render};
use crate::text::truncate;
use accepted::Differences;
use differing::difference;
use drawn::Drawn;
use serde::Serialize;
use std::sync::Arc;

#[derive(Default, Serialize)]
struct Found {
    session: String,
    events: usize,
    episodes: usize,
    prompts: usize,
    observations: usize,
    /// Notes, reflections and lessons that were drawn again.
    drawn: usize,
    torn: Option<String>,
    /// Worlds that could not be opened here; their observations were not compared.
    unopened: Vec<String>,
    /// Answers that differ, as a person has accepted.
    accepted: Vec<String>,
    /// Notes, reflections and lessons that this program's rules draw otherwise.
    drawn_otherwise: Vec<String>,
    problems: Vec<String>,
}

/// `verify PATH`.
pub(super) fn verify(config: &Config, args: &args::Verify, out: &mut Out) -> Result<(), Fault> {
    // Every byte is read: what is kept beside the journal is looked at, not believed.
    let opened = place::open_for(config, Some(&args.path), Use::Check)?;
    let trunk = opened.dir.as_ref().map(|dir| branch_path(dir, &BranchId::trunk()));
    let kept = trunk.map(|trunk| kept_states(&trunk));
    let mut found =
        Found { session: opened.meta.session.clone(), torn: opened.torn.clone(), ..Found::default() };
    let mut differences = Differences::default();
    opened.each(|envelope| {
        differences.look(envelope);
        Ok(())
    })?;
    let mut check = Check {
        state: State::default(),
        options: setup::world_options(config),
        with_world: !args.no_world,
        world: None,
        sent: None,
        reply: None,
        accepted: differences,
        drawn: Drawn::default(),
    };
    opened.each(|envelope| {
        check.event(envelope, &mut found);
        if let Some(stored) = kept.as_ref().filter(|k| k.at.contains(&envelope.seq))
            && (stored.recall)(envelope.seq).is_some_and(|kept| kept.head == envelope.seq && kept != check.state)
        {
            found.problems.push(format!(
                "event {}: the state kept in index/ is not what the events come to; remove that folder, it is made anew",
                envelope.seq
            ));
        }
        Ok(())
    })?;
    (found.drawn, found.drawn_otherwise) = (check.drawn.compared, check.drawn.otherwise);
    if found.events == 0 {
        found.problems.push("there is no event in it".to_owned());
    }
    if args.json {
        out.json(&serde_json::to_string(&found).unwrap_or_default())?;
    } else {
        out.line(&format!(
            "{}: {} events, {} episodes, {} prompts rebuilt, {} observations taken again, {} notes and lessons drawn again",
            found.session, found.events, found.episodes, found.prompts, found.observations, found.drawn
        ))?;
        if let Some(torn) = &found.torn {
            out.line(&format!("torn: {torn}"))?;
        }
        for world in &found.unopened {
            out.line(&format!("not compared: {world}"))?;
        }
        for difference in &found.accepted {
            out.line(&format!("accepted: {}", crate::text::one_line(difference)))?;
        }
        for difference in &found.drawn_otherwise {
            out.line(&format!("drawn otherwise: {}", crate::text::one_line(difference)))?;
        }
        for problem in &found.problems {
            out.line(&format!("PROBLEM {}", crate::text::one_line(problem)))?;
        }
        if found.observations == 0 {
            out.line(PROMPTS_ONLY)?;
        } else if found.problems.is_empty() && found.unopened.is_empty() {
            out.line(&whole(&found))?;
        } else if found.problems.is_empty() {
            out.line("no problem, but not every world was compared")?;
        }
    }
    let without = found.observations == 0 && !found.unopened.is_empty();
    if found.problems.is_empty() && !without {
        return Ok(());
    }
    if args.json {
        // The object has said it; the exit code says it again.
        return Err(Fault { kind: FaultKind::Check, message: String::new(), hint: String::new() });
    }
    if found.problems.is_empty() {
        return Err(Fault::new(
            FaultKind::Check,
            format!("{}: {PROMPTS_ONLY}", found.session),
            "give the world's data (--data DIR or ALFWORLD_DATA), or leave the world out on purpose with --no-world",
        ));
    }
    Err(Fault::new(
        FaultKind::Check,
        format!("{}: {} problem(s)", found.session, found.problems.len()),
        "a journal that was changed by hand, or a program or world of another version, are the usual reasons",
    ))
}

/// The last line, where there is no problem.
fn whole(found: &Found) -> String {
    let mut besides = Vec::new();
    if !found.accepted.is_empty() {
        besides.push(format!("{} of another world, as was accepted", found.accepted.len()));
    }
    if !found.drawn_otherwise.is_empty() {
        besides
            .push(format!("{} that the rules of this program draw otherwise", found.drawn_otherwise.len()));
    }
    if besides.is_empty() {
        return "whole: everything is as the journal says".to_owned();
    }
    format!("whole: everything is as the journal says, but for {}", besides.join(" and "))
}

/// Said where no world answered.
const PROMPTS_ONLY: &str = "prompts only: no world was compared";

struct Check {
    state: State,
    options: WorldOptions,
    with_world: bool,
    world: Option<Box<dyn Environment>>,
    sent: Option<String>,
    /// The actor's reply whose reading comes next.
    reply: Option<String>,
    accepted: Differences,
    drawn: Drawn,
}

impl Check {
    fn event(&mut self, envelope: &Arc<Envelope>, found: &mut Found) {
        let mut wrong = self.against_the_state(envelope);
        wrong.extend(self.view(&envelope.event));
        self.drawn.event(envelope, &self.state);
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
            Event::RunStarted { spec, .. } | Event::RunChanged { spec } => self.drawn.begin(spec),
            Event::EpisodeStarted { task, .. } => {
                found.episodes += 1;
                (self.sent, self.reply) = (None, None);
                self.world = if self.with_world { self.open(task, found) } else { None };
            }
            Event::WorldReset { turn, .. } => {
                let now = self.world.as_mut().map(|w| w.reset());
                wrong.extend(self.compare(turn, now, envelope.seq, found));
            }
            Event::ActionTaken { executed, call: Some(_), list: false, .. } => {
                self.sent = Some(executed.sent.clone().unwrap_or_else(|| executed.action.clone()));
            }
            Event::Observed { turn, .. } => {
                if let Some(sent) = self.sent.take() {
                    let now = self.world.as_mut().map(|w| w.step(&sent));
                    wrong.extend(self.compare(turn, now, envelope.seq, found));
                }
            }
            _ => {}
        }
        found.problems.extend(wrong.into_iter().map(|what| format!("event {}: {what}", envelope.seq)));
    }

    /// What an event says that the events before it gainsay.
    fn against_the_state(&mut self, envelope: &Envelope) -> Vec<String> {
        let mut wrong = Vec::new();
        let steps = self.state.episode.as_ref().map_or(0, |e| e.steps.len() as u32);
        let here = |what: &str, step: u32, wrong: &mut Vec<String>| {
            if step != steps {
                wrong.push(format!("{what} of step {step} in step {steps}: steps are out of order"));
            }
        };
        match &envelope.event {
            Event::PromptSent { prompt } | Event::PromptDrafted { prompt } => {
                wrong.extend(self.prompt(prompt, steps));
            }
            Event::EpisodeStarted { episode, .. } => {
                let due = self.state.past.len() as u32 + 1;
                if *episode != due {
                    wrong.push(format!("episode {episode} begins where episode {due} is due"));
                }
            }
            Event::StepOpened { step } if *step != steps + 1 => here("the opening", *step, &mut wrong),
            Event::ReplyReceived { text, .. } if self.state.asking(Asked::Actor) => {
                self.reply = Some(text.clone());
            }
            Event::Proposed { step, thought, action, complaints } => {
                here("the proposal", *step, &mut wrong);
                match self.reply.take().map(|text| read(&text)) {
                    Some(was)
                        if (&was.thought, &was.action, &was.complaints) == (thought, action, complaints) => {}
                    Some(was) => wrong.push(format!(
                        "the reply reads as {:?}, the proposal says {:?}",
                        (was.thought, was.action),
                        (thought, action)
                    )),
                    None => wrong.push("a proposal without a reply".to_owned()),
                }
            }
            Event::ActionTaken { step, .. } => here("the action", *step, &mut wrong),
            Event::Observed { step, turn, .. } => {
                here("the answer", *step, &mut wrong);
                // Where the world was not asked it stands as it stood.
                let standing = self.state.standing_turn();
                if self.sent.is_none() && **turn != standing {
                    wrong.push(format!("the world was not asked; {}", difference(turn, &standing)));
                }
            }
            Event::Noted { step, .. } => here("a note", *step, &mut wrong),
            Event::EpisodeEnded { summary } => {
                if let Event::EpisodeEnded { summary: now } = episode_end(&self.state, summary.reason) {
                    // Whether a person had a hand in it can be told by the very event that ends it.
                    let (mut was, mut now) = (summary.clone(), now);
                    (was.assisted, now.assisted) = (false, false);
                    (was.span, now.span) = ((0, 0), (0, 0));
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
    fn view(&mut self, event: &Event) -> Option<String> {
        let (seen, now) = match event {
            Event::WorldReset { turn, seen, goal, .. } => {
                let read = interface::goal(turn);
                if read != *goal {
                    return Some(format!(
                        "the first observation states the goal {read:?}, recorded is {goal:?}"
                    ));
                }
                (seen, interface::incoming(&self.state, "", turn, &[]))
            }
            Event::Observed { call, turn, seen, .. } => {
                let executed = self.state.last_step()?.executed.as_ref()?;
                let lists = call.is_some() && self.sent.is_none();
                let admissible = match &mut self.world {
                    // The list was in no event: only the world itself can say it again.
                    None if lists => return None,
                    Some(world) if lists => world.admissible().ok()?,
                    _ => Vec::new(),
                };
                let now = interface::incoming(&self.state, &executed.action, turn, &admissible);
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

    fn prompt(&self, prompt: &PromptRecord, steps: u32) -> Option<String> {
        let sample = self.state.run.as_ref().map_or(0, |r| r.seed);
        let counted = seeded_episode(self.state.run.as_deref(), prompt.episode);
        let seed = request_seed(sample, counted, prompt.step, prompt.asked, prompt.retry);
        let episode = self.state.episode.as_ref().map_or(0, |e| e.number);
        let last = self.state.last_step();
        let due = match last {
            Some(open) if open.answer.is_none() => open.number,
            _ => steps + 1,
        };
        if prompt.seed != seed {
            return Some(format!("the request has the seed {}, by its place it has {seed}", prompt.seed));
        }
        if prompt.episode != episode {
            return Some(format!("a prompt of episode {} in episode {episode}", prompt.episode));
        }
        (prompt.asked == Asked::Actor && prompt.step != due).then(|| {
            format!("the prompt of step {} where step {due} is due: steps are out of order", prompt.step)
        })
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
        recorded: &Turn,
        now: Option<Result<Turn, crate::env::EnvError>>,
        seq: Seq,
        found: &mut Found,
    ) -> Option<String> {
        let now = now?;
        found.observations += 1;
        if let (Ok(turn), Some(episode)) = (&now, &self.state.episode)
            && turn != recorded
            && let step = episode.steps.len() as u32
            && let Some(by) = self.accepted.accept(episode.number, step, seq, recorded, turn)
        {
            let what = difference(recorded, turn);
            found.accepted.push(format!("event {seq}: {what}; a person accepted that in event {by}"));
            return None;
        }
        let what = match now {
            Ok(turn) if turn == *recorded => return None,
            Ok(turn) => difference(recorded, &turn),
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
