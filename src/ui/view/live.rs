//! What is going on just now, below the last step: the proposal's keys, a call under way, a call that failed.

mod cancelled_calls;

use super::rows::{PaneContent, Row, RowLayout, RowWriter};
use crate::domain::{Autonomy, FailureKind, ModelRole, Question, Stage, Step};
use crate::driver::LiveCall;
use crate::engine::{Effect, Failure, State};
use crate::provider::Phase;
use crate::text::{truncate, wrap};
use crate::ui::context::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::model::Model;
use crate::ui::overlay::{has_remaining_task, open_text_count};
use crate::ui::theme::Role;

/// A picture of the turning mark stands for so long.
pub const SPINNER_FRAME_MILLIS: u64 = 150;
/// Lines of reasoning that are shown folded.
const FOLDED_LINES: usize = 3;
/// Lines of reasoning that are shown unfolded.
const UNFOLDED_LINES: usize = 40;

/// The rows below the last step.
pub(super) fn live_rows(look: &Context<'_>, measure: RowLayout, model: &Model) -> Vec<Row> {
    if measure.content == PaneContent::Observations || look.frame.is_in_past() {
        return Vec::new();
    }
    let state: &State = &look.frame.head;
    let number = state.last_step().map_or(0, |s| s.number);
    // A step of which nothing is known yet gets its number here.
    let told = |s: &Step| !s.rejections.is_empty() || !s.partial_replies.is_empty() || s.prompt_edited;
    let bare = state.last_step().is_some_and(|s| s.stage <= Stage::Reply && !told(s));
    let mut w = RowWriter::new(if bare { number } else { 0 }, measure, look.glyphs);
    let calls = &look.frame.live.calls;
    let mentor: Vec<String> =
        calls.iter().filter(|c| c.role == ModelRole::Mentor).map(|c| question_name(look, c)).collect();
    if !mentor.is_empty() {
        let words = format!("asks the mentor: {}", mentor.join(", "));
        w.push_text((Role::ModeThinking, ""), 0, Role::ModeThinking, &words);
    }
    for call in calls {
        write_call_in_progress(&mut w, call, look, measure, model);
    }
    if look.frame.live.calls.is_empty() {
        write_waiting(&mut w, look, state);
    }
    write_problems(&mut w, look, state);
    // The card of an ended episode says what can be done.
    let carded = state.open_episode().is_none() && !model.overlays.is_empty();
    if state.is_waiting()
        && state.run.is_some()
        && !look.is_read_only()
        && look.halt_reason().is_none()
        && !carded
        && !w.has_key()
    {
        write_next_keys(&mut w, look, state);
    }
    let mut rows = w.into_rows();
    for row in &mut rows {
        row.step = number;
    }
    rows
}

