//! How the episode ended, and what to do now.

use super::window::{Line, Place, Pointed, Scroll, Window, paragraph};
use super::{Overlay, Reaction};
use crate::domain::{Counted, EndReason, EpisodeRole, EpisodeSummary, Step, Task};
use crate::engine::{Episode, State};
use crate::report::counted;
use crate::symbolic::{Goal, Rung, Treatment};
use crate::ui::canvas::Canvas;
use crate::ui::keymap::{Action, Mode};
use crate::ui::look::Look;
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crossterm::event::MouseEvent;
use ratatui::layout::Rect;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

/// Columns it would like inside.
const COLUMNS: u16 = 76;
/// Steps that are named one by one.
const NAMED: usize = 8;

const CHOICES: [(Action, &str); 5] = [
    (Action::Again, "play this task again"),
    (Action::NextTask, "go on with the next task"),
    (Action::LastProgress, "go to the last turn that made progress"),
    (Action::AddLesson, "teach a lesson"),
    (Action::Export, "write a report"),
];

/// The card of the last episode.
#[derive(Default)]
pub struct EndCard {
    chosen: usize,
    /// Of what is told.
    scroll: Scroll,
    /// Of what can be done, which stands below it.
    list: Scroll,
}

/// Why an episode ended, as a sentence.
fn why(outcome: &EpisodeSummary, limit: u32) -> String {
    let (why, turns) = (outcome.reason.words(), outcome.steps);
    let how = if outcome.won { "Won" } else { "Not won" };
    match outcome.reason {
        EndReason::Won => format!("Won: the goal was reached in {turns} turns."),
        EndReason::StepLimit => format!("{how}: {why}, all {limit} are used up."),
        EndReason::Loop => format!("{how}: {why}, the same action twice in a row."),
        EndReason::Error => format!("{how}: {why}, and the task was given up."),
        EndReason::Done
        | EndReason::MoveLimit
        | EndReason::TimeLimit
        | EndReason::PlanEnd
        | EndReason::Person => format!("{how}: {why} after {turns} turns."),
    }
}

fn numbers(all: &[u32]) -> String {
    let named: Vec<String> = all.iter().take(NAMED).map(u32::to_string).collect();
    let more = if all.len() > NAMED { ", ..." } else { "" };
    format!("{}{more}", named.join(", "))
}

/// The first rung of the ladder to the goal that was not reached.
fn missing(episode: &Episode) -> Option<String> {
    let goal = Goal::read(&episode.task.goal)?;
    let last = episode.noted.get("subgoal").and_then(|t| t.last.parts.get("reached"));
    let reached: usize = last.and_then(|n| n.parse().ok()).unwrap_or(0);
    // Progress that no detector explains says that this ladder is not the world's.
    if reached == 0 && episode.progress > 0.0 {
        return None;
    }
    let object = goal.object();
    let words = match goal.ladder().get(reached)? {
        Rung::Seen => format!("no {object} was found"),
        Rung::Taken => format!("the {object} was not taken"),
        Rung::Treated(how) => {
            let done = match how {
                Treatment::Heat => "heated",
                Treatment::Cool => "cooled",
                Treatment::Clean => "cleaned",
            };
            format!("the {object} was not {done} ({})", how.appliance())
        }
        Rung::Placed => {
            format!("the {object} was not put where it belongs ({})", goal.target().unwrap_or("?"))
        }
        Rung::LampSeen => format!("no {} was found", goal.lamp().unwrap_or("lamp")),
        Rung::LampUsed => format!("the {} was not used", goal.lamp().unwrap_or("lamp")),
    };
    Some(words)
}

/// Something came of a step before the next change of place: progress was made.
fn came_to_something(episode: &Episode, step: &Step, before: f64) -> bool {
    let after = (step.number + 1..=episode.steps.len() as u32).filter_map(|n| episode.step(n));
    after
        .filter(|s| !s.only_thinks())
        .take_while(|s| !s.action().is_some_and(goes))
        .any(|s| s.answer.as_ref().is_some_and(|a| a.progress > before))
}

/// The action only changes the place, for what is to be done there.
fn goes(action: &str) -> bool {
    action.trim_start().starts_with("go ")
}

