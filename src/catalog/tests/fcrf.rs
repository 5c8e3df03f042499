//! FCRF: its tables, which questions follow which trial, and how the pool grows.

use crate::catalog::defaults;
use crate::catalog::fixture::{FakeHousehold, TestRun, test_spec};
use crate::domain::{
    PaperOrCode, Purpose, Question, ReflectionKind, RunSpec, Scope, SettingOrigin, StepResult, Task,
};
use crate::engine::{Command, LessonCommand};
use crate::method::Difficulty;
use crate::prompt::{body_hash, render};

const PUT: &str = "pick_and_place_simple";
const HEAT: &str = "pick_heat_then_place_in_recep";
const TWO: &str = "pick_two_obj_and_place";
const LOOK: &str = "look_at_obj_in_light";

const EXPERIENCE: Question = Question { kind: ReflectionKind::Experience, purpose: Purpose::Reflect };
const PLAN: Question = Question { kind: ReflectionKind::Plan, purpose: Purpose::Reflect };
const TIP: Question = Question { kind: ReflectionKind::Lesson, purpose: Purpose::Choose };
const BUILD: Question = Question { kind: ReflectionKind::Plan, purpose: Purpose::Build };
const CONTRAST: Question = Question { kind: ReflectionKind::Lesson, purpose: Purpose::Contrast };
const SUMMARY: Question = Question { kind: ReflectionKind::Lesson, purpose: Purpose::Summarise };

fn run(tasks: &[(&str, &str)], trials: u32) -> RunSpec {
    let mut run = test_spec("fcrf", tasks);
    run.mentor = "script".to_owned();
    run.trials = trials;
    run.limits.steps = 1;
    run
}

fn play(run: RunSpec) -> TestRun {
    let mut play = TestRun::new(run);
    let mut count = 0;
    play.mentor = Box::new(move |prompt| {
        count += 1;
        let question = prompt.question.unwrap();
        let words = format!("{} {} number {count}.", question.purpose.name(), question.kind.name());
        // The tip names the lesson it is taken from.
        if question == TIP { format!("1: {words}") } else { words }
    });
    play
}

/// Plays to the end of the run; the episodes with these numbers are won.
fn play_to_end(play: &mut TestRun, won: &[u32]) {
    let mut episode = 0;
    let mut world = |action: Option<&str>| {
        if action.is_none() {
            episode += 1;
            return FakeHousehold::kitchen("put a hot apple in garbagecan").reset();
        }
        let won = won.contains(&episode);
        StepResult { done: won, won, valid: true, observation: "Well.".to_owned(), ..StepResult::default() }
    };
    play.play_script_in(&mut world, &["inventory"; 1000]);
    assert!(play.state().run_over);
}

fn questions_asked(play: &TestRun) -> Vec<(u32, Question)> {
    play.prompts.iter().filter_map(|(_, p)| Some((p.episode, p.question?))).collect()
}

#[test]
fn difficulties_match_the_tables_of_paper_and_code() {
    // docs/METHODS.md, "FCRF": type, sum, simple and in-depth trials out of 5 in the code, in-depth ones by equation 7.
    for (task_type, sum, code, paper) in [
        (PUT, 2, (3.0, 2.0), 2.5),
        (LOOK, 3, (2.0, 3.0), 3.75),
        (HEAT, 4, (1.0, 4.0), 5.0),
        (TWO, 4, (1.0, 4.0), 5.0),
    ] {
        let task = Task {
            env: "household".to_owned(),
            id: "x".to_owned(),
            goal: String::new(),
            task_type: Some(task_type.to_owned()),
            difficulty: None,
            seed: 0,
        };
        let difficulty = Difficulty::from_task(&task);
        assert_eq!(difficulty.sum(), sum, "{task_type}");
        assert_eq!(difficulty.trials_by_depth(true, 5), code, "{task_type}");
        assert_eq!(difficulty.trials_by_depth(false, 5), (5.0 - paper, paper), "{task_type}");
    }
}

