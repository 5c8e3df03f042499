//! Tests of the whole command line.

use super::args::{Cli, check_flags, repeated_flag};
use clap::{Arg, Command, CommandFactory as _};
use std::fmt::Write as _;

#[test]
fn command_line_is_well_formed() {
    Cli::command().debug_assert();
    assert_eq!(check_flags(), Ok(()));
}

/// Regression: a method's option with the flag of something else was accepted, and hid it or ended the program.
#[test]
fn a_flag_that_its_command_has_already_is_named() {
    let with_flag = |flag: &'static str| {
        let run = Command::new("run").args([Arg::new("tasks").long("tasks"), Arg::new("option").long(flag)]);
        let program = Command::new("program").arg(Arg::new("config").long("config").global(true));
        repeated_flag(&program.subcommand(run), &["help"])
    };
    for flag in ["tasks", "config", "help"] {
        assert_eq!(with_flag(flag), Some(("run".to_owned(), flag.to_owned())));
    }
    assert_eq!(with_flag("own"), None);
}

/// Snapshot of all help texts, which are an interface.
#[test]
fn help_texts() {
    let mut program = Cli::command();
    program.build();
    let mut texts = program.render_long_help().to_string();
    for verb in program.get_subcommands_mut() {
        let name = verb.get_name().to_owned();
        let _ = write!(texts, "\n\n==== {name}\n{}", verb.render_long_help());
    }
    insta::assert_snapshot!(texts);
    let run = program.find_subcommand_mut("run").unwrap();
    insta::assert_snapshot!("short_help_of_run", run.render_help().to_string());
}

#[test]
fn full_disk_message_differs_without_a_screen_to_retry_from() {
    let halt = crate::driver::Halt { reason: "no space left".to_owned(), waiting: 1, ..Default::default() };
    assert!(halt.screen_message().contains("1 more wait in memory"));
    let error = super::headless::halt_error(&halt, "s/1");
    assert!(error.message.contains("no space left; the run has stopped"), "{}", error.message);
    assert!(!error.message.contains(halt.hint()), "{}", error.message);
    assert!(
        error.hint.contains("free some disk space") && error.hint.contains("resume s/1`"),
        "{}",
        error.hint
    );
}

/// Regression: piped output was not cleaned, and could reach a terminal later from a file.
#[test]
fn outside_text_is_cleaned_for_pipes_and_terminals() {
    use super::output::sanitized;
    let hostile = "a\u{1b}]0;owned\u{7}b\nc\u{9b}31md\u{202e}e\tf";
    assert_eq!(sanitized(hostile, true), "ab\ncde    f");
    assert_eq!(sanitized(hostile, false), "ab\ncde\tf");
}

#[test]
fn dumb_terminal_is_used_line_by_line() {
    for (term, expected) in [("dumb", true), ("", cfg!(unix)), ("xterm-256color", false), ("linux", false)] {
        assert_eq!(super::is_dumb_terminal(term), expected, "{term:?}");
    }
}
