//! DORA: the order of evaluations, attempts and advice, what the optimiser gets, and what a person's changes do.

use crate::catalog::fixture::{FakeHousehold, TestRun, test_spec};
use crate::catalog::{find_method, lesson_note, search_histories};
use crate::domain::{
    Autonomy, EpisodeSummary, Job, JobContext, LessonId, LessonStatus, LessonText, ReflectionKind, RunSpec,
    Scope, SettingOrigin, StepResult,
};
use crate::engine::{Cause, Command, Effect, Event, Input, LessonCommand, Reply, State};
use crate::prompt::render;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const PUT: &str = "pick_and_place_simple";
const HEAT: &str = "pick_heat_then_place_in_recep";

fn run(tasks: &[(&str, &str)], settings: &[(&str, Value)]) -> RunSpec {
    let mut run = test_spec("dora", tasks);
    (run.mentor, run.limits.steps) = ("script".to_owned(), 1);
    for (name, value) in settings {
        run.settings.set(name, value.clone(), SettingOrigin::Flag);
    }
    run
}

/// What the environment of these tests answers to everything that ends no attempt.
fn a_room() -> StepResult {
    StepResult { observation: "A room.".to_owned(), valid: true, ..StepResult::default() }
}

/// Returns the id of the newest active lesson of a kind.
fn last_id(play: &TestRun, kind: ReflectionKind) -> LessonId {
    play.state().pool.active_of_kind(kind).last().unwrap().id.clone()
}

/// Plays a run whose attempts are won if `wins` says so; it gets the number of attempts before.
fn play(spec: RunSpec, mut wins: impl FnMut(usize) -> bool) -> TestRun {
    let mut play = TestRun::new(spec);
    let mut count = 0;
    play.mentor = Box::new(move |_| {
        count += 1;
        format!("Look in place {count} next.")
    });
    let mut attempts = 0;
    let mut environment = |action: Option<&str>| {
        let mut result = a_room();
        if action.is_some() {
            (result.done, result.won) = (true, wins(attempts));
            result.reward = f64::from(u8::from(result.won));
            attempts += 1;
        }
        result
    };
    play.play_script_in(&mut environment, &vec!["look"; 2000]);
    play
}

fn episodes(state: &State) -> Vec<(&str, u32, bool)> {
    let ended = state.ended_episodes.iter();
    ended
        .map(|ended: &std::sync::Arc<EpisodeSummary>| (ended.task.id.as_str(), ended.trial, ended.won))
        .collect()
}

fn jobs(play: &TestRun, name: &str) -> Vec<Value> {
    let asked = play.journal.iter().filter_map(|envelope| match &envelope.event {
        Event::ComputeRequested { job, .. } if job.name == name => Some(job.inputs.clone()),
        _ => None,
    });
    asked.collect()
}

/// Advice is shown with the reward of the evaluation in which it was written, as long as the run's memory has its search.
#[test]
fn advice_has_the_reward_of_its_evaluation() {
    let settings = [("n_init", json!(2)), ("rounds", json!(0)), ("attempts", json!(2))];
    let notes = |state: &State| -> Vec<Option<String>> {
        let advice = state.pool.all().filter(|lesson| lesson.kind == ReflectionKind::Advice);
        advice.map(|lesson| lesson_note(state, lesson)).collect()
    };
    // One task, lost twice, then won in the second attempt.
    let play = play(run(&[("a", PUT)], &settings), |attempt| attempt == 3);
    let state = play.state();
    let rewards: Vec<f64> = search_histories(state)[0].points.iter().map(|point| point.reward).collect();
    let expected = [(1, rewards[0]), (1, rewards[0]), (2, rewards[1])]
        .map(|(evaluation, reward)| Some(format!("evaluation {evaluation}, reward {reward:.2}")));
    assert_eq!(notes(state), expected);
    assert!(rewards[0] < rewards[1], "{rewards:?}");
    let of_kind = |kind| state.pool.all().filter(move |lesson| lesson.kind == kind);
    let noted: Vec<_> =
        of_kind(ReflectionKind::Instruction).map(|lesson| lesson_note(state, lesson)).collect();
    // Regression: the lane didn't say which vector an instruction is of.
    let expected = rewards.iter().zip(state.memory["done"].as_array().unwrap()).enumerate().map(
        |(index, (reward, done))| {
            let squares = done["v"].as_array().unwrap().iter().map(|value| value.as_f64().unwrap().powi(2));
            let norm = squares.sum::<f64>().sqrt();
            Some(format!("v{}, |v| {norm:.2}; reward {reward:.2}; text steering", index + 1))
        },
    );
    assert_eq!(noted, expected.collect::<Vec<_>>());
    let objective: Vec<_> =
        of_kind(ReflectionKind::Progress).map(|lesson| lesson_note(state, lesson)).collect();
    assert_eq!(objective, [None, Some("0 left".to_owned())], "only the newest");
    // After the first advice, nothing is evaluated yet.
    let mut early = State::default();
    for envelope in &play.journal {
        early.apply(envelope);
        if early.pool.all().any(|lesson| lesson.kind == ReflectionKind::Advice) {
            break;
        }
    }
    assert_eq!(notes(&early), [Some("evaluation 1, no reward yet".to_owned())]);
}

/// Whoever reads a run learns first that its instructions aren't made as in the paper, and how long it may become.
#[test]
fn a_run_begins_with_what_makes_its_instructions_and_how_long_it_may_become() {
    let notes = |actor: &str, mentor: &str, settings: &[(&str, Value)]| {
        let mut run = run(&[("a", PUT), ("b", PUT), ("c", HEAT)], settings);
        (run.actor, run.mentor, run.limits.steps) = (actor.to_owned(), mentor.to_owned(), 50);
        crate::catalog::run_notes(&run)
    };
    assert_eq!(
        notes("rules", "symbolic", &[]),
        [
            ("instructions", "text steering, not the paper's soft prompt".to_owned()),
            (
                "search",
                "at most 46 evaluations of 3 tasks of 2 types, with up to 3 attempts each: 414 episodes; no tokens, because \
                 neither actor nor mentor is a model"
                    .to_owned()
            ),
            (
                "advice",
                "by rules, which follow some words of an instruction; a model reads all of it"
                    .to_owned()
            ),
        ]
    );
    let local =
        [("prompter", json!("local")), ("prompter.model", json!("/models/vicuna")), ("instances", json!(1))];
    let notes = notes("openai:small", "openai:small", &local);
    assert_eq!(notes[0].1, "local model vicuna");
    // One task of each type: 276 episodes, each of 50 steps and a reflection.
    assert!(
        notes[1].1.contains("276 episodes; 14076 model calls, some 14 million tokens at 1000 each"),
        "{notes:?}"
    );
}

