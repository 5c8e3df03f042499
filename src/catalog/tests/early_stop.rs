//! Repeated advice: what reflections record of it, and the tasks that end early because of it.

use crate::catalog::fixture::{FakeHousehold, TestRun, test_spec};
use crate::domain::{EndReason, RunSpec, SameAdvice, SettingOrigin, StepResult};
use crate::engine::{Command, Envelope, Episode, Event, PauseReason, State};
use serde_json::{Value, json};

/// The advice that a mentor repeats, and the same with another order of words.
const SAME: &str = "I will search every shelf for the mug, and then heat it in the microwave.";
const SAME_REORDERED: &str = "Then I will heat it in the microwave, and search every shelf for the mug.";
/// All but one of its 15 words.
const SIMILAR: &str = "I will search every shelf for the mug, and then heat it in the oven.";
/// Advice without a word in common.
const OTHERS: [&str; 6] =
    ["Be quick.", "Open doors.", "Walk around.", "Look up.", "Ask nobody.", "Use less."];

fn set(run: &mut RunSpec, settings: &[(&str, Value)]) {
    for (name, value) in settings {
        run.settings.set(name, value.clone(), SettingOrigin::Flag);
    }
}

/// A run of up to six trials, which are all lost.
fn six_trials(tasks: &[(&str, &str)], settings: &[(&str, Value)]) -> RunSpec {
    let mut run = test_spec("reflexion", tasks);
    (run.mentor, run.trials, run.limits.steps, run.loop_detector) = ("script".to_owned(), 6, 2, false);
    set(&mut run, settings);
    run
}

/// Creates a run whose mentor gives this advice, one text after the other.
fn with_advice(run: RunSpec, advice: &[&str]) -> TestRun {
    let mut play = TestRun::new(run);
    let mut rest = advice.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>().into_iter();
    play.mentor = Box::new(move |_| rest.next().expect("the script is long enough"));
    play
}

fn play_on(play: &mut TestRun) {
    play.play_script(&mut FakeHousehold::kitchen("put a hot apple in garbagecan"), &["inventory"; 100]);
}

fn play(run: RunSpec, advice: &[&str]) -> TestRun {
    let mut play = with_advice(run, advice);
    play_on(&mut play);
    play
}

/// How often each reflection says the same; 1 if it doesn't repeat the one before.
fn times(state: &State) -> Vec<u32> {
    state.reflections.iter().map(|reflection| reflection.same_advice.map_or(1, |same| same.times)).collect()
}

fn is_marked_as_end(state: &State) -> bool {
    state.reflections.last().unwrap().same_advice.is_some_and(|same| same.ends_task)
}

