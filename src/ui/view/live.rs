//! The rows below the last step: the proposal's keys, calls in flight, and failed calls.

use super::rows::{PaneContent, Row, RowLayout, RowWriter, step_rows};
use crate::catalog::{LessonReader, find_job, find_method, what_follows};
use crate::domain::{
    Autonomy, CallPhase, FailureKind, Job, Lesson, ModelRole, Question, RoleSource, Stage, Step, pluralize,
};
use crate::driver::{LiveCall, LiveJob, StreamedText};
use crate::engine::{Effect, Failure, State};
use crate::method::failed_summary;
use crate::text::{truncate, width, wrap};
use crate::ui::facts::{counted_unit, has_no_proposal, is_model, open_text_count, outcome_sentence};
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::model::Model;
use crate::ui::theme::Role;
use crate::ui::types::Focus;
use std::time::Instant;

mod cancelled_calls;

/// How long each spinner frame is shown, in milliseconds.
pub const SPINNER_FRAME_MILLIS: u64 = 150;
/// Lines of reasoning shown while folded.
const FOLDED_LINES: usize = 3;
/// Lines of reasoning shown while unfolded.
const UNFOLDED_LINES: usize = 40;

/// Returns the rows below the last step.
pub(super) fn live_rows(context: &Context<'_>, layout: RowLayout, model: &Model) -> Vec<Row> {
    if layout.content == PaneContent::Observations {
        return Vec::new();
    }
    if context.frame.is_in_past() {
        // How an episode ended is said at its end, also when more followed.
        let mut w = RowWriter::new(0, layout, context.glyphs);
        write_outcome(&mut w, context.displayed_state());
        let mut rows = w.into_rows();
        for row in &mut rows {
            row.step = context.frame.selected_step();
        }
        return rows;
    }
    let state: &State = &context.frame.head;
    let number = state.last_step().map_or(0, |s| s.number);
    // A step that has no rows of its own yet gets its number here.
    let has_rows = |s: &Step| !step_rows(s, state, None, layout, context.glyphs).is_empty();
    let is_unnumbered = state.last_step().is_some_and(|s| s.stage <= Stage::Reply && !has_rows(s));
    let mut w = RowWriter::new(if is_unnumbered { number } else { 0 }, layout, context.glyphs);
    // For an ended episode, the end card says how it ended and lists what can be done.
    let has_end_card = state.open_episode().is_none() && model.is_covered;
    if !has_end_card {
        write_outcome(&mut w, state);
    }
    let calls = &context.frame.live.calls;
    let mentor: Vec<String> =
        calls.iter().filter(|c| c.role == ModelRole::Mentor).map(|c| question_name(context, c)).collect();
    if !mentor.is_empty() {
        let message = format!("mentor call: {}", mentor.join(", "));
        w.push_text((Role::ModeThinking, ""), 0, Role::ModeThinking, &message);
    }
    for call in calls {
        write_call_in_progress(&mut w, call, context, layout, model);
    }
    for job in &context.frame.live.jobs {
        write_job_in_progress(&mut w, job, context, model);
    }
    if context.frame.live.calls.is_empty() && context.frame.live.jobs.is_empty() {
        write_waiting(&mut w, context, state, model);
    }
    write_problems(&mut w, context, state);
    if state.is_waiting()
        && state.run.is_some()
        && !context.is_read_only()
        && context.halt_reason().is_none()
        && !has_end_card
        && !w.has_key()
    {
        write_next_keys(&mut w, context, state);
    }
    if state.is_waiting() && state.calls.is_empty() {
        write_failed_summaries(&mut w, context, state);
    }
    let mut rows = w.into_rows();
    for row in &mut rows {
        row.step = number;
    }
    rows
}