#[test]
fn an_instruction_is_evaluated_on_all_tasks_of_a_type_with_up_to_three_attempts() {
    let settings = [("n_init", json!(2)), ("rounds", json!(0))];
    // Of the first evaluation, the first task is won in the second attempt, the second never.
    let play = play(run(&[("a", PUT), ("b", PUT)], &settings), |attempt| attempt == 1 || attempt > 4);
    let state = play.state();
    assert!(state.run_over);
    assert_eq!(
        episodes(state),
        [
            ("a", 1, false),
            ("a", 2, true),
            ("b", 1, false),
            ("b", 2, false),
            ("b", 3, false),
            // The second evaluation.
            ("a", 4, true),
            ("b", 4, true),
        ]
    );
    // Advice after each lost attempt, the last one too.
    assert_eq!(state.usage.mentor_calls, 4);
    let rewards: Vec<f64> = state.memory["done"]
        .as_array()
        .unwrap()
        .iter()
        .map(|done| done["reward"].as_f64().unwrap())
        .collect();
    // Half of the tasks solved, then all; a has one piece of advice (diversity 1), b the same words twice.
    assert_eq!(rewards, [0.5, 0.75]);
    let objective: Vec<_> = state.pool.active_of_kind(ReflectionKind::Progress).collect();
    assert_eq!(objective.len(), 2);
    // The beginning is all that a narrow lane shows.
    assert!(
        objective[1].text().text.starts_with("Evaluation 2: 0.750, best 0.750 (evaluation 2); "),
        "{:?}",
        objective[1].text()
    );
}

#[test]
fn the_search_makes_the_evaluations_of_the_code_and_gives_all_rewards_to_the_optimiser() {
    let settings = [
        ("n_init", json!(3)),
        ("rounds", json!(2)),
        ("batch", json!(4)),
        ("intrinsic_dim", json!(2)),
        ("attempts", json!(1)),
    ];
    let play = play(run(&[("a", PUT)], &settings), |attempt| attempt % 2 == 0);
    let asked = jobs(&play, "dora.next_points");
    let counts: Vec<usize> = asked.iter().map(|inputs| inputs["x"].as_array().unwrap().len()).collect();
    assert_eq!(counts[0], 3);
    assert_eq!(counts.len(), 2);
    let state = play.state();
    let done = state.memory["done"].as_array().unwrap();
    assert!(done.len() > counts[1] && done.len() <= 3 + 3 + 4, "{}", done.len());
    assert_eq!(jobs(&play, "dora.instruct").len(), done.len());
    let rewards: Vec<Value> = done[..counts[1]].iter().map(|done| done["reward"].clone()).collect();
    assert_eq!(asked[1]["reward"], json!(rewards));
    assert_eq!(state.memory["fits"].as_array().unwrap().len(), 2);
}

/// Regression: while a job ran, the screen said neither for which round nor for which evaluation.
#[test]
fn a_job_has_its_place_in_the_search() {
    let settings = [
        ("n_init", json!(2)),
        ("rounds", json!(2)),
        ("batch", json!(2)),
        ("attempts", json!(1)),
        ("fit_generations", json!(5)),
    ];
    let play = play(run(&[("a", PUT)], &settings), |attempt| attempt % 2 == 0);
    let (mut state, mut places) = (State::default(), Vec::new());
    for envelope in &play.journal {
        state.apply(envelope);
        if let Event::ComputeRequested { job, .. } = &envelope.event {
            let method = find_method("dora").unwrap();
            places.push((method.job_position)(&state, job).unwrap());
        }
    }
    let first = ["evaluation 1 of at most 6", "evaluation 2 of at most 6", "round 1 of 2"];
    assert_eq!(places[..4], [&first[..], &["evaluation 3 of at most 6"]].concat());
    assert_eq!(places.iter().rfind(|place| place.starts_with("round")).unwrap(), "round 2 of 2");
}

/// A fit's inputs have all its numbers, whose defaults are those that a journal without them was computed with.
#[test]
fn the_numbers_of_a_fit_are_settings_and_inputs_of_its_job() {
    let short = [("n_init", json!(3)), ("rounds", json!(1)), ("batch", json!(2)), ("attempts", json!(1))];
    let fit = |settings: &[(&str, Value)]| {
        let play = play(run(&[("a", PUT)], settings), |attempt| attempt % 2 == 0);
        jobs(&play, "dora.next_points").remove(0)
    };
    let inputs = fit(&short);
    assert_eq!(
        inputs["fit"],
        json!({"generations": 300, "starts": 0, "min_noise": 1e-4, "lengthscale_prior": [3.0, 6.0],
            "noise_prior": [1.1, 0.05], "outputscale_prior": [2.0, 0.15]})
    );
    let compute = |inputs: &Value| {
        crate::method::dora::jobs::compute_next_points(inputs, &JobContext::default()).unwrap()
    };
    // Regression: an older journal has no such inputs; a job that was in flight must come to the same vectors.
    let mut older = inputs.clone();
    older.as_object_mut().unwrap().remove("fit");
    assert_eq!(compute(&older), compute(&inputs));
    let chosen = [
        ("fit_generations", json!(40)),
        ("fit_starts", json!(2)),
        ("min_noise", json!(250_000)),
        ("lengthscale_shape", json!(30)),
        ("lengthscale_rate", json!(7.5)),
        ("noise_shape", json!(2)),
        ("noise_rate", json!(0.5)),
        ("outputscale_shape", json!(4)),
        ("outputscale_rate", json!(3)),
    ];
    let all: Vec<_> = short.into_iter().chain(chosen).collect();
    let other = fit(&all);
    assert_eq!(
        other["fit"],
        json!({"generations": 40, "starts": 2, "min_noise": 0.25, "lengthscale_prior": [30.0, 7.5],
            "noise_prior": [2.0, 0.5], "outputscale_prior": [4.0, 3.0]})
    );
    let (usual, other) = (compute(&inputs), compute(&other));
    let number = |result: &Value, name: &str| result["hyper"][name].as_f64().unwrap();
    assert!(number(&other, "noise") >= 0.25 - 1e-9 && number(&usual, "noise") < 0.25, "{usual} {other}");
}

/// Plays a search for texts made of these groups of sentences, with a fixed setting of the others. The first task is won in the
/// attempts whose number is divisible by three.
fn play_with_advice(groups: &Value, settings: &[(&str, Value)]) -> TestRun {
    let mut spec = run(&[("a", PUT)], &[("attempts", json!(1))]);
    for (name, value) in settings.iter().chain(&[("prompter.advice", groups.clone())]) {
        spec.settings.set(name, value.clone(), SettingOrigin::Flag);
    }
    play(spec, |attempt| attempt % 3 == 0)
}

fn distinct_texts(done: &Value) -> usize {
    let texts: BTreeSet<&str> =
        done.as_array().unwrap().iter().map(|done| done["text"].as_str().unwrap()).collect();
    texts.len()
}

/// Regression: a round evaluated known instructions while there were unknown ones, and all of its instructions again where none was
/// new. Now 46 evaluations are of 46 instructions.
#[test]
fn no_instruction_is_evaluated_twice_while_another_is_unknown() {
    let play = play_with_advice(&json!(null), &[("fit_generations", json!(20))]);
    let done = &play.state().memory["done"];
    assert_eq!((done.as_array().unwrap().len(), distinct_texts(done)), (46, 46));
    let first = &jobs(&play, "dora.next_points")[0];
    assert_eq!((&first["texts"]["sizes"], &first["count"]), (&json!([8, 8, 8]), &json!(4)));
    assert_eq!(first["texts"]["known"], json!([0, 1, 2, 3].map(|index| &done[index]["chosen"])));
}

