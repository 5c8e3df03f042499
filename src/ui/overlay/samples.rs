//! Samples of a step's prompt: what else the actor would propose, or what it would propose without (or with) a lesson.
//! Nothing is executed until a person chooses a proposal.

mod draw;
mod rows;

use crate::domain::common_settings::{OVERRIDDEN_THOUGHT, OVERRIDE_SHOWN_AS};
use crate::domain::{LessonId, MAX_SAMPLES, Step, ThoughtDisposition};
use crate::driver::{DecisionPoint, Fork, SampleOrder};
use crate::engine::Command;
use crate::text::{one_line, truncate};
use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::Request;
use crate::ui::overlay::fork::decision_point;
use crate::ui::widget::list_index::{clamped_index, row_delta};
use crate::ui::widget::window::{MouseTarget, Scroll, Window};
use crossterm::event::{KeyCode, KeyEvent, MouseEvent};
use ratatui::layout::Rect;
use rows::{Row, Table};
use std::sync::Arc;

/// The number of samples that is suggested for a step's own prompt.
const DEFAULT_COUNT: u32 = 5;

/// Overlay with the samples of a step.
pub(super) struct SampleList {
    episode: u32,
    step: u32,
    /// The lesson that is left out or added, and its number; `None` for the step's own prompt.
    lesson: Option<(LessonId, u32)>,
    /// How many samples the next request asks for.
    count: u32,
    /// Whether the number was typed, so that another digit is appended.
    is_typing: bool,
    /// The selected proposal; `None` for the first one.
    selected: Option<String>,
    shows_thoughts: bool,
    /// Where the step waited for its decision when the overlay was opened.
    decision_point: Option<DecisionPoint>,
    scroll: Scroll,
}

impl SampleList {
    /// Creates the overlay for the step shown, and for a lesson to compare with.
    ///
    /// # Errors
    /// Returns what to do instead if the step can't be sampled.
    pub(super) fn new(context: &Context<'_>, lesson: Option<(LessonId, u32)>) -> Result<Self, String> {
        let step = context.frame.selected_step();
        let key =
            |action: Action| context.keymap.key_label(action).unwrap_or_else(|| action.name().to_owned());
        let episode = context.displayed_state().episode.as_deref().ok_or("no episode to sample yet")?;
        if context.frame.head.episode.as_ref().map(|e| e.number) != Some(episode.number) {
            return Err(format!(
                "only steps of the present episode can be sampled; {} continues from here on a new branch",
                key(Action::Fork)
            ));
        }
        let Some(shown) = episode.step(step) else {
            return Err(format!("no proposal to sample; {} goes to the next", key(Action::Step)));
        };
        if shown.call.is_none() {
            return Err(format!("step {step} has no prompt to sample: the actor wasn't asked"));
        }
        if shown.proposal_text().is_none() && shown.executed.is_none() {
            return Err(format!("step {step} has no proposal yet; sample once it has arrived"));
        }
        Ok(Self {
            episode: episode.number,
            step,
            count: if lesson.is_some() { 1 } else { DEFAULT_COUNT },
            lesson,
            is_typing: false,
            selected: None,
            shows_thoughts: false,
            decision_point: decision_point(context, step),
            scroll: Scroll::default(),
        })
    }

    /// Returns whether the step shown has samples that this overlay would list.
    pub(super) fn has_samples(context: &Context<'_>, lesson: Option<&(LessonId, u32)>) -> bool {
        Self::new(context, lesson.cloned())
            .is_ok_and(|list| list.table(context).is_some_and(|table| !table.is_empty()))
    }