#[test]
fn simple_reflections_come_first_and_a_tip_needs_a_pool() {
    // Task type, table, and the questions after each of the first four trials.
    let (simple, in_depth) = (vec![EXPERIENCE, PLAN], vec![EXPERIENCE, TIP, BUILD]);
    let cases = [
        (PUT, "code", [&simple, &simple, &simple, &in_depth]),
        (PUT, "paper", [&simple, &simple, &in_depth, &in_depth]),
        (LOOK, "code", [&simple, &simple, &in_depth, &in_depth]),
        (HEAT, "code", [&simple, &in_depth, &in_depth, &in_depth]),
        (TWO, "paper", [&in_depth, &in_depth, &in_depth, &in_depth]),
    ];
    for (task_type, table, expected) in cases {
        let mut run = run(&[("a", task_type)], 5);
        run.settings.set("k_table", table, SettingOrigin::Flag);
        let mut play = play(run);
        let tip = crate::domain::LessonText::plain("Open before you take.");
        let command = LessonCommand::add(ReflectionKind::Lesson, Scope::Environment, tip, String::new());
        play.command(Command::Lesson(command));
        play_to_end(&mut play, &[]);
        let questions: Vec<Question> = questions_asked(&play).into_iter().map(|(_, q)| q).collect();
        assert_eq!(
            questions,
            expected.into_iter().flatten().copied().collect::<Vec<_>>(),
            "{task_type} {table}"
        );
    }
    // Without a pool there is no tip to choose, and the plan is built from the experience alone.
    let mut play = play(run(&[("a", TWO)], 2));
    play_to_end(&mut play, &[]);
    assert_eq!(questions_asked(&play), [(1, EXPERIENCE), (1, BUILD)]);
}

#[test]
fn a_corrected_task_adds_a_lesson_that_becomes_the_parent_of_a_later_tip() {
    // a fails and is corrected in its second trial (episode 3); b fails twice and gets the tip.
    let mut play = play(run(&[("a", TWO), ("b", TWO)], 3));
    play_to_end(&mut play, &[3]);
    assert_eq!(
        questions_asked(&play),
        [
            (1, EXPERIENCE),
            (1, BUILD),
            (2, EXPERIENCE),
            (2, BUILD),
            (3, CONTRAST),
            (4, EXPERIENCE),
            (4, TIP),
            (4, BUILD)
        ]
    );
    let state = play.state();
    let lessons: Vec<_> = state.pool.visible_of_kind(ReflectionKind::Lesson).collect();
    assert_eq!(lessons.len(), 2);
    assert_eq!((lessons[0].scope, lessons[1].scope), (Scope::Environment, Scope::Task));
    assert_eq!(*lessons[1].parents, [lessons[0].id.clone()], "the tip names the lesson it was taken from");
    // The mentor saw both attempts when asked for the contrast, and the prompt can be rebuilt from its record.
    let (state, record) = play.prompts.iter().find(|(_, p)| p.question == Some(CONTRAST)).unwrap();
    let prompt = render(state, record);
    assert_eq!(body_hash(&prompt), record.sha256);
    assert_eq!(prompt.body().matches("> inventory").count(), 2, "{}", prompt.body());
    assert!(prompt.body().contains("STATUS: OK"));
}

#[test]
fn the_actor_sees_the_reflections_of_the_last_three_trials() {
    let mut run = run(&[("a", PUT)], 5);
    run.settings.set("k_table", "code", SettingOrigin::Flag);
    let mut play = play(run);
    play_to_end(&mut play, &[]);
    let (state, record) = play.prompts.iter().rfind(|(_, p)| p.question.is_none()).unwrap();
    let body = render(state, record).body();
    let memory: Vec<&str> = body.lines().filter(|l| l.starts_with("- ") && l.contains("number")).collect();
    assert_eq!(
        memory,
        [
            "- reflect Experience number 3.",
            "- reflect Plan number 4.",
            "- reflect Experience number 5.",
            "- reflect Plan number 6.",
            "- reflect Experience number 7.",
            "- build Plan number 8.",
        ]
    );
    // As in the public code: trials numbered from 0 among those shown, each part with its label.
    let first = "Trial 0:\nValuable experience:\n- reflect Experience number 3.\nPlan:\n- reflect Plan number 4.\nTrial 1:\n";
    assert!(body.contains(first), "{body}");
}

#[test]
fn settings_omit_parts_of_a_reflection_and_choose_how_the_pool_grows() {
    // Setting, value, questions of a run in which the second trial of a task succeeds.
    let cases: [(&str, serde_json::Value, &[Question]); 4] = [
        ("experience", false.into(), &[BUILD, CONTRAST]),
        ("lesson", false.into(), &[EXPERIENCE, BUILD, CONTRAST]),
        ("lesson_pool", "person".into(), &[EXPERIENCE, BUILD]),
        ("lesson_pool", "summary".into(), &[EXPERIENCE, BUILD, CONTRAST]),
    ];
    for (name, value, expected) in cases {
        let mut run = run(&[("a", TWO)], 2);
        run.settings.set(name, value, SettingOrigin::Flag);
        let mut play = play(run);
        play_to_end(&mut play, &[2]);
        let questions: Vec<Question> = questions_asked(&play).into_iter().map(|(_, q)| q).collect();
        assert_eq!(questions, expected, "{name}");
    }
    // The pool is summarized once it has two lessons: after the trial in which the second was added.
    let mut run = run(&[("a", TWO), ("b", TWO), ("c", TWO)], 3);
    run.settings.set("lesson_pool", "summary", SettingOrigin::Flag);
    let mut play = play(run);
    play_to_end(&mut play, &[4, 5]);
    let summaries: Vec<u32> =
        questions_asked(&play).into_iter().filter(|(_, q)| *q == SUMMARY).map(|(e, _)| e).collect();
    assert_eq!(summaries, [6], "after the second trial of c; a single remaining lesson needs no summary");
}