/// With few sentences the search ends when all texts are evaluated, and says so once; nothing is left then.
#[test]
fn a_search_ends_when_all_texts_are_evaluated_and_says_so() {
    let groups = json!([["One.", "Two.", "Three."], ["Four.", "Five."]]);
    // In one dimension, four first vectors choose two texts.
    for dimension in [1, 10] {
        let play = play_with_advice(&groups, &[("intrinsic_dim", json!(dimension))]);
        let state = play.state();
        assert!(state.run_over);
        assert_eq!((distinct_texts(&state.memory["done"]), state.ended_episodes.len()), (6, 6));
        let objective: Vec<_> = state.pool.active_of_kind(ReflectionKind::Progress).collect();
        assert_eq!(objective.len(), 7);
        assert!(
            objective[0].text().text.contains("; at most 6 evaluations, round 0"),
            "{:?}",
            objective[0].text()
        );
        let last = objective[6];
        assert_eq!(last.text().text, "All 6 candidate texts are evaluated: the search ends in round 1 of 5.");
        assert_eq!(lesson_note(state, last), Some("0 left".to_owned()));
    }
}

/// A job that an older version has asked for searches the box; of what it finds, known texts are left out.
#[test]
fn the_vectors_of_an_older_job_choose_texts() {
    let settings = [("n_init", json!(2)), ("rounds", json!(1)), ("attempts", json!(1))];
    let mut play = TestRun::new(run(&[("a", PUT)], &settings));
    play.mentor = Box::new(|_| "Look elsewhere.".to_owned());
    drive(&mut play, 20, |state, job| {
        (job.name == "dora.next_points").then(|| {
            let mut older = job.clone();
            older.inputs.as_object_mut().unwrap().remove("texts");
            let mut found = crate::catalog::compute_job(&older, &JobContext::default()).unwrap();
            assert!(found.get("texts").is_none());
            let points = found["points"].as_array_mut().unwrap();
            points.truncate(1);
            points.push(points[0].clone());
            points[0]["v"] = state.memory["done"][0]["v"].clone();
            points[1]["v"] = json!([-0.9, 0.8, -0.7, 0.6, -0.5, 0.4, -0.3, 0.2, -0.1, 0.9]);
            found
        })
    });
    let done = play.state().memory["done"].as_array().unwrap();
    assert!(play.state().run_over);
    let chosen: BTreeSet<String> = done.iter().map(|done| done["chosen"].to_string()).collect();
    assert_eq!(chosen.len(), done.len());
    assert_eq!(done.last().unwrap()["v"][0], json!(-0.9));
}

/// Regression: a search whose memory couldn't be read began again, and overwrote it.
#[test]
fn a_memory_that_cannot_be_read_ends_the_run_with_the_reason_and_stays() {
    let settings = [("n_init", json!(2)), ("rounds", json!(0)), ("attempts", json!(1))];
    let unreadable = [
        (json!({"version": 2, "done": []}), "it has version 2, and 1 is known"),
        (json!({"version": 1, "done": "none"}), "expected a sequence"),
        (json!([1]), "it has no version"),
    ];
    for (memory, reason) in unreadable {
        let mut play = TestRun::new(run(&[("a", PUT)], &settings));
        play.fold(vec![(Cause::Policy, Event::MemorySet { value: memory.clone() })]);
        let mut environment = |_: Option<&str>| a_room();
        play.play_script_in(&mut environment, &["look"; 5]);
        let state = play.state();
        assert!(state.run_over && state.ended_episodes.is_empty());
        assert_eq!(state.memory, memory);
        let objective: Vec<_> = state.pool.active_of_kind(ReflectionKind::Progress).collect();
        assert_eq!(objective.len(), 1);
        assert!(objective[0].text().text.contains(reason), "{:?}", objective[0].text());
    }
}

/// Regression: a job's result that couldn't be read was passed over in silence.
#[test]
fn a_result_that_cannot_be_read_is_noted_with_the_reason() {
    let settings = [("n_init", json!(2)), ("rounds", json!(1)), ("attempts", json!(1))];
    for (name, missing, noted) in [
        ("dora.next_points", "There are no new vectors", "one random vector is tried instead"),
        ("dora.instruct", "There is no new instruction", "a plain one is used"),
    ] {
        let mut play = TestRun::new(run(&[("a", PUT)], &settings));
        play.mentor = Box::new(|_| "Look elsewhere.".to_owned());
        let mut is_first = true;
        drive(&mut play, 20, |_, job| {
            (job.name == name && std::mem::take(&mut is_first)).then(|| json!({"text": 7}))
        });
        let state = play.state();
        assert!(state.run_over);
        let done = state.memory["done"].as_array().unwrap();
        let assisted = done.iter().filter(|done| done.get("assisted").is_some()).count();
        assert_eq!(assisted, usize::from(name == "dora.instruct"), "{done:?}");
        assert_eq!(done.len() - assisted, distinct_texts(&json!(done)) - assisted, "{done:?}");
        let objective = state.pool.active_of_kind(ReflectionKind::Progress);
        let notes: Vec<_> = objective.filter(|note| note.text().text.starts_with(missing)).collect();
        assert_eq!(notes.len(), 1);
        let text = &notes[0].text().text;
        assert!(text.contains("can't be read (") && text.ends_with(&format!("): {noted}.")), "{text}");
        assert!(!text.contains("dora."), "{text}");
    }
}

#[test]
fn random_and_fixed_vectors_need_no_fit() {
    for (optimise, distinct) in [("random", 8), ("fixed", 2)] {
        let settings = [
            ("optimise", json!(optimise)),
            ("n_init", json!(2)),
            ("rounds", json!(2)),
            ("attempts", json!(1)),
        ];
        let play = play(run(&[("a", PUT)], &settings), |_| true);
        assert!(jobs(&play, "dora.next_points").is_empty());
        // 2 first ones, 2 more, then as many as were evaluated before.
        let mut vectors: Vec<String> =
            jobs(&play, "dora.instruct").iter().map(|inputs| inputs["v"].to_string()).collect();
        assert_eq!(vectors.len(), 8, "{optimise}");
        vectors.sort_unstable();
        vectors.dedup();
        assert_eq!(vectors.len(), distinct, "{optimise}");
    }
}

#[test]
fn each_type_of_task_has_its_own_search() {
    let settings = [("n_init", json!(1)), ("rounds", json!(0)), ("instances", json!(2))];
    let tasks = [("a", PUT), ("b", HEAT), ("c", PUT), ("d", PUT)];
    let play = play(run(&tasks, &settings), |_| true);
    let order: Vec<&str> = episodes(play.state()).into_iter().map(|(task, ..)| task).collect();
    assert_eq!(order, ["a", "c", "b"], "the first two tasks of a type");
    let vectors = jobs(&play, "dora.instruct");
    assert_ne!(vectors[0]["v"], vectors[1]["v"]);
}

