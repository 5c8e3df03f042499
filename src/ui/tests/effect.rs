//! The measurement of a lesson: what is asked for, and what the pairs look like.

use super::{TestScreen, screen_text};
use crate::domain::{
    AdviceCounts, AskedAt, Author, DeterministicFact, EffectStart, LessonId, LessonOp, LessonText,
    MeasuredEffect, MeasuredWording, Seq, Task, WordingComparison,
};
use crate::driver::Health;
use crate::driver::measure::EpisodePlace;
use crate::engine::{Cause, Command, Event, LessonCommand};
use crate::report::effect::describe_other_outcomes;
use crate::timeline::effect::{
    Column, Contrast, EFFECT_VERSION, EffectBudget, EffectDiscarded, EffectEpisode, EffectLog, EffectPlan,
    EffectRecord, EffectResult, EffectScope, ExtraCalls, Keep, MeasuredLesson, NextRecord, Outcome,
    PlannedTask,
};
use crate::ui::effect::{EffectColumn, EffectPhase, EffectProgress, EffectQuery};
use crate::ui::fixture::{Fixture, sample_session};
use crate::ui::keymap::Mode;
use crate::ui::msg::{Answer, Request, UiMessage};
use crate::ui::types::{PtrEqArc, WorkKind};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

fn plan(query: &EffectQuery, column: Column, pairs: u32) -> EffectPlan {
    let here = column == Column::Here;
    let task = Task {
        env: "household".to_owned(),
        id: "normal/heat/71".to_owned(),
        goal: String::new(),
        task_type: None,
        difficulty: None,
        seed: 71,
    };
    EffectPlan {
        v: EFFECT_VERSION,
        effect: column.to_string(),
        lesson: Some(query.lesson.clone()),
        version: Some(1),
        lessons: vec![MeasuredLesson {
            id: query.lesson.clone(),
            version: 1,
            text: LessonText::plain("Look."),
        }],
        groups: Vec::new(),
        column: Some(column),
        contrasts: vec![Contrast::new("with", "without"), Contrast::new("with", "placebo")],
        scope: if here { EffectScope::Moment } else { EffectScope::Tasks },
        start: if here {
            EffectStart::Episode { session: "s".to_owned(), episode: 1 }
        } else {
            EffectStart::Tasks
        },
        outcome: Outcome::Success,
        margin: 0.10,
        alpha: 0.025,
        pairs,
        budget: EffectBudget::default(),
        frozen: true,
        seed: 1,
        repeats: 1,
        shard: None,
        pools: BTreeMap::new(),
        step_limit: 50,
        tasks: vec![PlannedTask { task, learned: false }; if here { 1 } else { pairs as usize }],
        run: String::new(),
        method: "omnireflect".to_owned(),
        actor: "rules".to_owned(),
        excluded_seeds: Vec::new(),
        task_blocks: Vec::new(),
        counting: 0,
        keep: Keep::default(),
        asked: None,
        edited: None,
        retries: false,
        orders: false,
    }
}

/// Plays pairs whose outcomes a function gives by pair and arm.
fn column(plan: EffectPlan, episodes: usize, won: impl Fn(u32, &str) -> bool) -> EffectColumn {
    let mut log = EffectLog::new(plan);
    for number in 0..episodes {
        match log.next(&[], 1) {
            NextRecord::Play(slots) => log.apply(EffectRecord::Episode(Box::new(EffectEpisode {
                effect: log.plan().effect.clone(),
                pair: slots[0].pair,
                repeat: 1,
                arm: slots[0].arm.clone(),
                task: String::new(),
                seed: slots[0].seed,
                won: won(slots[0].pair, &slots[0].arm),
                progress: 0.0,
                steps: 20,
                tokens: 100,
                calls: 20,
                cost_nano: 0,
                extra: ExtraCalls::default(),
                reason: "step limit".to_owned(),
                failure: None,
                trace: number.to_string(),
                kept: slots[0].pair == 2,
            }))),
            NextRecord::Write(record) => log.apply(*record),
            NextRecord::Wait | NextRecord::Done => break,
        }
    }
    EffectColumn {
        result: EffectResult::without_bootstrap(&log),
        log,
        cost: "up to 200 pairs (600 episodes, about 24000 calls, 41.6 M tokens, no money, about 9 s)"
            .to_owned(),
        detectable: Some("an effect of 0.20 is detected with 80 % probability".to_owned()),
        folder: "effects/here".to_owned(),
        kept: None,
    }
}

fn progress(query: &EffectQuery, phase: EffectPhase, episodes: usize) -> Answer {
    let here = column(plan(query, Column::Here, 200), episodes, |pair, arm| arm == "with" && pair % 3 != 0);
    let elsewhere = column(plan(query, Column::Elsewhere, 200), episodes, |pair, _| pair % 2 == 0);
    let progress = EffectProgress {
        query: query.clone(),
        phase,
        columns: vec![here, elsewhere],
        missing_column: None,
        has_older_lessons: false,
        unknown_sources: None,
        outage: None,
    };
    Answer::Effect(Ok(PtrEqArc(Arc::new(progress))))
}

/// Returns a stored measurement of a lesson.
pub(super) fn stored(lesson: LessonId) -> PtrEqArc<EffectProgress> {
    let query = EffectQuery::new(lesson, EpisodePlace { episode: Some(1), step: None });
    let Answer::Effect(Ok(stored)) = progress(&query, EffectPhase::Idle, 90) else { unreachable!() };
    stored
}

/// Opens the measurement of the sample session's lesson, and returns what it asks for.
fn opened(width: u16, height: u16) -> (TestScreen, EffectQuery) {
    let mut screen = TestScreen::new(sample_session(), width, height);
    let requests = screen.press("%");
    let [Request::PlanEffect(query)] = requests.as_slice() else { panic!("{requests:?}") };
    (screen, query.clone())
}

#[test]
fn the_plan_is_shown_before_anything_starts() {
    let (mut screen, query) = opened(120, 36);
    assert_eq!(screen.overlay_mode(), Mode::Effect);
    assert!(query.place.step.is_some(), "the episode is open: {query:?}");
    assert!(screen_text(&screen.draw()).contains("preparing the measurement"));
    screen.send(UiMessage::Answer(progress(&query, EffectPhase::Idle, 0)));
    let shown = screen_text(&screen.draw());
    for text in ["600 episodes", "an effect of 0.20", "frozen:", "ELSEWHERE", "Enter starts"] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    assert!(shown.contains("+ more pairs"), "{shown}");
    assert_eq!(screen.press("Enter"), [Request::RunEffect(query.clone())]);
    // Regression: "Enter starts" stayed for seconds.
    screen.show_work(WorkKind::Effect, None);
    assert!(screen_text(&screen.draw()).contains("starting ..."));
    // While it runs, only what has an effect is offered.
    screen.send(UiMessage::Answer(progress(&query, EffectPhase::Running, 9)));
    let shown = screen_text(&screen.draw());
    for absent in ["starting", "Enter start", "+ more pairs", "another wording", "frozen/live"] {
        assert!(!shown.contains(absent), "{absent}: {shown}");
    }
}

