//! From notes to reflections. A rule speaks only when a detector noted its evidence in this trajectory, and every lesson
//! carries that evidence. Equal lessons are one lesson that recurs; what a person deleted is not drawn again.

mod ahead;
mod answer;
mod sentences;

pub use ahead::ENVS as PLANNED;
pub use answer::answer;

use super::detect::{known, reached};
use super::goal::Goal;
use super::grid;
use super::planning;
use crate::domain::{
    Author, LessonId, LessonStatus, LessonText, Note, NoteKind, Purpose, Reflection, ReflectionItem,
    ReflectionKind, Scope,
};
use crate::engine::{Episode, Intent, LessonCommand, State};

/// The rule behind a Progress lesson.
const PROGRESS: &str = "progress";

/// Which notes a reflection looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// Those of the last step.
    LastStep,
    /// The last of each detector after this step.
    After(u32),
    /// The last of each detector in this episode; only lessons that are not there yet are drawn (a person asked).
    Begin,
}

/// A lesson that a rule draws.
struct Drawn {
    rule: String,
    scope: Scope,
    text: LessonText,
    evidence: String,
}

/// The reflections of the symbolic rules after the last step, for these kinds, with the changes of the pool that keep
/// them. A kind that was reflected on after this step already is left out, so that granting the wants settles it.
pub fn reflect(state: &State, since: Since, kinds: &[ReflectionKind]) -> Vec<Intent> {
    let Some(episode) = state.episode.as_deref() else { return Vec::new() };
    let notes = notes(episode, since);
    let mut wants = Vec::new();
    for kind in kinds {
        if since != Since::Begin && state.has_reflected(*kind) {
            continue;
        }
        let drawn = match kind {
            ReflectionKind::Abstract | ReflectionKind::Error => learnt(episode, *kind, &notes),
            ReflectionKind::Progress => progress(state, episode, &notes, since).into_iter().collect(),
            _ => Vec::new(),
        };
        let again = if since == Since::LastStep { just_drawn(episode, *kind) } else { Vec::new() };
        wants.extend(keep(state, episode, *kind, drawn, since, &again));
    }
    wants
}

fn notes(episode: &Episode, since: Since) -> Vec<Note> {
    let after = match since {
        Since::LastStep => return episode.last_step().map(|s| s.notes.clone()).unwrap_or_default(),
        Since::After(step) => step,
        Since::Begin => 0,
    };
    // By number, so that the work is that of the period and not of the episode.
    let steps = (after + 1..=episode.steps.len() as u32).filter_map(|number| episode.step(number));
    steps.flat_map(|step| step.notes.iter().cloned()).collect()
}

/// The Abstract or Error lessons of notes, in the sentences of the episode's world.
fn learnt(episode: &Episode, kind: ReflectionKind, notes: &[Note]) -> Vec<Drawn> {
    match (kind, grid::is_grid(episode)) {
        (ReflectionKind::Abstract, false) => draw(notes, sentences::general),
        (ReflectionKind::Abstract, true) => draw(notes, grid::general),
        (ReflectionKind::Error, false) => draw(notes, sentences::mistake),
        (ReflectionKind::Error, true) => draw(notes, grid::mistake),
        _ => Vec::new(),
    }
}

fn draw(notes: &[Note], rule: impl Fn(&Note) -> Vec<(String, Scope, LessonText)>) -> Vec<Drawn> {
    let mut drawn: Vec<Drawn> = Vec::new();
    for note in notes {
        for (rule, scope, text) in rule(note) {
            if !drawn.iter().any(|d| d.rule == rule || d.text == text) {
                drawn.push(Drawn { rule, scope, text, evidence: note.evidence.clone() });
            }
        }
    }
    drawn
}

/// The rules whose evidence stood in the step before already: the same mistake twice in a row is one occasion.
fn just_drawn(episode: &Episode, kind: ReflectionKind) -> Vec<String> {
    let before = episode.last_step().and_then(|s| episode.step(s.number.checked_sub(1)?));
    let notes = before.map_or(&[][..], |s| &s.notes);
    learnt(episode, kind, notes).into_iter().map(|d| d.rule).collect()
}