fn write_waiting(w: &mut RowWriter<'_>, context: &Context<'_>, state: &State, model: &Model) {
    if !state.calls.is_empty() && context.is_read_only() && !context.frame.live.is_followed {
        // Nobody waits for it any more: the run was stopped, or its program was killed.
        w.push_line(2, [(Role::Muted, "the run stopped here: no reply was recorded".to_owned())]);
    } else if state.is_asking(ModelRole::Actor) {
        let what = match context.frame.head.run.as_deref().map(|run| run.role_source(ModelRole::Actor)) {
            Some(RoleSource::Rules) => "asking the rules",
            Some(RoleSource::Model(_)) => "calling the model",
            _ => "waiting for the actor",
        };
        w.push_line(2, [(Role::Muted, format!("{} {what}", context.glyphs.ellipsis))]);
    } else if state.is_asking(ModelRole::Mentor) {
        let asked = state.calls.values().filter_map(Effect::question).map(Question::name);
        let message = format!(
            "{} calling the mentor: {}",
            context.glyphs.ellipsis,
            asked.collect::<Vec<_>>().join(", ")
        );
        w.push_text((Role::Muted, ""), 2, Role::Muted, &message);
    } else if let Some(job) = state.calls.values().find_map(Effect::job) {
        w.push_line(2, [(Role::Muted, format!("{} {}", context.glyphs.ellipsis, job_label(job)))]);
    } else if state.is_world_busy() || context.is_restoring_environment() {
        let starting = state.calls.values().find_map(|call| match call {
            Effect::ResetWorld { task, .. } => Some(task.env.as_str()),
            _ => None,
        });
        let what = match starting {
            _ if context.is_restoring_environment() => "restoring the environment".to_owned(),
            Some(env) => format!("starting {env}"),
            None => "waiting for the environment".to_owned(),
        };
        let seconds = context.env_work_seconds().filter(|seconds| *seconds > 0);
        let seconds = seconds.map_or_else(String::new, |seconds| format!(", {seconds} s"));
        w.push_line(2, [(Role::Muted, format!("{} {what}{seconds}", context.glyphs.ellipsis))]);
    }
    // While nothing can be saved, only a retry of the write has an effect; the footer names its key.
    if context.is_read_only() || context.halt_reason().is_some() {
        return;
    }
    // The call was cancelled before it proposed anything, or a person who played handed the step back.
    let unasked = state.has_idle_step() || state.step_awaiting_decision().is_some_and(has_no_proposal);
    if cancelled_calls::write_cancelled_calls(w, context, state, unasked) {
        return;
    }
    if unasked && state.is_waiting() {
        let human = state.autonomy == Autonomy::Human;
        let own = (Action::Override, if human { "type your action" } else { "type an action" });
        let step = if context.asks_actor() { asking_label(context) } else { "continue" };
        let pairs = [(Action::Step, step), own];
        push_keys(w, context, &pairs[usize::from(human)..]);
        return;
    }
    if let Some(change) = state.waiting_summaries.first().filter(|_| state.is_waiting()) {
        let message = format!("the {} is waiting for your decision", change.question.name());
        w.push_text((Role::ModePaused, ""), 2, Role::ModePaused, &message);
        push_keys(w, context, &[(Action::Summary, "review it")]);
        return;
    }
    let Some(step) = state.step_awaiting_decision() else { return };
    if step.approved {
        return;
    }
    if let Some(message) = context.frame.head.usage.prefetch.describe() {
        w.push_line(2, [(Role::Muted, format!("prefetch: {message}"))]);
    }
    // In a lane of lessons, Enter and the key of a rejection are about the selected lesson.
    let has_lane_focus = model.focus == Focus::Lanes;
    let has_enter = !has_lane_focus && context.keymap.key_label(Action::Open).is_some();
    let mut pairs =
        vec![(if has_enter { Action::Open } else { Action::Step }, "run it"), (Action::Override, "override")];
    // No model call proposed the method's action, so there is no one to send the reason of a rejection to.
    if step.call.is_some() {
        pairs.extend((!has_lane_focus).then_some((Action::RejectOrToggle, "reject")));
        // After a change of the lessons, the agent sees them for this step, too: what a person wants to do next.
        if has_newer_lesson(context, step) {
            pairs.insert(1, (Action::AskAgain, "ask with the lesson"));
        } else {
            pairs.push((Action::AskAgain, "ask again"));
        }
    }
    push_keys(w, context, &pairs);
    write_dropped_text_hint(w, context, step);
}

