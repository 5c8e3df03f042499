//! Checks every prompt of every method, segment by segment: the prompts follow the order in docs/PROMPTS.md, which in
//! turn preserves the papers' order.

use crate::catalog::fixture::{FakeHousehold, TestRun, test_spec};
use crate::domain::{
    LessonText, MessageRole, Purpose, Question, ReflectionKind, RunSpec, Scope, SegmentLabel, SegmentOrigin,
    SettingOrigin, StepResult,
};
use crate::engine::{Command, LessonCommand, State};
use crate::prompt::render;

const HEAT: &str = "pick_heat_then_place_in_recep";
const PUT: &str = "pick_and_place_simple";

/// A row of the table in docs/PROMPTS.md: a prompt's name, its segment order, which of them are its system message, and the
/// paper's order.
struct Row {
    name: String,
    order: Order,
    paper: Vec<String>,
}

/// The segment labels of a prompt in order, and those of its system message.
#[derive(Debug, PartialEq)]
struct Order {
    all: Vec<String>,
    system: Vec<String>,
}

fn documented_orders() -> Vec<Row> {
    let text = include_str!("../../../docs/PROMPTS.md");
    let section = text.split("## Comparison with the papers").nth(1).unwrap().split("\n## ").next().unwrap();
    let labels = |cell: &str| -> Vec<String> {
        cell.split(',').map(|w| w.trim().to_owned()).filter(|w| !w.is_empty() && w != "-").collect()
    };
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let name = cells[0].trim_end_matches('`').to_owned();
        let order = Order { all: labels(cells[1]), system: labels(cells[2]) };
        Row { name, order, paper: labels(cells[3]) }
    })
    .collect()
}

/// Returns the segment labels of a prompt in order; consecutive equal ones are merged.
fn segment_order(state: &State, record: &crate::domain::PromptRecord) -> Order {
    let prompt = render(state, record);
    let (mut names, mut system): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for segment in prompt.segments.iter().filter(|s| !s.text.trim().is_empty()) {
        let lesson = match &segment.origin {
            SegmentOrigin::Lesson { id, .. } => state.pool.get(id),
            _ => None,
        };
        let memory = |scope: Scope, kind: ReflectionKind| match kind {
            ReflectionKind::Positive | ReflectionKind::Negative if scope == Scope::Episode => {
                "short-term".to_owned()
            }
            ReflectionKind::Positive | ReflectionKind::Negative => "long-term".to_owned(),
            kind => kind.name().to_lowercase(),
        };
        let name = match (segment.label, lesson) {
            (SegmentLabel::Memory, Some(l)) => memory(l.scope, l.kind),
            // Headings of lessons, and the numbers before them.
            (
                SegmentLabel::Memory | SegmentLabel::Abstract | SegmentLabel::Error | SegmentLabel::Progress,
                None,
            ) => continue,
            (SegmentLabel::Thought | SegmentLabel::Action | SegmentLabel::Observation, _) => {
                "steps".to_owned()
            }
            (SegmentLabel::Instruction, _) if segment.text.starts_with("STATUS:") => "outcome".to_owned(),
            (SegmentLabel::Instruction, _)
                if ["Reward ", "Total reward"].iter().any(|w| segment.text.trim_start().starts_with(w)) =>
            {
                "reward".to_owned()
            }
            (SegmentLabel::Instruction, _) if segment.text.contains("Task type:") => "type".to_owned(),
            (label, _) => label.name().to_owned(),
        };
        if segment.message_role == MessageRole::System && system.last() != Some(&name) {
            system.push(name.clone());
        }
        if names.last() != Some(&name) {
            names.push(name);
        }
    }
    Order { all: names, system }
}