#[test]
fn two_runs_with_one_seed_are_equal_and_with_another_seed_they_are_not() {
    let settings = [("n_init", json!(2)), ("rounds", json!(1)), ("intrinsic_dim", json!(3))];
    let events = |seed| {
        let mut spec = run(&[("a", PUT)], &settings);
        spec.seed = seed;
        let play = play(spec, |attempt| attempt % 3 == 0);
        play.journal.iter().map(|envelope| format!("{:?}", envelope.event)).collect::<Vec<_>>()
    };
    assert_eq!(events(5), events(5));
    assert_ne!(events(5), events(6));
}

#[test]
fn the_mentor_is_given_the_instruction_and_the_actor_the_advice_about_its_task() {
    let settings = [("n_init", json!(1)), ("rounds", json!(0))];
    let play = play(run(&[("a", PUT), ("b", PUT)], &settings), |_| false);
    let bodies = |mentor: bool| -> Vec<String> {
        let prompts = play.prompts.iter().filter(|(_, prompt)| prompt.question.is_some() == mentor);
        prompts.map(|(state, prompt)| render(state, prompt).body()).collect()
    };
    let state = play.state();
    let instruction = state.pool.active_of_kind(ReflectionKind::Instruction).last().unwrap();
    let questions = bodies(true);
    assert_eq!(questions.len(), 6);
    assert!(questions.iter().all(|body| body.contains(&instruction.text().text)), "{}", questions[0]);
    assert!(instruction.evidence.contains("not the paper's soft prompt"), "{}", instruction.evidence);
    let actor = bodies(false);
    assert!(!actor[0].contains("Look in place"), "{}", actor[0]);
    assert!(actor[2].contains("place 1 next") && actor[2].contains("place 2 next"), "{}", actor[2]);
    assert!(!actor[3].contains("Look in place"), "advice about the other task: {}", actor[3]);
    assert!(!actor.iter().any(|body| body.contains(&instruction.text().text) || body.contains("best 0.")));
}

/// Plays until the second attempt begins, lets a person act, and plays on.
fn play_with(act: impl Fn(&mut TestRun)) -> TestRun {
    let settings =
        [("n_init", json!(2)), ("rounds", json!(1)), ("attempts", json!(2)), ("intrinsic_dim", json!(2))];
    let mut play = TestRun::new(run(&[("a", PUT)], &settings));
    play.mentor = Box::new(|_| "Look elsewhere.".to_owned());
    let mut environment = |_: Option<&str>| a_room();
    play.play_script_in(&mut environment, &["look"]);
    assert_eq!(play.state().ended_episodes.len(), 1);
    act(&mut play);
    play.play_script_in(&mut environment, &["look"; 200]);
    assert!(play.state().run_over);
    play
}

#[test]
fn the_reward_of_a_changed_instruction_is_shown_but_not_given_to_the_optimiser() {
    let play = play_with(|play| {
        let id = last_id(play, ReflectionKind::Instruction);
        let text = LessonText::plain("Write a poem.");
        play.command(Command::Lesson(LessonCommand::Edit { id, text }));
    });
    let done = play.state().memory["done"].as_array().unwrap().clone();
    assert_eq!(done[0]["assisted"], true);
    assert!(done[1..].iter().all(|done| done.get("assisted").is_none()), "{done:?}");
    let asked = jobs(&play, "dora.next_points");
    assert_eq!(asked[0]["x"], json!([done[1]["v"]]), "only the second evaluation");
    let objective = play.state().pool.active_of_kind(ReflectionKind::Progress).next().unwrap();
    assert!(objective.text().text.contains("not given to the optimiser"), "{:?}", objective.text());
    // Regression: the lane no longer said which vector an edited instruction was of.
    let edited = play.state().pool.all().find(|lesson| lesson.text().text == "Write a poem.").unwrap();
    let note = lesson_note(play.state(), edited).unwrap();
    assert!(note.starts_with('v') && note.ends_with("; edited: not given to the optimiser"), "{note}");
    assert_eq!(crate::catalog::pin_effect(play.state(), edited), None);
}

/// Plays until advice is written, and returns the run before anything else happens.
fn until_advice(mut spec: RunSpec, mentor: &str) -> TestRun {
    mentor.clone_into(&mut spec.mentor);
    let mut play = TestRun::new(spec);
    let mut count = 0;
    play.mentor = Box::new(move |_| {
        count += 1;
        format!("Look in place {count} next.")
    });
    let mut house = FakeHousehold::kitchen("put a hot apple in garbagecan");
    let mut environment = |action: Option<&str>| match action {
        None => house.reset(),
        Some(action) => house.step(action),
    };
    let mut actions = ["take apple 1", "open fridge 1", "inventory"].iter().cycle();
    let mut actor = |_: &State| actions.next().map(|action| (*action).to_owned());
    play.command(Command::Run);
    while play.state().pool.active_of_kind(ReflectionKind::Advice).next().is_none() {
        assert!(play.advance(&mut environment, &mut actor), "advice is written");
    }
    play
}

/// Regression: another sample stood beside the one before, so that the two of one attempt were compared, and both entered prompts.
#[test]
fn another_sample_of_advice_takes_the_place_of_the_one_before() {
    let settings = [("n_init", json!(1)), ("rounds", json!(0)), ("attempts", json!(2))];
    let mut play = until_advice(run(&[("a", PUT)], &settings), "script");
    play.command(Command::Reflect(ReflectionKind::Advice));
    drive(&mut play, 20, |_, _| None);
    let state = play.state();
    assert!(state.run_over);
    let texts = |status: LessonStatus| -> Vec<String> {
        let advice = state.pool.all().filter(|lesson| lesson.kind == ReflectionKind::Advice);
        advice.filter(|lesson| lesson.status == status).map(|lesson| lesson.text().text.clone()).collect()
    };
    assert_eq!(texts(LessonStatus::Retired), ["Look in place 1 next."]);
    assert_eq!(texts(LessonStatus::On), ["Look in place 2 next.", "Look in place 3 next."]);
    // The same words but for a number, which doesn't count: the advice of two attempts.
    assert_eq!(state.memory["done"][0]["diversity"], json!(0.0));
}

/// Regression: the rules wrote the same sentence again, and the diversity of the evaluation fell from 1 to 0.
#[test]
fn another_sample_of_advice_that_would_be_the_same_is_refused() {
    let settings = [("n_init", json!(1)), ("rounds", json!(0)), ("attempts", json!(1))];
    let mut spec = run(&[("a", PUT)], &settings);
    spec.limits.steps = 3;
    let mut play = until_advice(spec, "symbolic");
    let asked = play.engine.decide(&Input::Command(Command::Reflect(ReflectionKind::Advice)));
    assert_eq!(asked.unwrap_err().message, "the rules write the same advice again");
    drive(&mut play, 20, |_, _| None);
    let done = &play.state().memory["done"][0];
    assert_eq!((&done["diversity"], &done["reward"]), (&json!(1.0), &json!(0.5)));
    // A model may answer with the same words as well: then nothing changes.
    let mut play = until_advice(run(&[("a", PUT)], &settings), "script");
    play.mentor = Box::new(|_| "Look in place 1 next.".to_owned());
    play.command(Command::Reflect(ReflectionKind::Advice));
    drive(&mut play, 20, |_, _| None);
    let advice: Vec<_> =
        play.state().pool.all().filter(|lesson| lesson.kind == ReflectionKind::Advice).collect();
    assert_eq!((advice.len(), advice[0].recurrences), (1, 1));
    assert_eq!(play.state().memory["done"][0]["diversity"], json!(1.0));
}

