//! A small fake household and a synchronous driver, for the tests of `prompt`, `symbolic` and `method`.

use crate::catalog::{build_policy, defaults};
use crate::domain::{
    Autonomy, CallId, Interface, JobContext, ModelRole, PaperOrCode, RunSpec, Seq, StepResult, Task,
    Truncation, Usage,
};
use crate::engine::{Cause, Command, Effect, Engine, Envelope, Event, Input, LessonCommand, Reply, State};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A receptacle with its contents.
#[derive(Clone, Debug)]
struct Receptacle {
    can_be_closed: bool,
    open: bool,
    things: Vec<String>,
}

/// A fake household whose observations are worded as in ALFWorld: as in current games, or as in older ones ("loc 7",
/// "put ... in/on") if `old_wording`.
#[derive(Clone, Debug)]
pub(crate) struct FakeHousehold {
    pub(crate) old_wording: bool,
    goal: String,
    location: Option<String>,
    holding: Option<String>,
    places: BTreeMap<String, Receptacle>,
    treatments: BTreeSet<(String, &'static str)>,
}

impl FakeHousehold {
    /// Creates a kitchen whose containers are closed.
    pub(crate) fn kitchen(goal: &str) -> Self {
        let mut places = BTreeMap::new();
        let mut add = |name: &str, can_be_closed: bool, things: &[&str]| {
            let things = things.iter().map(|t| (*t).to_owned()).collect();
            places.insert(name.to_owned(), Receptacle { can_be_closed, open: !can_be_closed, things });
        };
        add("countertop 1", false, &["bread 1", "knife 1"]);
        add("countertop 2", false, &["mug 1", "apple 1"]);
        add("fridge 1", true, &["apple 2", "lettuce 1"]);
        add("microwave 1", true, &[]);
        add("sinkbasin 1", false, &["spoon 1"]);
        add("stoveburner 1", false, &["pan 1"]);
        add("garbagecan 1", false, &[]);
        add("cabinet 1", true, &["plate 1"]);
        add("sidetable 1", false, &["desklamp 1"]);
        let treatments = BTreeSet::new();
        Self { old_wording: false, goal: goal.to_owned(), location: None, holding: None, places, treatments }
    }

    pub(crate) fn reset(&self) -> StepResult {
        let names: Vec<&str> = self.places.keys().rev().map(String::as_str).collect();
        let observation = format!(
            "-= Welcome to TextWorld, ALFRED! =-\n\nYou are in the middle of a room. Looking quickly around you, you see {}.\n\nYour task is to: {}.",
            list_names(&names),
            self.goal
        );
        StepResult { observation, valid: true, ..StepResult::default() }
    }

    pub(crate) fn step(&mut self, action: &str) -> StepResult {
        let answer = self.answer_action(action.trim());
        let valid = answer.is_some();
        let observation = answer.unwrap_or_else(|| "Nothing happens.".to_owned());
        StepResult { observation, valid, ..StepResult::default() }
    }

    fn current_place(&mut self, place: &str) -> Option<&mut Receptacle> {
        (self.location.as_deref() == Some(place)).then(|| self.places.get_mut(place)).flatten()
    }

    fn describe_place(&self, name: &str) -> String {
        let place = &self.places[name];
        let things: Vec<&str> = place.things.iter().map(String::as_str).collect();
        match (place.can_be_closed, place.open) {
            (true, false) => format!("The {name} is closed."),
            (true, true) => format!("The {name} is open. In it, you see {}.", list_names(&things)),
            _ => format!("On the {name}, you see {}.", list_names(&things)),
        }
    }

