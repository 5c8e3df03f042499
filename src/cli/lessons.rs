//! `lessons`: lists, edits, imports, exports and promotes the lessons of a pool file.

use super::args::PoolFormat;
use super::config::Config;
use super::error::{CliError, CliErrorKind};
use super::lesson_kinds::parse_kind;
use super::output::Output;
use super::pool::{self, PoolFile, PoolLine, add_line, promote_lines};
use super::{calibration_setup, lesson_environments, lesson_sources, locate, models, run_directory};
use crate::domain::{
    Lesson, LessonId, LessonOp, LessonOrigin, LessonStatus, LessonText, MeasuredEffect, ReflectionKind, Scope,
};
use crate::driver::wall_clock_now;
use crate::engine::State;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Lessons of a pool or of a session.
struct LoadedLessons {
    /// Name of the pool file or the session.
    source: String,
    lessons: Vec<Lesson>,
    /// Lessons of a person that left the pool, each with the episode after which it did.
    ended: Vec<(u32, Lesson)>,
    /// Where they were learned, as far as that is known.
    environments: BTreeMap<LessonId, String>,
}

/// Loads lessons from the pool, or from the pool file or session `from`.
fn load_lessons(config: &Config, pool: &Path, from: Option<&str>) -> Result<LoadedLessons, CliError> {
    let from_pool = |path: &Path| -> Result<_, CliError> {
        let pool = PoolFile::read(path)?;
        Ok(LoadedLessons {
            source: path.display().to_string(),
            lessons: pool.lessons().cloned().collect(),
            ended: Vec::new(),
            environments: pool.environments(),
        })
    };
    let Some(from) = from else { return from_pool(pool) };
    let path = PathBuf::from(from);
    if path.extension().is_some_and(|x| x == "jsonl") && path.is_file() {
        return from_pool(&path);
    }
    let opened = locate::open_session(config, Some(from))?;
    let state = opened.timeline.head();
    Ok(LoadedLessons {
        lessons: state.pool.all().map(|lesson| lesson_environments::with_task(lesson, state)).collect(),
        ended: state.pool.ended().map(|(episode, lesson)| (episode, lesson.clone())).collect(),
        environments: lesson_environments::of_session(state),
        source: opened.meta.session,
    })
}

#[derive(Serialize)]
struct LessonRow<'a> {
    number: u32,
    id: &'a str,
    kind: ReflectionKind,
    scope: Scope,
    status: LessonStatus,
    origin: LessonOrigin,
    text: &'a str,
    solution: Option<&'a str>,
    version: u32,
    recurred: u32,
    uses: u32,
    /// The episode with which it left the pool, since its scope was that episode.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_with: Option<u32>,
    /// Where it was learned, if that is known.
    env: Option<&'a str>,
    /// What was measured of it.
    #[serde(skip_serializing_if = "<[MeasuredEffect]>::is_empty")]
    measured: &'a [MeasuredEffect],
}

pub(super) fn list_lessons(
    config: &Config,
    pool: &Path,
    from: Option<&str>,
    all: bool,
    json: bool,
    out: &mut Output,
) -> Result<(), CliError> {
    let LoadedLessons { source, lessons, ended, environments } = load_lessons(config, pool, from)?;
    let kept = lessons.iter().filter(|l| all || l.status != LessonStatus::Retired).map(|l| (None, l));
    let ended = ended.iter().filter(|_| all).map(|(episode, l)| (Some(*episode), l));
    let listed: Vec<(Option<u32>, &Lesson)> = kept.chain(ended).collect();
    if listed.is_empty() && !json {
        out.print_note(&format!("{source}: no lessons yet; `retrospect lessons add` adds one"));
    }
    for (ended_with, lesson) in listed {
        let text = lesson.text();
        if json {
            let row = LessonRow {
                number: lesson.number,
                id: &lesson.id.0,
                kind: lesson.kind,
                scope: lesson.scope,
                status: lesson.status,
                origin: lesson.origin,
                text: &text.text,
                solution: text.solution.as_deref(),
                version: lesson.version(),
                recurred: lesson.recurrences,
                uses: lesson.uses,
                ended_with,
                env: environments.get(&lesson.id).map(String::as_str),
                measured: &lesson.measured,
            };
            out.print_json(&serde_json::to_string(&row).unwrap_or_default())?;
        } else {
            let status = match (ended_with, lesson.status) {
                (Some(episode), _) => &*format!("  [this episode only; ended with episode {episode}]"),
                (None, LessonStatus::On) => "",
                (None, LessonStatus::Pinned) => "  [pinned]",
                (None, LessonStatus::Off) => "  [off]",
                (None, LessonStatus::Retired) => "  [retired]",
            };
            let line = format!(
                "{:>3}  {}  {:<10} {}{status}",
                lesson.number,
                lesson.id,
                lesson.kind.name(),
                format_lesson(text)
            );
            out.print_line(&crate::text::one_line(&line))?;
            for measured in lesson.measured.iter() {
                let old = if measured.version == lesson.version() {
                    String::new()
                } else {
                    format!(" (version {})", measured.version)
                };
                let verdict = measured.describe_verdict();
                out.print_line(&format!("{:>23}measured {}: {verdict}{old}", "", measured.describe()))?;
            }
        }
    }
    Ok(())
}

