//! `completions` and `man`: generates shell completions and manual pages.

use super::args::{self, Cli};
use super::error::{CliError, program_name};
use super::output::Output;
use crate::files;
use clap::CommandFactory as _;

/// Runs `completions SHELL`.
pub(super) fn completions(args: &args::Completions, out: &mut Output) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), program_name(), &mut script);
    out.print_document(&String::from_utf8_lossy(&script))
}

/// Runs `man`: prints the program's page, or writes all pages to a folder.
pub(super) fn man(args: &args::Man, out: &mut Output) -> Result<(), CliError> {
    let Some(dir) = &args.write else {
        let mut page = Vec::new();
        render(named_command(), &mut page);
        return out.print_document(&String::from_utf8_lossy(&page));
    };
    std::fs::create_dir_all(dir).map_err(|e| CliError::file(dir, "could not be created", &e))?;
    let mut program = named_command();
    program.build();
    let name = program_name();
    let mut pages = vec![(name.clone(), program.clone())];
    for verb in program.get_subcommands() {
        let name = format!("{name}-{}", verb.get_name());
        pages.push((name, verb.clone()));
    }
    for (name, command) in pages {
        let mut page = Vec::new();
        render(command, &mut page);
        let path = dir.join(format!("{name}.1"));
        files::replace_shared(&path, &page).map_err(|e| CliError::file(&path, "could not be written", &e))?;
        out.print_line(&path.display().to_string())?;
    }
    Ok(())
}

/// Returns the command line under the program's own name.
fn named_command() -> clap::Command {
    Cli::command().name(program_name())
}

/// Renders a manual page. Writing to memory cannot fail.
fn render(command: clap::Command, page: &mut Vec<u8>) {
    let _ = clap_mangen::Man::new(command).render(page);
}