    fn answer_action(&mut self, action: &str) -> Option<String> {
        if action == "look" {
            return Some(
                "You are in the middle of a room. Looking quickly around you, you see nothing.".to_owned(),
            );
        }
        if let Some(thing) = action.strip_prefix("examine ") {
            return (self.holding.as_deref() == Some(thing))
                .then(|| format!("There's nothing special about {thing}."));
        }
        if action == "inventory" {
            return Some(match &self.holding {
                Some(thing) => format!("You are carrying: a {thing}."),
                None => "You are not carrying anything.".to_owned(),
            });
        }
        if let Some(place) = action.strip_prefix("go to ") {
            if !self.places.contains_key(place) || self.location.as_deref() == Some(place) {
                return None;
            }
            self.location = Some(place.to_owned());
            let destination = if self.old_wording { "loc 7" } else { place };
            return Some(format!("You arrive at {destination}. {}", self.describe_place(place)));
        }
        if let Some(name) = action.strip_prefix("open ") {
            let place = self.current_place(name)?;
            if !place.can_be_closed || place.open {
                return None;
            }
            place.open = true;
            return Some(format!("You open the {name}. {}", self.describe_place(name)));
        }
        if let Some((thing, name)) = action.strip_prefix("take ").and_then(|r| r.split_once(" from ")) {
            if self.holding.is_some() {
                return None;
            }
            let place = self.current_place(name).filter(|p| p.open)?;
            let index = place.things.iter().position(|t| t == thing)?;
            place.things.remove(index);
            self.holding = Some(thing.to_owned());
            return Some(format!("You pick up the {thing} from the {name}."));
        }
        let (verb, preposition) = if self.old_wording { ("put ", " in/on ") } else { ("move ", " to ") };
        if let Some((thing, name)) = action.strip_prefix(verb).and_then(|r| r.split_once(preposition)) {
            if self.holding.as_deref() != Some(thing) {
                return None;
            }
            self.current_place(name).filter(|p| p.open)?.things.push(thing.to_owned());
            self.holding = None;
            return Some(if self.old_wording {
                format!("You put the {thing} in/on the {name}.")
            } else {
                format!("You move the {thing} to the {name}.")
            });
        }
        for (verb, appliance) in [("heat", "microwave"), ("cool", "fridge"), ("clean", "sinkbasin")] {
            if let Some((thing, name)) = action
                .strip_prefix(verb)
                .and_then(|r| r.strip_prefix(' '))
                .and_then(|r| r.split_once(" with "))
            {
                if self.holding.as_deref() != Some(thing) || !name.starts_with(appliance) {
                    return None;
                }
                self.current_place(name)?;
                self.treatments.insert((thing.to_owned(), verb));
                return Some(format!("You {verb} the {thing} using the {name}."));
            }
        }
        if let Some(name) = action.strip_prefix("use ") {
            let location = self.location.clone()?;
            return (name.starts_with("desklamp") && self.places[&location].things.iter().any(|t| t == name))
                .then(|| format!("You turn on the {name}."));
        }
        None
    }
}

fn list_names(names: &[&str]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [one] => format!("a {one}"),
        [rest @ .., last] => {
            let rest: Vec<String> = rest.iter().map(|n| format!("a {n}")).collect();
            format!("{}, and a {last}", rest.join(", "))
        }
    }
}

/// Returns the specification of a run with the defaults of a method; `tasks` are pairs of id and task type.
pub(crate) fn test_spec(method: &str, tasks: &[(&str, &str)]) -> RunSpec {
    let (limits, settings, loop_detector) = defaults(method, PaperOrCode::Paper);
    let task = |(id, task_type): &(&str, &str)| Task {
        env: "household".to_owned(),
        id: (*id).to_owned(),
        goal: String::new(),
        task_type: (!task_type.is_empty()).then(|| (*task_type).to_owned()),
        difficulty: None,
        seed: 0,
    };
    RunSpec {
        method: method.to_owned(),
        actor: "rules".to_owned(),
        mentor: "symbolic".to_owned(),
        interface: Interface::React,
        tasks: tasks.iter().map(task).collect(),
        trials: 1,
        seed: 0,
        autonomy: Autonomy::Auto,
        limits,
        loop_detector,
        settings,
    }
}

/// An engine with its journal, driven synchronously.
pub(crate) struct TestRun {
    pub(crate) engine: Engine,
    pub(crate) journal: Vec<Envelope>,
    /// Every prompt that was sent, with the state after it.
    pub(crate) prompts: Vec<(State, crate::domain::PromptRecord)>,
    /// Returns the mentor's reply to a prompt.
    pub(crate) mentor: Box<dyn FnMut(&crate::domain::PromptRecord) -> String>,
}

impl TestRun {
    pub(crate) fn new(spec: RunSpec) -> Self {
        Self::with_pool(spec, Vec::new())
    }

    /// Creates a run that starts with lessons.
    pub(crate) fn with_pool(spec: RunSpec, pool: Vec<(String, LessonCommand)>) -> Self {
        Self::with_templates(spec, pool, Arc::new(crate::catalog::builtin_templates()))
    }

    pub(crate) fn with_templates(
        spec: RunSpec,
        pool: Vec<(String, LessonCommand)>,
        templates: Arc<crate::prompt::Templates>,
    ) -> Self {
        let policy = build_policy(&spec, templates).expect("the method exists");
        let mut run = Self {
            engine: Engine::new(policy),
            journal: Vec::new(),
            prompts: Vec::new(),
            mentor: Box::new(|_| String::new()),
        };
        run.command(Command::Start {
            session: "test".to_owned(),
            spec: Box::new(spec),
            pool,
            replay_start: None,
            breakpoints: Vec::new(),
        });
        run
    }

    pub(crate) fn state(&self) -> &State {
        &self.engine.state
    }

