//! `completions` and `man`: generates shell completions and manual pages.

use super::args::{self, command_line};
use super::error::CliError;
use super::output::Output;
use crate::files;
use crate::text::program_name;

/// Runs `completions SHELL`.
pub(super) fn completions(args: &args::Completions, out: &mut Output) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command_line(), program_name(), &mut script);
    out.print_document(&String::from_utf8_lossy(&script))
}

/// Runs `man`: prints the program's page, or writes all pages to a folder.
pub(super) fn man(args: &args::Man, out: &mut Output) -> Result<(), CliError> {
    let Some(dir) = &args.write else {
        let mut page = Vec::new();
        render(command_line(), &mut page);
        return out.print_document(&String::from_utf8_lossy(&page));
    };
    std::fs::create_dir_all(dir).map_err(|e| CliError::file(dir, "could not be created", &e))?;
    let mut program = command_line();
    program.build();
    let name = program_name();
    let mut pages = vec![(name.to_owned(), program.clone())];
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

/// Renders a manual page. Writing to memory cannot fail.
fn render(command: clap::Command, page: &mut Vec<u8>) {
    let _ = clap_mangen::Man::new(command).render(page);
}
