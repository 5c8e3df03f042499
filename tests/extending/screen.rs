//! The example on a screen: pictures, lanes, prompts, forks and exports show what its entries declare.

use super::{assert_contains, program};
use crate::terminal::Terminal;
use portable_pty::CommandBuilder;

fn open(args: &[&str]) -> Terminal {
    let mut command = CommandBuilder::new(program());
    command.args(["run", "--env", "counter", "--task", "14"]);
    command.args(args);
    Terminal::start(command, 140, 40, None)
}

#[test]
fn a_screen_shows_the_world_and_the_plan_and_forks_and_exports_them() {
    let mut window = open(&["--method", "shortest"]);
    window.wait_for("PAUSED · your turn");
    // The lane numbers the plan and marks the action of the step.
    window.wait_for("▸ 1  add 5");
    let text = window.text();
    assert_contains(&text, &["3 Way", "2  add 5", "3  add 3", "4  add 1", "0 of 14", "----------"]);
    assert!(text.trim_start().starts_with("14 "), "the first row has the short goal:\n{text}");
    window.press("n");
    window.wait_for("▸ 2  add 5");
    window.wait_for("5 of 14");
    window.press("n");
    window.wait_for("▸ 3  add 3");
    window.wait_for("10 of 14");
    assert_contains(&window.text(), &["##########"]);
    // No step has a prompt, and the method has no mentor that could have written the plan.
    window.press("p");
    window.wait_for("No model is called for a step");
    assert!(!window.text().contains("The mentor writes"), "{}", window.text());
    window.press("q");
    window.press("\x1b[D");
    window.wait_for("PAST step 2 of 3");
    window.press("F");
    window.wait_for("Continue on a new branch");
    window.press("\r");
    window.wait_for("new branch b1");
    window.wait_for("▸ 3  add 3");
    window.press("E");
    window.wait_for("report written to");
    // Beside the session is the program's `state`.
    let mut entries = std::fs::read_dir(window.sessions.path()).unwrap().map(|entry| entry.unwrap().path());
    let report =
        entries.find_map(|path| Some(path.join("report.html")).filter(|report| report.exists())).unwrap();
    let report = std::fs::read_to_string(report).unwrap();
    assert_contains(&report, &["reach 14", "shortest", "The sum is 10.", "add 3"]);
    window.press("q");
    assert_eq!(window.wait_for_exit(), 0);
    window.assert_terminal_restored();
}

/// With a built-in method: its prompts have the environment's texts, and its lanes the lessons of the environment's rules.
#[test]
fn a_screen_shows_the_prompts_and_lessons_of_the_environment() {
    let mut window = open(&["--method", "omnireflect", "--actor", "human"]);
    window.wait_for("0 of 14");
    // The dialog for an action is open.
    window.wait_for("You play: your action");
    window.press("\x1b");
    window.wait_until_gone("You play: your action");
    window.press("p");
    window.wait_for("How the counter works");
    // The first segment is selected and folded.
    window.press("\r");
    window.wait_for_wrapped("so don't go past the number");
    window.wait_for("5 and 3 make 8, and 1 makes 9.");
    window.press("q");
    window.press("o");
    window.wait_for("You play: your action");
    // An Enter before the list is there says so instead.
    window.wait_until_gone("loading admissible actions");
    window.press("add 7\r");
    window.wait_for("not admissible here; press again to run it as typed");
    window.press("\r");
    window.wait_for("! not an action here: add 7");
    window.wait_for("Add only 1, 3 or 5.");
    window.wait_for("You play: your action");
    window.press("\x1b");
    window.wait_until_gone("You play: your action");
    window.press("q");
    assert_eq!(window.wait_for_exit(), 0);
}

/// Regression: with a method that proposes every action by itself, `p` previewed a prompt that is never sent, the fork dialog
/// offered calls of an actor, and a new lesson was said to count from the next prompt.
#[test]
fn a_screen_of_a_method_without_an_actor_mentions_no_prompt_and_no_call() {
    let mut window = open(&["--method", "greedy"]);
    window.wait_for("PAUSED · your turn");
    window.press("n");
    window.wait_for("5 of 14");
    window.press("p");
    window.wait_for("the method proposes each action by itself");
    window.press("q");
    window.wait_until_gone("the method proposes each action by itself");
    window.press("a");
    window.wait_for("Every version is kept.");
    window.press("Add 5 first.\r");
    window.wait_for("saved as Abstract");
    assert!(!window.text().contains("next prompt"), "{}", window.text());
    window.press("\x1b[D");
    window.wait_for("PAST step 1");
    window.press("F");
    window.wait_for("proposal of step 2");
    assert!(
        !window.text().contains("actor call") && !window.text().contains("call the actor"),
        "{}",
        window.text()
    );
    window.press("\x1b");
    window.wait_until_gone("proposal of step 2");
    // One level back: from the past to the present.
    window.press("q");
    window.wait_until_gone("PAST step 1");
    window.press("q");
    assert_eq!(window.wait_for_exit(), 0);
}
