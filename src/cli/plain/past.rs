//! Looking back, line by line: a moment of the open or last episode is told; nothing is changed.

use super::PlainSession;
use super::interpret::describe_moment;
use super::seek::Seek;
use crate::cli::error::CliError;
use crate::domain::Seq;
use crate::engine::State;

/// The step that is looked at after a wish, where `past` is looked at now; none is the present.
fn target_step(past: Option<u32>, look: Seek, state: &State) -> Option<u32> {
    let last = state.last_step().map_or(0, |s| s.number);
    let now = past.unwrap_or(last);
    let step = match look {
        Seek::Back(by) => now.saturating_sub(by),
        Seek::Forward(by) => now.saturating_add(by),
        Seek::Live => last,
    };
    (step < last).then_some(step)
}

impl PlainSession {
    /// Tells the moment after another step.
    pub(super) fn seek(&mut self, look: Seek) -> Result<(), CliError> {
        let store = self.handle.store.clone();
        let head = store.head();
        let Some(step) = target_step(self.viewed_moment.map(|(step, _)| step), look, &head) else {
            self.viewed_moment = None;
            self.last_mode.clear();
            return self.print_line("PRESENT");
        };
        let episode = head.episode.as_deref();
        // All that came of a step lies before the next one began.
        let until =
            episode.and_then(|e| e.step(step + 1)).map_or(head.head, |next| Seq(next.first_seq.0 - 1));
        self.viewed_moment = Some((step, until));
        let last = episode.map_or(0, |e| e.steps.len());
        self.print_line(&format!(
            "PAST step {step} of {last}; `live` returns to the present, `fork` goes on from before this step on a new branch"
        ))?;
        self.print_text(&describe_moment(&store.state_at(until), step))
    }

    /// A line over the past: what would act on the present is not done, and `fork` without a number means this step.
    pub(super) fn rewrite_for_past(&self, line: &str) -> Option<String> {
        let (step, _) = self.viewed_moment?;
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
            (None, Seek::Back(1), Some(23)),
            (Some(23), Seek::Back(20), Some(3)),
            (Some(3), Seek::Back(9), Some(0)),
            (Some(3), Seek::Forward(1), Some(4)),
            (Some(23), Seek::Forward(1), None),
            (Some(3), Seek::Forward(u32::MAX), None),
            (Some(3), Seek::Live, None),
        ];
        for (past, look, then) in cases {
            assert_eq!(target_step(past, look, state), then, "{past:?} {look:?}");
        }
    }
}
