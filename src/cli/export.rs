//! `export`: writes a session in another format.

use super::args::{self, ExportFormat};
use super::config::Config;
use super::error::{CliError, CliErrorKind};
use super::output::Output;
use super::{locate, screen};
use crate::domain::pluralize;
use crate::driver::measure::{measurements_folder, read_results};
use crate::engine::Envelope;
use crate::files;
use crate::journal::embed_session;
use crate::report::{
    EmbedSession, InvalidStepRef, SessionRecord, SessionRecorder, StepRef, render_json, render_markdown,
    render_transcript, run_directory_files, write_html,
};
use clap::ValueEnum as _;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// Runs `export PATH`.
pub(super) fn export(config: &Config, args: &args::Export, out: &mut Output) -> Result<(), CliError> {
    let file = args.out.as_deref().filter(|path| *path != Path::new("-"));
    let format = match args.format {
        Some(format) => format,
        None => format_of_file(file)?,
    };
    let opened = locate::open_session(config, args.path.as_deref())?;
    if let Some(missing) = opened.missing_summary() {
        out.print_note(&format!("{}: {missing}", opened.meta.session));
    }
    if format == ExportFormat::RunDirectory {
        return write_run_directory(&opened.events()?, file, out);
    }
    // Only the record is kept in memory, not the events: a long session has many times more of them.
    let mut recording = SessionRecorder::default();
    opened.for_each_event(|envelope| {
        recording.add_event(envelope);
        Ok(())
    })?;
    let mut record = recording.finish();
    record.branch = Some(opened.shown_branch()?);
    if let Some(dir) = &opened.dir {
        let results = read_results(&measurements_folder(dir), &|_, _| Ok(()));
        record.logged_measurements =
            results.map_err(|error| CliError::new(CliErrorKind::File, error, "try again"))?;
    }
    let bookmark = opened.meta.bookmark.as_deref().and_then(|b| b.parse().ok());
    let chosen = parse_step("--at", args.at.as_deref())?;
    let at = chosen.or(opened.position).or(bookmark).unwrap_or_else(|| record.default_step());
    check_position(&record, at, args.at.is_some())?;
    let text = match format {
        ExportFormat::Html => {
            let (session_files, branch) = (opened.files()?, &opened.branch.id.0);
            let embed: &EmbedSession<'_, io::Error> =
                &|write| embed_session(&session_files, Some(branch), write);
            let write = |page: &mut dyn Write| {
                write_html(&record, at, Some(embed), &mut |part| page.write_all(part.as_bytes()))
            };
            return match file {
                Some(path) => write_file(path, write, out),
                None => out.print_document_with(write),
            };
        }
        ExportFormat::Markdown => render_markdown(&record),
        ExportFormat::Json => render_json(&record),
        // `RunDirectory` was handled above.
        ExportFormat::Text | ExportFormat::RunDirectory => render_transcript(&opened.events()?),
        ExportFormat::Svg => {
            let size = parse_size(&args.size)?;
            screen::screen_svg(config, opened, at, size, (args.theme.as_deref(), args.stage))?
        }
        ExportFormat::CastSvg => {
            let size = parse_size(&args.size)?;
            let range = (chosen.or(opened.position), parse_step("--to", args.to.as_deref())?);
            screen::screen_cast(
                config,
                opened,
                range,
                &args.speed,
                size,
                (args.theme.as_deref(), args.stage),
            )?
        }
    };
    match file {
        Some(path) => write_file(path, |file| file.write_all(text.as_bytes()), out),
        None => out.print_document(&text),
    }
}

/// Returns the format that a file's extension names; HTML for a file without extension and for standard output.
fn format_of_file(path: Option<&Path>) -> Result<ExportFormat, CliError> {
    let Some(extension) = path.and_then(Path::extension) else { return Ok(ExportFormat::Html) };
    let extension = extension.to_string_lossy();
    ExportFormat::from_str(&extension, true).map_err(|_error| {
        CliError::usage(
            format!("--out: no format has the extension {extension:?}"),
            "add --format, or end the name with .html, .md, .json, .svg or .txt",
        )
    })
}

fn write_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    out: &mut Output,
) -> Result<(), CliError> {
    files::write_output(path, write).map_err(|e| CliError::file(path, "could not be written", &e))?;
    out.print_note(&format!("wrote {}", path.display()));
    Ok(())
}

/// Writes a run directory.
fn write_run_directory(
    events: &[Arc<Envelope>],
    folder: Option<&Path>,
    out: &mut Output,
) -> Result<(), CliError> {
    let Some(folder) = folder else {
        return Err(CliError::usage(
            "a run directory has several files and needs --out",
            "name a folder with --out DIR",
        ));
    };
    let files = run_directory_files(events);
    if files.len() < 2 {
        return Err(CliError::usage(
            "a run directory has only finished trials, and this session has none",
            "finish one first: `retrospect resume`",
        ));
    }
    std::fs::create_dir_all(folder).map_err(|e| CliError::file(folder, "could not be created", &e))?;
    for (name, text) in &files {
        let path = folder.join(name);
        files::replace(&path, text.as_bytes())
            .map_err(|e| CliError::file(&path, "could not be written", &e))?;
    }
    out.print_note(&format!("wrote {} into {}", pluralize(files.len() as u64, "file"), folder.display()));
    Ok(())
}

/// Checks that the step exists. In a session without episodes, the default position is accepted.
fn check_position(record: &SessionRecord, at: StepRef, explicit: bool) -> Result<(), CliError> {
    let Some(recorded) = record.episode(at.episode) else {
        return if explicit || !record.episodes.is_empty() {
            Err(CliError::usage(
                format!("--at {at}: the session has {}", pluralize(record.episodes.len() as u64, "episode")),
                "choose an existing episode",
            ))
        } else {
            Ok(())
        };
    };
    if at.step as usize > recorded.episode.steps.len() {
        return Err(CliError::usage(
            format!(
                "--at {at}: episode {} has {}",
                at.episode,
                pluralize(recorded.episode.steps.len() as u64, "step")
            ),
            "choose an existing step",
        ));
    }
    Ok(())
}

/// Parses the step that an option names, if it is given.
fn parse_step(option: &str, text: Option<&str>) -> Result<Option<StepRef>, CliError> {
    let parsed = text.map(str::parse).transpose();
    parsed.map_err(|e: InvalidStepRef| {
        CliError::usage(format!("{option}: {e}"), format!("write EPISODE.STEP, such as {option} 1.14"))
    })
}

/// Parses a size such as `120x36` into columns and rows.
fn parse_size(text: &str) -> Result<(u16, u16), CliError> {
    let bad = || {
        CliError::usage(
            format!("--size {text:?}: expected COLUMNSxROWS"),
            "choose a size from 20x5 to 500x200, such as 120x36",
        )
    };
    let (columns, rows) = text.split_once('x').ok_or_else(bad)?;
    let (columns, rows) = (columns.parse().map_err(|_error| bad())?, rows.parse().map_err(|_error| bad())?);
    if !(20..=500).contains(&columns) || !(5..=200).contains(&rows) {
        return Err(bad());
    }
    Ok((columns, rows))
}