fn write_waiting(w: &mut RowWriter<'_>, look: &Context<'_>, state: &State) {
    if state.is_asking(ModelRole::Actor) {
        w.push_line(2, [(Role::Muted, format!("{} asking the model", look.glyphs.ellipsis))]);
    } else if state.is_asking(ModelRole::Mentor) {
        let asked = state.calls.values().filter_map(Effect::question).map(Question::name);
        let words =
            format!("{} asking the mentor: {}", look.glyphs.ellipsis, asked.collect::<Vec<_>>().join(", "));
        w.push_text((Role::Muted, ""), 2, Role::Muted, &words);
    } else if state.is_world_busy() {
        w.push_line(2, [(Role::Muted, format!("{} the world is answering", look.glyphs.ellipsis))]);
    }
    // While nothing can be written only another try of that does anything; the footer names its key.
    if look.is_read_only() || look.halt_reason().is_some() {
        return;
    }
    // The call was broken off before it proposed anything, or the place was opened for a person who gave it back.
    let empty = |s: &Step| s.call.is_none() && s.proposed.is_none() && s.executed.is_none();
    let unasked = state.has_idle_step() || state.step_awaiting_decision().is_some_and(empty);
    if cancelled_calls::write_cancelled_calls(w, look, state, unasked) {
        return;
    }
    if unasked && state.is_waiting() {
        let human = state.autonomy == Autonomy::Human;
        let own = (Action::Override, if human { "type your action" } else { "act by hand" });
        let planned = state.run.as_ref().is_some_and(|run| run.method == "planning");
        let pairs = [(Action::Step, if planned { "goes on" } else { "asks the agent" }), own];
        w.push_line(2, key_pieces(look, &pairs[usize::from(human)..]));
        return;
    }
    if let Some(change) = state.waiting_summaries.first().filter(|_| state.is_waiting()) {
        let words = format!("the {} waits for your word", change.question.name());
        w.push_text((Role::ModePaused, ""), 2, Role::ModePaused, &words);
        w.push_line(2, key_pieces(look, &[(Action::Summary, "shows its lines")]));
        return;
    }
    let Some(step) = state.step_awaiting_decision() else { return };
    if step.approved {
        return;
    }
    if let Some(words) = look.frame.head.usage.prefetch.describe() {
        w.push_line(2, [(Role::Muted, format!("asked ahead: {words}"))]);
    }
    let enter = if look.keymap.key_label(Action::Open).is_some() { Action::Open } else { Action::Step };
    let pairs = [
        (enter, "do it"),
        (Action::Override, "override"),
        (Action::RejectOrToggle, "reject"),
        (Action::AskAgain, "ask again"),
    ];
    // An action of a plan was asked of nobody, so nobody can be told why it is refused.
    let known = if step.call.is_some() { pairs.len() } else { 2 };
    w.push_line(2, key_pieces(look, &pairs[..known]));
    write_dropped_text_hint(w, look, step);
}

/// The keys that take texts of the mentor about the step before a proposal that were not kept.
fn write_dropped_text_hint(w: &mut RowWriter<'_>, look: &Context<'_>, proposal: &Step) {
    let before = proposal.number.checked_sub(1).and_then(|number| look.step(number));
    let count = before.map_or(0, |step| open_text_count(step, look));
    let details = look.keymap.key_label(Action::ShowDetails);
    let (Some(details), Some(take)) =
        (details, look.keymap.key_label_in(Mode::StepDetails, Action::AcceptAsLesson))
    else {
        return;
    };
    let what = match count {
        0 => return,
        1 => "the text not kept as a lesson",
        _ => "the texts not kept as lessons",
    };
    let words = format!("{details}, then {take}: take {what}");
    w.push_text((Role::Muted, ""), 2, Role::Muted, &words);
}

/// What the next keys are, where nothing that waits has named its own.
fn write_next_keys(w: &mut RowWriter<'_>, look: &Context<'_>, state: &State) {
    let ended = state.episode.is_some() && state.open_episode().is_none();
    let asks =
        state.open_episode().is_some_and(|e| e.first_observation.is_some()) && !state.is_episode_ending();
    let runs = (Action::PauseRun, "runs");
    let pairs = match state.autonomy {
        _ if ended => {
            let mut pairs = vec![(Action::EndCard, "result card")];
            pairs.extend(has_remaining_task(state).then_some((Action::Step, "next task")));
            pairs.push((Action::AskAgain, "play it again"));
            pairs
        }
        _ if state.run_over => vec![(Action::Palette, "every action by name")],
        _ if state.step_awaiting_decision().is_some() => vec![(Action::Step, "does what is proposed"), runs],
        Autonomy::Human if asks => {
            vec![(Action::Override, "your action"), (Action::ToggleHuman, "lets the agent play")]
        }
        _ if asks => vec![(Action::Step, "asks the agent"), runs],
        _ => vec![(Action::Step, "goes on"), runs],
    };
    w.push_line(2, key_pieces(look, &pairs));
}

/// Keys with their meaning, as pieces of a row.
pub(super) fn key_pieces(look: &Context<'_>, pairs: &[(Action, &str)]) -> Vec<(Role, String)> {
    let mut pieces = Vec::new();
    for (place, (action, words)) in pairs.iter().enumerate() {
        let Some(key) = look.keymap.key_label(*action) else { continue };
        let gap = if place == 0 { "" } else { "   " };
        pieces.push((Role::Key, format!("{gap}{key}")));
        pieces.push((Role::Muted, format!(" {words}")));
    }
    pieces
}