/// Regression: with the last advice of an evaluation switched off, there was nothing to compare, which counted as diverse.
#[test]
fn switching_off_the_last_advice_does_not_raise_the_reward() {
    let settings = [("n_init", json!(1)), ("rounds", json!(0)), ("attempts", json!(2))];
    let play = |is_vetoed: bool| {
        let mut play = TestRun::new(run(&[("a", PUT)], &settings));
        play.mentor = Box::new(|_| "Look elsewhere.".to_owned());
        let mut environment = |_: Option<&str>| a_room();
        let mut actor = |_: &State| Some("look".to_owned());
        play.command(Command::Run);
        while play.state().pool.active_of_kind(ReflectionKind::Advice).nth(1).is_none() {
            assert!(play.advance(&mut environment, &mut actor), "advice is written twice");
        }
        if is_vetoed {
            let id = last_id(&play, ReflectionKind::Advice);
            play.command(Command::Lesson(LessonCommand::Status { id, status: LessonStatus::Off }));
        }
        drive(&mut play, 20, |_, _| None);
        play.state().memory["done"][0]["reward"].clone()
    };
    assert_eq!([play(false), play(true)], [json!(0.0), json!(0.0)]);
}

/// Regression: a sentence that a person typed became an instruction, which no prompt of the actor shows.
#[test]
fn a_new_lesson_is_advice() {
    assert_eq!(crate::catalog::kind_of_new_lesson("dora"), ReflectionKind::Advice);
}

/// Regression: the screen counted the tasks of the list, so after the first attempt it said that none was left.
#[test]
fn what_follows_an_attempt_is_what_the_search_plays_next() {
    let settings = [("n_init", json!(2)), ("rounds", json!(1)), ("attempts", json!(2))];
    let play = play(run(&[("a", PUT), ("b", PUT), ("c", HEAT)], &settings), |_| false);
    let mut state = State::default();
    let (mut said, mut happened) = (Vec::new(), Vec::new());
    for envelope in &play.journal {
        if let Event::EpisodeStarted { task, trial, .. } = &envelope.event
            && let Some(last) = &state.episode
        {
            let is_same_evaluation = (trial - 1) / 2 == (last.trial - 1) / 2;
            happened.push(Some(match task.id == last.task.id {
                true if is_same_evaluation => "next attempt",
                false if is_same_evaluation => "next task",
                _ => "next evaluation",
            }));
        }
        state.apply(envelope);
        if matches!(envelope.event, Event::EpisodeEnded { .. }) {
            said.push(crate::catalog::what_follows(&state));
        }
    }
    // The search for another type begins with its first evaluation, too.
    happened.push(None);
    assert!(happened.len() > 20 && happened.contains(&Some("next evaluation")), "{happened:?}");
    assert_eq!(said, happened);
}

/// Numbers that a person sets for the search of expected improvement are used with the preset's others.
#[test]
fn the_numbers_of_the_search_are_settings() {
    let search = |own: &[(&str, Value)]| {
        let mut all = vec![("n_init", json!(2)), ("rounds", json!(1)), ("attempts", json!(1))];
        all.extend_from_slice(own);
        jobs(&play(run(&[("a", PUT)], &all), |_| false), "dora.next_points")[0]["search"].clone()
    };
    assert_eq!(search(&[]), json!("ours"));
    assert_eq!(search(&[("search_population", json!(20))]), json!("ours"), "the preset's own number");
    let own = [("search", json!("code")), ("search_step", json!(0.5)), ("search_generations", json!(7))];
    assert_eq!(search(&own), json!({"own": {"step": 0.5, "population": 50, "generations": 7}}));
}

/// Regression: CMA-ES refused it only after the first vectors had been evaluated.
#[test]
fn a_generation_of_one_vector_is_refused_at_the_start() {
    let templates = std::sync::Arc::new(crate::catalog::builtin_templates());
    let one = run(&[("a", PUT)], &[("search_population", json!(1))]);
    let error = crate::catalog::build_policy(&one, templates).err().unwrap();
    assert!(error.to_string().contains("at least 2 vectors"), "{error}");
}

/// Regression: rules that know nothing about the environment were said to follow some words of an instruction.
#[test]
fn rules_that_know_nothing_are_not_said_to_write_advice() {
    let mut run = run(&[("a", PUT)], &[]);
    "symbolic".clone_into(&mut run.mentor);
    let has_note = |run: &RunSpec| crate::catalog::run_notes(run).iter().any(|(name, _)| *name == "advice");
    assert!(has_note(&run));
    let unknown = crate::catalog::ENVIRONMENTS.iter().find(|entry| entry.rules.detectors.is_empty()).unwrap();
    unknown.name.clone_into(&mut run.tasks[0].env);
    assert!(crate::catalog::uninformed_mentor_warning(&run).is_some() && !has_note(&run));
}

#[test]
fn advice_that_a_person_changes_is_part_of_what_is_measured() {
    let untouched = play_with(|_| ());
    let edited = play_with(|play| {
        let id = last_id(play, ReflectionKind::Advice);
        let text = LessonText::plain("Open every container.");
        play.command(Command::Lesson(LessonCommand::Edit { id, text }));
    });
    let vetoed = play_with(|play| {
        let id = last_id(play, ReflectionKind::Advice);
        play.command(Command::Lesson(LessonCommand::Status { id, status: LessonStatus::Off }));
    });
    let diversity = |play: &TestRun| play.state().memory["done"][0]["diversity"].as_f64().unwrap();
    // The mentor wrote the same twice; a person's words differ. What it writes again after a person has switched it off is no second
    // piece, so nothing is compared.
    assert_eq!((diversity(&untouched), diversity(&edited), diversity(&vetoed)), (0.0, 1.0, 1.0));
    for play in [&untouched, &edited, &vetoed] {
        let asked = jobs(play, "dora.next_points");
        assert_eq!(asked[0]["x"].as_array().unwrap().len(), 2, "the optimiser gets both rewards");
        assert_eq!(asked[0]["reward"][0], play.state().memory["done"][0]["reward"]);
    }
}

/// Regression: an attempt that a person had played gave its reward to the optimiser, and so did an evaluation whose instruction
/// was away for a while.
#[test]
fn what_a_person_played_or_an_instruction_that_was_away_is_not_given_to_the_optimiser() {
    let overridden = play_with(|play| {
        play.command(Command::SetAutonomy(Autonomy::Human));
        play.command(Command::Act("open the door".to_owned()));
        play.command(Command::SetAutonomy(Autonomy::Auto));
    });
    let away = play_with(|play| {
        let id = last_id(play, ReflectionKind::Instruction);
        let status = LessonStatus::Off;
        play.command(Command::Lesson(LessonCommand::Status { id, status }));
    });
    for play in [&overridden, &away] {
        assert_eq!(play.state().memory["done"][0]["assisted"], true);
        let asked = jobs(play, "dora.next_points");
        assert_eq!(asked[0]["x"].as_array().unwrap().len(), 1, "only the second evaluation");
    }
}