    /// Returns the step as it is now, whatever time is shown.
    fn current_step<'a>(&self, context: &Context<'a>) -> Option<&'a Arc<Step>> {
        let episode = context.frame.head.episode.as_deref();
        episode.filter(|episode| episode.number == self.episode)?.step_arc(self.step)
    }

    fn table<'a>(&self, context: &Context<'a>) -> Option<Table<'a>> {
        let step = self.current_step(context)?;
        Some(Table::new(step, &context.frame.head, self.lesson.as_ref().map(|lesson| &lesson.0)))
    }

    /// Returns how many samples of this overlay are in progress.
    fn in_progress(&self, context: &Context<'_>) -> usize {
        let Some(table) = self.table(context) else { return 0 };
        context.frame.live.samples.iter().filter(|live| table.has_group(live.group)).count()
    }

    /// Returns the index of the selected row.
    fn selected_index(&self, rows: &[Row]) -> usize {
        let is_selected = |row: &Row| self.selected.as_ref().is_some_and(|text| *text == row.text);
        rows.iter().position(is_selected).unwrap_or(0)
    }

    /// Requests samples. For a lesson, the step's own prompt gets as many, counting the proposal itself.
    fn ask(&mut self, context: &Context<'_>) -> Response {
        self.is_typing = false;
        if context.is_read_only() {
            let text = "read-only: resume the session to ask for samples".to_owned();
            return Response::request(Request::ShowNotice(text));
        }
        let Some(table) = self.table(context) else { return Response::close() };
        let order = |count, lesson| Request::Sample(SampleOrder { step: self.step, count, lesson });
        let mut requests = Vec::new();
        let lesson = self.lesson.as_ref().map(|lesson| lesson.0.clone());
        if lesson.is_some() {
            let missing = (table.requested(1) + self.count).saturating_sub(table.requested(0) + 1);
            if missing > 0 {
                requests.push(order(missing.min(MAX_SAMPLES), None));
            }
        }
        requests.push(order(self.count, lesson));
        Response { requests, close: false }
    }

    /// Makes the selected proposal the decision, as a person's act: runs it now, or on a new branch if the step was
    /// decided before.
    fn choose(&self, context: &Context<'_>) -> Response {
        let (Some(table), Some(step)) = (self.table(context), self.current_step(context)) else {
            return Response::close();
        };
        let rows = table.rows();
        let Some(row) = rows.get(self.selected_index(&rows)) else { return Response::default() };
        if !row.is_proposal() {
            let text = "this is no proposal that could be run; select another row".to_owned();
            return Response::request(Request::ShowNotice(text));
        }
        if context.is_read_only() {
            let text = "read-only: resume the session to run a proposal".to_owned();
            return Response::request(Request::ShowNotice(text));
        }
        let command = if row.is_own { Command::Step } else { override_with(row, step, context) };
        if self.waits(context) {
            return Response::request_and_close(Request::Send(command));
        }
        match self.fork(row, command, context) {
            Some(fork) => Response::request_and_close(Request::Fork(fork)),
            None => Response::request(Request::ShowNotice(self.no_fork_text())),
        }
    }

    /// Returns whether the step waits for its decision at present.
    fn waits(&self, context: &Context<'_>) -> bool {
        let waiting = context.frame.head.step_awaiting_decision();
        !context.frame.is_in_past() && waiting.is_some_and(|step| step.number == self.step)
    }

    fn fork(&self, row: &Row, command: Command, context: &Context<'_>) -> Option<Fork> {
        let point = decision_point(context, self.step).or(self.decision_point)?;
        Some(Fork {
            source_branch: Some(context.frame.branch.clone()),
            at_seq: point.last_kept_seq(),
            reason: format!("step {}: sampled {}", self.step, truncate(&one_line(&row.text), 60, "...")),
            commands: vec![command],
        })
    }

    fn no_fork_text(&self) -> String {
        format!("the point at which step {} was decided can't be found", self.step)
    }

    /// Starts a branch for each distinct proposal other than the step's own, which keeps this branch, and returns here.
    fn fork_each(&self, context: &Context<'_>) -> Response {
        let (Some(table), Some(step)) = (self.table(context), self.current_step(context)) else {
            return Response::close();
        };
        if context.is_read_only() {
            let text = "read-only: resume the session to fork".to_owned();
            return Response::request(Request::ShowNotice(text));
        }
        let rows = table.rows();
        let others = rows.iter().filter(|row| row.is_proposal() && !row.is_own);
        let forks: Option<Vec<Request>> = others
            .map(|row| self.fork(row, override_with(row, step, context), context).map(Request::Fork))
            .collect();
        let Some(mut requests) = forks else {
            return Response::request(Request::ShowNotice(self.no_fork_text()));
        };
        if requests.is_empty() {
            let text = "no other proposal to fork; ask for more samples first".to_owned();
            return Response::request(Request::ShowNotice(text));
        }
        let key = context.keymap.key_label(Action::Branches).unwrap_or_default();
        let text = match requests.len() {
            1 => format!("1 new branch at step {}; {key} lists the branches", self.step),
            count => format!("{count} new branches at step {}; {key} lists the branches", self.step),
        };
        requests.push(Request::SwitchBranch(context.frame.branch.clone()));
        requests.push(Request::ShowNotice(text));
        Response { requests, close: true }
    }

    fn change_count(&mut self, by: i64) {
        self.is_typing = false;
        self.count = (i64::from(self.count) + by).clamp(1, i64::from(MAX_SAMPLES)) as u32;
    }
}