/// Another number of pairs is asked for as the same measurement. After a verdict, it would change nothing.
#[test]
fn pairs_can_be_added_and_taken_away() {
    for (key, pairs) in [("+", 400), ("-", 100)] {
        let (mut screen, query) = opened(120, 36);
        screen.send(UiMessage::Answer(progress(&query, EffectPhase::Idle, 0)));
        assert_eq!(
            screen.press(key),
            [Request::PlanEffect(EffectQuery { pairs: Some(pairs), ..query.clone() })]
        );
        let (mut screen, query) = opened(120, 36);
        screen.send(UiMessage::Answer(progress(&query, EffectPhase::Idle, 1_200)));
        assert!(!screen_text(&screen.draw()).contains("more pairs"));
        assert_eq!(screen.press(key), []);
        assert!(screen_text(&screen.draw()).contains("it is decided"), "{key}");
    }
}

/// Returns the words on a screen without the frames of windows, so that a sentence of several rows is found.
fn words_of(shown: &str) -> String {
    shown.split_whitespace().filter(|word| !matches!(*word, "│" | "┃")).collect::<Vec<_>>().join(" ")
}

/// Regression: the panel asked for more pairs where too many had been discarded, and didn't name the key that plays them again.
#[test]
fn discarded_pairs_are_played_again_with_a_key() {
    for (width, height) in [(120, 36), (80, 24)] {
        let (mut screen, query) = opened(width, height);
        let lacking = changed(progress(&query, EffectPhase::Idle, 0), |shown| {
            for column in &mut shown.columns {
                loop {
                    let record = match column.log.next(&[], 1) {
                        NextRecord::Write(record) => *record,
                        NextRecord::Play(slots) => EffectRecord::Discarded(EffectDiscarded {
                            effect: column.log.plan().effect.clone(),
                            pair: slots[0].pair,
                            arm: slots[0].arm.clone(),
                            reason: "no such model".to_owned(),
                            absent: false,
                            timed_out: false,
                            extra: ExtraCalls::default(),
                        }),
                        NextRecord::Wait | NextRecord::Done => break,
                    };
                    column.log.apply(record);
                }
                column.result = EffectResult::without_bootstrap(&column.log);
            }
        });
        screen.send(lacking);
        let shown = screen_text(&screen.draw());
        let words = words_of(&shown);
        for text in [
            "too many pairs weren't played here and elsewhere: Enter plays them again",
            "Enter continues, and plays the discarded pairs again",
            "(the first: no such model)",
        ] {
            assert!(words.contains(text), "{text} at {width}x{height}: {shown}");
        }
        for absent in ["more pairs are needed", "Enter starts", "no play was won"] {
            assert!(!words.contains(absent), "{absent}: {shown}");
        }
        assert_eq!(screen.press("Enter"), [Request::RunEffect(query.clone())]);
    }
}

/// A budget is typed, belongs to the same measurement, and stays in its box if it can't be read.
#[test]
fn a_budget_is_typed_and_shown() {
    let (mut screen, query) = opened(120, 36);
    screen.send(UiMessage::Answer(progress(&query, EffectPhase::Idle, 0)));
    assert_eq!(screen.press("b"), []);
    assert!(screen_text(&screen.draw()).contains("Budget of each column"));
    for key in ["x", "Enter"] {
        assert_eq!(screen.press(key), []);
    }
    let shown = screen_text(&screen.draw());
    assert!(shown.contains("not a budget") && shown.contains("Budget of each column"), "{shown}");
    screen.press("Backspace");
    for key in ["5", "m", "i", "n"] {
        screen.press(key);
    }
    let budget = EffectBudget { minutes: Some(5), ..EffectBudget::default() };
    let limited = EffectQuery { budget: Some(budget), ..query.clone() };
    assert_eq!(screen.press("Enter"), [Request::PlanEffect(limited.clone())]);
    let Answer::Effect(Ok(mut planned)) = progress(&limited, EffectPhase::Idle, 0) else { unreachable!() };
    let columns = &mut Arc::make_mut(&mut planned.0).columns;
    for column in columns {
        let plan = EffectPlan { budget, ..column.plan().clone() };
        column.log.apply(EffectRecord::Planned(Box::new(plan)));
    }
    screen.send(UiMessage::Answer(Answer::Effect(Ok(planned))));
    assert!(screen_text(&screen.draw()).contains("each column stops at 5 min"));
    // After a verdict, no budget changes anything.
    screen.send(UiMessage::Answer(progress(&limited, EffectPhase::Idle, 1_200)));
    assert_eq!(screen.press("b"), []);
    assert!(screen_text(&screen.draw()).contains("another budget changes nothing"));
}

/// Regression: nothing showed which column was selected.
#[test]
fn the_selected_column_is_marked() {
    let (mut screen, query) = opened(120, 36);
    screen.send(UiMessage::Answer(progress(&query, EffectPhase::Idle, 90)));
    let before = screen.draw();
    screen.press("Down");
    let after = screen.draw();
    assert_eq!(screen_text(&before), screen_text(&after));
    assert_ne!(before, after);
}

/// Regression: an Enter while the measurement was prepared was lost, although its key was on the screen.
#[test]
fn an_early_enter_starts_what_costs_nothing_once_it_is_planned() {
    let (mut screen, query) = opened(120, 36);
    assert_eq!(screen.press("Enter"), []);
    assert!(screen_text(&screen.draw()).contains("then it starts"));
    let requests = screen.send(UiMessage::Answer(progress(&query, EffectPhase::Idle, 0)));
    assert_eq!(requests, [Request::RunEffect(query.clone())]);
    // Only once.
    assert_eq!(screen.send(UiMessage::Answer(progress(&query, EffectPhase::Idle, 0))), []);
}

#[test]
fn the_time_that_is_left_follows_the_pairs_that_were_seen() {
    let (mut screen, query) = opened(120, 36);
    screen.send(UiMessage::Answer(progress(&query, EffectPhase::Running, 0)));
    assert!(!screen_text(&screen.draw()).contains(" left;"));
    screen.now += Duration::from_secs(30);
    screen.send(UiMessage::Answer(progress(&query, EffectPhase::Running, 15)));
    let shown = screen_text(&screen.draw());
    assert!(shown.contains("at most about "), "{shown}");
}