/// Says how the episode ended.
fn write_outcome(w: &mut RowWriter<'_>, state: &State) {
    let Some(outcome) = state.episode.as_ref().and_then(|episode| episode.outcome.as_deref()) else { return };
    let limit = state.run.as_ref().map_or(0, |run| run.limits.steps);
    let role = if outcome.won { Role::Good } else { Role::Bad };
    w.push_text((role, ""), 0, role, &outcome_sentence(outcome, limit, counted_unit(state)));
}

/// Returns whether a lesson in force is newer than the prompt of a proposal.
fn has_newer_lesson(context: &Context<'_>, step: &Step) -> bool {
    // An edit that was undone changed nothing.
    let is_newer = |lesson: &Lesson| {
        let sent = lesson.versions.iter().rfind(|version| version.seq <= step.prompt_seq);
        lesson.is_active()
            && context.lesson_reader(lesson.kind) == LessonReader::Actor
            && sent.is_none_or(|version| version.text != *lesson.text())
    };
    context.frame.head.pool.all().any(is_newer)
}

/// Says that a summary could not be used, so that the old list is in force, and how to ask for it again.
fn write_failed_summaries(w: &mut RowWriter<'_>, context: &Context<'_>, state: &State) {
    for kind in context.lesson_kinds().into_iter().filter(|kind| failed_summary(state, *kind).is_some()) {
        let kind = kind.name();
        let message = format!("the summary of {kind} could not be used: the old list stays");
        w.push_text((Role::Warning, ""), 2, Role::Warning, &message);
        if !context.is_read_only() && context.halt_reason().is_none() {
            let again = format!("ask again, with the {kind} lane selected");
            push_keys(w, context, &[(Action::ReflectNow, &again)]);
        }
    }
}

/// Names the keys that add dropped mentor texts about the previous step as lessons.
fn write_dropped_text_hint(w: &mut RowWriter<'_>, context: &Context<'_>, proposal: &Step) {
    let before = proposal.number.checked_sub(1).and_then(|number| context.step(number));
    let count = before.map_or(0, |step| open_text_count(step, context));
    let details = context.keymap.key_label(Action::ShowDetails);
    let (Some(details), Some(take)) =
        (details, context.keymap.key_label_in(Mode::StepDetails, Action::AcceptAsLesson))
    else {
        return;
    };
    let what = match count {
        0 => return,
        1 => "add the dropped text as a lesson",
        _ => "add the dropped texts as lessons",
    };
    let message = format!("{details}, then {take}: {what}");
    w.push_text((Role::Muted, ""), 2, Role::Muted, &message);
}