/// Plays a run of up to `trials` trials of three steps. All are lost except trial number `won`. The mentor gives a
/// different answer to each question.
fn play_lost_run(
    method: &str,
    kind: &str,
    settings: &[(&str, &str)],
    trials: u32,
    won: Option<u32>,
) -> TestRun {
    let mut run: RunSpec = test_spec(method, &[("a", kind)]);
    (run.mentor, run.trials, run.limits.steps, run.loop_detector) = ("script".to_owned(), trials, 3, false);
    for (name, value) in settings {
        let value = match value.parse::<u64>() {
            Ok(number) => serde_json::Value::from(number),
            Err(_) => serde_json::Value::from(*value),
        };
        run.settings.set(name, value, SettingOrigin::Flag);
    }
    let mut play = TestRun::new(run);
    let mut count = 0;
    play.mentor = Box::new(move |prompt| {
        count += 1;
        match prompt.question.unwrap() {
            Question { kind: ReflectionKind::Error, .. } => {
                format!("[{{'mistake': 'Mistake {count}.', 'solution': 'Remedy {count}.'}}]")
            }
            Question { purpose: Purpose::Contrast | Purpose::Extract, kind: ReflectionKind::Abstract } => {
                format!("ADD: Said {count}.")
            }
            Question { kind: ReflectionKind::Abstract | ReflectionKind::Progress, .. } => {
                format!("['Said {count}.']")
            }
            Question { purpose: Purpose::PlanActions, .. } => "inventory\nlook".to_owned(),
            _ => format!("1: Said {count}."),
        }
    });
    if method == "fcrf" {
        for text in ["Look before you go.", "Open before you take."] {
            let text = LessonText::plain(text);
            play.command(Command::Lesson(LessonCommand::add(
                ReflectionKind::Lesson,
                Scope::Environment,
                text,
                String::new(),
            )));
        }
    }
    if method == "expel" {
        let text = LessonText::plain("Look.");
        let kind = ReflectionKind::Abstract;
        play.command(Command::Lesson(LessonCommand::add(kind, Scope::Environment, text, String::new())));
    }
    if settings.iter().any(|(name, value)| *value == "symbolic" || *name == "constitution") {
        for kind in [ReflectionKind::Abstract, ReflectionKind::Error, ReflectionKind::Progress] {
            let command =
                LessonCommand::add(kind, Scope::Environment, LessonText::plain("Look."), String::new());
            play.command(Command::Lesson(command));
        }
    }
    let (mut episode, mut step) = (0, 0);
    let mut world = move |action: Option<&str>| {
        step += 1;
        if action.is_none() {
            (episode, step) = (episode + 1, 0);
            return FakeHousehold::kitchen("put a hot apple in garbagecan").reset();
        }
        let wins = won == Some(episode) && step == 3;
        let progress = f64::from(u8::from(step > 1)) / 2.0;
        StepResult {
            done: wins,
            won: wins,
            valid: true,
            observation: "Well.".to_owned(),
            progress,
            ..StepResult::default()
        }
    };
    play.play_script_in(&mut world, &["inventory"; 100]);
    play
}

/// Returns the segment order of the last prompt to the actor, or to the mentor with this question.
fn last_prompt_order(play: &TestRun, question: Option<Question>) -> Order {
    let prompt = play.prompts.iter().rfind(|(_, p)| p.question == question);
    let (state, record) = prompt.unwrap_or_else(|| panic!("{question:?} was never asked"));
    segment_order(state, record)
}