#[test]
fn pairs_and_verdicts_are_shown_at_every_size() {
    for (width, height) in [(200, 60), (120, 36), (80, 24), (60, 16)] {
        let (mut screen, query) = opened(width, height);
        screen.send(UiMessage::Answer(progress(&query, EffectPhase::Running, 90)));
        let shown = screen_text(&screen.draw());
        for text in ["here", "without", "placebo", "helped", "alpha 0.025 (97.5 % interval)"] {
            assert!(shown.contains(text), "{text} at {width}x{height}: {shown}");
        }
        if width < 100 {
            // Both columns in a row each, above the first one.
            let rows: Vec<&str> = shown.lines().collect();
            let row = |text: &str| rows.iter().position(|row| row.contains(text));
            let (here, elsewhere) = (row("9 : 0 · "), row("0 : 0 · "));
            assert!(
                here.is_some() && here < elsewhere && elsewhere < row("HERE"),
                "{width}x{height}: {shown}"
            );
        }
        if height >= 36 {
            for text in [
                "0 : 0",
                "9 : 0",
                "▲",
                "undecided: it helps here; elsewhere needs more pairs",
                "effective ",
                "won only with the lesson",
            ] {
                assert!(shown.contains(text), "{text}: {shown}");
            }
        }
        let row_of = |name: &str| shown.lines().position(|line| line.contains(name));
        assert!(row_of("without ") < row_of("with   ") && row_of("with   ") < row_of("placebo "), "{shown}");
    }
}

#[test]
fn a_measurement_goes_on_behind_the_panes() {
    let (mut screen, query) = opened(120, 36);
    screen.send(UiMessage::Answer(progress(&query, EffectPhase::Running, 9)));
    screen.press("Esc");
    assert!(screen.compositor.overlays().is_empty());
    assert!(screen.compositor.is_awaited(WorkKind::Effect, &screen.model));
    assert!(screen_text(&screen.draw()).lines().next().unwrap().contains("measuring 3 of 200 pairs"));
    screen.send(UiMessage::Answer(progress(&query, EffectPhase::Running, 30)));
    assert_eq!(screen.press("%"), [], "what is known is shown at once");
    assert!(screen_text(&screen.draw()).contains("of 10"), "{}", screen_text(&screen.draw()));
    assert_eq!(screen.press("x"), [Request::StopEffect]);
}

/// Regression: the arrows stopped at pairs whose episodes can't be opened.
#[test]
fn only_pairs_that_can_be_opened_are_selected() {
    let (mut screen, query) = opened(120, 36);
    screen.send(UiMessage::Answer(progress(&query, EffectPhase::Idle, 9)));
    for key in ["Right", "Left", "Right", "Right"] {
        screen.press(key);
        let shown = screen_text(&screen.draw());
        assert!(shown.contains("pair 2 of 3"), "{key}: pair 2 alone is kept: {shown}");
    }
    // The first Esc leaves the pairs, the second one the overlay.
    screen.press("Esc");
    assert!(!screen.compositor.overlays().is_empty());
    screen.press("Esc");
    assert!(screen.compositor.overlays().is_empty());
}

/// Regression: on a low screen the row of the selected pair was below the window.
#[test]
fn the_selected_pair_is_scrolled_to() {
    for (width, height) in [(60, 16), (80, 24), (60, 20)] {
        for column in [0, 1] {
            let (mut screen, query) = opened(width, height);
            screen.send(UiMessage::Answer(progress(&query, EffectPhase::Idle, 90)));
            screen.draw();
            for _ in 0..column {
                screen.press("Down");
            }
            screen.press("Right");
            let shown = screen_text(&screen.draw());
            let heading = ["│ HERE ", "│ ELSEWHERE "][column];
            assert!(shown.contains("│ pair 2 of ") && shown.contains(heading), "{shown}");
        }
    }
}

#[test]
fn without_a_kept_pair_the_arrows_say_so() {
    let (mut screen, query) = opened(120, 36);
    screen.send(UiMessage::Answer(progress(&query, EffectPhase::Idle, 3)));
    screen.press("Right");
    let notice = &screen.model.notice.as_ref().unwrap().text;
    assert!(notice.contains("no pair of this column can be opened"), "{notice}");
}

#[test]
fn without_a_lesson_there_is_nothing_to_measure() {
    let mut screen = TestScreen::new(Fixture::empty(), 80, 24);
    assert_eq!(screen.press("%"), []);
    assert!(screen.model.notice.as_ref().unwrap().text.contains("no lesson"), "{:?}", screen.model.notice);
}

/// A finished measurement that helped elsewhere.
fn finished(query: &EffectQuery) -> (Answer, MeasuredEffect) {
    let Answer::Effect(Ok(shown)) = progress(query, EffectPhase::Idle, 90) else { unreachable!() };
    let mut progress = (*shown.0).clone();
    let kept = MeasuredEffect {
        start: Some(EffectStart::Tasks),
        advice: Some(AdviceCounts { effective: 30, ineffective: 88, toxic: 2 }),
        ..MeasuredEffect::sample("elsewhere", "elsewhere", 1, 120)
    };
    progress.columns[1].kept = Some(kept.clone());
    (Answer::Effect(Ok(PtrEqArc(Arc::new(progress)))), kept)
}

#[test]
fn a_result_is_recorded_in_the_session_once() {
    let (mut screen, query) = opened(120, 36);
    let (answer, kept) = finished(&query);
    let requests = screen.send(UiMessage::Answer(answer.clone()));
    let command = LessonCommand::Measured { id: query.lesson.clone(), measured: Box::new(kept.clone()) };
    assert_eq!(requests, [Request::Send(Command::Lesson(command))]);
    let op = LessonOp::Measured { id: query.lesson.clone(), measured: Box::new(kept) };
    screen.fixture.write(Cause::Person, Event::LessonChanged { op: Box::new(op), author: Author::Person });
    assert_eq!(screen.send(UiMessage::Answer(answer)), [], "the session has it");
}

#[test]
fn a_result_stays_with_the_lesson() {
    for (width, height, row) in [
        (200, 60, "+20 % elsewhere [12, 27] · 120 pairs, helped"),
        (120, 36, "+20 % elsewhere"),
        (80, 24, "+20 %"),
        (60, 16, "+20 %"),
    ] {
        let (mut screen, query) = opened(width, height);
        screen.fixture.store.edit_live(|live| live.health = Health::ReadOnly);
        assert_eq!(screen.send(UiMessage::Answer(finished(&query).0)), [], "nothing is written");
        screen.press("Esc");
        screen.model.selected_lane = screen.model.selected_lane.or(Some(0));
        show_lesson(&mut screen, &query);
        let shown = screen_text(&screen.draw());
        assert!(shown.contains(row), "{row} at {width}x{height}: {shown}");
        screen.press("Enter");
        let details = screen_text(&screen.draw());
        for text in [
            "+20 % elsewhere [12, 27] · 120 pairs: helped",
            "effective 30, ineffective 88, toxic 2 pairs",
            "25 : 1",
            "alpha 0.025",
            "2026-11-20",
        ] {
            assert!(height < 24 || details.contains(text), "{text} at {width}x{height}: {details}");
        }
    }
}