fn format_lesson(text: &LessonText) -> String {
    match &text.solution {
        Some(solution) => format!("{} -> {solution}", text.text),
        None => text.text.clone(),
    }
}

pub(super) fn edit_lesson(
    config: &Config,
    path: &Path,
    lesson: &str,
    text: Option<&str>,
    solution: Option<&str>,
    out: &mut Output,
) -> Result<(), CliError> {
    let pool = PoolFile::read(path)?;
    let lesson = pool.find(lesson)?;
    if text.is_none() && solution.is_none() {
        return Err(CliError::usage(
            "lessons edit: no new text and no new solution",
            "give the new text, or --solution TEXT",
        ));
    }
    let previous = lesson.text().clone();
    let new_text = LessonText {
        text: text.map_or_else(|| Ok(previous.text.clone()), non_empty_text)?,
        solution: solution.map(str::to_owned).or(previous.solution.clone()),
    };
    let op = LessonOp::Edit { id: lesson.id.clone(), previous, text: new_text };
    append_and_report(config, path, &[PoolLine::new(wall_clock_now(), op)], out)?;
    out.print_line(&format!("changed {}", lesson.id))
}

pub(super) fn retire_lessons(
    config: &Config,
    path: &Path,
    lessons: &[String],
    out: &mut Output,
) -> Result<(), CliError> {
    let pool = PoolFile::read(path)?;
    let mut lines = Vec::new();
    for text in lessons {
        let lesson = pool.find(text)?;
        let op = LessonOp::Status {
            id: lesson.id.clone(),
            previous: lesson.status,
            status: LessonStatus::Retired,
            merged_into: None,
        };
        lines.push(PoolLine::new(wall_clock_now(), op));
    }
    append_and_report(config, path, &lines, out)?;
    for line in lines {
        out.print_line(&format!("retired {}", line.operation.id()))?;
    }
    Ok(())
}

pub(super) fn import_lessons(
    config: &Config,
    path: &Path,
    file: &Path,
    out: &mut Output,
) -> Result<(), CliError> {
    let results =
        run_directory::is_results_path(file).then(|| run_directory::read_results(file)).transpose()?;
    let text = match results {
        Some(_) => String::new(),
        None => super::bounded::read_text(file).map_err(|e| CliError::file(file, "could not be read", &e))?,
    };
    let mut pool = PoolFile::read(path)?;
    let incoming = if let Some(results) = &results {
        run_directory::pool_lines(results, wall_clock_now())
    } else if text.trim_start().starts_with('{') {
        PoolFile::read(file)?.lines
    } else {
        // A text that is already an active lesson is not added again.
        let active_texts: Vec<LessonText> =
            pool.lessons().filter(|l| l.is_active()).map(|l| l.text().clone()).collect();
        pool::parse_plain_text(&text)
            .into_iter()
            .filter(|(_, text)| !active_texts.contains(text))
            .map(|(kind, text)| {
                add_line(wall_clock_now(), kind, Scope::Environment, text, LessonOrigin::File)
            })
            .collect()
    };
    let total = incoming.len();
    let new_lines: Vec<PoolLine> =
        incoming.into_iter().filter(|line| pool.merge_line(line.clone())).collect();
    append_and_report(config, path, &new_lines, out)?;
    out.print_line(&format!("{} of {total} changes were new; saved in {}", new_lines.len(), path.display()))
}

