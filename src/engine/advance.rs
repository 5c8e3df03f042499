//! What comes next of itself. One batch of events a call; the driver calls until it is empty.

use super::state::{Grant, Pace, State};
use super::{Ask, Cause, Draft, Engine, Episode, Event, Intent, PauseReason, limits};
use crate::domain::{
    Author, Autonomy, By, CallId, EndReason, EpisodeSummary, Executed, Hindsight, ModelRole, Question,
    Reflection, ShownAs, Stage, Step, ThoughtDisposition,
};
use std::sync::Arc;

impl Engine {
    /// The next events that need nobody's word, each with its cause; empty when the session waits or is over.
    pub fn advance(&self) -> Vec<(Cause, Event)> {
        self.next_events().into_iter().map(|event| (Cause::Policy, event)).collect()
    }

    fn next_events(&self) -> Vec<Event> {
        let state = &self.state;
        if state.run.is_none() || state.closed {
            return Vec::new();
        }
        if let Some(warning) = state.no_action_warning() {
            return vec![warning];
        }
        if state.pace == Pace::Pausing && state.calls.is_empty() {
            let hit = state.stops.standing.is_some();
            let reason = if hit { PauseReason::Breakpoint } else { PauseReason::Person };
            return vec![Event::Paused { reason }];
        }
        if state.failed_call.is_some() || state.divergence.is_some() {
            return Vec::new();
        }
        if let Some(step) = state.last_step()
            && step.stage == Stage::Reflection
            && !step.noted
            && state.open_episode().is_some()
        {
            return vec![Event::Noted { step: step.number, notes: (self.policy.detect)(state) }];
        }
        if state.world_busy() || state.asking(ModelRole::Actor) || state.asking(ModelRole::Mentor) {
            return Vec::new();
        }
        if !state.changes.is_empty() {
            let free = state.autonomy == Autonomy::Auto && moves(state);
            return self.agreed().filter(|_| free).unwrap_or_default();
        }
        if let Some(step) = state.open_episode().and_then(|e| e.last())
            && step.stage == Stage::Observation
        {
            return self.unsent_thought(step);
        }
        if let Some(step) = state.awaiting() {
            return self.decided(step);
        }
        if state
            .open_episode()
            .is_some_and(|e| e.reset.is_some() && e.last().is_none_or(|s| s.answer.is_some()))
            && let Some(reason) = limits::reached(state)
        {
            // The method may still reflect on the last step (OmniReflect reflects before the final-state break).
            return match self.last_words() {
                Some(events) => events,
                None => vec![end(state, reason)],
            };
        }
        if state.over || !moves(state) {
            return Vec::new();
        }
        if let Some(draft) = &state.draft {
            return vec![Event::PromptSent { prompt: draft.clone() }];
        }
        if state.open_episode().is_some_and(|e| e.last().is_some_and(|s| s.stage == Stage::Prompt)) {
            return self.turn();
        }
        self.grant_wants()
    }

    /// The waiting proposal runs when it may.
    fn decided(&self, step: &Step) -> Vec<Event> {
        let state = &self.state;
        let empty = step.call.is_none() && step.proposed.is_none() && step.executed.is_none();
        if empty && state.autonomy != Autonomy::Human {
            // A place that was opened for a person who then gave the turn back.
            return if moves(state) { self.turn() } else { Vec::new() };
        }
        let free = state.autonomy == Autonomy::Auto && moves(state);
        if !(step.approved || free) {
            return Vec::new();
        }
        let executed = match (&step.executed, &step.proposed, &step.thought) {
            (Some(chosen), ..) => chosen.clone(),
            (None, Some(action), _) => by_actor(action.clone()),
            (None, None, Some(thought)) => by_actor(format!("think: {thought}")),
            (None, None, None) => {
                // An empty reply is an empty action, as in Reflexion's public code; a person's empty place waits.
                if step.call.is_none() {
                    return Vec::new();
                }
                by_actor(String::new())
            }
        };
        self.take(step.number, executed)
    }

    fn take(&self, step: u32, mut executed: Executed) -> Vec<Event> {
        let state = &self.state;
        let thinks = executed.action.trim_start().starts_with("think:");
        if thinks && !state.switch("thoughts_sent", true) {
            return vec![Event::ActionTaken { step, call: None, executed, list: false }];
        }
        let out = (self.policy.outgoing)(state, &executed.action);
        executed.sent = out.sent;
        executed.rule = out.rule;
        vec![Event::ActionTaken { step, call: Some(CallId(state.next_call)), executed, list: out.list }]
    }

    /// A thought that the world is not told is answered by the interface alone.
    fn unsent_thought(&self, step: &Step) -> Vec<Event> {
        // Nothing moved: the thought stands before the world as it was.
        let turn = self.state.standing_turn();
        let action = step.action().unwrap_or_default();
        let seen = Some((self.policy.incoming)(&self.state, action, &turn, &[]).unwrap_or_default());
        vec![Event::Observed { step: step.number, call: None, turn: Box::new(turn), seen }]
    }