#[test]
fn every_prompt_has_the_segment_order_of_its_paper() {
    let ask = |kind, purpose| Some(Question { kind, purpose });
    let reflect = |kind| ask(kind, Purpose::Reflect);
    let neural = [("generation", "neural"), ("r_freq", "1"), ("s_freq", "1")];
    let neuro_settings = [("generation", "neuro-symbolic"), ("r_freq", "1"), ("s_freq", "1")];
    let neural_run = play_lost_run("omnireflect", HEAT, &neural, 1, None);
    let neuro_symbolic = play_lost_run("omnireflect", HEAT, &neuro_settings, 1, None);
    let symbolic =
        play_lost_run("omnireflect", HEAT, &[("generation", "symbolic"), ("reflect", "never")], 1, None);
    let advised = play_lost_run("react", HEAT, &[("constitution", "yes")], 1, None);
    let strategy = |word| play_lost_run("reflexion", HEAT, &[("strategy", word)], 3, None);
    let (plans, in_depth) = (strategy("reflexion"), play_lost_run("fcrf", HEAT, &[], 2, None));
    let simple = play_lost_run("fcrf", PUT, &[("k_table", "code")], 3, None);
    let corrected = play_lost_run("fcrf", HEAT, &[("lesson_pool", "summary")], 2, Some(2));
    let memories = play_lost_run("sweet_sour", HEAT, &[("transfer", "always")], 2, None);
    let planned = play_lost_run("planning", HEAT, &[("replan", "attempt")], 2, None);
    let gathered = play_lost_run("expel", HEAT, &[("calibration", "1"), ("gather_trials", "3")], 2, Some(3));
    let recalled = play_lost_run("expel", HEAT, &[("success_batch", "1")], 2, Some(2));
    let criticised = play_lost_run("rci", HEAT, &[], 1, None);
    let advised_attempts = play_lost_run("dora", HEAT, &[("n_init", "1"), ("rounds", "0")], 1, None);
    let actual: Vec<(&str, Order)> = vec![
        ("react", last_prompt_order(&play_lost_run("react", HEAT, &[], 1, None), None)),
        ("react with a constitution", last_prompt_order(&advised, None)),
        ("reflexion none", last_prompt_order(&strategy("none"), None)),
        ("reflexion last-attempt", last_prompt_order(&strategy("last-attempt"), None)),
        ("reflexion reflexion", last_prompt_order(&plans, None)),
        ("reflexion both", last_prompt_order(&strategy("both"), None)),
        ("reflexion: reflect.plan", last_prompt_order(&plans, reflect(ReflectionKind::Plan))),
        ("omnireflect symbolic", last_prompt_order(&symbolic, None)),
        ("omnireflect neural", last_prompt_order(&neural_run, None)),
        ("omnireflect neuro-symbolic", last_prompt_order(&neuro_symbolic, None)),
        ("omnireflect: reflect.abstract", last_prompt_order(&neural_run, reflect(ReflectionKind::Abstract))),
        ("omnireflect: reflect.error", last_prompt_order(&neural_run, reflect(ReflectionKind::Error))),
        ("omnireflect: reflect.progress", last_prompt_order(&neural_run, reflect(ReflectionKind::Progress))),
        (
            "omnireflect neuro-symbolic: reflect.abstract",
            last_prompt_order(&neuro_symbolic, reflect(ReflectionKind::Abstract)),
        ),
        (
            "omnireflect: summarise.abstract",
            last_prompt_order(&neural_run, ask(ReflectionKind::Abstract, Purpose::Summarise)),
        ),
        (
            "omnireflect: summarise.error",
            last_prompt_order(&neural_run, ask(ReflectionKind::Error, Purpose::Summarise)),
        ),
        ("fcrf in-depth", last_prompt_order(&in_depth, None)),
        ("fcrf simple", last_prompt_order(&simple, None)),
        ("fcrf: reflect.experience", last_prompt_order(&in_depth, reflect(ReflectionKind::Experience))),
        ("fcrf: choose.lesson", last_prompt_order(&in_depth, ask(ReflectionKind::Lesson, Purpose::Choose))),
        ("fcrf: build.plan", last_prompt_order(&in_depth, ask(ReflectionKind::Plan, Purpose::Build))),
        ("fcrf: reflect.plan", last_prompt_order(&simple, reflect(ReflectionKind::Plan))),
        (
            "fcrf: contrast.lesson",
            last_prompt_order(&corrected, ask(ReflectionKind::Lesson, Purpose::Contrast)),
        ),
        (
            "fcrf: summarise.lesson",
            last_prompt_order(&corrected, ask(ReflectionKind::Lesson, Purpose::Summarise)),
        ),
        ("sweet_sour", last_prompt_order(&memories, None)),
        ("sweet_sour: reflect.positive", last_prompt_order(&memories, reflect(ReflectionKind::Positive))),
        ("sweet_sour: reflect.negative", last_prompt_order(&memories, reflect(ReflectionKind::Negative))),
        ("expel gathering", last_prompt_order(&gathered, None)),
        ("expel", last_prompt_order(&recalled, None)),
        ("expel: reflect.plan", last_prompt_order(&gathered, reflect(ReflectionKind::Plan))),
        (
            "expel: contrast.abstract",
            last_prompt_order(&recalled, ask(ReflectionKind::Abstract, Purpose::Contrast)),
        ),
        (
            "expel: extract.abstract",
            last_prompt_order(&recalled, ask(ReflectionKind::Abstract, Purpose::Extract)),
        ),
        (
            "planning: actions.plan",
            last_prompt_order(&planned, ask(ReflectionKind::Plan, Purpose::PlanActions)),
        ),
        ("rci", last_prompt_order(&criticised, None)),
        ("rci: draft.plan", last_prompt_order(&criticised, ask(ReflectionKind::Plan, Purpose::Draft))),
        (
            "rci: criticise.negative",
            last_prompt_order(&criticised, ask(ReflectionKind::Negative, Purpose::Criticise)),
        ),
        ("rci: improve.plan", last_prompt_order(&criticised, ask(ReflectionKind::Plan, Purpose::Improve))),
        ("dora", last_prompt_order(&advised_attempts, None)),
        ("dora: reflect.advice", last_prompt_order(&advised_attempts, reflect(ReflectionKind::Advice))),
    ];
    let table = documented_orders();
    let wrong: Vec<String> = actual
        .iter()
        .filter(|(name, order)| !table.iter().any(|row| row.name == *name && row.order == *order))
        .map(|(name, order)| format!("| `{name}` | {} | {} |", order.all.join(", "), order.system.join(", ")))
        .collect();
    assert!(wrong.is_empty(), "docs/PROMPTS.md has another order for:\n{}", wrong.join("\n"));
    for row in &table {
        assert!(actual.iter().any(|(name, _)| *name == row.name), "no prompt is called {}", row.name);
        let mut ours = row.order.all.iter();
        let in_order = row.paper.iter().all(|part| ours.any(|o| o == part));
        assert!(in_order, "{}: {:?} is not in the order of {:?}", row.name, row.order.all, row.paper);
    }
    assert_eq!(table.len(), actual.len());
}
