//! The token budget of a prompt once a server has reported token counts.

use super::*;
use crate::domain::{
    LessonText, ModelRole, Purpose, Question, ReflectionKind, Scope, SegmentOrigin, SettingOrigin,
};
use crate::engine::{LessonCommand, PromptRequest, TokenRatio};

/// Regression: a server counted 1.5 times the estimated tokens, so a prompt within the budget didn't fit.
#[test]
fn a_higher_token_count_of_the_server_shortens_the_prompt() {
    let mut run = test_spec("react", &[TASK]);
    run.settings.set("context_tokens", 700, SettingOrigin::Flag);
    run.settings.set("examples", 0, SettingOrigin::Flag);
    run.limits.steps = 200;
    let mut play = TestRun::new(run);
    let mut household = FakeHousehold::kitchen("put a hot apple in garbagecan");
    let replies: Vec<String> = (0..60).map(|n| format!("go to countertop {}", 1 + n % 2)).collect();
    play.play_script(&mut household, &replies.iter().map(String::as_str).collect::<Vec<_>>());
    let (state, record) = play.prompts.last().unwrap();
    let request =
        PromptRequest { role: ModelRole::Actor, question: None, step: record.step, retry: record.retry };
    let builder = PromptBuilder::new(Arc::new(crate::catalog::builtin_templates()));
    let tokens = |counted: u64| {
        let mut state = state.clone();
        state.token_ratios = vec![TokenRatio { role: ModelRole::Actor, estimated: 1000, counted }];
        builder.draft(&state, &request).record.tokens
    };
    let (equal, higher, lower) = (tokens(1000), tokens(1500), tokens(500));
    assert_eq!((equal, lower), (record.tokens, record.tokens), "a lower count makes no prompt longer");
    assert!((380..=466).contains(&higher), "{higher}, expected at most 700 / 1.5");
}

/// Regression: 36 Abstract and 12 Error lessons of a calibration filled the prompt of every later task.
#[test]
fn lessons_over_their_budget_are_left_out_from_the_oldest_but_a_persons_stay() {
    let load = |text: &str| {
        let text = LessonText::plain(text);
        let command = LessonCommand::add(ReflectionKind::Abstract, Scope::Environment, text, String::new());
        ("constitution.jsonl".to_owned(), command)
    };
    let loaded = ["First of the file.", "Second of the file.", "Third of the file.", "Fourth of the file."];
    let shown = |budget: u64, question: Option<Question>| {
        let mut run = test_spec("omnireflect", &[TASK]);
        run.settings.set("lesson_tokens", budget, SettingOrigin::Flag);
        let mut play = TestRun::with_pool(run, loaded.map(load).to_vec());
        play.command(add_lesson(ReflectionKind::Abstract, LessonText::plain("Mine, the oldest here.")));
        play.play_script(&mut FakeHousehold::kitchen("put a hot apple in garbagecan"), &["look"]);
        let role = if question.is_some() { ModelRole::Mentor } else { ModelRole::Actor };
        let builder = PromptBuilder::new(Arc::new(crate::catalog::builtin_templates()));
        let request = PromptRequest { role, question, step: 1, retry: 0 };
        let record = builder.draft(play.state(), &request).record;
        let body = builder.render(play.state(), &record).body();
        let kept: Vec<&str> = loaded.into_iter().filter(|text| body.contains(text)).collect();
        assert!(body.contains("Mine, the oldest here."), "{body}");
        let reasons: Vec<String> = record.dropped.iter().map(|dropped| dropped.reason.clone()).collect();
        assert!(
            record.dropped.iter().all(|d| matches!(d.origin, SegmentOrigin::Lesson { .. })),
            "{reasons:?}"
        );
        (kept, reasons)
    };
    assert_eq!(shown(0, None), (loaded.to_vec(), Vec::new()), "0: no limit");
    let (kept, reasons) = shown(20, None);
    assert_eq!(kept, ["Third of the file.", "Fourth of the file."]);
    assert_eq!(reasons, vec!["the lessons don't fit in their budget of 20 tokens, and it is the oldest"; 2]);
    assert_eq!(shown(1, None).0, Vec::<&str>::new(), "a person's lesson is never left out");
    let summary = Question { kind: ReflectionKind::Abstract, purpose: Purpose::Summarise };
    assert_eq!(shown(20, Some(summary)).0, loaded, "a summary is about the whole list");
}