/// Returns what a step does while there is no proposal.
fn asking_label(context: &Context<'_>) -> &'static str {
    let run = context.frame.head.run.as_deref();
    match run.map(|run| run.role_source(ModelRole::Actor)) {
        Some(RoleSource::Rules) => "ask the rules",
        _ => "call the model",
    }
}

/// Writes the hint for the next keys, unless a pending call or proposal has already written one.
fn write_next_keys(w: &mut RowWriter<'_>, context: &Context<'_>, state: &State) {
    let ended = state.episode.is_some() && state.open_episode().is_none();
    let asks =
        state.open_episode().is_some_and(|e| e.first_observation.is_some()) && !state.is_episode_ending();
    let run = (Action::PauseRun, "run");
    let pairs = match state.autonomy {
        _ if ended => {
            let mut pairs = vec![(Action::EndCard, "end card")];
            pairs.extend(what_follows(state).map(|next| (Action::Step, next)));
            pairs.push((Action::AskAgain, "play again"));
            pairs
        }
        _ if state.run_over => vec![(Action::Palette, "all actions")],
        _ if state.step_awaiting_decision().is_some() => vec![(Action::Step, "run the proposed action"), run],
        Autonomy::Human if asks => {
            vec![(Action::Override, "your action"), (Action::ToggleHuman, "let the agent play")]
        }
        _ if asks => vec![(Action::Step, asking_label(context)), run],
        _ => vec![(Action::Step, "continue"), run],
    };
    push_keys(w, context, &pairs);
}

/// Writes a row of keys and their meanings, the most needed first. One that doesn't fit is left out, never cut, except the first.
fn push_keys(w: &mut RowWriter<'_>, context: &Context<'_>, pairs: &[(Action, &str)]) {
    const INDENT: u16 = 2;
    let mut room = w.text_columns(INDENT);
    let mut pieces = Vec::new();
    for (action, message) in pairs {
        let Some(key) = context.keymap.key_label(*action) else { continue };
        let gap = if pieces.is_empty() { "" } else { "   " };
        let hint = [(Role::Key, format!("{gap}{key}")), (Role::Muted, format!(" {message}"))];
        let columns: usize = hint.iter().map(|(_, text)| width(text)).sum();
        if columns > room && !pieces.is_empty() {
            break;
        }
        room = room.saturating_sub(columns);
        pieces.extend(hint);
    }
    w.push_line(INDENT, pieces);
}

/// Returns what the screen calls a job.
fn job_label(job: &Job) -> &str {
    find_job(&job.name).map_or(&job.name, |entry| entry.label)
}

fn write_job_in_progress(w: &mut RowWriter<'_>, job: &LiveJob, context: &Context<'_>, model: &Model) {
    let (mark, seconds) = spinner_and_seconds(job.started, context, model);
    let run = context.frame.head.run.as_deref();
    let entry = run.and_then(|run| find_method(&run.method));
    let position = entry.and_then(|entry| (entry.job_position)(&context.frame.head, &job.job));
    let position = position.map_or_else(String::new, |position| format!(", {position}"));
    w.push_line(0, [(Role::ModeThinking, format!("{mark} {}{position}", job_label(&job.job)))]);
    let (percent, stage, dot) = (job.progress.percent(), job.progress.stage(), context.glyphs.separator);
    let stage = if stage.is_empty() { stage } else { format!(" {dot} {stage}") };
    w.push_tail(Role::Muted, &format!("{seconds} s {dot} {percent} %{stage}"));
}

/// Returns the spinner, or what stands for it without motion, and for how many seconds the work has run.
fn spinner_and_seconds<'a>(started: Instant, context: &Context<'a>, model: &Model) -> (&'a str, u64) {
    let since = context.now.saturating_duration_since(started);
    let spinner = context.glyphs.spinner[(since.as_millis() / u128::from(SPINNER_FRAME_MILLIS) % 4) as usize];
    (if model.reduced_motion { context.glyphs.ellipsis } else { spinner }, since.as_secs())
}

fn write_call_in_progress(
    w: &mut RowWriter<'_>,
    call: &LiveCall,
    context: &Context<'_>,
    layout: RowLayout,
    model: &Model,
) {
    let who = match call.role {
        ModelRole::Actor => String::new(),
        ModelRole::Mentor => format!("{}: ", question_name(context, call)),
    };
    // Each of several calls gets a few lines, so that all of them are visible.
    let has_several = context.frame.live.calls.len() > 1;
    let what = match call.phase {
        // What is no model has no server to connect to.
        CallPhase::Connecting if !is_model(context, call.role) => "waiting".to_owned(),
        CallPhase::Connecting => "connecting".to_owned(),
        CallPhase::Waiting => "waiting for the first token".to_owned(),
        CallPhase::Reasoning => "reasoning".to_owned(),
        CallPhase::Answering => "answering".to_owned(),
        CallPhase::Retrying(_) => {
            format!("retrying in {} s", call.seconds_to_retry(context.now).unwrap_or(0))
        }
    };
    let (mark, seconds) = spinner_and_seconds(call.started, context, model);
    let is_retrying = matches!(call.phase, CallPhase::Retrying(_));
    let role = if is_retrying { Role::Warning } else { Role::ModeThinking };
    w.push_line(0, [(role, format!("{mark} {who}{what}"))]);
    let dot = context.glyphs.separator;
    let count = if call.delta_count == 0 {
        String::new()
    } else {
        format!(" {dot} {}", pluralize(call.delta_count, "token"))
    };
    w.push_tail(Role::Muted, &format!("{seconds} s{count}"));
    if let Some(message) = call.silence_message(context.now) {
        let stops = context
            .keymap
            .key_label(Action::Cancel)
            .map(|key| format!("; {key} cancels"))
            .unwrap_or_default();
        w.push_text((Role::Warning, ""), 2, Role::Warning, &format!("{message}{stops}"));
    }
    let room = usize::from(layout.columns.saturating_sub(layout.digits + 7)).max(4);
    let shown = match (model.show_reasoning, has_several) {
        (true, _) => UNFOLDED_LINES,
        (false, true) => 1,
        (false, false) => FOLDED_LINES,
    };
    let lines = |text: &StreamedText, count| {
        let mut lines = wrapped_tail(text, room, count + usize::from(model.reduced_motion));
        // Hide the unfinished line: text that grows counts as motion.
        lines.truncate(lines.len() - usize::from(model.reduced_motion && !lines.is_empty()));
        lines
    };
    for line in lines(&call.reasoning, shown) {
        let quote = (Role::Muted, format!("{} ", context.glyphs.reasoning_margin));
        w.push_line(2, [quote, (Role::Reasoning, line)]);
    }
    let max_lines = if has_several && !model.show_reasoning { FOLDED_LINES } else { UNFOLDED_LINES };
    for line in lines(&call.text, max_lines) {
        w.push_line(2, [(Role::Thought, line)]);
    }
}