#[test]
fn code_defaults_are_those_of_reflexions_runner() {
    let (limits, settings, loop_detector) = defaults("fcrf", PaperOrCode::Code);
    assert_eq!((limits.steps, loop_detector), (49, true));
    assert_eq!(settings.get(crate::domain::common_settings::MEMORY), 3);
    assert_eq!(crate::catalog::default_trials("fcrf"), 5);
}

#[test]
fn a_tip_names_its_parent_by_number_and_a_missing_number_is_reported() {
    // The mentor's answer when two lessons were shown; the parent lesson, the tip's text, the complaint.
    let cases: &[(&str, Option<usize>, &str, &str)] = &[
        ("2: Open it first.", Some(1), "Open it first.", ""),
        ("Lesson 1: Look first.", Some(0), "Look first.", ""),
        ("Lesson 2 - Open it first.", Some(1), "Open it first.", ""),
        ("[1] Look first.", Some(0), "Look first.", ""),
        ("**2.** Open it first.", Some(1), "Open it first.", ""),
        ("2", Some(1), "Open before you take.", ""),
        ("Open it first.", None, "Open it first.", "doesn't begin with the number"),
        ("2 apples are needed.", None, "2 apples are needed.", "doesn't begin with the number"),
        ("7: Open it first.", None, "Open it first.", "names lesson 7, but only 2 were shown"),
        ("0: Open it first.", None, "Open it first.", "names lesson 0, but only 2 were shown"),
    ];
    for (reply, parent, words, complaint) in cases {
        let mut play = TestRun::new(run(&[("a", TWO)], 2));
        play.mentor = Box::new(|prompt| match prompt.question {
            Some(TIP) => (*reply).to_owned(),
            _ => "Something.".to_owned(),
        });
        for text in ["Look before you go.", "Open before you take."] {
            let text = crate::domain::LessonText::plain(text);
            play.command(Command::Lesson(LessonCommand::add(
                ReflectionKind::Lesson,
                Scope::Environment,
                text,
                String::new(),
            )));
        }
        play_to_end(&mut play, &[]);
        let state = play.state();
        let pool: Vec<_> = state.pool.visible_of_kind(ReflectionKind::Lesson).collect();
        let tip = pool.iter().find(|l| l.scope == Scope::Task).unwrap();
        assert_eq!(tip.text().text, *words, "{reply}");
        let parents: Vec<_> = parent.iter().map(|n| pool[*n].id.clone()).collect();
        assert_eq!(*tip.parents, *parents, "{reply}");
        let complaints =
            state.reflections.iter().find(|r| r.question() == TIP).unwrap().complaints.join("; ");
        assert!(
            complaints.contains(complaint) && complaints.is_empty() == complaint.is_empty(),
            "{reply}: {complaints}"
        );
        let (state, record) = play.prompts.iter().find(|(_, p)| p.question == Some(TIP)).unwrap();
        assert!(render(state, record).body().contains("Lesson 2 - Open before you take.\n"));
    }
}

#[test]
fn the_mentor_calls_of_a_run_match_the_tables() {
    // Five lost trials of 50 steps. The mentor is asked after each but the last: 2 questions for a simple reflection, 3
    // for an in-depth one (2 without a pool). Task type, table, whether there is a pool, mentor calls.
    for (task_type, table, has_pool, calls) in [
        (PUT, "code", true, 3 * 2 + 3),
        (PUT, "paper", true, 2 * 2 + 2 * 3),
        (LOOK, "code", true, 2 * 2 + 2 * 3),
        (HEAT, "code", true, 2 + 3 * 3),
        (TWO, "paper", true, 4 * 3),
        (TWO, "paper", false, 4 * 2),
    ] {
        let (limits, settings, _) = defaults("fcrf", PaperOrCode::Paper);
        let mut run = run(&[("a", task_type)], 5);
        (run.limits, run.settings, run.loop_detector) = (limits, settings, false);
        run.settings.set("k_table", table, SettingOrigin::Flag);
        let mut play = play(run);
        if has_pool {
            let tip = crate::domain::LessonText::plain("Open before you take.");
            let command = LessonCommand::add(ReflectionKind::Lesson, Scope::Environment, tip, String::new());
            play.command(Command::Lesson(command));
        }
        play_to_end(&mut play, &[]);
        let usage = play.state().usage;
        assert_eq!((usage.actor_calls, usage.mentor_calls), (250, calls), "{task_type} {table} {has_pool}");
    }
}