#[test]
fn a_task_ends_after_the_third_reflection_that_says_the_same() {
    let on = ("early_stop", json!(true));
    // Settings, advice after each trial, trials played, and how often each reflection says the same.
    type Case = (Vec<(&'static str, Value)>, [&'static str; 5], usize, &'static [u32]);
    let cases: Vec<Case> = vec![
        (vec![on.clone()], [SAME; 5], 3, &[1, 2, 3]),
        (vec![], [SAME; 5], 6, &[1, 2, 3, 4, 5]),
        (vec![on.clone()], [OTHERS[0], SAME, SAME_REORDERED, SAME, SAME], 4, &[1, 1, 2, 3]),
        (vec![on.clone()], [SAME, SAME, OTHERS[0], SAME, SAME], 6, &[1, 2, 1, 1, 2]),
        (vec![on.clone()], [SAME, SIMILAR, SAME, SAME, SAME], 3, &[1, 2, 3]),
        (
            vec![on.clone(), ("early_stop_cosine", json!(1))],
            [SAME, SIMILAR, SAME, SIMILAR, SAME],
            6,
            &[1, 1, 1, 1, 1],
        ),
        (vec![on, ("early_stop_cosine", json!(1))], [SAME; 5], 3, &[1, 2, 3]),
    ];
    for (settings, advice, trials, expected) in cases {
        let is_on = !settings.is_empty();
        let play = play(six_trials(&[("a", "")], &settings), &advice);
        let state = play.state();
        assert!(state.run_over, "{settings:?}");
        assert_eq!((state.ended_episodes.len(), times(state).as_slice()), (trials, expected), "{settings:?}");
        assert_eq!(is_marked_as_end(state), is_on && trials < 6, "{settings:?} {advice:?}");
        // The trials themselves were played to their end.
        assert!(state.ended_episodes.iter().all(|ended| ended.reason == EndReason::StepLimit));
    }
}

/// What was decided is in the journal: reading it gives the same state, and a run that is resumed anywhere plays the same.
#[test]
fn an_early_stop_is_read_back_from_the_journal() {
    let whole = play(six_trials(&[("a", "")], &[("early_stop", json!(true))]), &[SAME; 5]);
    let lines: Vec<String> = whole.journal.iter().map(|e| serde_json::to_string(e).unwrap()).collect();
    let mut folded = State::default();
    for line in &lines {
        folded.apply(&serde_json::from_str::<Envelope>(line).unwrap());
    }
    assert_eq!(folded, *whole.state());
    let saved: State = serde_json::from_value(serde_json::to_value(&folded).unwrap()).unwrap();
    assert_eq!(saved, folded, "a checkpoint has it, too");
    let reflected =
        whole.journal.iter().filter(|e| matches!(e.event, Event::Reflected { .. })).map(|e| e.seq.0 as usize);
    for head in reflected {
        let mut resumed = with_advice(six_trials(&[("a", "")], &[("early_stop", json!(true))]), &[SAME; 5]);
        resumed.engine.state = State::default();
        for line in &lines[..head] {
            resumed.engine.state.apply(&serde_json::from_str::<Envelope>(line).unwrap());
        }
        resumed.command(Command::Pause);
        play_on(&mut resumed);
        assert_eq!(times(resumed.state()), [1, 2, 3], "resumed after event {head}");
        assert_eq!(resumed.state().ended_episodes.len(), 3, "resumed after event {head}");
    }
}

/// A run of an earlier version doesn't have the settings; it goes on as it began.
#[test]
fn an_old_run_compares_no_reflections() {
    let mut run = six_trials(&[("a", "")], &[]);
    run.settings.retain(|name| !name.starts_with("early_stop"));
    let play = play(run, &[SAME; 5]);
    assert_eq!((play.state().ended_episodes.len(), times(play.state())), (6, vec![1; 5]));
}

#[test]
fn other_tasks_go_on() {
    let run = six_trials(&[("a", ""), ("b", "")], &[("early_stop", json!(true))]);
    // Trial by trial, so that both tasks take turns until one has ended.
    let advice = [SAME, OTHERS[0], SAME, OTHERS[1], SAME, OTHERS[2], OTHERS[3], OTHERS[4]];
    let play = play(run, &advice);
    let played: Vec<_> = play.state().ended_episodes.iter().map(|e| (e.task.id.as_str(), e.trial)).collect();
    let expected = [("a", 1), ("b", 1), ("a", 2), ("b", 2), ("a", 3), ("b", 3), ("b", 4), ("b", 5), ("b", 6)];
    assert_eq!(played, expected);
}

/// Within an episode, the same kinds of reflections are compared.
#[test]
fn an_open_episode_ends_with_a_reason_of_its_own() {
    for (early_stop, reason, steps) in
        [(true, EndReason::RepeatedAdvice, 6), (false, EndReason::StepLimit, 12)]
    {
        let mut run = test_spec("omnireflect", &[("a", ""), ("b", "")]);
        (run.mentor, run.trials, run.limits.steps) = ("script".to_owned(), 2, 12);
        set(
            &mut run,
            &[
                ("generation", json!("neural")),
                ("r_freq", json!(2)),
                ("offset", json!(1)),
                ("early_stop", json!(early_stop)),
            ],
        );
        let mut play = TestRun::new(run);
        play.mentor = Box::new(|_| format!("['{SAME}']"));
        play_on(&mut play);
        let ended: Vec<_> =
            play.state().ended_episodes.iter().map(|e| (e.task.id.as_str(), e.reason, e.steps)).collect();
        let expected: Vec<_> = if early_stop {
            [("a", reason, steps), ("b", reason, steps)].to_vec()
        } else {
            ["a", "a", "b", "b"].map(|task| (task, reason, steps)).to_vec()
        };
        assert_eq!(ended, expected);
    }
    assert_eq!(serde_json::to_value(EndReason::RepeatedAdvice).unwrap(), "repeated_advice");
    assert_eq!(EndReason::RepeatedAdvice.verdict(false, ""), "lost (repeated advice)");
}

/// In DORA, a task's attempts in an evaluation end; the next evaluation tries it again with another instruction.
#[test]
fn dora_goes_on_to_the_next_task_of_the_evaluation() {
    let mut run = test_spec("dora", &[("a", "pick_and_place_simple")]);
    (run.mentor, run.limits.steps) = ("script".to_owned(), 1);
    let settings = [("n_init", json!(2)), ("rounds", json!(0)), ("attempts", json!(5))];
    set(&mut run, &settings);
    set(&mut run, &[("early_stop", json!(true))]);
    let mut play = TestRun::new(run);
    let mut advice = [SAME, SAME, SAME, OTHERS[0], OTHERS[1], OTHERS[2], OTHERS[3], OTHERS[4]].into_iter();
    play.mentor = Box::new(move |_| advice.next().expect("the script is long enough").to_owned());
    let mut environment = |_: Option<&str>| StepResult {
        observation: "A room.".to_owned(),
        valid: true,
        ..StepResult::default()
    };
    play.play_script_in(&mut environment, &["look"; 100]);
    assert!(play.state().run_over);
    let trials: Vec<u32> = play.state().ended_episodes.iter().map(|ended| ended.trial).collect();
    assert_eq!(trials, [1, 2, 3, 6, 7, 8, 9, 10]);
}

fn break_at(play: &mut TestRun, condition: &str) {
    play.command(Command::SetBreakpoint { text: condition.to_owned(), replaces: None });
}

fn hits(play: &TestRun) -> Vec<(u32, String)> {
    let found = play.journal.iter().filter_map(|envelope| match &envelope.event {
        Event::BreakpointHit { episode, reason, .. } => Some((*episode, reason.clone())),
        _ => None,
    });
    found.collect()
}

/// A breakpoint stops before the task ends, so that a person can still continue it.
#[test]
fn a_breakpoint_stops_before_the_task_ends() {
    for (continues, trials) in [(false, 3), (true, 6)] {
        let run = six_trials(&[("a", "")], &[("early_stop", json!(true))]);
        let mut play = with_advice(run, &[SAME, SAME, SAME, OTHERS[0], OTHERS[1]]);
        break_at(&mut play, "same advice");
        play_on(&mut play);
        let state = play.state();
        assert_eq!((state.pause_reason, state.run_over), (Some(PauseReason::Breakpoint), false));
        assert_eq!((state.ended_episodes.len(), state.reflections.len()), (3, 3));
        let reason = "same advice 3 times: the task ends early (Plan, similarity 1.00 or more)";
        assert_eq!(hits(&play), [(3, reason.to_owned())]);
        if continues {
            play.command(Command::ChangeSetting { name: "early_stop".to_owned(), value: false.into() });
        }
        play_on(&mut play);
        assert!(play.state().run_over);
        assert_eq!((play.state().ended_episodes.len(), hits(&play).len()), (trials, 1), "{continues}");
    }
}

#[test]
fn a_breakpoint_within_an_episode_leaves_it_open() {
    let mut run = test_spec("omnireflect", &[("a", "")]);
    (run.mentor, run.limits.steps) = ("script".to_owned(), 12);
    set(&mut run, &[("generation", json!("neural")), ("r_freq", json!(2)), ("early_stop", json!(true))]);
    let mut play = TestRun::new(run);
    play.mentor = Box::new(|_| format!("['{SAME}']"));
    break_at(&mut play, "once same advice 3");
    play_on(&mut play);
    let steps = |play: &TestRun| play.state().open_episode().map(Episode::answered_steps);
    assert_eq!((steps(&play), play.state().is_waiting()), (Some(5), true));
    play.command(Command::ChangeSetting { name: "early_stop".to_owned(), value: false.into() });
    play_on(&mut play);
    let ended: Vec<_> = play.state().ended_episodes.iter().map(|e| (e.reason, e.steps)).collect();
    assert_eq!(ended, [(EndReason::StepLimit, 12)]);
}

#[test]
fn a_breakpoint_on_advice_fires_again_after_as_many_more() {
    let cases: [(&str, &[u32]); 4] = [
        ("same advice 2", &[2, 4]),
        ("same advice 3", &[3]),
        ("same advice 5", &[5]),
        ("same advice 6", &[]),
    ];
    for (condition, episodes) in cases {
        let mut play = with_advice(six_trials(&[("a", "")], &[]), &[SAME; 5]);
        break_at(&mut play, condition);
        for _ in 0..=episodes.len() {
            play_on(&mut play);
        }
        let found: Vec<u32> = hits(&play).into_iter().map(|(episode, _)| episode).collect();
        assert_eq!((found.as_slice(), play.state().run_over), (episodes, true), "{condition}");
    }
    assert_eq!(SameAdvice::ALARM, 3);
}