/// Returns the last `count` lines of a streaming text. Only the end of the text is wrapped, so that long replies stay
/// cheap.
pub(super) fn wrapped_tail(text: &StreamedText, room: usize, count: usize) -> Vec<String> {
    wrapped_end(&text.tail(tail_bytes(room, count)), room, count)
}

/// Returns how many bytes the last `count` lines have at most.
pub(super) fn tail_bytes(room: usize, count: usize) -> usize {
    (room + 1) * (count + 1) * 4
}

/// Returns the last `count` lines of a text. Only its end is wrapped.
pub(super) fn wrapped_end(text: &str, room: usize, count: usize) -> Vec<String> {
    let from = text.len().saturating_sub(tail_bytes(room, count));
    let from = (from..=text.len()).find(|i| text.is_char_boundary(*i)).unwrap_or(0);
    let tail = text[from..].trim();
    if tail.is_empty() {
        return Vec::new();
    }
    let mut lines = wrap(tail, room);
    lines.drain(..lines.len().saturating_sub(count));
    lines
}

fn write_problems(w: &mut RowWriter<'_>, context: &Context<'_>, state: &State) {
    let mark = format!("{} ", context.glyphs.mistake);
    write_failed_calls(w, context, state);
    if let Some((_, step, recorded, now)) = &state.divergence {
        let message = format!("the rebuilt environment's reply differs from the recorded one at step {step}");
        w.push_text((Role::Bad, &mark), 2, Role::Bad, &message);
        w.push_line(
            2,
            [
                (Role::Muted, "recorded  ".to_owned()),
                (Role::Text, truncate(recorded, 200, context.glyphs.ellipsis)),
            ],
        );
        w.push_line(
            2,
            [
                (Role::Muted, "now       ".to_owned()),
                (Role::Text, truncate(now, 200, context.glyphs.ellipsis)),
            ],
        );
        push_keys(w, context, &[(Action::AskAgain, "continue with the rebuilt environment")]);
    }
    if let Some(draft) = &state.draft {
        let recipient = draft.question.map_or_else(String::new, |q| format!(" to the mentor ({})", q.name()));
        let message = if draft.edited { ", with your edit," } else { "" };
        w.push_line(2, [(Role::Muted, format!("the prompt{recipient}{message} waits to be sent"))]);
        if !context.is_read_only() {
            push_keys(w, context, &[(Action::StepStage, "send it"), (Action::Prompt, "view or edit it")]);
        }
    }
}