    pub(crate) fn command(&mut self, command: Command) {
        let events = self.engine.decide(&Input::Command(command)).expect("the command is accepted");
        self.fold(events);
    }

    /// Folds a batch of events, and the hits of breakpoints that follow from it.
    pub(crate) fn fold(&mut self, events: Vec<(Cause, Event)>) {
        let mut seq = self.engine.state.head;
        let mut envelop = |(cause, event)| {
            seq = Seq(seq.0 + 1);
            let timestamp = jiff::Timestamp::UNIX_EPOCH;
            Envelope { seq, timestamp, cause, batch_continues: false, event }
        };
        let mut batch: Vec<Envelope> = events.into_iter().map(&mut envelop).collect();
        let hits = self.engine.breakpoint_events(&batch);
        batch.extend(hits.into_iter().map(&mut envelop));
        for envelope in batch {
            self.engine.state.apply(&envelope);
            if let Event::PromptSent { prompt } = &envelope.event {
                self.prompts.push((self.engine.state.clone(), (**prompt).clone()));
            }
            self.journal.push(envelope);
        }
    }

    /// Advances by one batch, or answers one effect in flight. Returns `false` if there is nothing to do or the
    /// script is exhausted.
    pub(crate) fn advance(
        &mut self,
        environment: &mut dyn FnMut(Option<&str>) -> StepResult,
        actor: &mut dyn FnMut(&State) -> Option<String>,
    ) -> bool {
        let events = self.engine.advance();
        if !events.is_empty() {
            self.fold(events);
            return true;
        }
        let Some(effect) = self.engine.state.calls.values().next().cloned() else { return false };
        let reply = match effect {
            Effect::ResetWorld { call, .. } => environment_reply(call, environment(None)),
            Effect::StepWorld { call, action, admissible_only, .. } => {
                if admissible_only {
                    Reply::World { call, result: Box::default(), admissible: vec!["go to desk 1".to_owned()] }
                } else {
                    environment_reply(call, environment(Some(&action)))
                }
            }
            Effect::Ask { call, prompt } if prompt.role == ModelRole::Mentor => {
                let text = (self.mentor)(&prompt);
                model_reply(call, text)
            }
            Effect::Ask { call, .. } => {
                let Some(text) = actor(&self.engine.state) else { return false };
                model_reply(call, text)
            }
            Effect::Compute { call, job } => {
                let context = JobContext { texts: self.engine.state.texts.clone(), ..JobContext::default() };
                let result = crate::catalog::compute_job(&job, &context).expect("the job succeeds");
                Reply::Computed { call, result, millis: 0 }
            }
            Effect::Cancel { .. } => return false,
        };
        let events = self.engine.decide(&Input::Reply(reply)).expect("a reply is never rejected");
        self.fold(events);
        true
    }

    /// Plays these replies in the household, then stops with the next actor call open.
    pub(crate) fn play_script(&mut self, house: &mut FakeHousehold, replies: &[&str]) {
        let mut environment = |action: Option<&str>| match action {
            None => house.reset(),
            Some(action) => house.step(action),
        };
        self.play_script_in(&mut environment, replies);
    }

    /// Like [`TestRun::play_script`], with an environment given as a function; `None` stands for the reset.
    pub(crate) fn play_script_in(
        &mut self,
        environment: &mut dyn FnMut(Option<&str>) -> StepResult,
        replies: &[&str],
    ) {
        self.command(Command::Run);
        let mut remaining = replies.iter();
        let mut actor = |_: &State| remaining.next().map(|r| (*r).to_owned());
        for _ in 0..100_000 {
            if !self.advance(environment, &mut actor) {
                return;
            }
        }
        panic!("the run doesn't finish");
    }
}

/// A scripted reply that ends with this character was cut off by the token limit.
pub(crate) const TRUNCATION_MARK: char = '✂';

/// A scripted reply that ends with this character is a refusal.
pub(crate) const REFUSAL_MARK: char = '⛔';

/// Returns a model's reply, marked as cut off or as a refusal if the text ends with [`TRUNCATION_MARK`] or
/// [`REFUSAL_MARK`].
fn model_reply(call: CallId, mut text: String) -> Reply {
    let truncated = match text.chars().next_back() {
        Some(TRUNCATION_MARK) => Some(Truncation::Length),
        Some(REFUSAL_MARK) => Some(Truncation::Refusal),
        _ => None,
    };
    if truncated.is_some() {
        text.pop();
    }
    Reply::Model {
        tool_calls: Vec::new(),
        call,
        text,
        reasoning: String::new(),
        usage: Usage::default(),
        truncated,
    }
}

fn environment_reply(call: CallId, result: StepResult) -> Reply {
    Reply::World { call, result: Box::new(result), admissible: Vec::new() }
}