pub(super) fn export_lessons(
    config: &Config,
    pool: &Path,
    from: Option<&str>,
    format: PoolFormat,
    out: &mut Output,
) -> Result<(), CliError> {
    let LoadedLessons { source, lessons, environments, ended: _ } = load_lessons(config, pool, from)?;
    let is_session = from.is_some_and(|f| Path::new(f).extension().is_none_or(|x| x != "jsonl"));
    for lesson in lessons.iter().filter(|l| l.is_active()) {
        match format {
            PoolFormat::Text => out.print_line(&crate::text::one_line(&format_lesson(lesson.text())))?,
            PoolFormat::Markdown => {
                let text = crate::text::escape_markdown(&format_lesson(lesson.text()));
                out.print_line(&format!("- **{}** {text}", lesson.kind.name()))?;
            }
            PoolFormat::Pool => {
                let mut lines =
                    promote_lines(wall_clock_now(), if is_session { &source } else { "" }, lesson);
                lesson_environments::record(&mut lines, &environments);
                for line in lines {
                    out.print_json(&serde_json::to_string(&line).unwrap_or_default())?;
                }
            }
        }
    }
    Ok(())
}

pub(super) fn promote_lessons(
    config: &Config,
    path: &Path,
    session: &str,
    selected: &[String],
    out: &mut Output,
) -> Result<(), CliError> {
    let opened = locate::open_session(config, Some(session))?;
    let state = opened.timeline.head().clone();
    let chosen: Vec<&Lesson> = if selected.is_empty() {
        state.pool.lasting().collect()
    } else {
        let all: Vec<&Lesson> = state.pool.all().collect();
        selected.iter().map(|w| pool::find_lesson(&all, w)).collect::<Result<_, _>>()?
    };
    if chosen.is_empty() {
        return Err(CliError::new(
            CliErrorKind::Session,
            format!("{}: nothing to promote: no active lesson outlasts an episode", opened.meta.session),
            "name lessons with --lesson N; `retrospect lessons list SESSION --all` lists them",
        ));
    }
    let chosen: Vec<Lesson> =
        chosen.into_iter().map(|lesson| lesson_environments::with_task(lesson, &state)).collect();
    let Promotion { added, changed, measured, removed_bytes } =
        promote_into(config, path, &opened.meta.session, &state, &chosen)?;
    report_removed_bytes(path, removed_bytes, out);
    let note = |count: usize, what: &str| if count > 0 { format!(", {count} {what}") } else { String::new() };
    let changed_note = note(changed, "changed") + &note(measured, "with new measurements");
    out.print_line(&format!(
        "{added} of {} lessons were new{changed_note}; saved in {}",
        chosen.len(),
        path.display()
    ))
}

/// What a promotion changed in a pool file.
pub(super) struct Promotion {
    /// Number of new lessons.
    pub(super) added: usize,
    /// Number of lessons with a new text.
    pub(super) changed: usize,
    /// Number of lessons of which only new measurements were saved.
    pub(super) measured: usize,
    /// Length of the incomplete last line that was removed; 0 if there was none.
    pub(super) removed_bytes: u64,
}

/// Saves lessons of a session in a pool file, as far as it doesn't have them yet. `state` is the session's.
///
/// # Errors
/// Fails with a [`CliError`] if the file can't be read or written, or if a lesson contains a model server's key.
pub(super) fn promote_into(
    config: &Config,
    path: &Path,
    session: &str,
    state: &State,
    chosen: &[Lesson],
) -> Result<Promotion, CliError> {
    let mut pool = PoolFile::read(path)?;
    let mut new_lines = Vec::new();
    let (mut added, mut changed, mut measured) = (0, 0, 0);
    for lesson in chosen {
        let lines = pool::missing_lines(&pool, wall_clock_now(), session, lesson);
        match lines.first().map(|l| &l.operation) {
            Some(LessonOp::Add { .. }) => added += 1,
            Some(LessonOp::Measured { .. }) => measured += 1,
            Some(_) => changed += 1,
            None => {}
        }
        new_lines.extend(lines);
    }
    calibration_setup::record_calibration_tasks(&mut new_lines, state);
    lesson_sources::record(&mut new_lines, state);
    lesson_environments::record(&mut new_lines, &lesson_environments::of_session(state));
    new_lines.retain(|line| pool.merge_line(line.clone()));
    let removed_bytes = append(config, path, &new_lines)?;
    Ok(Promotion { added, changed, measured, removed_bytes })
}