fn write_call_in_progress(
    w: &mut RowWriter<'_>,
    call: &LiveCall,
    look: &Context<'_>,
    measure: RowLayout,
    model: &Model,
) {
    let who = match call.role {
        ModelRole::Actor => String::new(),
        ModelRole::Mentor => format!("{}: ", question_name(look, call)),
    };
    // Of several at once each has a few lines, so that all of them are seen.
    let several = look.frame.live.calls.len() > 1;
    let what = match call.phase {
        Phase::Connecting => "connecting",
        Phase::Waiting => "waiting for the first token",
        Phase::Reasoning => "reasoning",
        Phase::Answering => "answering",
    };
    let since = look.now.saturating_duration_since(call.started);
    let seconds = since.as_secs();
    let turning = look.glyphs.spinner[(since.as_millis() / u128::from(SPINNER_FRAME_MILLIS) % 4) as usize];
    let mark = if model.reduced_motion { look.glyphs.ellipsis } else { turning };
    w.push_line(0, [(Role::ModeThinking, format!("{mark} {who}{what}"))]);
    let dot = look.glyphs.separator;
    let count = if call.pieces == 0 { String::new() } else { format!(" {dot} {} tokens", call.pieces) };
    w.push_tail(Role::Muted, &format!("{seconds} s{count}"));
    if let Some(words) = call.silence_message(look.now) {
        let stops =
            look.keymap.key_label(Action::Cancel).map(|key| format!("; {key} stops")).unwrap_or_default();
        w.push_text((Role::Warning, ""), 2, Role::Warning, &format!("{words}{stops}"));
    }
    let room = usize::from(measure.columns.saturating_sub(measure.digits + 7)).max(4);
    let shown = match (model.show_reasoning, several) {
        (true, _) => UNFOLDED_LINES,
        (false, true) => 1,
        (false, false) => FOLDED_LINES,
    };
    let lines = |text: &str, count| {
        let mut lines = last_lines(text, room, count + usize::from(model.reduced_motion));
        // The line that still grows would move under the eye.
        lines.truncate(lines.len() - usize::from(model.reduced_motion && !lines.is_empty()));
        lines
    };
    for line in lines(&call.reasoning, shown) {
        let quote = (Role::Muted, format!("{} ", look.glyphs.reasoning_margin));
        w.push_line(2, [quote, (Role::Reasoning, line)]);
    }
    let whole = if several && !model.show_reasoning { FOLDED_LINES } else { UNFOLDED_LINES };
    for line in lines(&call.text, whole) {
        w.push_line(2, [(Role::Thought, line)]);
    }
}

/// The last lines of a text that still grows; only its end is ever looked at.
pub(super) fn last_lines(text: &str, room: usize, count: usize) -> Vec<String> {
    let longest = (room + 1) * (count + 1) * 4;
    let from = text.len().saturating_sub(longest);
    let from = (from..=text.len()).find(|i| text.is_char_boundary(*i)).unwrap_or(0);
    let tail = text[from..].trim();
    if tail.is_empty() {
        return Vec::new();
    }
    let mut lines = wrap(tail, room);
    lines.drain(..lines.len().saturating_sub(count));
    lines
}

fn write_problems(w: &mut RowWriter<'_>, look: &Context<'_>, state: &State) {
    let mark = format!("{} ", look.glyphs.mistake);
    write_failed_calls(w, look, state);
    if let Some((_, step, recorded, now)) = &state.divergence {
        let words = format!("the rebuilt world answers other than recorded at turn {step}");
        w.push_text((Role::Bad, &mark), 2, Role::Bad, &words);
        w.push_line(
            2,
            [
                (Role::Muted, "recorded  ".to_owned()),
                (Role::Text, truncate(recorded, 200, look.glyphs.ellipsis)),
            ],
        );
        w.push_line(
            2,
            [(Role::Muted, "now       ".to_owned()), (Role::Text, truncate(now, 200, look.glyphs.ellipsis))],
        );
        w.push_line(2, key_pieces(look, &[(Action::AskAgain, "go on with the world as it is")]));
    }
    if let Some(draft) = &state.draft {
        let of = draft.question.map_or_else(String::new, |q| format!(" to the mentor ({})", q.name()));
        let words = if draft.edited { ", with your words," } else { "" };
        w.push_line(2, [(Role::Muted, format!("the prompt{of}{words} is drafted and waits"))]);
        if !look.is_read_only() {
            w.push_line(
                2,
                key_pieces(look, &[(Action::StepStage, "send it"), (Action::Prompt, "read or change it")]),
            );
        }
    }
}

