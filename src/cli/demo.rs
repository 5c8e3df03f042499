//! `demo`: opens the sessions that ship with the program.

use super::config::Config;
use super::error::{CliError, CliErrorKind};
use super::output::Output;
use super::{args, locate, open};
use crate::journal::list_sessions;
use std::path::PathBuf;

/// Runs `demo [NAME]`.
pub(super) fn demo(config: &Config, args: &args::Demo, mut out: Output) -> Result<(), CliError> {
    let folders = [
        locate::sessions_folder(config).join("examples"),
        PathBuf::from("sessions/examples"),
        shipped_sessions_folder(),
    ];
    let mut found: Vec<(PathBuf, String, Option<String>)> = Vec::new();
    for folder in &folders {
        for (dir, read) in list_sessions(folder) {
            let Ok((session, _)) = read else { continue };
            if !found.iter().any(|f| f.1 == session.meta.session) {
                found.push((dir, session.meta.session.clone(), session.meta.bookmark.clone()));
            }
        }
    }
    found.sort_by(|a, b| a.1.cmp(&b.1));
    if args.list {
        for (_, name, _) in &found {
            out.print_line(name)?;
        }
        return Ok(());
    }
    let wanted = args.name.as_deref();
    let chosen = found.iter().find(|f| wanted.is_none_or(|w| f.1 == w || f.1.contains(w)));
    let Some((dir, _, bookmark)) = chosen else {
        let names: Vec<&str> = found.iter().map(|f| f.1.as_str()).collect();
        return Err(match (wanted, names.is_empty()) {
            (_, true) => CliError::new(
                CliErrorKind::Session,
                "no bundled sessions found",
                "run this in the source folder, which has sessions/examples, or run `retrospect` without a subcommand",
            ),
            (name, false) => CliError::usage(
                format!("no demo named {:?}; available: {}", name.unwrap_or(""), names.join(", ")),
                "`retrospect demo --list` lists them",
            ),
        });
    };
    let path = dir.display().to_string();
    let mut opened = locate::open_session(config, Some(&path))?;
    opened.position = bookmark.as_deref().and_then(|b| b.parse().ok());
    open::show_session(config, opened, false, false, &args.screen, out)
}

/// Returns the folder next to the program where a package installs them, else the one in the source tree.
fn shipped_sessions_folder() -> PathBuf {
    let beside = std::env::current_exe()
        .ok()
        .and_then(|exe| exe.parent().map(|p| p.join("../share/retrospect/sessions/examples")));
    match beside {
        Some(path) if path.is_dir() => path,
        _ => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/sessions/examples")),
    }
}
