//! Answers of models, worlds and timers. A call that is not in flight yields nothing.

use crate::domain::{Asked, EndReason, Stage};
use crate::engine::advance::end;
use crate::engine::{Cause, Effect, Engine, Event, PauseReason, Reply};

impl Engine {
    pub(super) fn reply(&self, reply: &Reply) -> Vec<(Cause, Event)> {
        match reply {
            Reply::Model { call, text, reasoning, usage } => {
                let Some(Effect::Ask { prompt, .. }) = self.state.calls.get(call) else { return Vec::new() };
                let mut events = vec![(
                    Cause::Model,
                    Event::ReplyReceived {
                        call: *call,
                        text: text.clone(),
                        reasoning: reasoning.clone(),
                        usage: *usage,
                    },
                )];
                if prompt.asked == Asked::Actor {
                    let reading = (self.policy.read)(text);
                    events.push((
                        Cause::Model,
                        Event::Proposed {
                            step: prompt.step,
                            thought: reading.thought,
                            action: reading.action,
                            complaints: reading.complaints,
                        },
                    ));
                }
                events
            }
            Reply::World { call, turn, admissible } => match self.state.calls.get(call) {
                Some(Effect::ResetWorld { .. }) => {
                    let seen = (self.policy.incoming)(&self.state, "", turn, admissible);
                    let goal =
                        turn.goal().map_or_else(|| (self.policy.goal)(&turn.observation), str::to_owned);
                    vec![(Cause::World, Event::WorldReset { call: *call, turn: turn.clone(), seen, goal })]
                }
                Some(Effect::StepWorld { .. }) => {
                    let Some(step) = self.state.last_step().filter(|s| s.stage == Stage::Observation) else {
                        return Vec::new();
                    };
                    let action = step.executed.as_ref().map_or("", |e| e.action.as_str());
                    let seen = (self.policy.incoming)(&self.state, action, turn, admissible);
                    vec![(
                        Cause::World,
                        Event::Observed { step: step.number, call: Some(*call), turn: turn.clone(), seen },
                    )]
                }
                _ => Vec::new(),
            },
            Reply::Failed { call, failure } => {
                let Some(effect) = self.state.calls.get(call) else { return Vec::new() };
                let cause = match effect {
                    Effect::Ask { .. } => Cause::Model,
                    _ => Cause::World,
                };
                vec![
                    (cause, Event::CallFailed { call: *call, failure: failure.clone() }),
                    (cause, Event::Paused { reason: PauseReason::Failure }),
                ]
            }
            Reply::TimeUp { episode } => match self.state.open_episode() {
                Some(open) if open.number == *episode => {
                    vec![(Cause::Timer, end(&self.state, EndReason::TimeLimit))]
                }
                _ => Vec::new(),
            },
            Reply::Diverged { episode, .. }
                if self.state.open_episode().is_none_or(|e| e.number != *episode) =>
            {
                Vec::new()
            }
            Reply::Diverged { episode, step, recorded, now } => vec![
                (
                    Cause::World,
                    Event::Diverged {
                        episode: *episode,
                        step: *step,
                        recorded: recorded.clone(),
                        now: now.clone(),
                    },
                ),
                (Cause::World, Event::Paused { reason: PauseReason::Failure }),
            ],
        }
    }
}
