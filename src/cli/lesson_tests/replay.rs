//! Asks the actor at the prompt of a test.

use super::Lessons;
use crate::catalog::switch_model;
use crate::cli::config::Config;
use crate::cli::error::CliError;
use crate::cli::{headless, pool, setup};
use crate::domain::{
    CallId, EpisodeRole, FailureKind, ModelRole, Prompt, PromptRecord, RunSpec, Seq, StepResult, Usage,
};
use crate::driver::{RunConfig, build_request, wall_clock_now};
use crate::engine::{
    Cause, Command, Engine, Envelope, Event, Input, LessonCommand, PromptRequest, request_seed,
};
use crate::env::TaskOptions;
use crate::lesson_test::{LessonTest, Proposal, Verdict, replace_lessons};
use crate::prompt::read_actor_reply;
use crate::provider::{Delta, Provider, ProviderError, Request};
use futures_util::StreamExt as _;
use std::cell::Cell;
use std::path::Path;
use std::time::Duration;

/// Replays tests with one actor and one list of lessons.
pub(super) struct Replay<'a> {
    config: &'a Config,
    /// The actor of all tests; `None` for each test's own.
    actor: Option<&'a str>,
    /// The lessons of the pool, and its name; `None` for each test's own.
    lessons: Option<(Vec<(String, LessonCommand)>, String)>,
    runtime: tokio::runtime::Runtime,
    calls: Cell<u64>,
    tokens: Cell<u64>,
}

/// The replies to a test.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Replies {
    /// How many comply.
    pub(super) complied: u32,
    /// The distinct proposals with their counts, the most frequent first, equally frequent ones by their text.
    pub(super) proposals: Vec<(String, u32)>,
    /// How many calls failed for another reason than the actor: their replies aren't known.
    pub(super) unanswered: u32,
    /// Why calls failed, without repetitions.
    pub(super) errors: Vec<String>,
}

impl<'a> Replay<'a> {
    pub(super) fn new(
        config: &'a Config,
        actor: Option<&'a str>,
        lessons: &Lessons,
    ) -> Result<Self, CliError> {
        let load = |path: &Path| -> Result<_, CliError> {
            Ok((pool::load_commands(path)?, path.display().to_string()))
        };
        let lessons = match lessons {
            Lessons::Kept => None,
            Lessons::Pool(path) => Some(load(path)?),
        };
        let runtime = headless::new_runtime()?;
        Ok(Self { config, actor, lessons, runtime, calls: Cell::default(), tokens: Cell::default() })
    }

    /// Returns where the lessons come from.
    pub(super) fn lessons_name(&self) -> &str {
        self.lessons.as_ref().map_or("as kept", |(_, name)| name)
    }

    pub(super) fn calls(&self) -> u64 {
        self.calls.get()
    }

    pub(super) fn tokens(&self) -> u64 {
        self.tokens.get()
    }