/// Appends lines to the pool, and prints a note if that removed an incomplete last line.
///
/// # Errors
/// Fails as [`append`] does.
pub(super) fn append_and_report(
    config: &Config,
    path: &Path,
    lines: &[PoolLine],
    out: &mut Output,
) -> Result<(), CliError> {
    let removed_bytes = append(config, path, lines)?;
    report_removed_bytes(path, removed_bytes, out);
    Ok(())
}

fn report_removed_bytes(path: &Path, removed_bytes: u64, out: &mut Output) {
    if removed_bytes > 0 {
        out.print_note(&format!(
            "{}: removed an incomplete last line ({removed_bytes} bytes) left by a killed program",
            path.display()
        ));
    }
}

/// Appends lines to the pool. Returns the number of bytes of an incomplete last line that it removed.
///
/// # Errors
/// Fails if a line contains a model server's key, because pools are meant to be shared, or if writing fails.
pub(super) fn append(config: &Config, path: &Path, lines: &[PoolLine]) -> Result<u64, CliError> {
    let added_text = |line: &PoolLine| match &line.operation {
        // Leave out the previous text: it is already in the pool.
        LessonOp::Edit { text, .. } => format!("{text:?}"),
        op => format!("{op:?}"),
    };
    if models::contains_model_server_secret(config, &lines.iter().map(added_text).collect::<Vec<_>>()) {
        return Err(CliError::new(
            CliErrorKind::Config,
            "the text contains the key of a model server, which must not be saved in a lesson pool",
            "remove the key; set it in OPENAI_API_KEY, or in the variable named by a profile's key_env",
        ));
    }
    pool::append(path, lines)
}

/// Parses a lesson from the command line. `mistake -> solution` is an Error lesson, as in `--constitution` and
/// `--plain`.
pub(super) fn parse_typed_lesson(
    text: &str,
    solution: Option<&str>,
    kind: Option<&str>,
) -> Result<(ReflectionKind, LessonText), CliError> {
    let kind = kind.map(parse_kind).transpose()?;
    let text = non_empty_text(text)?;
    let arrow = text.split_once(" -> ").or_else(|| text.split_once(" → "));
    Ok(match (solution, arrow) {
        (Some(solution), _) => {
            (kind.unwrap_or(ReflectionKind::Error), LessonText { text, solution: Some(solution.to_owned()) })
        }
        (None, Some((mistake, solution))) if kind.is_none_or(|k| k == ReflectionKind::Error) => {
            (ReflectionKind::Error, LessonText::error(non_empty_text(mistake)?, non_empty_text(solution)?))
        }
        (None, _) => (kind.unwrap_or(ReflectionKind::Abstract), LessonText { text, solution: None }),
    })
}

fn non_empty_text(text: &str) -> Result<String, CliError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(CliError::usage("the lesson is empty", "give its text, at least one sentence"));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrow_makes_an_error_lesson() {
        let parse = |text, solution, kind| parse_typed_lesson(text, solution, kind).unwrap();
        assert_eq!(parse("Foo -> bar", None, None), (ReflectionKind::Error, LessonText::error("Foo", "bar")));
        assert_eq!(
            parse("Foo -> bar", None, Some("error")),
            (ReflectionKind::Error, LessonText::error("Foo", "bar"))
        );
        // An explicit kind or solution takes precedence over the arrow.
        assert_eq!(
            parse("Foo -> bar", None, Some("abstract")),
            (ReflectionKind::Abstract, LessonText::plain("Foo -> bar"))
        );
        assert_eq!(
            parse("Foo -> bar", Some("baz"), None),
            (ReflectionKind::Error, LessonText::error("Foo -> bar", "baz"))
        );
        assert_eq!(parse("Foo", None, None), (ReflectionKind::Abstract, LessonText::plain("Foo")));
        assert!(parse_typed_lesson("Foo ->  ", None, None).is_ok());
        assert!(parse_typed_lesson(" ", None, None).is_err());
    }
}
