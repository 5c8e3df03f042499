//! Views past steps of the current episode in plain mode, without changing anything.

use super::PlainSession;
use super::interpret::describe_past_step;
use super::seek::Seek;
use crate::cli::error::CliError;
use crate::domain::Seq;
use crate::engine::State;

/// Returns the step that `seek` moves to from the viewed step. `None` stands for the present, in both.
fn target_step(viewed: Option<u32>, seek: Seek, state: &State) -> Option<u32> {
    let last = state.last_step().map_or(0, |s| s.number);
    let current = viewed.unwrap_or(last);
    let step = match seek {
        Seek::Back(by) => current.saturating_sub(by),
        Seek::Forward(by) => current.saturating_add(by),
        Seek::Live => last,
    };
    (step < last).then_some(step)
}

impl PlainSession {
    /// Moves the view to another step and prints it.
    pub(super) fn seek(&mut self, target: Seek) -> Result<(), CliError> {
        let store = self.handle.store.clone();
        let head = store.head();
        let Some(step) = target_step(self.viewed_step.map(|(step, _)| step), target, &head) else {
            self.viewed_step = None;
            self.last_status.clear();
            return self.print_line("PRESENT");
        };
        let episode = head.episode.as_deref();
        // Every event of a step precedes the start of the next step.
        let until =
            episode.and_then(|e| e.step(step + 1)).map_or(head.head, |next| Seq(next.first_seq.0 - 1));
        self.viewed_step = Some((step, until));
        let last = episode.map_or(0, |e| e.steps.len());
        self.print_line(&format!(
            "PAST step {step} of {last}; `live` returns to the present, `fork` opens a branch from before this step"
        ))?;
        self.print_text(&describe_past_step(&store.state_at(until), step))
    }

    /// Rewrites a line typed while viewing the past: `fork` without a number means the viewed step. Returns `None` for
    /// other lines.
    pub(super) fn rewrite_for_past(&self, line: &str) -> Option<String> {
        let (step, _) = self.viewed_step?;
        let (word, rest) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
        let has_number = rest.split_whitespace().next().is_some_and(|n| n.parse::<u32>().is_ok());
        (word.trim_start_matches(':') == "fork" && !has_number).then(|| format!("fork {step} {rest}"))
    }
}

#[cfg(all(test, feature = "tui"))]
mod tests {
    use super::*;
    use crate::ui::fixture::sample_session;

    #[test]
    fn back_and_forward_stay_within_the_episode() {
        let session = sample_session();
        let state = session.state();
        let cases = [
            (None, Seek::Back(1), Some(23)),
            (Some(23), Seek::Back(20), Some(3)),
            (Some(3), Seek::Back(9), Some(0)),
            (Some(3), Seek::Forward(1), Some(4)),
            (Some(23), Seek::Forward(1), None),
            (Some(3), Seek::Forward(u32::MAX), None),
            (Some(3), Seek::Live, None),
        ];
        for (past, seek, expected) in cases {
            assert_eq!(target_step(past, seek, state), expected, "{past:?} {seek:?}");
        }
    }
}
