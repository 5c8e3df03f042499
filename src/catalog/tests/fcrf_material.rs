//! FCRF's requests name an experience, a lesson, a plan or an earlier attempt only if they show it, whatever the
//! environment.

use crate::catalog::fixture::{FakeHousehold, TestRun, test_spec};
use crate::domain::{
    LessonText, PromptRecord, Purpose, Question, ReflectionKind, Scope, SegmentLabel, SegmentOrigin,
    SettingOrigin, StepResult,
};
use crate::engine::{Command, LessonCommand, State};
use crate::prompt::render;

/// Environments and types of tasks with texts of their own, and one without.
const PLACES: &[(&str, &str)] = &[
    ("household", "pick_heat_then_place_in_recep"),
    ("alfworld", "pick_and_place_simple"),
    ("babyai", "UnlockPickupDist"),
    ("pddl", "gripper"),
    ("pddl", "blockworld"),
    ("pddl", "barman"),
    ("pddl", "tyreworld"),
    ("pddl", "ferry"),
    ("elsewhere", ""),
];

/// A kind of material, and the words that announce it.
const MATERIAL: &[(ReflectionKind, &[&str])] = &[
    (ReflectionKind::Experience, &["experience", "worth keeping"]),
    (ReflectionKind::Lesson, &["lesson", "other failures", "other tasks"]),
    (ReflectionKind::Plan, &["past attempt", "earlier attempt", "plans from"]),
];

/// Plays three lost trials of one step in an environment.
fn play(place: (&str, &str), experience: bool, has_pool: bool) -> TestRun {
    let mut run = test_spec("fcrf", &[("a", place.1)]);
    (run.mentor, run.trials, run.limits.steps) = ("script".to_owned(), 3, 1);
    place.0.clone_into(&mut run.tasks[0].env);
    run.settings.set("experience", experience, SettingOrigin::Flag);
    let mut play = TestRun::new(run);
    play.mentor = Box::new(|prompt| match prompt.question.unwrap().purpose {
        Purpose::Choose => "1: Do this.".to_owned(),
        _ => "Do that.".to_owned(),
    });
    if has_pool {
        let text = LessonText::plain("Do this before that.");
        play.command(Command::Lesson(LessonCommand::add(
            ReflectionKind::Lesson,
            Scope::Environment,
            text,
            String::new(),
        )));
    }
    let mut world = |action: Option<&str>| match action {
        None => FakeHousehold::kitchen("do it").reset(),
        Some(_) => StepResult { valid: true, observation: "Well.".to_owned(), ..StepResult::default() },
    };
    play.play_script_in(&mut world, &["inventory"; 100]);
    assert!(play.state().run_over);
    play
}

/// Returns whether a prompt shows a lesson of this kind.
fn shows(state: &State, record: &PromptRecord, kind: ReflectionKind) -> bool {
    record.segments.iter().any(|segment| {
        matches!(&segment.origin, SegmentOrigin::Lesson { id, .. }
            if state.pool.get(id).is_some_and(|lesson| lesson.kind == kind))
    })
}

#[test]
fn requests_name_only_material_that_they_show() {
    let (mut found, mut shown) = (Vec::new(), [0; 3]);
    for place in PLACES {
        for (experience, has_pool) in [(true, true), (true, false), (false, true), (false, false)] {
            let play = play(*place, experience, has_pool);
            for (state, record) in &play.prompts {
                // These questions ask for the material that they name.
                let asks_for =
                    |kind| record.question.is_some_and(|q| q.kind == kind && q.purpose != Purpose::Build);
                let prompt = render(state, record);
                let own = prompt.segments.iter().filter(|s| {
                    s.label != SegmentLabel::Task && !matches!(s.origin, SegmentOrigin::Steps { .. })
                });
                let text: String = own.map(|s| s.text.to_lowercase()).collect();
                for (index, (kind, words)) in MATERIAL.iter().enumerate() {
                    if shows(state, record, *kind) {
                        shown[index] += 1;
                        assert!(words.iter().any(|w| text.contains(w)), "{kind:?} has no heading:\n{text}");
                        continue;
                    }
                    let named = words.iter().filter(|word| !asks_for(*kind) && text.contains(**word));
                    found.extend(named.map(|word| {
                        let asked = record.question.map_or_else(|| "the actor".to_owned(), Question::name);
                        format!("{place:?}, experience {experience}, pool {has_pool}, {asked}: {word:?}")
                    }));
                }
            }
        }
    }
    found.dedup();
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(shown.iter().all(|count| *count > PLACES.len()), "each kind is shown somewhere: {shown:?}");
}
