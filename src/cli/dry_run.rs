//! `run --dry-run`: prints the first prompt of every kind that a run would send, without calling a model.
//!
//! The run is played in a temporary session: the built-in rules act, and every question to the mentor gets a
//! placeholder as its reply. So the prompts are those of a real run, apart from what a model would have written.

use super::config::Config;
use super::config::keys::OnError;
use super::error::CliError;
use super::headless::{close_on_signal, guard_session_signals, run_to_end};
use super::locate;
use super::output::Output;
use super::printer::{EventPrinter, PrintMode};
use super::setup::{Plan, session_meta};
use crate::domain::{CallId, MessageRole, ModelRole, Prompt, PromptRecord, Question};
use crate::driver::{Driver, rule_based_actor};
use crate::engine::{Envelope, Event, State};
use crate::prompt::render;
use crate::provider::ScriptedProvider;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// Plays the calibration and the first task of a run, and prints the first prompt of every kind.
pub(super) fn dry_run(config: &Config, mut plan: Plan, json: bool, out: &mut Output) -> Result<(), CliError> {
    let calibration = plan.spec.calibration_tasks().len() + plan.spec.exploration_tasks().len();
    plan.spec.tasks.truncate(calibration + 1);
    let mut run_config = plan.run_config.clone();
    run_config.policy.is_attended = false;
    run_config.actor = rule_based_actor();
    run_config.mentor = run_config.mentor.map(|_| {
        let provider = ScriptedProvider::new(|request| Ok(placeholder_reply(request.call)));
        Arc::new(provider) as Arc<dyn crate::provider::Provider>
    });
    let folder = tempfile::tempdir().map_err(|e| {
        CliError::file(std::path::Path::new("the temporary folder"), "could not be created", &e)
    })?;
    let guard = guard_session_signals()?;
    let (handle, thread, session) = Driver::start(
        folder.path(),
        session_meta(&plan.spec, 0),
        plan.spec.clone(),
        plan.lessons.clone(),
        run_config,
    )?;
    close_on_signal(&guard, &handle);
    let output = Arc::new(Mutex::new(Output::new()));
    let mut printer =
        EventPrinter::new(PrintMode::Silent, output, &session.dir, None, plan.world_options.clone());
    run_to_end(&handle, thread, &mut printer, OnError::Stop)?;
    let prompts =
        first_prompts(&locate::open_session(config, Some(&session.dir.display().to_string()))?.events()?);
    if !json {
        out.print_note(
            "No model was called: the built-in rules acted, and the mentor's replies are placeholders. These are the first prompts of each kind.",
        );
    }
    if prompts.is_empty() && !json {
        out.print_note("This run sends none: the method proposes every action itself and asks no mentor.");
    }
    for (state, record, prompt) in &prompts {
        if json {
            out.print_json(&prompt_json(record, prompt).to_string())?;
        } else {
            print_prompt(state, record, prompt, out)?;
        }
    }
    Ok(())
}

/// What the mentor replies: a list with one line, which is also a text. Each reply differs, so that lists of lessons grow
/// and are summarised.
fn placeholder_reply(call: CallId) -> String {
    format!("[\"(the mentor's reply to call {call})\"]")
}

/// Returns the first prompt of each role and question, with the state in which it was sent.
fn first_prompts(events: &[Arc<Envelope>]) -> Vec<(State, PromptRecord, Prompt)> {
    let (mut state, mut seen, mut found) = (State::default(), BTreeSet::new(), Vec::new());
    for envelope in events {
        state.apply(envelope);
        if let Event::PromptSent { prompt: record } = &envelope.event
            && seen.insert((record.role == ModelRole::Mentor, record.question))
        {
            found.push((state.clone(), (**record).clone(), render(&state, record)));
        }
    }
    found
}

/// Returns the messages of a prompt: consecutive segments of the same role are one message.
fn messages(prompt: &Prompt) -> Vec<(&'static str, String)> {
    let mut all: Vec<(&'static str, String)> = Vec::new();
    for segment in &prompt.segments {
        let role = match segment.message_role {
            MessageRole::System => "system",
            MessageRole::User => "user",
            MessageRole::Assistant => "assistant",
        };
        match all.last_mut() {
            Some((last, text)) if *last == role => text.push_str(&segment.text),
            _ => all.push((role, segment.text.to_string())),
        }
    }
    all
}

/// Returns the name of a question in prompt templates, such as `reflect.abstract`.
fn question_name(question: Question) -> String {
    let word = |value: Result<Value, _>| {
        value.ok().and_then(|v: Value| v.as_str().map(str::to_owned)).unwrap_or_default()
    };
    format!("{}.{}", word(serde_json::to_value(question.purpose)), word(serde_json::to_value(question.kind)))
}

fn prompt_json(record: &PromptRecord, prompt: &Prompt) -> Value {
    let messages: Vec<Value> =
        messages(prompt).into_iter().map(|(role, text)| json!({"role": role, "content": text})).collect();
    json!({
        "role": record.role.name(), "question": record.question.map(question_name), "episode": record.episode,
        "step": record.step, "tokens": record.tokens, "messages": messages,
    })
}

fn print_prompt(
    state: &State,
    record: &PromptRecord,
    prompt: &Prompt,
    out: &mut Output,
) -> Result<(), CliError> {
    let question =
        record.question.map_or_else(String::new, |question| format!(" {}", question_name(question)));
    let sampling = state.run.as_ref().and_then(|run| run.describe_request_sampling(record, &[]));
    out.print_line(&format!(
        "==== {}{question}: episode {}, step {}, about {} tokens{}",
        record.role.name(),
        record.episode,
        record.step,
        record.tokens,
        sampling.map_or_else(String::new, |sampling| format!("; {sampling}"))
    ))?;
    for (role, text) in messages(prompt) {
        out.print_line(&format!("---- {role}"))?;
        out.print_document(&text)?;
        out.print_line("")?;
    }
    Ok(())
}