/// Regression: beside a complete result elsewhere, that from a step was a difference without its interval and its pairs.
#[test]
fn both_results_have_interval_and_pairs_in_the_row() {
    for (width, height) in [(200, 60), (120, 36)] {
        let (mut screen, query) = opened(width, height);
        screen.fixture.store.edit_live(|live| live.health = Health::ReadOnly);
        let answer = changed(finished(&query).0, |shown| {
            let kept = shown.columns[1].kept.clone().unwrap();
            let start = EffectStart::Moment { session: "s".to_owned(), episode: 1, step: 9, seq: Seq(4) };
            let (effect, column) = ("here".to_owned(), Some("here".to_owned()));
            let (start, difference, low, high) = (Some(start), Some(0.14), 0.021, 0.263);
            let here = MeasuredEffect { effect, column, start, difference, low, high, pairs: 200, ..kept };
            shown.columns[0].kept = Some(here);
        });
        screen.send(answer);
        screen.press("Esc");
        show_lesson(&mut screen, &query);
        let shown = screen_text(&screen.draw());
        for text in ["+14 % here", " [2, 26] · 200 pairs", "+20 % elsewhere [12, 27] · 120 pairs"] {
            assert!(shown.contains(text), "{text} at {width}x{height}: {shown}");
        }
    }
}

/// Selects the lane and the lesson of a query, and gives the lanes the focus.
fn show_lesson(screen: &mut TestScreen, query: &EffectQuery) {
    let frame = screen.frame_data();
    let lanes = crate::catalog::lanes_for_method(&frame.head.run.as_ref().unwrap().method);
    let lane = lanes.iter().position(|lane| lane.lessons(&frame.head).any(|l| l.id == query.lesson));
    screen.model.selected_lane = lane;
    screen.model.selected_lesson = Some(query.lesson.clone());
    screen.model.focus = crate::ui::types::Focus::Lanes;
}

#[test]
fn a_running_measurement_is_mentioned_in_the_first_row() {
    for (width, height, text) in
        [(200, 60, "measuring 30 of 200 pairs"), (80, 24, "measuring 30/200"), (60, 16, "% 30/200")]
    {
        let (mut screen, query) = opened(width, height);
        screen.send(UiMessage::Answer(progress(&query, EffectPhase::Running, 90)));
        screen.press("Esc");
        let shown = screen_text(&screen.draw());
        assert!(shown.lines().next().unwrap().contains(text), "{shown}");
        screen.send(UiMessage::Answer(progress(&query, EffectPhase::Idle, 90)));
        let shown = screen_text(&screen.draw());
        assert!(!shown.lines().next().unwrap().contains("200"), "{shown}");
        assert!(shown.contains("measured: undecided"), "it has ended behind the panes: {shown}");
    }
}

#[test]
fn another_wording_and_live_reflection_are_other_measurements() {
    let (mut screen, query) = opened(120, 36);
    screen.send(UiMessage::Answer(progress(&query, EffectPhase::Idle, 0)));
    let requests = screen.press("m");
    let [Request::PlanEffect(live)] = requests.as_slice() else { panic!("{requests:?}") };
    assert!(live.live && !query.live);
    screen.send(UiMessage::Answer(progress(live, EffectPhase::Idle, 0)));
    screen.press("w");
    assert_eq!(screen.overlay_mode(), Mode::LineInput);
    assert!(screen_text(&screen.draw()).contains("Another wording"));
    screen.press("Ctrl-u");
    screen.send(UiMessage::Paste("Look twice.".to_owned()));
    let requests = screen.press("Enter");
    let [Request::PlanEffect(edited)] = requests.as_slice() else { panic!("{requests:?}") };
    let wording = edited.edited.as_ref().unwrap();
    assert_eq!(wording.solution.as_ref().unwrap_or(&wording.text), "Look twice.");
    assert!(edited.live, "the mode stays");
    // While it runs, nothing else can be measured.
    screen.send(UiMessage::Answer(progress(edited, EffectPhase::Running, 30)));
    assert!(screen_text(&screen.draw()).contains("Look twice."));
    for key in ["m", "f", "w"] {
        assert_eq!(screen.press(key), [], "{key}");
        assert_eq!(screen.overlay_mode(), Mode::Effect);
    }
}

#[test]
fn a_kept_pair_opens_as_twins() {
    let (mut screen, query) = opened(120, 36);
    screen.send(UiMessage::Answer(progress(&query, EffectPhase::Idle, 9)));
    screen.press("Right");
    let shown = screen_text(&screen.draw());
    assert!(
        shown.contains("pair 2 of 3: without lost (step limit), with won in 20"),
        "the first kept one: {shown}"
    );
    let requests = screen.press("Enter");
    let [Request::Compare { a, b }] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!(a.session.as_deref(), Some("effects/here/2-without"), "the baseline is on the left");
    assert_eq!(b.session.as_deref(), Some("effects/here/2-with"));
    screen.press("Esc");
    assert_eq!(screen.overlay_mode(), Mode::Effect, "the panel is still there");
}

#[test]
fn a_lesson_is_taught_and_measured_in_one_flow() {
    let mut screen = TestScreen::new(sample_session(), 120, 36);
    screen.press("a");
    screen.send(UiMessage::Paste("Look around first.".to_owned()));
    let requests = screen.press("Ctrl-t");
    assert!(
        requests
            .iter()
            .any(|request| matches!(request, Request::Send(Command::Lesson(LessonCommand::Add { .. })))),
        "{requests:?}"
    );
    assert!(screen.compositor.overlays().is_empty());
    assert_eq!(screen.send(UiMessage::StoreChanged), [], "the session doesn't have it yet");
    let text = LessonText::plain("Look around first.");
    screen.fixture.add_lesson(
        crate::domain::ReflectionKind::Abstract,
        text,
        crate::domain::LessonOrigin::Person,
    );
    let id = screen.frame_data().head.pool.all().next_back().unwrap().id.clone();
    let requests = screen.send(UiMessage::StoreChanged);
    assert!(matches!(&requests[..], [Request::PlanEffect(query)] if query.lesson == id), "{requests:?}");
    assert_eq!(screen.overlay_mode(), Mode::Effect);
    assert_eq!(screen.send(UiMessage::StoreChanged), [], "once");
}

#[test]
fn a_failed_measurement_says_why_and_can_be_continued() {
    let (mut screen, query) = opened(120, 36);
    screen.send(UiMessage::Answer(progress(&query, EffectPhase::Running, 9)));
    screen.send(UiMessage::Answer(Answer::Effect(Err("no space left on the disk".to_owned()))));
    assert!(screen_text(&screen.draw()).contains("no space left"));
    assert_eq!(screen.press("Enter"), [Request::RunEffect(query)]);
}

/// Returns the columns of a measurement with another wording, which wins the pairs that `won` names.
fn with_wording(query: &EffectQuery, episodes: usize, won: impl Fn(u32, &str) -> bool + Copy) -> UiMessage {
    let column = |name| {
        let mut plan = plan(query, name, 200);
        plan.contrasts.push(Contrast::new("edited", "with"));
        column(plan, episodes, won)
    };
    let columns = vec![column(Column::Here), column(Column::Elsewhere)];
    changed(progress(query, EffectPhase::Idle, 0), |progress| progress.columns = columns)
}