    /// The open turn is the actor's, unless the method knows its action beforehand.
    fn turn(&self) -> Vec<Event> {
        let wants = self.policy.method.next(&self.state);
        match wants.into_iter().find(|w| matches!(w, Intent::Propose(_))) {
            Some(Intent::Propose(action)) => self.propose(action),
            _ => self.ask_actor(),
        }
    }

    /// The next step, or the one that stands open, gets a proposal that nobody was asked for.
    fn propose(&self, action: String) -> Vec<Event> {
        let Some(episode) = self.state.open_episode() else { return Vec::new() };
        let (step, _, begun) = due(episode);
        let mut events = if begun { Vec::new() } else { vec![Event::StepOpened { step }] };
        if self.state.autonomy != Autonomy::Human {
            events.push(Event::Proposed {
                step,
                thought: None,
                action: Some(action),
                complaints: Vec::new(),
            });
        }
        events
    }

    fn ask_actor(&self) -> Vec<Event> {
        let state = &self.state;
        let Some(episode) = state.open_episode() else { return Vec::new() };
        let (step, retry, _) = due(episode);
        if state.autonomy == Autonomy::Human {
            return if episode.steps.len() < step as usize {
                vec![Event::StepOpened { step }]
            } else {
                Vec::new()
            };
        }
        self.ask(
            Ask { asked: ModelRole::Actor, question: None, step, retry },
            0,
            self.state.grant == Some(Grant::Stage),
        )
    }

    /// The prompt of a question, the `n`th of its batch; as a draft where a person steps by stages.
    fn ask(&self, ask: Ask, n: u64, staged: bool) -> Vec<Event> {
        let state = &self.state;
        let reworded = state.reworded(ask.asked, ask.question);
        let draft = match reworded {
            Some(words) => Draft { record: (**words).clone(), texts: Vec::new() },
            None => (self.policy.draft)(state, &ask),
        };
        let mut record = draft.record;
        record.call = CallId(state.next_call.saturating_add(n));
        record.asked = ask.asked;
        record.question = ask.question;
        record.step = ask.step;
        record.retry = ask.retry;
        record.rung = self.rung(&ask);
        record.episode = state.episode.as_ref().map_or(0, |e| e.number);
        state.sample(&mut record);
        let mut events: Vec<Event> =
            draft.texts.into_iter().map(|(hash, text)| Event::TextDefined { hash, text }).collect();
        let prompt = Arc::new(record);
        // A person's words have been read: they go out.
        events.push(if staged && reworded.is_none() {
            Event::PromptDrafted { prompt }
        } else {
            Event::PromptSent { prompt }
        });
        events
    }

    /// With the ladder of temperatures each reply that could not be used makes the next question of its step warmer.
    fn rung(&self, ask: &Ask) -> u32 {
        if ask.asked == ModelRole::Mentor || !self.state.switch("warmer", false) {
            return 0;
        }
        let step = self.state.open_episode().and_then(|e| e.step(ask.step));
        step.map_or(0, |s| s.unusable.min(5))
    }

    /// What the method still wants before the episode ends: to write, or to ask the mentor; nothing else is granted. None:
    /// the episode may end. The events are empty where the mentor is to be asked and nothing may move.
    fn last_words(&self) -> Option<Vec<Event>> {
        let wants = self.policy.method.next(&self.state);
        let written = self.write_all(wants.iter().take_while(|w| writes(w)), Author::Symbolic, 0);
        if !written.is_empty() {
            return Some(written);
        }
        let asks = matches!(wants.iter().find(|w| !writes(w)), Some(Intent::AskMentor(_)));
        asks.then(|| self.may_ask(|| self.ask_mentor(&round(&wants))))
    }

    /// Sends what was drafted for the mentor, or asks; nothing while nothing may move.
    fn may_ask(&self, ask: impl FnOnce() -> Vec<Event>) -> Vec<Event> {
        match &self.state.draft {
            _ if !moves(&self.state) => Vec::new(),
            Some(draft) => vec![Event::PromptSent { prompt: draft.clone() }],
            None => ask(),
        }
    }

    /// The questions of a round. While a person steps by stages they are drafted and sent one by one.
    fn ask_mentor(&self, questions: &[Question]) -> Vec<Event> {
        let state = &self.state;
        let staged = state.grant == Some(Grant::Stage);
        let at_once = if staged || !state.switch("mentor_at_once", true) { 1 } else { questions.len() };
        self.questions(&questions[..at_once.min(questions.len())], staged)
    }

