//! The command line as a whole.

use super::args::Cli;
use clap::CommandFactory as _;
use std::fmt::Write as _;

#[test]
fn the_command_line_is_well_formed() {
    Cli::command().debug_assert();
}

/// The help texts are an interface: a change is seen here first.
#[test]
fn help_texts() {
    let mut program = Cli::command();
    program.build();
    let mut texts = program.render_help().to_string();
    for verb in program.get_subcommands_mut() {
        let name = verb.get_name().to_owned();
        let _ = write!(texts, "\n\n==== {name}\n{}", verb.render_help());
    }
    insta::assert_snapshot!(texts);
}

#[test]
fn a_dumb_terminal_is_talked_to_line_by_line() {
    for (term, is) in [("dumb", true), ("", cfg!(unix)), ("xterm-256color", false), ("linux", false)] {
        assert_eq!(super::dumb(term), is, "{term:?}");
    }
}