/// Types another wording in the panel, and returns what is asked for.
fn ask_for_another_wording(screen: &mut TestScreen) -> EffectQuery {
    screen.press("w");
    for _ in 0..120 {
        screen.press("Backspace");
    }
    screen.send(UiMessage::Paste("Look twice.".to_owned()));
    let requests = screen.press("Enter");
    let [Request::PlanEffect(asked)] = &requests[..] else { panic!("{requests:?}") };
    asked.clone()
}

#[test]
fn a_wording_that_did_better_is_taken_with_a_key() {
    let (mut screen, query) = opened(120, 36);
    screen.send(UiMessage::Answer(progress(&query, EffectPhase::Idle, 9)));
    let asked = ask_for_another_wording(&mut screen);
    let text = asked.edited.clone().unwrap();
    screen.send(with_wording(&asked, 24, |_, arm| arm == "with"));
    let shown = screen_text(&screen.draw());
    assert!(shown.contains("with") && !shown.contains("take this wording"), "it did worse: {shown}");
    assert_eq!(screen.press("t"), [], "{:?}", screen.model.notice);
    screen.send(with_wording(&asked, 24, |_, arm| arm == "edited"));
    let shown = screen_text(&screen.draw());
    assert!(shown.contains("t take this wording"), "{shown}");
    let edit = LessonCommand::Edit { id: query.lesson.clone(), text };
    assert_eq!(screen.press("t"), [Request::Send(Command::Lesson(edit))]);
    assert!(screen.compositor.overlays().is_empty());
    assert!(screen.model.notice.as_ref().unwrap().text.contains("has the measured wording"));
}

/// Regression: once the lesson had the other wording, nothing showed what had been measured of it.
#[test]
fn the_numbers_of_a_taken_wording_are_shown() {
    for (width, height) in [(200, 60), (120, 36)] {
        let (mut screen, query) = opened(width, height);
        let text = LessonText::plain("Look twice.");
        let answer = changed(finished(&query).0, |shown| {
            let compared = WordingComparison {
                arms: ("edited".to_owned(), "with".to_owned()),
                pairs: 119,
                b: 31,
                c: 2,
                difference: Some(0.24),
                low: 0.1,
                high: 0.36,
                verdict: Some("helped".to_owned()),
            };
            let edited = MeasuredWording { text: text.clone(), compared: vec![compared] };
            shown.columns[1].kept.as_mut().unwrap().edited = Some(edited);
        });
        screen.send(answer);
        screen.press("Esc");
        let previous = screen.frame_data().head.pool.get(&query.lesson).unwrap().text().clone();
        let op = LessonOp::Edit { id: query.lesson.clone(), previous, text };
        let edit = Event::LessonChanged { op: Box::new(op), author: Author::Person };
        screen.fixture.write(Cause::Person, edit);
        let requests = screen.press("%");
        let [Request::PlanEffect(again)] = requests.as_slice() else { panic!("{requests:?}") };
        screen.send(UiMessage::Answer(progress(again, EffectPhase::Idle, 0)));
        let panel = screen_text(&screen.draw());
        screen.press("Esc");
        screen.model.selected_lane = screen.model.selected_lane.or(Some(0));
        show_lesson(&mut screen, &query);
        screen.press("Enter");
        for shown in [panel, screen_text(&screen.draw())] {
            let words = words_of(&shown);
            for part in ["this wording, as another one of version 1", "+24 % [10, 36]", "31 : 2"] {
                assert!(words.contains(part), "{part} at {width}x{height}: {shown}");
            }
        }
    }
}

/// Regression: another wording ended without a word on whether it helps at all.
#[test]
fn another_wording_without_a_verdict_says_how_it_gets_one() {
    for (width, height) in [(200, 60), (120, 50)] {
        let (mut screen, query) = opened(width, height);
        screen.send(UiMessage::Answer(progress(&query, EffectPhase::Idle, 9)));
        let asked = ask_for_another_wording(&mut screen);
        for (winner, how) in [
            ("edited", "give it to the lesson with t, then measure the lesson with %"),
            ("nobody", "teach it as a lesson of its own with a, then measure that with %"),
        ] {
            // To the end: the lesson itself does nothing.
            screen.send(with_wording(&asked, 1_000, |_, arm| arm == winner));
            let shown = screen_text(&screen.draw());
            let words = words_of(&shown);
            for text in ["edited - without", "exploratory, no verdict", "for a verdict on whether", how] {
                assert!(words.contains(text), "{text} at {width}x{height}: {shown}");
            }
        }
    }
}

/// Regression: outcomes that weren't chosen had their intervals in the text and in Markdown alone.
#[test]
fn the_other_outcomes_are_on_the_screen() {
    for (width, height) in [(200, 60), (120, 36), (80, 24), (60, 16)] {
        let (mut screen, query) = opened(width, height);
        screen.send(UiMessage::Answer(progress(&query, EffectPhase::Running, 90)));
        assert!(!screen_text(&screen.draw()).contains("other outcomes"), "only the end has them");
        let mut expected = Vec::new();
        screen.send(changed(progress(&query, EffectPhase::Idle, 90), |shown| {
            for column in &mut shown.columns {
                column.result = EffectResult::from_log(&column.log);
                let text = describe_other_outcomes(column.plan(), &column.result.contrasts[0]).unwrap();
                expected.push(format!("{}: {text}", column.plan().column.unwrap()));
            }
        }));
        assert!(
            expected[0].starts_with("here: other outcomes, without a verdict: progress "),
            "{expected:?}"
        );
        if height < 60 {
            screen.draw();
            screen.press("End");
        }
        let shown = screen_text(&screen.draw());
        let words = words_of(&shown);
        for text in &expected[usize::from(height < 24)..] {
            // Beside the panel stand words of the panes.
            let text = if width > 150 { &text[..100] } else { text };
            assert!(words.contains(text), "{text} at {width}x{height}: {shown}");
        }
    }
}

/// On stage, the panel shows its sentence, the wins and the pairs, and nothing that is for the person who measures.
#[test]
fn on_stage_the_panel_is_readable_from_afar() {
    for (width, height) in [(200, 60), (120, 36), (80, 24), (60, 16)] {
        let (mut screen, query) = opened(width, height);
        screen.model.stage_mode = true;
        screen.send(UiMessage::Answer(progress(&query, EffectPhase::Idle, 90)));
        let shown = screen_text(&screen.draw());
        assert!(shown.contains("undecided: it helps here"), "{width}x{height}: {shown}");
        assert!(height < 36 || shown.contains("a stand-in plays: these numbers say nothing"), "{shown}");
        // Regression: the difference stood there without its interval, and nowhere at which level it is.
        assert!(shown.contains("+69 % ["), "{width}x{height}: {shown}");
        let level =
            if height < 36 { "alpha 0.025 (97.5 % interval)" } else { "97.5 % interval, alpha 0.025" };
        assert!(height < 24 || shown.contains(level), "{width}x{height}: {shown}");
        for absent in ["placebo", "frozen:", "by steps"] {
            assert!(!shown.contains(absent), "{absent} at {width}x{height}: {shown}");
        }
        insta::assert_snapshot!(format!("effect_stage_{width}x{height}"), shown);
    }
}