    /// The prompts of questions to the mentor, each with a call of its own.
    pub(super) fn questions(&self, questions: &[Question], staged: bool) -> Vec<Event> {
        let step = self.state.episode.as_ref().map_or(0, |e| e.answered());
        let mut events: Vec<Event> = Vec::new();
        for (n, question) in questions.iter().enumerate() {
            let ask = Ask { asked: ModelRole::Mentor, question: Some(*question), step, retry: 0 };
            for event in self.ask(ask, n as u64, staged) {
                // Texts that two prompts of a round share are defined once.
                if !matches!(event, Event::TextDefined { .. }) || !events.contains(&event) {
                    events.push(event);
                }
            }
        }
        events
    }

    /// The events of wants that only write; `before` counts the events of the same batch before them.
    pub(super) fn write_all<'a>(
        &self,
        wants: impl Iterator<Item = &'a Intent>,
        by: Author,
        before: usize,
    ) -> Vec<Event> {
        let mut events = Vec::new();
        for want in wants {
            match want {
                Intent::Reflect(reflection) => {
                    let reflection: Box<Reflection> = reflection.clone();
                    events.push(Event::Reflected { reflection });
                }
                Intent::Lesson(wish) => {
                    if let Ok(op) = self.lesson_op(wish, by, before + events.len()) {
                        events.push(Event::LessonChanged { op: Box::new(op), by });
                    }
                }
                Intent::SetMemory(value) => events.push(Event::MemorySet { value: value.clone() }),
                _ => {}
            }
        }
        events
    }

    fn grant_wants(&self) -> Vec<Event> {
        let state = &self.state;
        let wants = self.policy.method.next(state);
        let written = self.write_all(wants.iter().take_while(|w| writes(w)), Author::Symbolic, 0);
        if !written.is_empty() {
            return written;
        }
        let questions = round(&wants);
        match wants.into_iter().find(|w| !writes(w)) {
            Some(Intent::AskActor) => self.ask_actor(),
            Some(Intent::Propose(action)) => self.propose(action),
            Some(Intent::AskMentor(_)) => self.ask_mentor(&questions),
            Some(Intent::StartEpisode { task, trial, role }) => vec![Event::EpisodeStarted {
                episode: state.next_number(),
                task,
                trial,
                role,
                call: CallId(state.next_call),
            }],
            Some(Intent::EndEpisode(reason)) if state.open_episode().is_some() => vec![end(state, reason)],
            Some(Intent::EndRun) => vec![Event::RunEnded],
            _ => Vec::new(),
        }
    }
}

/// Things may move: running, or a grant is not spent.
fn moves(state: &State) -> bool {
    state.pace == Pace::Running || (state.pace == Pace::Paused && state.grant.is_some())
}

/// The step that is open or comes next, how often it was asked, and whether it is there already.
fn due(episode: &Episode) -> (u32, u32, bool) {
    match episode.last() {
        Some(open) if open.stage < Stage::Observation => (open.number, open.retry, true),
        _ => (episode.steps.len() as u32 + 1, 0, false),
    }
}

/// The first round of questions among wants: those that follow each other.
fn round(wants: &[Intent]) -> Vec<Question> {
    let from = wants.iter().skip_while(|w| !matches!(w, Intent::AskMentor(_)));
    from.map_while(|w| match w {
        Intent::AskMentor(question) => Some(*question),
        _ => None,
    })
    .collect()
}

fn writes(want: &Intent) -> bool {
    matches!(want, Intent::Reflect(_) | Intent::Lesson(_) | Intent::SetMemory(_))
}

fn by_actor(action: String) -> Executed {
    Executed {
        action,
        sent: None,
        rule: None,
        by: By::Actor,
        shown_as: ShownAs::Own,
        fate: ThoughtDisposition::Kept,
    }
}

impl State {
    /// The steps of an episode as they count against its bound.
    pub fn counted_steps(&self, episode: &Episode) -> u32 {
        if self.switch("thoughts_count", true) { episode.answered() } else { episode.moves }
    }
}

/// The end of the open episode as an event.
pub fn end(state: &State, reason: EndReason) -> Event {
    let Some(e) = state.open_episode() else { return Event::RunEnded };
    let won = e.last().and_then(|s| s.answer.as_ref()).or(e.reset.as_ref()).is_some_and(|a| a.won);
    let steps = state.counted_steps(e);
    Event::EpisodeEnded {
        summary: Box::new(EpisodeSummary {
            number: e.number,
            task: e.task.clone(),
            trial: e.trial,
            role: e.role,
            won,
            reason,
            steps,
            moves: e.moves,
            progress: e.progress,
            calls: e.calls,
            tokens: e.tokens,
            assisted: e.assisted || reason == EndReason::Person,
            span: (e.first_seq.0, state.head.0 + 1),
            // The fold knows it by itself; an event tells nothing twice.
            hindsight: Hindsight::default(),
        }),
    }
}