    /// Asks for replies to a test. Failed calls are no errors: where the actor causes the failure, as at a prompt that is too long for it, its
    /// reply doesn't comply; else it is unanswered.
    pub(super) fn ask(&self, test: &LessonTest, samples: u32) -> Result<Replies, CliError> {
        let mut spec = RunSpec::clone(&test.run);
        // No reflection is written here.
        "symbolic".clone_into(&mut spec.mentor);
        if let Some(actor) = self.actor {
            spec = switch_model(&spec, ModelRole::Actor, actor)
                .map_err(|why| CliError::usage(format!("--actor: {why}"), "correct the name"))?;
        }
        let run_config =
            setup::build_run_config(&spec, self.config, &TaskOptions::default(), Duration::ZERO)?;
        let drafted = match &self.lessons {
            Some((lessons, _)) => Some(draft_with_lessons(&run_config, &spec, lessons)?),
            None => None,
        };
        let prompt = replace_lessons(&test.prompt, drafted.as_ref());
        let record = PromptRecord { sampling: test.sampling.clone(), ..PromptRecord::default() };
        let mut request = build_request(&record, prompt, spec.settings.typed().accept_truncated);
        request.stop.clone_from(&test.stop);
        let mut replies = Replies::default();
        for number in 1..=samples {
            let seed = request_seed(test.base_seed(), 0, 0, ModelRole::Actor, number);
            let reply = collect(run_config.actor.as_ref(), Request { seed, ..request.clone() });
            self.calls.set(self.calls.get() + 1);
            match self.runtime.block_on(reply) {
                Ok((text, usage)) => {
                    self.tokens.set(self.tokens.get() + usage.tokens());
                    let parsed = read_actor_reply(spec.settings.typed(), &request.action_verbs, &text);
                    let proposal = Proposal { thought: parsed.thought, action: parsed.action };
                    replies.complied += u32::from(test.expectation.judge(&proposal) == Verdict::Complies);
                    replies.add_proposal(proposal.text());
                }
                Err(error) => {
                    let by_actor = matches!(
                        error.kind,
                        FailureKind::TooLong | FailureKind::Unusable | FailureKind::EmptyReply
                    );
                    replies.unanswered += u32::from(!by_actor);
                    replies.add_error(format!("{}; {}", error.message, error.hint));
                }
            }
        }
        Ok(replies)
    }
}

impl Replies {
    pub(super) fn add_proposal(&mut self, text: Option<String>) {
        let text = text.unwrap_or_else(|| "no action in the reply".to_owned());
        match self.proposals.iter_mut().find(|known| known.0 == text) {
            Some(known) => known.1 += 1,
            None => self.proposals.push((text, 1)),
        }
        self.proposals.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    }

    fn add_error(&mut self, error: String) {
        if !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }
}

/// Returns the text of a reply and its usage.
async fn collect(provider: &dyn Provider, request: Request) -> Result<(String, Usage), ProviderError> {
    let mut stream = provider.stream(request);
    let (mut text, mut usage) = (String::new(), Usage::default());
    while let Some(delta) = stream.next().await {
        match delta? {
            Delta::Text(piece) => text.push_str(&piece),
            Delta::WasReasoning | Delta::Restarted => text.clear(),
            Delta::Usage(reported) => usage = reported,
            _ => {}
        }
    }
    Ok((text, usage))
}

/// Returns the prompt that a run sends at its first step if it starts with these lessons.
fn draft_with_lessons(
    run_config: &RunConfig,
    spec: &RunSpec,
    lessons: &[(String, LessonCommand)],
) -> Result<Prompt, CliError> {
    let mut engine = Engine::new(run_config.policy.clone());
    let fold = |engine: &mut Engine, event: Event| {
        let seq = Seq(engine.state.head.0 + 1);
        let (timestamp, cause) = (wall_clock_now(), Cause::Policy);
        engine.state.apply(&Envelope { seq, timestamp, cause, batch_continues: false, event });
    };
    let start = Command::Start {
        session: "lesson-test".to_owned(),
        spec: Box::new(spec.clone()),
        pool: lessons.to_vec(),
        replay_start: None,
        breakpoints: Vec::new(),
    };
    let events = engine.decide(&Input::Command(start));
    for (_, event) in events.map_err(|error| CliError::usage(error.message, error.hint))? {
        fold(&mut engine, event);
    }
    let Some(task) = spec.tasks.first().cloned() else { return Ok(Prompt::default()) };
    let (goal, call) = (task.goal.clone(), CallId(1));
    let (trial, role) = (1, EpisodeRole::Test);
    fold(&mut engine, Event::EpisodeStarted { episode: 1, task: Box::new(task), trial, role, call });
    let result = Box::new(StepResult::default());
    fold(&mut engine, Event::WorldReset { call, result, agent_view: None, goal });
    let request = PromptRequest { role: ModelRole::Actor, question: None, step: 1, retry: 0 };
    let draft = (run_config.policy.draft_prompt)(&engine.state, &request);
    for (hash, text) in draft.texts {
        fold(&mut engine, Event::TextDefined { hash, text });
    }
    Ok((run_config.render_prompt)(&engine.state, &draft.record))
}