/// Regression: on a low screen, the wins of the second column were below the first one, and a warning of several rows hid both.
#[test]
fn verdict_and_wins_of_both_columns_are_visible_on_a_low_screen() {
    for (width, height, stage_mode) in [(80, 24, false), (80, 24, true), (60, 16, false), (60, 16, true)] {
        let (mut screen, query) = opened(width, height);
        screen.model.stage_mode = stage_mode;
        screen.send(changed(progress(&query, EffectPhase::Running, 90), |shown| {
            let outage = "waiting for the model server at http://127.0.0.1:8080: no connection. ".repeat(3);
            shown.outage = Some(outage);
        }));
        let shown = screen_text(&screen.draw());
        let wins = if stage_mode { ["9 : 0 of ", "0 : 0 of "] } else { ["9 : 0 · ", "0 : 0 · "] };
        for text in ["undecided: it helps here", wins[0], wins[1]] {
            assert!(shown.contains(text), "{text} at {width}x{height}, {stage_mode}: {shown}");
        }
    }
}

/// Regression: while the measurement was being prepared on stage, the pressed keys covered the panel's.
#[test]
fn on_stage_the_footer_has_only_the_pressed_keys() {
    let (mut screen, _) = opened(80, 24);
    screen.model.stage_mode = true;
    let shown = screen_text(&screen.draw());
    let last = shown.lines().rfind(|line| !line.trim().is_empty()).unwrap();
    assert_eq!(last.trim(), "pressed: % effect", "{shown}");
}

/// Regression: while a wording was being measured, the panel of the next one showed its pairs.
#[test]
fn a_reworded_lesson_is_another_measurement() {
    let (mut screen, query) = opened(120, 36);
    screen.send(UiMessage::Answer(progress(&query, EffectPhase::Running, 9)));
    screen.press("Esc");
    let lesson = screen.frame_data().head.pool.get(&query.lesson).unwrap().clone();
    let op = LessonOp::Edit {
        id: query.lesson.clone(),
        previous: lesson.text().clone(),
        text: LessonText::plain("Look twice."),
    };
    screen.fixture.write(Cause::Person, Event::LessonChanged { op: Box::new(op), author: Author::Person });
    screen.press("%");
    let shown = screen_text(&screen.draw());
    assert!(
        shown.contains("Effect of lesson 4: Look.") && shown.contains("of 3"),
        "the running one: {shown}"
    );
    screen.send(UiMessage::Answer(progress(&query, EffectPhase::Idle, 9)));
    screen.press("Esc");
    let requests = screen.press("%");
    assert!(
        matches!(&requests[..], [Request::PlanEffect(_)]),
        "the new wording has no pairs yet: {requests:?}"
    );
    assert!(screen_text(&screen.draw()).contains("Look twice."));
}

/// Regression: after one more step, a finished measurement was offered anew, and its pairs weren't shown.
#[test]
fn a_measurement_is_shown_again_after_the_next_step() {
    for (width, height) in [(200, 60), (120, 36)] {
        let (mut screen, query) = opened(width, height);
        assert!(query.or_earlier, "one that began before is shown instead");
        let begun = EffectQuery { or_earlier: false, ..query };
        screen.send(UiMessage::Answer(progress(&begun, EffectPhase::Idle, 9)));
        assert!(!screen_text(&screen.draw()).contains("another moment"));
        screen.press("Esc");
        for _ in 0..2 {
            screen.fixture.actor_step("look", "You see nothing.", 0.0, serde_json::json!({}));
        }
        screen.send(UiMessage::StoreChanged);
        let requests = screen.press("%");
        let [Request::PlanEffect(again)] = requests.as_slice() else { panic!("{requests:?}") };
        assert!(again.or_earlier && again.place != begun.place, "{again:?}");
        screen.send(UiMessage::Answer(progress(&begun, EffectPhase::Idle, 9)));
        let shown = screen_text(&screen.draw());
        let step = again.place.step.unwrap();
        let words = words_of(&shown);
        assert!(words.contains("of 3") && words.contains("it is about another moment"), "{shown}");
        assert!(words.contains(&format!("n measures from step {step} of episode 1")), "{shown}");
        let frame = screen.frame_data();
        let asked = Some(frame.head.asked_at(&frame.branch));
        // Regression: while it runs, the key was named too, and refused.
        screen.send(UiMessage::Answer(progress(&begun, EffectPhase::Running, 9)));
        let running = words_of(&screen_text(&screen.draw()));
        let key = format!("after x, which stops it, n measures from step {step} of episode 1");
        assert!(running.contains(&key), "{running}");
        assert_eq!(screen.press("n"), []);
        screen.send(UiMessage::Answer(progress(&begun, EffectPhase::Idle, 9)));
        let anew = EffectQuery { asked, or_earlier: false, ..again.clone() };
        assert_eq!(screen.press("n"), [Request::PlanEffect(anew)]);
    }
}

/// Regression: an Enter before the plan was known started an earlier measurement that the person hadn't seen.
#[test]
fn an_early_enter_starts_no_measurement_of_another_moment() {
    let (mut screen, query) = opened(120, 36);
    assert_eq!(screen.press("Enter"), []);
    let place = EpisodePlace { step: Some(1), ..query.place };
    let earlier = EffectQuery { place, or_earlier: false, ..query };
    assert_eq!(screen.send(UiMessage::Answer(progress(&earlier, EffectPhase::Idle, 9))), []);
}

/// Regression: at a past step of an ended episode, only the start of the episode could be measured.
#[test]
fn a_past_step_of_an_ended_episode_is_a_moment() {
    let mut fixture = sample_session();
    fixture.end_episode(true, crate::domain::EndReason::Won);
    let mut screen = TestScreen::new(fixture, 120, 36);
    let step_of = |screen: &mut TestScreen| {
        let requests = screen.press("%");
        let [Request::PlanEffect(query)] = requests.as_slice() else { panic!("{requests:?}") };
        screen.press("Esc");
        query.place.step
    };
    assert_eq!(step_of(&mut screen), None, "at its end");
    screen.with_context(|compositor, model, cache, context| {
        let to = Request::GoToStep { episode: Some(1), step: 10 };
        compositor.perform(model, context, cache, vec![to])
    });
    assert_eq!(step_of(&mut screen), Some(10));
}