/// Actions that were taken again and changed nothing, with the steps of the repeats, the most frequent first. A repeat is
/// for nothing where the world did not accept it, or answered as it did the last time and no progress was made since; and
/// a place was not returned to for nothing where progress was made there.
fn repeats(episode: &Episode) -> Vec<(&str, Vec<u32>)> {
    let mut last: HashMap<&str, (&str, f64)> = HashMap::new();
    let mut vain: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for step in episode.steps.iter().filter(|s| !s.only_thinks()) {
        let (Some(done), Some(answer)) = (&step.executed, &step.answer) else { continue };
        let before = last.insert(&done.action, (&answer.raw, answer.progress));
        let same = |(raw, progress): (&str, f64)| raw == answer.raw && answer.progress <= progress;
        let needed = || goes(&done.action) && came_to_something(episode, step, answer.progress);
        if before.is_some_and(|b| !answer.valid || (same(b) && !needed())) {
            vain.entry(&done.action).or_default().push(step.number);
        }
    }
    let mut vain: Vec<_> = vain.into_iter().collect();
    vain.sort_by_key(|(_, at)| std::cmp::Reverse(at.len()));
    vain
}

fn facts(episode: &Episode, outcome: &EpisodeSummary, look: &Look<'_>, columns: u16) -> Vec<Line> {
    let limit = look.moment.head.run.as_ref().map_or(0, |r| r.limits.steps);
    let role = if outcome.won { Role::Good } else { Role::Bad };
    let mut lines = paragraph((role, ""), role, &why(outcome, limit), columns);
    let mut say = |label: &str, role: Role, text: &str| {
        lines.extend(paragraph((Role::Dim, &format!("{label:<17}")), role, text, columns));
    };
    say("goal", Role::Text, &episode.task.goal);
    let last = match episode.step(episode.progress_step).and_then(|s| s.action()) {
        Some(action) => {
            format!("{:.0} %, last at turn {} ({action})", outcome.progress * 100.0, episode.progress_step)
        }
        None => format!("{:.0} %, no turn made progress", outcome.progress * 100.0),
    };
    say("progress", Role::Text, &last);
    if !outcome.won
        && let Some(missing) = missing(episode)
    {
        say("missing", Role::Warn, &missing);
    }
    let invalid: Vec<u32> = episode
        .steps
        .iter()
        .filter(|s| !s.only_thinks() && s.answer.as_ref().is_some_and(|a| !a.valid))
        .map(|s| s.number)
        .collect();
    if !invalid.is_empty() {
        let words = match invalid[..] {
            [only] => format!("once, at turn {only}"),
            _ => format!("{} times: turns {}", invalid.len(), numbers(&invalid)),
        };
        say("nothing happened", Role::Text, &words);
    }
    let repeats = repeats(episode);
    if !repeats.is_empty() {
        let named: Vec<String> = repeats
            .iter()
            .take(3)
            .map(|(action, at)| match at[..] {
                [only] => format!("{action}, again at turn {only}"),
                _ => format!("{action}, again at turns {}", numbers(at)),
            })
            .collect();
        say("repeated", Role::Text, &format!("{} (nothing changed)", named.join("; ")));
    }
    let hand = if outcome.assisted { "; with your help" } else { "" };
    say(
        "cost",
        Role::Dim,
        &format!(
            "{}, {} tokens{}, {}{hand}",
            counted(u64::from(outcome.calls), "call"),
            outcome.tokens,
            apart(&outcome.hindsight.counted),
            counted(u64::from(outcome.moves), "move")
        ),
    );
    let spent = &look.moment.head.spent;
    if spent.mentor_calls > 0 || look.moment.head.past.len() > 1 {
        say("of the run", Role::Dim, &spent.words());
    }
    if let Some(words) = look.moment.head.asked_ahead().words() {
        say("asked ahead", Role::Dim, &words);
    }
    lines
}

/// Who counted the tokens where it was not all one server, and what they cost.
fn apart(counted: &Counted) -> String {
    let all = counted.tokens();
    let mut words = String::new();
    if all > 0 && counted.reported < all {
        let own = if counted.estimated == all { "estimated".to_owned() } else { counted.words() };
        words = format!(" ({own})");
    }
    if let Some(cost) = counted.cost() {
        let _ = write!(words, ", cost {cost}");
    }
    words
}

/// The run has not ended, and one of its tasks is still to be played, as the agenda of the methods has it.
pub(crate) fn task_left(state: &State) -> bool {
    let Some(run) = state.run.as_deref().filter(|_| !state.over) else { return false };
    let same = |a: &Task, b: &Task| a.id == b.id && a.env == b.env && a.seed == b.seed;
    run.tasks.iter().any(|task| {
        let played = || state.past.iter().filter(|p| p.role == EpisodeRole::Test && same(&p.task, task));
        if run.trials > 1 {
            return played().count() < run.trials as usize && !played().any(|p| p.won);
        }
        played().count() < run.tasks.iter().filter(|other| same(other, task)).count()
    })
}

