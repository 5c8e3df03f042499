//! Looking back, line by line: a moment of the open or last episode is told; nothing is changed.

use super::Talk;
use super::look::Look;
use super::words::moment;
use crate::cli::error::CliError;
use crate::domain::Seq;
use crate::engine::State;

/// The step that is looked at after a wish, where `past` is looked at now; none is the present.
fn to(past: Option<u32>, look: Look, state: &State) -> Option<u32> {
    let last = state.last_step().map_or(0, |s| s.number);
    let now = past.unwrap_or(last);
    let step = match look {
        Look::Back(by) => now.saturating_sub(by),
        Look::Forward(by) => now.saturating_add(by),
        Look::Live => last,
    };
    (step < last).then_some(step)
}

impl Talk {
    /// Tells the moment after another step.
    pub(super) fn look(&mut self, look: Look) -> Result<(), CliError> {
        let store = self.handle.store.clone();
        let head = store.head();
        let Some(step) = to(self.past.map(|(step, _)| step), look, &head) else {
            self.past = None;
            self.told_mode.clear();
            return self.line("PRESENT");
        };
        let episode = head.episode.as_deref();
        // All that came of a step lies before the next one began.
        let until =
            episode.and_then(|e| e.step(step + 1)).map_or(head.head, |next| Seq(next.first_seq.0 - 1));
        self.past = Some((step, until));
        let last = episode.map_or(0, |e| e.steps.len());
        self.line(&format!(
            "PAST step {step} of {last}; `live` returns to the present, `fork` goes on from before this step on a new branch"
        ))?;
        self.text(&moment(&store.state_at(until), step))
    }

    /// A line over the past: what would act on the present is not done, and `fork` without a number means this step.
    pub(super) fn in_past(&self, line: &str) -> Option<String> {
        let (step, _) = self.past?;
        let (word, rest) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
        let named = rest.split_whitespace().next().is_some_and(|n| n.parse::<u32>().is_ok());
        (word.trim_start_matches(':') == "fork" && !named).then(|| format!("fork {step} {rest}"))
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
            (None, Look::Back(1), Some(23)),
            (Some(23), Look::Back(20), Some(3)),
            (Some(3), Look::Back(9), Some(0)),
            (Some(3), Look::Forward(1), Some(4)),
            (Some(23), Look::Forward(1), None),
            (Some(3), Look::Forward(u32::MAX), None),
            (Some(3), Look::Live, None),
        ];
        for (past, look, then) in cases {
            assert_eq!(to(past, look, state), then, "{past:?} {look:?}");
        }
    }
}