/// Returns the command that runs a sampled proposal in place of the step's own. If both have a thought, later prompts show
/// the sampled one; else the settings of an override apply.
fn override_with(row: &Row, step: &Step, context: &Context<'_>) -> Command {
    let state = &context.frame.head;
    let has_thought = step.thought.is_some() && step.proposed.is_some();
    let thought = row.thoughts.first().filter(|_| has_thought && !row.text.starts_with("think:"));
    let thought_disposition = match thought {
        Some((_, thought)) => ThoughtDisposition::Rewritten(one_line(thought).into_owned()),
        None => state.setting(OVERRIDDEN_THOUGHT).without_new_text(),
    };
    let shown_as = state.setting(OVERRIDE_SHOWN_AS);
    Command::Override { action: row.text.clone(), shown_as, thought_disposition }
}

impl Component for SampleList {
    fn name(&self) -> &'static str {
        "samples"
    }

    fn mode(&self, _: &Context<'_>) -> Mode {
        Mode::Samples
    }

    fn on_action(&mut self, action: Action, context: &Context<'_>) -> Response {
        let Some(table) = self.table(context) else { return Response::close() };
        match action {
            Action::Close if self.in_progress(context) > 0 => {
                return Response::request(Request::CancelSamples);
            }
            Action::Close => return Response::close(),
            Action::Open | Action::Accept if table.is_empty() => return self.ask(context),
            Action::Open | Action::Accept => return self.choose(context),
            Action::Sample => return self.ask(context),
            // One decision has no verdict. What follows from the lesson, a measurement from here says.
            Action::MeasureEffect => {
                return Response::request_and_close(match &self.lesson {
                    Some((id, _)) => Request::MeasureLesson(id.clone()),
                    None => Request::RunAction(action),
                });
            }
            Action::ForkSamples => return self.fork_each(context),
            Action::MoreSamples => self.change_count(1),
            Action::FewerSamples => self.change_count(-1),
            Action::NextField | Action::PreviousField => self.shows_thoughts = !self.shows_thoughts,
            Action::Copy => {
                let texts: Vec<String> = table.rows().iter().map(|row| format!("{}\n", row.text)).collect();
                return Response::request(Request::Copy(texts.concat()));
            }
            other => {
                let rows = table.rows();
                if let Some(by) = row_delta(other, self.scroll.page_rows()) {
                    let index = clamped_index(self.selected_index(&rows), by, rows.len());
                    self.selected = rows.get(index).map(|row| row.text.clone());
                }
            }
        }
        Response::default()
    }

    fn on_key(&mut self, key: KeyEvent, _: &Context<'_>) -> Response {
        match key.code {
            KeyCode::Char(digit) => {
                if let Some(digit) = digit.to_digit(10) {
                    let before = if self.is_typing { self.count } else { 0 };
                    self.count = (before * 10 + digit).clamp(1, MAX_SAMPLES);
                    self.is_typing = true;
                }
            }
            KeyCode::Backspace => {
                self.count = (self.count / 10).max(1);
                self.is_typing = true;
            }
            _ => {}
        }
        Response::default()
    }

    fn on_mouse(&mut self, event: MouseEvent, context: &Context<'_>) -> Response {
        let Some(table) = self.table(context) else { return Response::default() };
        let rows = table.rows();
        let index = match self.scroll.mouse_target(event) {
            Some(MouseTarget::Row(row)) => row,
            Some(MouseTarget::Wheel(by)) => clamped_index(self.selected_index(&rows), by, rows.len()),
            None => return Response::default(),
        };
        if let Some(row) = rows.get(index) {
            self.selected = Some(row.text.clone());
        }
        Response::default()
    }

    fn is_stale(&self, context: &Context<'_>) -> bool {
        self.current_step(context).is_none()
    }

    fn rows_covered(&self, context: &Context<'_>, screen: Rect) -> u16 {
        Window::rows_covered(self.window_rows(context, screen), screen)
    }

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        self.draw_list(context, screen, canvas);
    }
}