/// Regression: at a step before it was taught, a lesson couldn't be measured, and another one was offered instead.
#[test]
fn a_lesson_taught_later_is_measured_from_a_past_step() {
    let teach = |fixture: &mut Fixture, text: &str| {
        let text = LessonText::plain(text);
        let kind = crate::domain::ReflectionKind::Abstract;
        fixture.add_lesson(kind, text, crate::domain::LessonOrigin::Person);
        fixture.state().pool.all().next_back().unwrap().id.clone()
    };
    let go_to = |screen: &mut TestScreen, step: u32| {
        screen.with_context(|compositor, model, cache, context| {
            let to = Request::GoToStep { episode: Some(1), step };
            compositor.perform(model, context, cache, vec![to])
        });
    };
    let measured = |screen: &mut TestScreen| {
        let requests = screen.press("%");
        let [Request::PlanEffect(query)] = requests.as_slice() else { panic!("{requests:?}") };
        screen.press("Esc");
        (query.lesson.clone(), query.place.step)
    };
    let mut fixture = Fixture::new();
    fixture.begin_episode();
    for _ in 0..3 {
        fixture.actor_step("look", "You see nothing.", 0.0, serde_json::json!({}));
    }
    let taught = teach(&mut fixture, "Look around first.");
    let mut screen = TestScreen::new(fixture, 120, 36);
    go_to(&mut screen, 2);
    assert!(screen.frame_data().displayed.pool.all().next().is_none(), "no lesson is there yet");
    assert_eq!(measured(&mut screen), (taught.clone(), Some(2)));
    // The person's newest lesson comes before those of then.
    let mut fixture = sample_session();
    let own = fixture.state().pool.all().next().unwrap().id.clone();
    let taught = [teach(&mut fixture, "Look around first."), teach(&mut fixture, "Look twice.")];
    let mut screen = TestScreen::new(fixture, 120, 36);
    go_to(&mut screen, 10);
    let shown = screen.frame_data().displayed.clone();
    assert!(shown.pool.get(&own).is_some() && taught.iter().all(|id| shown.pool.get(id).is_none()));
    assert_eq!(measured(&mut screen), (taught[1].clone(), Some(10)));
    // Unless one of those is selected.
    show_lesson(&mut screen, &EffectQuery::new(own.clone(), EpisodePlace::default()));
    assert_eq!(measured(&mut screen), (own, Some(10)));
}

/// Regression: an undecided result of few pairs was a bare "+0 %" in the lesson's row.
#[test]
fn an_undecided_result_claims_no_difference_in_the_row() {
    for (width, height) in [(200, 60), (120, 36), (80, 24)] {
        let (mut screen, query) = opened(width, height);
        screen.fixture.store.edit_live(|live| live.health = Health::ReadOnly);
        let answer = changed(finished(&query).0, |shown| {
            let few = |name: &str, pairs| MeasuredEffect {
                effect: name.to_owned(),
                column: Some(name.to_owned()),
                difference: Some(0.0),
                b: 0,
                c: 0,
                low: -0.76,
                high: 0.76,
                pairs,
                verdict: "undecided".to_owned(),
                ..shown.columns[1].kept.clone().unwrap()
            };
            let both = [few("here", 4), few("elsewhere", 3)];
            for (column, kept) in shown.columns.iter_mut().zip(both) {
                column.kept = Some(kept);
            }
        });
        screen.send(answer);
        screen.press("Esc");
        show_lesson(&mut screen, &query);
        let shown = screen_text(&screen.draw());
        assert!(shown.contains("undecided"), "{width}x{height}: {shown}");
        assert!(!shown.contains("+0 % here, +0 % elsewhere"), "{width}x{height}: {shown}");
        if height >= 36 {
            screen.model.zoomed = true;
            let zoomed = screen_text(&screen.draw());
            for text in ["+0 % here [-76, 76] · 4 pairs", "+0 % elsewhere [-76, 76] · 3 pairs"] {
                assert!(zoomed.contains(text), "{text} at {width}x{height}: {zoomed}");
            }
        }
    }
}

/// Regression: the key that takes a wording was offered while a measurement ran, and answered that it must be stopped first.
#[test]
fn a_running_measurement_offers_no_wording_to_take() {
    let (mut screen, query) = opened(120, 36);
    screen.send(UiMessage::Answer(progress(&query, EffectPhase::Idle, 9)));
    let asked = ask_for_another_wording(&mut screen);
    let UiMessage::Answer(better) = with_wording(&asked, 24, |_, arm| arm == "edited") else {
        unreachable!()
    };
    screen.send(changed(better, |shown| shown.phase = EffectPhase::Running));
    assert!(!screen_text(&screen.draw()).contains("take this wording"));
}

/// Regression: on stage, another wording had its wins, and neither its pairs against the lesson nor a verdict.
#[test]
fn on_stage_another_wording_has_its_pairs_and_its_verdict() {
    let (mut screen, query) = opened(120, 36);
    screen.model.stage_mode = true;
    screen.send(UiMessage::Answer(progress(&query, EffectPhase::Idle, 9)));
    let asked = ask_for_another_wording(&mut screen);
    screen.send(with_wording(&asked, 24, |_, arm| arm == "edited"));
    let shown = screen_text(&screen.draw());
    assert!(shown.contains("edited : with") && shown.contains("no verdict"), "{shown}");
    assert!(shown.contains("as it is  undecided"), "the sentence is about the lesson: {shown}");
}

/// Returns the answer with a change.
fn changed(answer: Answer, change: impl FnOnce(&mut EffectProgress)) -> UiMessage {
    let Answer::Effect(Ok(shown)) = answer else { unreachable!() };
    let mut progress = (*shown.0).clone();
    change(&mut progress);
    UiMessage::Answer(Answer::Effect(Ok(PtrEqArc(Arc::new(progress)))))
}

/// Regression: after another lesson was taught, the panel continued with other pairs.
#[test]
fn a_measurement_with_older_lessons_says_so_and_can_be_made_anew() {
    for (width, height) in [(200, 60), (120, 36)] {
        let (mut screen, query) = opened(width, height);
        assert_eq!(query.asked, None);
        let frame = screen.frame_data();
        let asked = |seq| AskedAt { seq, ..frame.head.asked_at(&frame.branch) };
        let begun = asked(Seq(frame.head.head.0 - 1));
        // The answer says which moment it is about, and the panel keeps to it.
        screen.send(changed(progress(&query, EffectPhase::Idle, 9), |shown| {
            shown.query.asked = Some(begun.clone());
        }));
        assert!(!screen_text(&screen.draw()).contains("have changed"));
        assert_eq!(screen.press("n"), [], "they are the present ones");
        let older = EffectQuery { asked: Some(begun), ..query.clone() };
        screen.send(changed(progress(&older, EffectPhase::Idle, 9), |shown| shown.has_older_lessons = true));
        let shown = screen_text(&screen.draw());
        assert!(
            shown.contains("the lessons have changed since it began") && shown.contains("of 3"),
            "{shown}"
        );
        assert_eq!(
            screen.press("Enter"),
            [Request::RunEffect(older.clone())],
            "the same measurement goes on"
        );
        let anew = EffectQuery { asked: Some(asked(frame.head.head)), or_earlier: false, ..query.clone() };
        assert_eq!(screen.press("n"), [Request::PlanEffect(anew)]);
        // What is known of the earlier one is no answer to that.
        screen.send(UiMessage::Answer(progress(&older, EffectPhase::Idle, 9)));
        assert!(screen_text(&screen.draw()).contains("preparing the measurement"));
    }
}

