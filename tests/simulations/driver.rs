//! Drives a run without a journal on disk: the stand-ins answer at once.

use retrospect::domain::{Job, JobContext, ModelRole, Prompt, RunSpec, Seq, StepResult, Task, Usage};
use retrospect::engine::{Cause, Command, Effect, Engine, Envelope, Event, Input, Reply, State};
use serde_json::Value;
use std::sync::Arc;

/// An environment, an actor and a mentor.
pub(crate) trait StandIns {
    fn reset(&mut self, task: &Task) -> StepResult;
    fn step(&mut self, action: &str) -> StepResult;
    /// Returns the actor's reply. `attempt` is that of this evaluation, from 0.
    fn act(&mut self, prompt: &Prompt, seed: u64, attempt: u64) -> String;
    fn advise(&mut self, prompt: &Prompt) -> String;
    /// Answers a job instead of the program's own code.
    fn compute(&mut self, job: &Job) -> Option<Value> {
        let _ = job;
        None
    }
    /// Sees each instruction before it is evaluated.
    fn see_instruction(&mut self, text: &str) {
        let _ = text;
    }
    /// After how many evaluations the best possible instruction was evaluated.
    fn good_after(&self) -> Option<usize> {
        None
    }
    /// The quality of the best advice that was written, from 0 to 3.
    fn best_advice(&self) -> usize {
        0
    }
}

/// Plays a run to its end and returns the last state.
pub(crate) fn play(spec: RunSpec, stand_ins: &mut dyn StandIns) -> State {
    let attempts = spec.settings.value("attempts").and_then(Value::as_u64).unwrap_or(3);
    let templates = Arc::new(retrospect::catalog::builtin_templates());
    let mut engine = Engine::new(retrospect::catalog::build_policy(&spec, templates).unwrap());
    let mut context = JobContext::default();
    let start = Command::Start {
        session: "soak".to_owned(),
        spec: Box::new(spec),
        pool: Vec::new(),
        replay_start: None,
        breakpoints: Vec::new(),
    };
    for command in [start, Command::Run] {
        let events = engine.decide(&Input::Command(command)).unwrap();
        commit(&mut engine, events);
    }
    loop {
        let events = engine.advance();
        if !events.is_empty() {
            commit(&mut engine, events);
            continue;
        }
        let Some(effect) = engine.state.calls.values().next().cloned() else { break };
        let reply = match effect {
            Effect::ResetWorld { call, task, .. } => world_reply(call, stand_ins.reset(&task)),
            Effect::StepWorld { call, action, .. } => world_reply(call, stand_ins.step(&action)),
            Effect::Ask { call, prompt } => {
                let body = retrospect::prompt::render(&engine.state, &prompt);
                let trial = engine.state.episode.as_ref().map_or(0, |e| u64::from(e.trial.saturating_sub(1)));
                let text = match prompt.role {
                    ModelRole::Actor => stand_ins.act(&body, prompt.seed, trial % attempts),
                    ModelRole::Mentor => stand_ins.advise(&body),
                };
                Reply::Model {
                    tool_calls: Vec::new(),
                    truncated: None,
                    call,
                    text,
                    reasoning: String::new(),
                    usage: Usage::default(),
                }
            }
            Effect::Compute { call, job } => {
                context.texts = engine.state.texts.clone();
                let own = stand_ins.compute(&job);
                let result = own.unwrap_or_else(|| retrospect::catalog::compute_job(&job, &context).unwrap());
                if let Some(text) = result["text"].as_str() {
                    stand_ins.see_instruction(text);
                }
                Reply::Computed { call, result, millis: 0 }
            }
            Effect::Cancel { .. } => break,
        };
        let events = engine.decide(&Input::Reply(reply)).unwrap();
        commit(&mut engine, events);
    }
    assert!(engine.state.run_over, "the run is over when nothing is left to answer");
    engine.state
}

fn world_reply(call: retrospect::domain::CallId, result: StepResult) -> Reply {
    Reply::World { call, result: Box::new(result), admissible: Vec::new() }
}

fn commit(engine: &mut Engine, events: Vec<(Cause, Event)>) {
    for (cause, event) in events {
        let seq = Seq(engine.state.head.0 + 1);
        let timestamp = jiff::Timestamp::UNIX_EPOCH;
        engine.state.apply(&Envelope { seq, timestamp, cause, batch_continues: false, event });
    }
}

/// Returns the text of a whole prompt.
pub(crate) fn text_of(prompt: &Prompt) -> String {
    prompt.segments.iter().map(|segment| &*segment.text).collect()
}

/// Returns the instruction in the mentor's prompt.
pub(crate) fn instruction_in(prompt: &Prompt) -> String {
    let text = text_of(prompt);
    let (instruction, _) = text.split_once("\nThe agent whose attempt").unwrap();
    instruction.trim().trim_start_matches("- ").to_owned()
}