/// Which failed transcript the lesson of the pool compares with the success.
#[test]
fn a_corrected_task_is_compared_with_the_last_failure_or_as_the_code_does_with_the_first() {
    for (source, expected) in [(PaperOrCode::Paper, "> inventory 2"), (PaperOrCode::Code, "> inventory 1")] {
        let mut run = run(&[("a", TWO)], 5);
        run.settings = defaults("fcrf", source).1;
        let mut play = play(run);
        let mut episode = 0;
        let mut world = |action: Option<&str>| {
            if action.is_none() {
                episode += 1;
                return FakeHousehold::kitchen("put a hot apple in garbagecan").reset();
            }
            let won = episode == 3;
            StepResult {
                done: won,
                won,
                valid: true,
                observation: "Well.".to_owned(),
                ..StepResult::default()
            }
        };
        play.play_script_in(&mut world, &["inventory 1", "inventory 2", "inventory 3"]);
        assert!(play.state().run_over);
        let (state, record) = play.prompts.iter().find(|(_, p)| p.question == Some(CONTRAST)).unwrap();
        let prompt = render(state, record);
        assert_eq!(body_hash(&prompt), record.sha256);
        let body = prompt.body();
        let attempts: Vec<&str> = body.lines().filter(|line| line.starts_with("> inventory")).collect();
        assert_eq!(attempts, [expected, "> inventory 3"], "{source:?}");
    }
}

#[test]
fn a_lesson_that_a_person_asks_for_is_a_tip_or_the_contrast() {
    let mut play = play(run(&[("a", TWO)], 2));
    play_to_end(&mut play, &[2]);
    let asked = |play: &mut TestRun| {
        let kind = ReflectionKind::Lesson;
        let events = play.engine.decide(&crate::engine::Input::Command(Command::Reflect(kind)))?;
        play.fold(events);
        Ok::<_, crate::engine::CommandError>(play.prompts.last().unwrap().1.question.unwrap())
    };
    assert_eq!(asked(&mut play).unwrap(), CONTRAST, "the task was solved in its second trial");
    let mut empty = self::play(run(&[("a", TWO)], 2));
    play_to_end(&mut empty, &[]);
    assert!(asked(&mut empty).is_err(), "there is no lesson to choose");
}

/// Regression: a summary of the pool that failed, or whose lines a person rejected, could never be requested again.
#[test]
fn a_summary_of_the_pool_can_be_requested_again() {
    let summarize = |replies: [&'static str; 2]| {
        let mut run = run(&[("a", TWO), ("b", TWO)], 2);
        run.settings.set("lesson_pool", "summary", SettingOrigin::Flag);
        let mut play = TestRun::new(run);
        let (mut count, mut replies) = (0, replies.into_iter());
        play.mentor = Box::new(move |prompt| {
            count += 1;
            match prompt.question.unwrap() {
                SUMMARY => replies.next().unwrap().to_owned(),
                _ => format!("Number {count}."),
            }
        });
        // Both tasks are corrected in their second trial; then the pool of two lessons is summarized.
        play_to_end(&mut play, &[3, 4]);
        play.command(Command::Reflect(ReflectionKind::Lesson));
        let asked = questions_asked(&play);
        assert!(asked.ends_with(&[(4, SUMMARY), (4, SUMMARY)]), "a person requests it again: {asked:?}");
        while play.advance(&mut |_| unreachable!(), &mut |_| None) {}
        let lessons = play.state().pool.active_of_kind(ReflectionKind::Lesson);
        lessons.map(|l| l.text().text.clone()).collect::<Vec<_>>()
    };
    let again = "['One.', 'Two.']";
    // Cut off, empty, and complete: a person may have rejected its lines, which the method doesn't see.
    for first in ["['One.', 'Tw✂", "[]", "['Old one.', 'Old two.']"] {
        assert_eq!(summarize([first, again]), ["One.", "Two."], "{first}");
    }
}