#[test]
fn a_server_that_is_waited_for_is_named_at_every_size() {
    for (width, height) in [(200, 60), (120, 36), (80, 24), (60, 16)] {
        let (mut screen, query) = opened(width, height);
        let outage = "waiting for the model server: no connection";
        screen.send(changed(progress(&query, EffectPhase::Running, 9), |shown| {
            shown.outage = Some(outage.to_owned());
        }));
        let shown = screen_text(&screen.draw());
        assert!(shown.contains(outage), "{width}x{height}: {shown}");
        screen.send(UiMessage::Answer(progress(&query, EffectPhase::Running, 12)));
        assert!(!screen_text(&screen.draw()).contains("waiting for"));
    }
}

/// Regression: the row of a lesson had no word for a result that is no sample.
#[test]
fn a_fact_is_named_in_the_row_of_the_lesson_and_in_its_details() {
    for (width, height, row) in [
        (200, 60, "a fact elsewhere: won, lost without"),
        (120, 36, "a fact elsewhere: won, lost without"),
        (80, 24, "a fact"),
    ] {
        let (mut screen, query) = opened(width, height);
        screen.fixture.store.edit_live(|live| live.health = Health::ReadOnly);
        let answer = changed(finished(&query).0, |shown| {
            let kept = shown.columns[1].kept.as_mut().unwrap();
            kept.fact = Some(DeterministicFact { tasks: 1, won: (1, 0) });
        });
        screen.send(answer);
        screen.press("Esc");
        screen.model.selected_lane = screen.model.selected_lane.or(Some(0));
        show_lesson(&mut screen, &query);
        let shown = screen_text(&screen.draw());
        assert!(shown.contains(row), "{row} at {width}x{height}: {shown}");
        screen.press("Enter");
        let details = screen_text(&screen.draw());
        assert!(details.contains("not a sample"), "{width}x{height}: {details}");
    }
}

/// Regression: of many pairs the last ones were shown, without those that differ.
#[test]
fn the_pairs_that_differ_are_shown_first() {
    for (width, height, stage) in [(80, 24, true), (60, 16, true), (120, 36, true), (60, 16, false)] {
        let (mut screen, query) = opened(width, height);
        screen.model.stage_mode = stage;
        let won = |pair: u32, arm: &str| match pair % 20 {
            0 => arm == "without",
            10 => arm == "with",
            _ => pair.is_multiple_of(2),
        };
        let columns =
            [Column::Here, Column::Elsewhere].map(|name| column(plan(&query, name, 900), 2400, won));
        let counts = columns.each_ref().map(|column| &column.result.contrasts[0].judged.counts);
        let first = counts.iter().map(|counts| counts.first_only as usize).sum::<usize>();
        let second = counts.iter().map(|counts| counts.second_only as usize).sum::<usize>();
        let settled = columns[0].log.settled_pairs();
        assert!(settled > 110 && second > 10, "{settled} {second}");
        screen
            .send(changed(progress(&query, EffectPhase::Idle, 9), |shown| shown.columns = columns.to_vec()));
        let mut seen = screen_text(&screen.draw());
        if height < 24 {
            screen.press("Down");
            seen = screen_text(&screen.draw());
            assert!(seen.contains("ELSEWHERE"), "{seen}");
            continue;
        }
        assert_eq!(seen.contains("equal"), width == 80, "{width}x{height}: {seen}");
        if stage {
            // The legend has one of each.
            assert_eq!(seen.matches('▲').count(), first + 1, "{seen}");
            assert_eq!(seen.matches('▼').count(), second + 1, "{seen}");
        }
    }
}

/// Regression: on stage the panel named neither the arms that make the episodes more than the pairs, nor the typed wording.
#[test]
fn on_stage_the_arms_and_the_wording_are_named() {
    let (mut screen, query) = opened(120, 36);
    screen.model.stage_mode = true;
    screen.send(UiMessage::Answer(progress(&query, EffectPhase::Idle, 0)));
    let shown = screen_text(&screen.draw());
    assert!(shown.contains("without, with, placebo"), "{shown}");
    screen.press("w");
    screen.press("Ctrl-u");
    screen.send(UiMessage::Paste("Look twice.".to_owned()));
    let requests = screen.press("Enter");
    let [Request::PlanEffect(asked)] = requests.as_slice() else { panic!("{requests:?}") };
    screen.send(UiMessage::Answer(progress(asked, EffectPhase::Idle, 90)));
    let shown = screen_text(&screen.draw());
    assert!(shown.contains("edited") && shown.contains("Look twice."), "{shown}");
}

/// Regression: the panel stood on the end card, with two frames and two sets of keys.
#[test]
fn the_panel_covers_the_end_card() {
    let mut fixture = sample_session();
    fixture.end_episode(true, crate::domain::EndReason::Won);
    let mut screen = TestScreen::new(fixture, 120, 36);
    screen.send(UiMessage::StoreChanged);
    assert!(screen_text(&screen.draw()).contains("Episode 1 ended"));
    screen.press("%");
    assert_eq!(screen.overlay_mode(), Mode::Effect);
    assert!(!screen_text(&screen.draw()).contains("Episode 1 ended"));
    screen.press("Esc");
    assert!(screen_text(&screen.draw()).contains("Episode 1 ended"));
}

/// While a budget was typed, the last row offered keys of the panel below, and the help was cut in the middle of a sentence.
#[test]
fn the_box_of_the_budget_has_its_own_keys_and_its_whole_help() {
    let (mut screen, query) = opened(60, 16);
    screen.send(UiMessage::Answer(progress(&query, EffectPhase::Idle, 0)));
    screen.press("b");
    let shown = screen_text(&screen.draw());
    assert!(shown.contains("Empty: the pairs alone."), "{shown}");
    assert!(!shown.contains("more pairs") && !shown.contains("b budget"), "{shown}");
}

/// A pair was "won in 42 steps", and had 48 with 42 moves once it was opened.
#[test]
fn the_length_of_a_play_is_named_by_what_is_counted() {
    for (thoughts_count, text) in [(true, "won in 20 steps"), (false, "won in 20 moves")] {
        let (mut screen, query) = opened(200, 60);
        let event = Event::SettingChanged { name: "thoughts_count".to_owned(), value: thoughts_count.into() };
        screen.fixture.write(Cause::Person, event);
        screen.send(UiMessage::Answer(progress(&query, EffectPhase::Idle, 9)));
        screen.press("Right");
        let shown = screen_text(&screen.draw());
        assert!(shown.contains(text), "{shown}");
    }
}