/// Every failed call as a sentence, and then once what can be done about all of them.
fn write_failed_calls(w: &mut RowWriter<'_>, look: &Context<'_>, state: &State) {
    let mark = format!("{} ", look.glyphs.mistake);
    let mut told: Vec<&str> = Vec::new();
    let mut alike: Vec<(&Failure, Vec<String>)> = Vec::new();
    for (effect, failure) in state.failed_calls() {
        let name = effect.question().map(Question::name);
        match alike.iter_mut().find(|(f, _)| (&f.source, &f.message) == (&failure.source, &failure.message)) {
            Some((_, of)) => of.extend(name),
            None => alike.push((failure, name.into_iter().collect())),
        }
    }
    // What failed in the same way is told once.
    for (failure, of) in alike {
        let of = if of.is_empty() { String::new() } else { format!(" ({})", of.join(", ")) };
        let message = look.advice(&failure.message);
        w.push_text((Role::Bad, &mark), 2, Role::Bad, &format!("{}{of}: {message}", failure.source));
        if !told.contains(&failure.hint.as_str()) {
            told.push(&failure.hint);
        }
    }
    for next in &told {
        w.push_text((Role::Muted, ""), 2, Role::Muted, &look.advice(next));
    }
    let changed = |(effect, _): &(Effect, Failure)| matches!(effect, Effect::Ask { prompt, .. } if state.is_edited_since_sent(prompt));
    if state.failed_calls().any(changed) {
        let mark = format!("{} ", look.glyphs.person);
        w.push_text(
            (Role::MarkPerson, &mark),
            2,
            Role::Person,
            "you changed the words of its prompt: another try sends them",
        );
    }
    let kinds = || state.failed_calls().filter_map(|(_, failure)| failure.kind);
    if kinds().any(|kind| kind == FailureKind::Credentials) {
        // A variable of a running program can't be set from outside.
        w.push_text((Role::Muted, ""), 2, Role::Muted, "to set the key: quit, set it, then resume");
    } else if kinds().any(|kind| !kind.is_transient()) {
        let words = "asked again as it is, it will most likely fail again";
        w.push_text((Role::Muted, ""), 2, Role::Muted, words);
    }
    let count = state.failed_calls().count();
    if count == 0 || look.is_read_only() || look.halt_reason().is_some() {
        return;
    }
    let mut pairs = vec![(Action::AskAgain, if count > 1 { "try all again" } else { "try again" })];
    if state.has_failed_call(ModelRole::Actor) {
        pairs.push((Action::Override, "act by hand"));
    } else if state.has_failed_call(ModelRole::Mentor) {
        pairs.push((Action::GiveUp, "go on without"));
    }
    if state.open_episode().is_some() {
        pairs.push((Action::EndEpisode, "give the episode up"));
    }
    w.push_line(2, key_pieces(look, &pairs));
    let [actor, mentor] = [ModelRole::Actor, ModelRole::Mentor].map(|asked| state.has_failed_call(asked));
    if actor || mentor {
        cancelled_calls::write_alternatives(w, look);
    }
    // Whom another try asks: not whom the failure names, where the model was switched since.
    let named = state.run.as_deref().map_or("", |r| if actor { &r.actor } else { &r.mentor });
    if let Some(model) = named.strip_prefix("openai:").filter(|_| actor || mentor)
        && !state.failed_calls().any(|(_, failure)| failure.source.contains(model))
    {
        w.push_text((Role::Muted, ""), 2, Role::Muted, &format!("another try asks {named}"));
    }
}

/// What a call under way asks the mentor, in words.
fn question_name(look: &Context<'_>, call: &LiveCall) -> String {
    let asked = look.frame.head.calls.get(&call.call).and_then(Effect::question);
    asked.map_or_else(|| "mentor".to_owned(), Question::name)
}