/// Writes each failed call, then the keys, which apply to all of them.
fn write_failed_calls(w: &mut RowWriter<'_>, context: &Context<'_>, state: &State) {
    let mark = format!("{} ", context.glyphs.mistake);
    let mut hints: Vec<&str> = Vec::new();
    let mut grouped: Vec<(&Failure, Vec<String>)> = Vec::new();
    for (effect, failure) in state.failed_calls() {
        let name = effect.question().map(Question::name);
        match grouped.iter_mut().find(|(f, _)| (&f.source, &f.message) == (&failure.source, &failure.message))
        {
            Some((_, names)) => names.extend(name),
            None => grouped.push((failure, name.into_iter().collect())),
        }
    }
    // Identical failures are reported once.
    for (failure, names) in grouped {
        let names = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
        let message = context.advice(&failure.message);
        w.push_text((Role::Bad, &mark), 2, Role::Bad, &format!("{}{names}: {message}", failure.source));
        if !hints.contains(&failure.hint.as_str()) {
            hints.push(&failure.hint);
        }
    }
    for hint in &hints {
        w.push_text((Role::Muted, ""), 2, Role::Muted, &context.advice(hint));
    }
    let changed = |(effect, _): &(Effect, Failure)| matches!(effect, Effect::Ask { prompt, .. } if state.is_edited_since_sent(prompt));
    if state.failed_calls().any(changed) {
        let mark = format!("{} ", context.glyphs.person);
        w.push_text(
            (Role::MarkPerson, &mark),
            2,
            Role::Person,
            "you edited its prompt: a retry sends your text",
        );
    }
    let kinds = || state.failed_calls().filter_map(|(_, failure)| failure.kind);
    if kinds().any(|kind| kind == FailureKind::Credentials) {
        // An environment variable of a running program can't be set from outside.
        w.push_text((Role::Muted, ""), 2, Role::Muted, "to set the key: quit, set it, then resume");
    } else if kinds().any(|kind| !kind.is_transient()) {
        let message = "retrying unchanged will probably fail";
        w.push_text((Role::Muted, ""), 2, Role::Muted, message);
    }
    let count = state.failed_calls().count();
    if count == 0 || context.is_read_only() || context.halt_reason().is_some() {
        return;
    }
    if state.failed_calls().any(|(effect, _)| effect.is_of_environment()) {
        let output = Action::ProgramOutput;
        let palette =
            || context.keymap.key_label(Action::Palette).map(|key| format!("{key} {}", output.name()));
        if let Some(key) = context.keymap.key_label(output).or_else(palette) {
            let message = format!("{key} shows everything that its program has printed");
            w.push_text((Role::Muted, ""), 2, Role::Muted, &message);
        }
    }
    let mut pairs = vec![(Action::AskAgain, if count > 1 { "retry all" } else { "retry" })];
    if state.has_failed_call(ModelRole::Actor) {
        pairs.push((Action::Override, "type an action"));
    } else if state.has_failed_call(ModelRole::Mentor)
        || state.failed_calls().any(|(effect, _)| effect.job().is_some())
    {
        pairs.push((Action::GiveUp, "continue without"));
    }
    if state.unanswered_step().is_some() {
        pairs.push((Action::Undo, "take the action back"));
    }
    if state.open_episode().is_some() {
        pairs.push((Action::EndEpisode, "end the episode"));
    }
    push_keys(w, context, &pairs);
    let [actor, mentor] = [ModelRole::Actor, ModelRole::Mentor].map(|asked| state.has_failed_call(asked));
    if actor || mentor {
        cancelled_calls::write_alternatives(w, context);
    }
    // The model that a retry calls, if it was switched since the failure.
    let named = state.run.as_deref().map_or("", |r| if actor { &r.actor } else { &r.mentor });
    if let Some(model) = RoleSource::parse(named).model().filter(|_| actor || mentor)
        && !state.failed_calls().any(|(_, failure)| failure.source.contains(model))
    {
        w.push_text((Role::Muted, ""), 2, Role::Muted, &format!("a retry calls {named}"));
    }
}

/// Returns the name of the question that a mentor call asks.
fn question_name(context: &Context<'_>, call: &LiveCall) -> String {
    let asked = context.frame.head.calls.get(&call.call).and_then(Effect::question);
    asked.map_or_else(|| "mentor".to_owned(), Question::name)
}