/// Where the episode stands, when that changed: a sub-goal was reached, or the search goes astray.
fn progress(state: &State, episode: &Episode, notes: &[Note], since: Since) -> Option<Drawn> {
    let fires = |n: &&Note| {
        n.kind == NoteKind::Progress
            || matches!(
                n.detector.as_str(),
                "circling" | "left_target" | "wrong_object" | "undone" | "set_back"
            )
            || matches!(n.detector.as_str(), "found_target" | "found_door" | "took_key" | "unlocked")
    };
    let cause = notes.iter().rfind(fires);
    // Once the goal holds nothing comes next.
    let won = episode.last_step().and_then(|s| s.answer.as_ref()).is_some_and(|answer| answer.won);
    if won || (cause.is_none() && since == Since::LastStep) {
        return None;
    }
    let text = if grid::is_grid(episode) {
        grid::standing(episode)?
    } else if episode.task.env == planning::ENV {
        planning::standing(episode)?
    } else {
        let goal = Goal::read(&episode.task.goal)?;
        if reached(episode) >= goal.ladder().len() {
            return None;
        }
        sentences::standing(&goal, &known(episode))?
    };
    let append = state.run.as_ref().is_some_and(|r| r.settings.text("progress", "replace") == "append");
    let rule = if append { format!("{PROGRESS}.{text}") } else { PROGRESS.to_owned() };
    let evidence = cause.map(|n| n.evidence.clone()).unwrap_or_default();
    Some(Drawn { rule, scope: Scope::Episode, text: LessonText::plain(text), evidence })
}

/// The wants that keep what was drawn; none where nothing of it is new or recurs.
fn keep(
    state: &State,
    episode: &Episode,
    kind: ReflectionKind,
    drawn: Vec<Drawn>,
    since: Since,
    again: &[String],
) -> Vec<Intent> {
    let (mut items, mut wishes) = (Vec::new(), Vec::new());
    for lesson in drawn {
        let Some(wish) = wish(state, kind, &lesson) else { continue };
        let recurs = matches!(wish, LessonCommand::Recur { .. });
        if recurs && (since == Since::Begin || again.contains(&lesson.rule)) {
            continue;
        }
        items.push(ReflectionItem {
            text: lesson.text,
            rule: Some(lesson.rule),
            evidence: lesson.evidence,
            transition: None,
        });
        wishes.push(Intent::Lesson(wish));
    }
    if items.is_empty() {
        return Vec::new();
    }
    let reflection = Reflection {
        kind,
        author: Author::Symbolic,
        episode: episode.number,
        step: episode.answered_steps(),
        purpose: Purpose::Reflect,
        items,
        complaints: Vec::new(),
        dropped: Vec::new(),
        truncated: None,
        call: None,
        reply_source: None,
        prompt_edited: false,
        seq: crate::domain::Seq::default(),
    };
    std::iter::once(Intent::Reflect(Box::new(reflection))).chain(wishes).collect()
}

/// The change of the pool for a drawn lesson: a new lesson, a recurrence, or new words for Progress.
fn wish(state: &State, kind: ReflectionKind, drawn: &Drawn) -> Option<LessonCommand> {
    for lesson in state.pool.by_rule(kind, &drawn.rule) {
        let ended = lesson.status == LessonStatus::Retired;
        if drawn.scope != Scope::Episode {
            return (!ended).then(|| LessonCommand::Recur { id: lesson.id.clone() });
        }
        if ended || lesson.learnt_at.0 != state.episode.as_ref().map_or(0, |e| e.number) {
            continue;
        }
        // Where the same words stand there is nothing new to say; words that a person pinned are not replaced.
        if *lesson.text() == drawn.text {
            return None;
        }
        if lesson.status != LessonStatus::Pinned && drawn.rule == PROGRESS {
            return Some(LessonCommand::Edit { id: lesson.id.clone(), text: drawn.text.clone() });
        }
    }
    if let Some(id) = same_words(state, kind, &drawn.text) {
        return (drawn.scope != Scope::Episode).then_some(LessonCommand::Recur { id });
    }
    Some(LessonCommand::Add {
        kind,
        scope: drawn.scope,
        text: drawn.text.clone(),
        rule: Some(drawn.rule.clone()),
        evidence: drawn.evidence.clone(),
        parents: Vec::new(),
        transition: None,
    })
}

/// A lesson of the kind that already says this, whoever wrote it.
fn same_words(state: &State, kind: ReflectionKind, text: &LessonText) -> Option<LessonId> {
    state.pool.with_normalized_text(kind, &text.normalized()).next().map(|l| l.id.clone())
}
