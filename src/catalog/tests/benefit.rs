//! Methods, symbolic mentor and rule-based actor together over generated games, in a run of several tasks, so that
//! lessons carry over between tasks.

use crate::catalog::fixture::{TestRun, test_spec};
use crate::domain::{ReflectionKind, StepResult};
use crate::engine::{Command, State};
use crate::env::Environment;
use crate::env::household::{self, Difficulty, TaskId};
use crate::prompt::render;
use crate::stand_in;
use crate::symbolic::Goal;

/// Returns one game of each task type for each seed. The rule-based actor was tuned on these seeds.
fn games(seeds: std::ops::Range<u32>) -> Vec<TaskId> {
    let kinds = household::TaskKind::ALL;
    let game =
        |seed| kinds.into_iter().map(move |kind| TaskId { difficulty: Difficulty::Normal, kind, seed });
    seeds.flat_map(game).collect()
}

/// Plays the games in one run and returns the final state; `after_episode` is called after each one.
fn run(method: &str, games: &[TaskId], mut after_episode: impl FnMut(&State)) -> State {
    let names: Vec<String> = games.iter().map(TaskId::to_string).collect();
    let tasks: Vec<(&str, &str)> = names.iter().map(|n| (n.as_str(), "")).collect();
    let mut spec = test_spec(method, &tasks);
    // The rule-based actor ignores examples; without them the prompts are faster to hash.
    spec.settings.set("examples", 0, crate::domain::SettingOrigin::Flag);
    let mut test_run = TestRun::new(spec);
    test_run.command(Command::Run);
    let mut worlds = games.iter().map(|id| household::open_world(id).unwrap());
    let mut world = None;
    let mut answer = |action: Option<&str>| -> StepResult {
        match action {
            None => world.insert(worlds.next().unwrap()).reset().unwrap(),
            Some(action) => world.as_mut().unwrap().step(action).unwrap(),
        }
    };
    let mut actor = |state: &State| {
        let record = state.actor_prompts.0.as_ref().unwrap();
        Some(stand_in::answer(&[], &render(state, record), record.seed))
    };
    let mut ended = 0;
    while test_run.advance(&mut answer, &mut actor) {
        if test_run.state().ended_episodes.len() > ended {
            ended += 1;
            after_episode(test_run.state());
        }
        test_run.prompts.clear();
    }
    test_run.state().clone()
}

fn wins(state: &State) -> usize {
    state.ended_episodes.iter().filter(|e| e.won).count()
}

#[test]
fn symbolic_reflections_are_correct_and_help_the_rule_based_actor() {
    let games = games(300..303);
    let without = run("react", &games, |_| {});
    let with = run("omnireflect", &games, |state| {
        let episode = state.episode.as_ref().unwrap();
        let goal = Goal::parse(&episode.task.goal).expect("every generated goal is understood");
        let reached = episode.note_tallies.get("subgoal").map_or(0, |t| t.count as usize);
        let won = state.ended_episodes.last().unwrap().won;
        assert_eq!(reached == goal.subgoals().len(), won, "{}: {}", episode.task.id, episode.task.goal);
        assert!(
            !episode.note_tallies.contains_key("unclear"),
            "{}: every failure has a reason",
            episode.task.id
        );
    });
    println!("won {} without, {} with, of {}", wins(&without), wins(&with), games.len());
    assert_eq!((without.ended_episodes.len(), with.ended_episodes.len()), (games.len(), games.len()));
    assert!(wins(&with) > wins(&without));
    let error_lesson_count = |s: &State| s.pool.visible_of_kind(ReflectionKind::Error).count();
    assert!(
        error_lesson_count(&without) == 0 && (5..30).contains(&error_lesson_count(&with)),
        "{} Error lessons",
        error_lesson_count(&with)
    );
    assert!(
        with.pool
            .visible_of_kind(ReflectionKind::Abstract)
            .all(|l| !l.text().text.contains(|c: char| c.is_ascii_digit()))
    );
}

#[test]
#[ignore = "takes minutes; run it after changing a rule; prints the wins and the lessons learned"]
fn a_long_run_prints_wins_and_lessons() {
    let games = games(300..330);
    for method in ["react", "omnireflect"] {
        let state = run(method, &games, |_| {});
        let steps: u32 = state.ended_episodes.iter().map(|e| e.steps).sum();
        println!("{method}: {} of {} won, {steps} steps", wins(&state), games.len());
        for lesson in state.pool.all().filter(|l| l.kind != ReflectionKind::Progress) {
            let text = lesson.text();
            println!(
                "{:4} {:?} {} {}",
                lesson.recurrences + 1,
                lesson.kind,
                text.text,
                text.solution.as_deref().unwrap_or_default()
            );
        }
    }
}