/// A pinned instruction fixes its vector: the next evaluations are of it, with their true rewards.
#[test]
fn a_pinned_instruction_fixes_its_vector() {
    let settings = [("n_init", json!(3)), ("rounds", json!(0)), ("attempts", json!(1))];
    let mut play = TestRun::new(run(&[("a", PUT)], &settings));
    play.mentor = Box::new(|_| "Look elsewhere.".to_owned());
    let mut environment = |_: Option<&str>| a_room();
    play.play_script_in(&mut environment, &["look"]);
    let id = last_id(&play, ReflectionKind::Instruction);
    play.command(Command::Lesson(LessonCommand::Status { id: id.clone(), status: LessonStatus::Pinned }));
    play.play_script_in(&mut environment, &["look"; 20]);
    let done = play.state().memory["done"].as_array().unwrap().clone();
    assert_eq!(done.len(), 3);
    // It was pinned during the second evaluation.
    assert_eq!(done[1]["v"], done[2]["v"]);
    // Regression: nothing said so.
    let pinned = play.state().pool.get(&id).unwrap();
    assert_eq!(crate::catalog::pin_effect(play.state(), pinned), Some("fixes its vector"));
    let note = lesson_note(play.state(), pinned).unwrap();
    assert!(note.starts_with("v3, ") && note.contains(", fixed; "), "{note}");
    assert!(
        done[0]["v"] != done[1]["v"] && done.iter().all(|done| done.get("assisted").is_none()),
        "{done:?}"
    );
    assert_eq!(jobs(&play, "dora.instruct").len(), 2, "the instruction is there already");
}

/// Regression: an instruction that was pinned in one type of tasks stayed in force in the next one, whose evaluations then all
/// counted as assisted.
#[test]
fn an_instruction_pinned_in_one_type_of_tasks_leaves_the_next_one_alone() {
    let settings = [("n_init", json!(2)), ("rounds", json!(1)), ("attempts", json!(1))];
    let mut play = TestRun::new(run(&[("a", PUT), ("b", HEAT)], &settings));
    play.mentor = Box::new(|_| "Look elsewhere.".to_owned());
    let mut environment = |_: Option<&str>| a_room();
    play.play_script_in(&mut environment, &["look"]);
    let id = last_id(&play, ReflectionKind::Instruction);
    play.command(Command::Lesson(LessonCommand::Status { id: id.clone(), status: LessonStatus::Pinned }));
    play.play_script_in(&mut environment, &["look"; 40]);
    let state = play.state();
    assert!(state.run_over);
    assert_eq!(state.memory["group"], 1);
    let done = state.memory["done"].as_array().unwrap();
    assert!(done.len() > 2 && done.iter().all(|done| done.get("assisted").is_none()), "{done:?}");
    assert_eq!(state.pool.get(&id).unwrap().status, LessonStatus::Retired);
    let asked = jobs(&play, "dora.next_points");
    assert_eq!(
        asked.last().unwrap()["x"].as_array().unwrap().len(),
        2,
        "the optimiser gets the rewards of both"
    );
}

/// When a person starts an attempt of their own.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ManualStart {
    /// On the end card: the run is paused, and the search has neither asked for advice nor counted the attempt.
    EndCard,
    /// After the advice about the first attempt.
    Advice,
    /// After the instruction of the second evaluation.
    Instruction,
}

/// Plays a search whose attempts are all lost, but for one that a person starts.
fn play_with_manual_attempt(start: Option<ManualStart>) -> TestRun {
    let settings =
        [("n_init", json!(2)), ("rounds", json!(1)), ("attempts", json!(2)), ("intrinsic_dim", json!(2))];
    let mut play = TestRun::new(run(&[("a", PUT)], &settings));
    play.mentor = Box::new(|_| "Look elsewhere.".to_owned());
    let (mut lost, mut actor) = (|_: Option<&str>| a_room(), |_: &State| Some("look".to_owned()));
    let Some(start) = start else {
        play.play_script_in(&mut lost, &["look"; 200]);
        return play;
    };
    let is_next = |call: &Effect| match (start, call) {
        (ManualStart::EndCard, Effect::StepWorld { .. }) => true,
        (ManualStart::Advice, Effect::Ask { prompt, .. }) => prompt.question.is_some(),
        (ManualStart::Instruction, Effect::Compute { job, .. }) => job.name == "dora.instruct",
        _ => false,
    };
    let skipped = usize::from(start == ManualStart::Instruction);
    play.command(Command::Run);
    for _ in 0..=skipped {
        while !play.state().calls.values().any(is_next) {
            assert!(play.advance(&mut lost, &mut actor), "{start:?}");
        }
        if skipped == 1 && play.state().ended_episodes.is_empty() {
            assert!(play.advance(&mut lost, &mut actor));
        }
    }
    play.command(Command::Pause);
    while play.advance(&mut lost, &mut actor) {}
    let ended = play.state().ended_episodes.len();
    assert_eq!(ended, if start == ManualStart::Instruction { 2 } else { 1 });
    let task = play.state().episode.as_deref().unwrap().task.clone();
    play.command(Command::BeginEpisode(Box::new(task)));
    let mut won = |action: Option<&str>| {
        let mut result = a_room();
        (result.done, result.won) = (action.is_some(), action.is_some());
        result
    };
    play.command(Command::Run);
    while play.state().ended_episodes.len() == ended {
        assert!(play.advance(&mut won, &mut actor), "{start:?}");
    }
    assert!(play.state().ended_episodes.last().unwrap().won);
    let method = find_method("dora").unwrap();
    let labels = (method.trial_labels)(play.state(), "trial 2", "-");
    assert_eq!(labels, ["your attempt, not counted by the search", "not counted"]);
    if start == ManualStart::EndCard {
        let text = LessonText::plain("Look below.");
        let advice = LessonCommand::Add {
            kind: ReflectionKind::Advice,
            scope: Scope::Task,
            text,
            rule: None,
            parents: Vec::new(),
            transition: None,
            evidence: String::new(),
            pinned: false,
        };
        play.command(Command::Lesson(advice));
        let advice = play.state().pool.get(&last_id(&play, ReflectionKind::Advice)).unwrap();
        assert_eq!(lesson_note(play.state(), advice).as_deref(), Some("of no evaluation"));
    }
    play.play_script_in(&mut lost, &["look"; 200]);
    assert!(play.state().run_over);
    play
}

/// Regression: an attempt that a person had started between two attempts of an evaluation was counted as one of them, in place of
/// the one before it if that was on the end card.
#[test]
fn an_attempt_that_a_person_starts_is_not_one_of_the_search() {
    let untouched = play_with_manual_attempt(None);
    let done = |play: &TestRun| play.state().memory["done"].as_array().unwrap().clone();
    let attempts = untouched.state().ended_episodes.len();
    for start in [ManualStart::EndCard, ManualStart::Advice, ManualStart::Instruction] {
        let play = play_with_manual_attempt(Some(start));
        assert_eq!(play.state().ended_episodes.len(), attempts + 1, "{start:?}");
        let solved = done(&play).iter().any(|done| done["performance"] != json!(0.0));
        assert!(!solved, "{start:?}: {:?}", done(&play));
        // Without its advice an attempt isn't what the search evaluates.
        let is_assisted = done(&play)[0].get("assisted").is_some();
        assert_eq!(is_assisted, start == ManualStart::EndCard, "{start:?}");
        if !is_assisted {
            assert_eq!(done(&play), done(&untouched), "{start:?}");
        }
    }
}

