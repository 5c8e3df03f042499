//! `export`: writes a session in another format.

use super::args;
use super::config::Config;
use super::error::{CliError, CliErrorKind};
use super::exporters::{Content, EXPORTERS, Exporter, ScreenShot};
use super::locate;
use super::output::Output;
use crate::domain::pluralize;
use crate::driver::measure::{measurements_folder, read_results};
use crate::files;
use crate::journal::embed_session;
use crate::report::{EmbedSession, InvalidStepRef, SessionRecord, SessionRecorder, StepRef};
use std::io::{self, Write};
use std::path::Path;

/// Runs `export PATH`.
pub(super) fn export(config: &Config, args: &args::Export, out: &mut Output) -> Result<(), CliError> {
    let file = args.out.as_deref().filter(|path| *path != Path::new("-"));
    let exporter = match args.format {
        Some(exporter) => exporter,
        None => format_of_file(file)?,
    };
    let opened = locate::open_session(config, args.path.as_deref())?;
    if let Some(missing) = opened.missing_summary() {
        out.print_note(&format!("{}: {missing}", opened.meta.session));
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
    let text = match exporter.content {
        Content::Page(write_page) => {
            let (session_files, branch) = (opened.files()?, &opened.branch.id.0);
            let embed: &EmbedSession<'_, io::Error> =
                &|write| embed_session(&session_files, Some(branch), write);
            let write = |page: &mut dyn Write| {
                write_page(&record, at, Some(embed), &mut |part| page.write_all(part.as_bytes()))
            };
            return match file {
                Some(path) => write_file(path, write, out),
                None => out.print_document_with(write),
            };
        }
        Content::Steps(render) => render(&record),
        Content::Events(render) => render(&opened.events()?),
        Content::Folder(render) => return write_folder(&render(&opened.events()?)?, file, out),
        Content::Screen(draw) => {
            let shot = ScreenShot {
                at,
                range: (chosen.or(opened.position), parse_step("--to", args.to.as_deref())?),
                speed: &args.speed,
                size: parse_size(&args.size)?,
                look: (args.theme.as_deref(), args.stage),
            };
            draw(config, opened, &shot)?
        }
    };
    match file {
        Some(path) => write_file(path, |file| file.write_all(text.as_bytes()), out),
        None => out.print_document(&text),
    }
}

/// Returns the format that a file's extension names; HTML for a file without extension and for standard output.
fn format_of_file(path: Option<&Path>) -> Result<&'static Exporter, CliError> {
    let Some(extension) = path.and_then(Path::extension) else { return Ok(&EXPORTERS[0]) };
    let extension = extension.to_string_lossy();
    Exporter::named(&extension.to_lowercase()).ok_or_else(|| {
        let known = EXPORTERS.iter().filter_map(|exporter| exporter.extensions.first());
        let known: Vec<String> = known.map(|extension| format!(".{extension}")).collect();
        CliError::usage(
            format!("--out: no format has the extension {extension:?}"),
            format!("add --format, or end the name with one of {}", known.join(", ")),
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

/// Writes files, given as names and texts, into a folder.
fn write_folder(files: &[(String, String)], folder: Option<&Path>, out: &mut Output) -> Result<(), CliError> {
    let Some(folder) = folder else {
        return Err(CliError::usage(
            "this format has several files and needs --out",
            "name a folder with --out DIR",
        ));
    };
    std::fs::create_dir_all(folder).map_err(|e| CliError::file(folder, "could not be created", &e))?;
    for (name, text) in files {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::fs;

    #[derive(clap::Parser)]
    struct Flags {
        #[command(flatten)]
        export: args::Export,
    }

    fn run(arguments: &[&str]) -> Result<(), CliError> {
        let session = "hot-mug-taught";
        let arguments = ["export", session].into_iter().chain(arguments.iter().copied());
        let flags = <Flags as clap::Parser>::try_parse_from(arguments).unwrap();
        export(&Config::without_file(None, |_| None), &flags.export, &mut Output::new())
    }

    #[test]
    fn each_format_is_written_and_found_by_its_extensions() {
        let temp = tempfile::tempdir().unwrap();
        let place = |name: &str| temp.path().join(name).display().to_string();
        let mut words = BTreeSet::new();
        let mut written = BTreeSet::new();
        for exporter in &EXPORTERS {
            if cfg!(not(feature = "tui")) && matches!(exporter.content, Content::Screen(_)) {
                continue;
            }
            let out = place(&format!("by-name-{}", exporter.name));
            run(&["--format", exporter.name, "--size", "80x24", "--out", &out]).unwrap();
            let names = BTreeSet::from([exporter.name]);
            for word in names.iter().chain(exporter.extensions).collect::<BTreeSet<_>>() {
                assert!(words.insert(*word), "two formats are called {word}");
                let by_word = <Flags as clap::Parser>::try_parse_from(["export", "--last", "--format", word]);
                assert_eq!(by_word.unwrap().export.format.unwrap().name, exporter.name);
                let file = format!("by-extension.{}", word.to_uppercase());
                assert_eq!(format_of_file(Some(Path::new(&file))).unwrap().name, exporter.name);
            }
            if let Content::Folder(_) = exporter.content {
                assert!(fs::read_dir(&out).unwrap().count() > 1, "{}", exporter.name);
                let error = run(&["--format", exporter.name]).unwrap_err();
                assert!(error.message.contains("needs --out"), "{}", error.message);
                continue;
            }
            let text = fs::read(&out).unwrap();
            if let Some(extension) = exporter.extensions.first() {
                let file = place(&format!("by-extension.{extension}"));
                run(&["--size", "80x24", "--out", &file]).unwrap();
                assert!(fs::read(&file).unwrap() == text, "{}", exporter.name);
            }
            assert!(text.len() > 1000 && written.insert(text), "{}: as another format", exporter.name);
        }
        for none in [None, Some("page")] {
            assert_eq!(format_of_file(none.map(Path::new)).unwrap().name, "html");
        }
        let hint = format_of_file(Some(Path::new("x.pdf"))).unwrap_err().hint;
        assert_eq!(hint, "add --format, or end the name with one of .html, .md, .json, .svg, .txt");
    }
}