impl EndCard {
    fn ended<'a>(look: &Look<'a>) -> Option<(&'a Episode, &'a EpisodeSummary)> {
        let episode = look.moment.head.episode.as_deref()?;
        Some((episode, episode.outcome.as_deref()?))
    }

    /// What can be done now: no next task where none is left, no progress to go to where none was made, and nothing
    /// that needs a driver where the session is only looked at.
    fn choices(look: &Look<'_>) -> Vec<(Action, &'static str)> {
        let progress = look.moment.head.episode.as_ref().is_some_and(|e| e.progress_step > 0);
        let can = |action| match action {
            Action::Again | Action::NextTask | Action::AddLesson if look.reading() => false,
            Action::NextTask => task_left(&look.moment.head),
            Action::LastProgress => progress,
            _ => true,
        };
        CHOICES.into_iter().filter(|(a, _)| can(*a)).collect()
    }

    fn facts(look: &Look<'_>, columns: u16) -> Vec<Line> {
        Self::ended(look).map_or_else(Vec::new, |(episode, outcome)| facts(episode, outcome, look, columns))
    }

    fn choice(&self, look: &Look<'_>, place: usize, (action, words): (Action, &str)) -> Line {
        let here = place == self.chosen;
        let (mark, role) = if here { (look.glyphs.proposal, Role::Chosen) } else { (" ", Role::Text) };
        let key = look.keymap.label_in(Mode::End, action).unwrap_or_default();
        vec![(Role::Proposal, format!("{mark} ")), (Role::Key, format!("{key:<3}")), (role, words.to_owned())]
    }

    /// The rows it would like.
    fn rows(look: &Look<'_>, screen: Rect) -> u16 {
        let facts = Self::facts(look, COLUMNS.min(screen.width.saturating_sub(4)));
        (facts.len() + 1 + Self::choices(look).len()) as u16
    }
}

impl Overlay for EndCard {
    fn name(&self) -> &'static str {
        "end"
    }

    fn mode(&self) -> Mode {
        Mode::End
    }

    fn act(&mut self, action: Action, look: &Look<'_>) -> Reaction {
        let choices = Self::choices(look);
        let last = choices.len().saturating_sub(1);
        match action {
            Action::Close => return Reaction::close(),
            Action::Down | Action::NextField => self.chosen = (self.chosen + 1).min(last),
            Action::Up | Action::PreviousField => self.chosen = self.chosen.saturating_sub(1),
            Action::PageDown => self.scroll.pages(1),
            Action::PageUp => self.scroll.pages(-1),
            Action::Open | Action::Accept => {
                let chosen = choices.get(self.chosen);
                return chosen.map_or_else(Reaction::close, |(a, _)| Reaction::done(Request::Do(*a)));
            }
            // To be read and left again, with the card still there.
            Action::Help | Action::Prompt => return Reaction::want(Request::Do(action)),
            // What lies under the card is to be seen.
            Action::Palette | Action::Back | Action::Forward => return Reaction::done(Request::Do(action)),
            _ if choices.iter().any(|(a, _)| *a == action) => return Reaction::done(Request::Do(action)),
            _ => {}
        }
        Reaction::default()
    }

    fn mouse(&mut self, event: MouseEvent, look: &Look<'_>) -> Reaction {
        let count = Self::choices(look).len();
        match self.list.pointed(event) {
            Some(Pointed::Row(row)) => self.chosen = row,
            Some(Pointed::Wheel(by)) => {
                self.chosen = self.chosen.saturating_add_signed(by).min(count.saturating_sub(1));
            }
            None => {}
        }
        Reaction::default()
    }

    fn stale(&self, look: &Look<'_>) -> bool {
        Self::ended(look).is_none()
    }

    fn covers(&self, look: &Look<'_>, screen: Rect) -> u16 {
        Window::covers(Self::rows(look, screen), screen)
    }

    fn draw(&self, look: &Look<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let Some((episode, _)) = Self::ended(look) else { return };
        let title = format!("Episode {} is over", episode.number);
        let window = Window {
            title: &title,
            place: Place::Below,
            rows: Self::rows(look, screen),
            columns: COLUMNS,
            mode: Mode::End,
        };
        let inside = window.draw(look, screen, canvas);
        let (facts, choices) = (Self::facts(look, inside.width), Self::choices(look));
        // What can be done is there as a whole; what is told scrolls in the rows that are left.
        let below = (choices.len() as u16).min(inside.height.saturating_sub(1).max(1));
        let room = inside.height.saturating_sub(below);
        let gap = u16::from(room > facts.len() as u16);
        self.scroll.draw(&facts, Rect { height: room - gap, ..inside }, canvas);
        let list = Rect { y: inside.y + room, height: below.min(inside.height), ..inside };
        self.list.list(self.chosen, choices.len(), list, canvas, |place| {
            choices.get(place).map_or_else(Vec::new, |c| self.choice(look, place, *c))
        });
    }
}