/// Plays on with this many replies of the actor; the jobs that `compute` knows have its results.
fn drive(play: &mut TestRun, replies: usize, mut compute: impl FnMut(&State, &Job) -> Option<Value>) {
    let mut environment = |_: Option<&str>| a_room();
    let mut left = replies;
    let mut actor = |_: &State| {
        left = left.checked_sub(1)?;
        Some("look".to_owned())
    };
    play.command(Command::Run);
    loop {
        let asked = play.state().calls.values().next().cloned();
        if let Some(Effect::Compute { call, job }) = asked
            && let Some(result) = compute(play.state(), &job)
        {
            let reply = Reply::Computed { call, result, millis: 0 };
            let events = play.engine.decide(&Input::Reply(reply)).unwrap();
            play.fold(events);
        } else if !play.advance(&mut environment, &mut actor) {
            return;
        }
    }
}

/// Regression: the vector of an evaluation that a person had disturbed was never evaluated again, though the optimiser didn't know
/// its reward.
#[test]
fn the_vector_of_an_assisted_evaluation_may_be_tried_again() {
    let settings =
        [("n_init", json!(2)), ("rounds", json!(1)), ("attempts", json!(1)), ("intrinsic_dim", json!(2))];
    let mut play = TestRun::new(run(&[("a", PUT)], &settings));
    play.mentor = Box::new(|_| "Look elsewhere.".to_owned());
    drive(&mut play, 0, |_, _| None);
    let id = last_id(&play, ReflectionKind::Instruction);
    let text = LessonText::plain("Write a poem.");
    play.command(Command::Lesson(LessonCommand::Edit { id, text }));
    drive(&mut play, 20, |state, job| {
        (job.name == "dora.next_points").then(|| {
            let mut found = crate::catalog::compute_job(job, &JobContext::default()).unwrap();
            // Both vectors once more.
            let point = found["points"][0].clone();
            let done = |name: &str| [0, 1].map(|index: usize| state.memory["done"][index][name].clone());
            let points = done("v").map(|v| {
                let mut point = point.clone();
                point["v"] = v;
                point
            });
            (found["points"], found["texts"]) = (json!(points), json!(done("chosen")));
            found
        })
    });
    let done = play.state().memory["done"].as_array().unwrap();
    assert_eq!((&done[0]["assisted"], done.len()), (&json!(true), 3), "{done:?}");
    assert_eq!(done[2]["v"], done[0]["v"], "the one whose reward isn't known");
}

/// Regression: with a greedy prompter and no demonstrations to draw, another sample was the same instruction, and cost the
/// evaluation its reward.
#[test]
fn another_sample_that_would_be_the_same_is_refused() {
    // A model's replies: as many different ones as jobs, or always the same.
    let after_asking = |settings: &[(&str, Value)], reply: &str| {
        let mut all = vec![("prompter", json!("local")), ("n_init", json!(2)), ("rounds", json!(0))];
        all.extend_from_slice(settings);
        let mut play = TestRun::new(run(&[("a", PUT)], &all));
        play.mentor = Box::new(|_| "Look elsewhere.".to_owned());
        let mut count = 0;
        let mut instruct = |_: &State, job: &Job| {
            count += 1;
            (job.name == "dora.instruct").then(|| json!({"text": reply.replace("{}", &count.to_string())}))
        };
        drive(&mut play, 0, &mut instruct);
        let asked = play.engine.decide(&Input::Command(Command::Reflect(ReflectionKind::Instruction)));
        let refused = match asked {
            Ok(events) => {
                play.fold(events);
                None
            }
            Err(error) => Some(error.message),
        };
        drive(&mut play, 20, &mut instruct);
        assert!(play.state().run_over);
        (refused, play.state().memory["done"][0].get("assisted").is_some())
    };
    let (refused, is_assisted) = after_asking(&[("demos", json!(0))], "Say {}.");
    assert!(refused.unwrap().contains("the prompter would write the same instruction again"));
    assert!(!is_assisted);
    let warm = [("prompter_temperature", json!(80))];
    assert_eq!(after_asking(&warm, "Say {}."), (None, true));
    assert_eq!(after_asking(&warm, "Say it."), (None, false), "the same words are the vector's");
}

/// Regression: a prompter was shown pairs of other types of tasks; each type has a search of its own.
#[test]
fn demonstrations_are_about_tasks_of_the_searched_type() {
    let settings = [("n_init", json!(2)), ("rounds", json!(0)), ("attempts", json!(1))];
    let play = play(run(&[("a", PUT), ("b", HEAT)], &settings), |_| false);
    let counts: Vec<usize> =
        jobs(&play, "dora.instruct").iter().map(|inputs| inputs["demos"].as_array().unwrap().len()).collect();
    assert_eq!(counts, [0, 1, 0, 1]);
    let objective: Vec<_> = play.state().pool.active_of_kind(ReflectionKind::Progress).collect();
    assert!(
        objective.last().unwrap().text().text.contains(" for "),
        "{:?}",
        objective.last().unwrap().text()
    );
}

/// Plays three evaluations in a kitchen, each of two lost attempts of seven steps.
fn play_in_kitchen(settings: &[(&str, Value)]) -> TestRun {
    let short = [("n_init", json!(3)), ("rounds", json!(0)), ("attempts", json!(2))];
    let all: Vec<_> = short.iter().chain(settings).cloned().collect();
    let mut spec = run(&[("a", PUT)], &all);
    spec.limits.steps = 7;
    spec.settings.set("thoughts_count", true, SettingOrigin::Flag);
    let mut play = TestRun::new(spec);
    let mut count = 0;
    play.mentor = Box::new(move |_| {
        count += 1;
        format!("Look in place {count} next.")
    });
    let replies = [
        "look",
        "inventory",
        "think: An apple may be cold.",
        "go to fridge 1",
        "open fridge 1",
        "Thought: This one.\nAction: take apple 2 from fridge 1",
        "go to garbagecan 1",
    ];
    play.play_script(&mut FakeHousehold::kitchen("put an apple in garbagecan"), &replies.repeat(6));
    assert!(play.state().run_over);
    play
}

