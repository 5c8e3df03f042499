//! Checks that the exemplars of neuro-symbolic generation are what the symbolic rules write in our own households.

use crate::catalog::fixture::{TestRun, test_spec};
use crate::domain::{Author, ReflectionKind, RunSpec, SettingOrigin, StepResult};
use crate::engine::{Command, State};
use crate::env::Environment;
use crate::env::household::{self, Difficulty, TaskId};
use crate::prompt::{Templates, forms, render};
use crate::stand_in;

/// Maximum number of sentences shown per kind.
const MAX_SENTENCES: usize = 6;

/// Returns the lessons of a kind that the rules write when the rule-based actor plays the first calibration task of
/// every type.
fn rule_written_lines(kind: ReflectionKind) -> String {
    let games =
        household::TaskKind::ALL.map(|kind| TaskId { difficulty: Difficulty::Normal, kind, seed: 900_001 });
    let names: Vec<String> = games.iter().map(TaskId::to_string).collect();
    let tasks: Vec<(&str, &str)> = names.iter().map(|n| (n.as_str(), "")).collect();
    let mut spec = test_spec("omnireflect", &tasks);
    spec.settings.set("examples", 0, SettingOrigin::Flag);
    let mut play = TestRun::new(spec);
    play.command(Command::Run);
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
    while play.advance(&mut answer, &mut actor) {
        play.prompts.clear();
    }
    let mut lines: Vec<String> = Vec::new();
    for reflection in play.state().reflections.iter().filter(|r| r.kind == kind) {
        assert_eq!(reflection.author, Author::Symbolic);
        for item in &reflection.items {
            let line = forms::lesson_line(&item.text);
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines.truncate(MAX_SENTENCES);
    lines.concat()
}

#[test]
fn exemplars_equal_what_the_rules_write() {
    let file = include_str!("../../env/household/prompts/household.toml");
    let texts: toml::Table = toml::from_str(file).unwrap();
    let kinds = [ReflectionKind::Abstract, ReflectionKind::Error, ReflectionKind::Progress];
    let heading = "\nReflections of this kind that rules wrote about other tasks; follow their style:\n";
    let written = kinds.map(|kind| format!("{heading}{}", rule_written_lines(kind)));
    let exemplars = kinds.map(|kind| {
        let name = format!("exemplars_{}", kind.name().to_lowercase());
        texts["texts"].get(&name).and_then(toml::Value::as_str).unwrap_or_default().to_owned()
    });
    assert_eq!(exemplars, written, "exemplars_abstract, _error, _progress in household.toml");
}

#[test]
fn neuro_symbolic_questions_show_exemplars_and_a_pool_replaces_them() {
    use crate::domain::{Question, SegmentLabel, SegmentOrigin};
    use crate::engine::PromptRequest;
    use crate::prompt::PromptBuilder;
    use std::sync::Arc;

    let mut run = test_spec("omnireflect", &[("a", "")]);
    run.mentor = "script".to_owned();
    run.limits.steps = 2;
    run.settings.set("generation", "neuro-symbolic", SettingOrigin::Flag);
    let mut play = TestRun::new(run);
    let mut household = crate::catalog::fixture::FakeHousehold::kitchen("put a hot apple in garbagecan");
    play.play_script(&mut household, &["look"; 2]);
    let example = |templates: Templates, kind| {
        let question = Some(Question::reflect(kind));
        let request = PromptRequest { role: crate::domain::ModelRole::Mentor, question, step: 1, retry: 0 };
        let builder = PromptBuilder::new(Arc::new(templates));
        let draft = builder.draft(play.state(), &request);
        let prompt = builder.render(play.state(), &draft.record);
        let segment = prompt
            .segments
            .into_iter()
            .find(|s| s.label == SegmentLabel::Example)
            .expect("there is an example");
        assert!(matches!(segment.origin, SegmentOrigin::Text(_)), "stored as a separate text");
        segment.text.to_string()
    };
    for kind in [ReflectionKind::Abstract, ReflectionKind::Error, ReflectionKind::Progress] {
        assert!(example(crate::catalog::builtin_templates(), kind).contains("\n- "), "{kind:?}");
    }
    let custom = vec![(ReflectionKind::Abstract, "- Mine.\n".to_owned())];
    let with_custom = crate::catalog::builtin_templates().with_exemplars(custom.clone());
    let run = test_spec("omnireflect", &[("easy/put/1", "put")]);
    let hash = with_custom.hash_for(&run);
    assert_ne!(hash, crate::catalog::builtin_templates().hash_for(&run));
    assert_eq!(hash, crate::catalog::builtin_templates().with_exemplars(custom).hash_for(&run));
    let replaced = example(with_custom.clone(), ReflectionKind::Abstract);
    assert!(replaced.ends_with(":\n- Mine.\n"));
    // The exemplars of a file have the same heading as those of the environments.
    let own = example(crate::catalog::builtin_templates(), ReflectionKind::Abstract);
    assert_eq!(own.split_once(":\n").unwrap().0, replaced.split_once(":\n").unwrap().0);
    assert_eq!(
        example(with_custom, ReflectionKind::Error),
        example(crate::catalog::builtin_templates(), ReflectionKind::Error)
    );
}

/// Regression: one kind with exemplars was enough, so in domains without an Abstract sentence the mentor's Abstract requests
/// were those of neural generation.
#[test]
fn neuro_symbolic_generation_needs_exemplars_of_every_kind_that_is_written() {
    let templates = crate::catalog::builtin_templates();
    let run = |method: &str, env: &str, task_type: &str| {
        let mut run = test_spec(method, &[("a", task_type), ("b", task_type)]);
        run.tasks.iter_mut().for_each(|task| task.env = env.to_owned());
        for (setting, value) in [("generation", "neuro-symbolic"), ("reflect", "periodic")] {
            run.settings.set(setting, value, SettingOrigin::Flag);
        }
        run
    };
    let missing = |run: &RunSpec| {
        crate::catalog::check_texts(run, &templates).map_or_else(|e| e.message, |()| String::new())
    };
    for env in ["household", "alfworld", "babyai"] {
        assert_eq!(missing(&run("omnireflect", env, "any")), "", "{env}");
    }
    for domain in ["gripper", "blockworld", "barman", "tyreworld"] {
        assert_eq!(missing(&run("omnireflect", "pddl", domain)), "", "{domain}");
    }
    let mut own_domain = run("omnireflect", "pddl", "ferry");
    let why = missing(&own_domain);
    assert!(why.contains("none of Abstract reflections in pddl (ferry) (text exemplars_abstract;"), "{why}");
    assert!(!why.contains("Error") && !why.contains("Progress"), "{why}");
    own_domain.settings.set("kind_abstract", false, SettingOrigin::Flag);
    assert_eq!(missing(&own_domain), "", "what isn't written needs no exemplars");
    let foreign = run("omnireflect", "elsewhere", "");
    for kind in ["Abstract", "Error", "Progress"] {
        assert!(missing(&foreign).contains(&format!("none of {kind} reflections in elsewhere")), "{kind}");
    }
    // Calibration writes no Progress reflections, and ReAct none at all.
    let mut calibrated = run("react", "elsewhere", "");
    assert_eq!(missing(&calibrated), "");
    calibrated.settings.set("calibration", 1, SettingOrigin::Flag);
    assert!(!missing(&calibrated).contains("Progress") && missing(&calibrated).contains("Error"));
}
