//! The token budget of a prompt once a server has reported token counts.

use super::*;
use crate::domain::{ModelRole, SettingOrigin};
use crate::engine::{PromptRequest, TokenRatio};

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