/// As in the public code: the list begins with an empty pair, and each attempt's last five actions are paired with the advice after it.
#[test]
fn demonstrations_may_pair_attempts_with_the_advice_after_them() {
    let settings = [("pairs", json!("trajectory")), ("demos", json!(8))];
    let play = play_in_kitchen(&settings);
    let attempt = "task:put an apple in garbagecan; trajectory:(, inventory), (An apple may be cold., go to fridge 1), \
         (, open fridge 1), (This one., take apple 2 from fridge 1), (, go to garbagecan 1)";
    let demos: Vec<Value> =
        jobs(&play, "dora.instruct").iter().map(|inputs| inputs["demos"].clone()).collect();
    let pair = |number: u32| json!([attempt, format!("Look in place {number} next.")]);
    assert_eq!(demos[0], json!([["", ""]]));
    assert_eq!(demos[1], json!([["", ""], pair(1), pair(2)]));
    assert_eq!(demos[2], json!([["", ""], pair(1), pair(2), pair(3), pair(4)]));
    let state = play.state();
    assert!(!state.memory.to_string().contains("trajectory"), "{}", state.memory);
    let prompts = play.prompts.iter().map(|(state, record)| render(state, record));
    assert!(prompts.into_iter().all(|prompt| !format!("{prompt:?}").contains("trajectory:")));
    // Otherwise the instruction is paired with the advice.
    let play = play_in_kitchen(&[("demos", json!(8))]);
    let instructions = play.state().pool.all().filter(|lesson| lesson.kind == ReflectionKind::Instruction);
    let inputs = jobs(&play, "dora.instruct");
    let first = instructions.into_iter().next().unwrap().text().text.clone();
    assert_eq!(inputs[1]["demos"][0], json!([first, "Look in place 1 next."]));
}

/// A session that is resumed draws the same demonstrations, since all of them are in the journal.
#[test]
fn a_resumed_search_draws_the_same_demonstrations() {
    for pairs in ["prompt", "trajectory"] {
        let settings = [("pairs", json!(pairs)), ("demos", json!(1))];
        let play = play_in_kitchen(&settings);
        let (mut resumed, mut state, mut count) = (play_in_kitchen(&settings), State::default(), 0);
        for envelope in &play.journal {
            if let Event::ComputeRequested { .. } = &envelope.event {
                resumed.engine.state = state.clone();
                let events: Vec<Event> =
                    resumed.engine.advance().into_iter().map(|(_, event)| event).collect();
                assert_eq!(events, std::slice::from_ref(&envelope.event));
                count += 1;
            }
            let stored = serde_json::to_value(envelope).unwrap();
            state.apply(&serde_json::from_value(stored).unwrap());
        }
        assert_eq!(count, 3);
    }
}

/// Each type of tasks has a search of its own, and all of them can be shown when the run has ended; so can the reward of advice.
#[test]
fn the_searches_of_earlier_types_are_kept_for_pictures() {
    let settings = [("n_init", json!(3)), ("rounds", json!(0)), ("attempts", json!(1))];
    let mut play = play(run(&[("a", PUT), ("b", HEAT), ("c", PUT)], &settings), |attempt| attempt % 4 == 0);
    let histories = search_histories(play.state());
    let types: Vec<_> = histories.iter().map(|history| history.task_type.as_deref()).collect();
    assert_eq!(types, [Some(PUT), Some(HEAT)]);
    let objective: Vec<String> = play
        .state()
        .pool
        .active_of_kind(ReflectionKind::Progress)
        .map(|lesson| lesson.text().text.clone())
        .collect();
    let points = histories.iter().flat_map(|history| &history.points);
    for (text, point) in objective.iter().zip(points) {
        assert!(text.contains(&format!(": {:.3},", point.reward)), "{text}: {point:?}");
    }
    assert_eq!((objective.len(), histories[0].points.len(), histories[1].points.len()), (6, 3, 3));
    assert_eq!((histories[0].planned, histories[0].dimension), (3, 10));
    // Regression: exports had no vectors and no predictions.
    let exported = serde_json::to_value(&histories[1]).unwrap();
    assert_eq!(exported["points"][2]["vector"], play.state().memory["done"][2]["v"]);
    assert!(exported["points"][2].get("predicted").is_none(), "a first vector: {exported}");
    assert!(histories[0].points.iter().any(|point| point.place != [0.0, 0.0]));
    let advice = play.state().pool.all().filter(|lesson| lesson.kind == ReflectionKind::Advice);
    let notes: Vec<_> = advice.map(|lesson| lesson_note(play.state(), lesson)).collect();
    assert!(
        notes.len() >= 4 && notes.iter().all(|note| note.as_ref().is_some_and(|n| n.contains(", reward "))),
        "{notes:?}"
    );
    // A session of an older version has only the last one.
    let mut memory = play.state().memory.clone();
    assert!(memory.as_object_mut().unwrap().remove("ended").is_some());
    play.fold(vec![(Cause::Policy, Event::MemorySet { value: memory })]);
    assert_eq!(search_histories(play.state()).len(), 1);
}

/// Plays until a job is computed for the given time, and continues without its result. Returns the newest record of the search.
fn give_up_job(name: &str, time: usize) -> (TestRun, String) {
    let settings =
        [("n_init", json!(2)), ("rounds", json!(1)), ("attempts", json!(1)), ("intrinsic_dim", json!(2))];
    let mut play = TestRun::new(run(&[("a", PUT)], &settings));
    play.mentor = Box::new(|_| "Look elsewhere.".to_owned());
    let mut environment = |_: Option<&str>| a_room();
    let mut actor = |_: &State| Some("look".to_owned());
    play.command(Command::Run);
    while jobs(&play, name).len() < time {
        assert!(play.advance(&mut environment, &mut actor), "{name} is computed");
    }
    play.command(Command::Cancel);
    play.command(Command::GiveUp);
    let newest = play.state().pool.active_of_kind(ReflectionKind::Progress).last().unwrap();
    let said = newest.text().text.clone();
    (play, said)
}

/// Regression: who continued without the next vectors was told nowhere that a random one is tried.
#[test]
fn continuing_without_the_next_vectors_is_recorded() {
    let (play, said) = give_up_job("dora.next_points", 1);
    assert_eq!(said, "There are no new vectors: one random vector is tried instead.");
    assert_eq!(play.state().memory["queue"].as_array().unwrap().len(), 1);
}

/// Regression: who continued without the first instruction was told that the last one stays in force, though there was none, and
/// the record named the job by its internal name.
#[test]
fn continuing_without_an_instruction_says_which_one_is_used() {
    let in_force = |play: &TestRun| {
        let instruction = play.state().pool.active_of_kind(ReflectionKind::Instruction).last();
        instruction.unwrap().text().text.clone()
    };
    let (play, said) = give_up_job("dora.instruct", 1);
    assert_eq!(said, "There is no new instruction: a plain one is used.");
    assert_eq!(in_force(&play), "Say what went wrong and what to do instead.");
    let (play, said) = give_up_job("dora.instruct", 2);
    assert_eq!(said, "There is no new instruction: the one in force stays.");
    assert_eq!(json!(in_force(&play)), play.state().memory["now"]["text"]);
    assert_ne!(in_force(&play), "Say what went wrong and what to do instead.");
}

/// Regression: asking the rules for advice about an attempt without steps did nothing that anyone could see.
#[test]
fn rules_that_find_no_advice_say_so_to_the_person_who_asked() {
    let mut spec = run(&[("a", PUT)], &[]);
    "symbolic".clone_into(&mut spec.mentor);
    let mut play = TestRun::new(spec);
    drive(&mut play, 0, |_, _| None);
    let asked = play.engine.decide(&Input::Command(Command::Reflect(ReflectionKind::Advice)));
    assert_eq!(asked.unwrap_err().message, "no new Advice reflection follows from this trajectory");
}
