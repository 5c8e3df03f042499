//! Answers mentor questions with the symbolic rules instead of a model, over the whole episode.

use super::advice::{AdviceRequest, advice};
use super::{NoteRange, RuleLesson, apply_rule, notes_in_range, reflect};
use crate::domain::{LessonText, NoteKind, Purpose, Question, ReflectionItem, ReflectionKind, Transition};
use crate::engine::{Episode, Intent, State};
use crate::symbolic::environment_rules::EnvironmentRules;

/// See [`SymbolicRules::answer_question`](crate::symbolic::SymbolicRules::answer_question).
pub(in crate::symbolic) fn answer_question(
    rules: &EnvironmentRules,
    state: &State,
    episode: &Episode,
    question: Question,
) -> Vec<ReflectionItem> {
    match (question.purpose, question.kind) {
        (Purpose::Reflect, ReflectionKind::Abstract | ReflectionKind::Error | ReflectionKind::Progress)
        | (Purpose::Extract, ReflectionKind::Abstract) => {
            let intents = reflect(rules, state, episode, NoteRange::WholeEpisode, &[question.kind]);
            intents
                .into_iter()
                .find_map(|intent| if let Intent::Reflect(r) = intent { Some(r.items) } else { None })
                .unwrap_or_default()
        }
        (Purpose::Reflect | Purpose::Build | Purpose::Draft | Purpose::Improve, ReflectionKind::Plan) => {
            next_attempt_plan(rules, state, episode, AdviceRequest::EVERYTHING).into_iter().collect()
        }
        (Purpose::Reflect, ReflectionKind::Advice) => {
            let request = AdviceRequest::of_instructions(state);
            next_attempt_plan(rules, state, episode, request).into_iter().collect()
        }
        (Purpose::Reflect, ReflectionKind::Experience) => {
            actions_that_progressed(episode).into_iter().collect()
        }
        (Purpose::Reflect, ReflectionKind::Positive) => positive_item(episode).into_iter().collect(),
        (Purpose::Reflect | Purpose::Criticise, ReflectionKind::Negative) => {
            episode_mistakes(rules, episode).into_iter().take(1).map(lesson_to_item).collect()
        }
        (Purpose::Contrast, ReflectionKind::Lesson | ReflectionKind::Abstract) => match state
            .last_attempt(&episode.task)
        {
            Some(failed) => episode_mistakes(rules, failed).into_iter().take(1).map(lesson_to_item).collect(),
            None => Vec::new(),
        },
        (Purpose::PlanActions, ReflectionKind::Plan) => {
            rules.plan.and_then(|plan| plan(state, episode)).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the mistakes of an episode, most recently noted first.
fn episode_mistakes(rules: &EnvironmentRules, episode: &Episode) -> Vec<RuleLesson> {
    let mut lessons = apply_rule(&notes_in_range(episode, NoteRange::WholeEpisode), rules.error_lessons);
    lessons.reverse();
    lessons
}

/// Converts a mistake and its solution into an item of two sentences.
fn lesson_to_item(lesson: RuleLesson) -> ReflectionItem {
    let text = match lesson.text.solution {
        Some(solution) => format!("{} {solution}", lesson.text.text),
        None => lesson.text.text,
    };
    ReflectionItem {
        text: LessonText::plain(text),
        rule: Some(lesson.rule),
        evidence: lesson.evidence,
        transition: None,
    }
}

/// Returns a plan for the next attempt: what to do about the mistakes that `request` is about, and what is left to do.
fn next_attempt_plan(
    rules: &EnvironmentRules,
    state: &State,
    episode: &Episode,
    request: AdviceRequest,
) -> Option<ReflectionItem> {
    let (sentences, evidence) = advice(rules, state, episode, request);
    (!sentences.is_empty()).then(|| ReflectionItem {
        text: LessonText::plain(sentences.join(" ")),
        rule: Some("plan".to_owned()),
        evidence,
        transition: None,
    })
}

/// Lists the actions that reached a sub-goal, in order.
fn actions_that_progressed(episode: &Episode) -> Option<ReflectionItem> {
    let steps = (1..=episode.answered_steps()).filter_map(|n| episode.step(n));
    let reached: Vec<_> = steps.filter(|s| s.notes.iter().any(|n| n.kind == NoteKind::Progress)).collect();
    let actions: Vec<&str> = reached.iter().filter_map(|s| s.action()).collect();
    let evidence = reached.last().and_then(|s| s.observation()).unwrap_or_default().to_owned();
    let text = LessonText::plain(format!("These actions made progress: {}.", actions.join(", ")));
    (!actions.is_empty()).then_some(ReflectionItem {
        text,
        rule: Some("worked".to_owned()),
        evidence,
        transition: None,
    })
}

/// Returns an item about the last step if it reached a sub-goal.
fn positive_item(episode: &Episode) -> Option<ReflectionItem> {
    let step = episode.last_step()?;
    let note = step.notes.iter().find(|n| n.kind == NoteKind::Progress)?;
    let action = step.action()?;
    Some(ReflectionItem {
        text: LessonText::plain(format!(
            "`{action}` made progress; the same actions in the same order will work again."
        )),
        rule: Some(note.detector.clone()),
        evidence: note.evidence.clone(),
        transition: None::<Transition>,
    })
}
