//! `lessons health`: checks the lessons of a pool or a session.

use super::config::Config;
use super::error::CliError;
use super::locate;
use super::output::Output;
use super::pool::PoolFile;
use crate::domain::Lesson;
use crate::timeline::lesson_health::{Finding, HealthCollector, LessonHealth, Remedy, check_lessons};
use serde::Serialize;
use std::path::Path;

/// A finding as it is printed.
#[derive(Serialize)]
struct FindingRow<'a> {
    #[serde(flatten)]
    finding: &'a Finding,
    description: String,
    remedies: &'static [Remedy],
}

/// What `--json` prints.
#[derive(Serialize)]
struct HealthReport<'a> {
    /// Name of the pool file or the session.
    source: &'a str,
    lessons: usize,
    prompt_share: Option<f64>,
    findings: Vec<FindingRow<'a>>,
}

/// Checks the lessons of the pool file, or those of another pool file or a session.
pub(super) fn check_health(
    config: &Config,
    pool: &Path,
    from: Option<&str>,
    json: bool,
    out: &mut Output,
) -> Result<(), CliError> {
    let (source, health) = match from {
        None => (pool.display().to_string(), check_pool(pool)?),
        Some(from) => {
            let path = Path::new(from);
            if path.extension().is_some_and(|x| x == "jsonl") && path.is_file() {
                (from.to_owned(), check_pool(path)?)
            } else {
                check_session(config, from)?
            }
        }
    };
    if json {
        let findings = health.findings.iter().map(|finding| FindingRow {
            finding,
            description: finding.describe(),
            remedies: finding.remedies(),
        });
        let report = HealthReport {
            source: &source,
            lessons: health.lessons,
            prompt_share: health.prompt_share,
            findings: findings.collect(),
        };
        return out.print_json(&serde_json::to_string(&report).unwrap_or_default());
    }
    print_health(&source, &health, out)
}

fn check_pool(path: &Path) -> Result<LessonHealth, CliError> {
    let pool = PoolFile::read(path)?;
    let task_of = |lesson: &Lesson| lesson.task_key.as_deref().map(str::to_owned);
    Ok(check_lessons(pool.lessons(), task_of))
}

fn check_session(config: &Config, session: &str) -> Result<(String, LessonHealth), CliError> {
    let opened = locate::open_session(config, Some(session))?;
    let mut collector = HealthCollector::default();
    opened.for_each_event(|envelope| {
        collector.add_event(envelope);
        Ok(())
    })?;
    let health = collector.finish(opened.timeline.head());
    Ok((opened.meta.session, health))
}

fn print_health(source: &str, health: &LessonHealth, out: &mut Output) -> Result<(), CliError> {
    let lessons = if health.lessons == 1 { "lesson" } else { "lessons" };
    out.print_line(&format!("{source}: {} active {lessons}{}", health.lessons, health.describe_share()))?;
    if health.findings.is_empty() {
        return out.print_line("nothing found");
    }
    for finding in &health.findings {
        out.print_line(&crate::text::one_line(&format!(
            "{} [{}]",
            finding.describe(),
            name_remedies(finding)
        )))?;
        for lesson in finding.lessons() {
            out.print_line(&crate::text::one_line(&format!("  {:>3}  {}", lesson.number, lesson.text)))?;
        }
    }
    Ok(())
}

/// Returns what a person can do about a finding, as "merge or retire".
fn name_remedies(finding: &Finding) -> String {
    let names: Vec<&str> = finding
        .remedies()
        .iter()
        .map(|remedy| match remedy {
            Remedy::Merge => "merge",
            Remedy::Retire => "retire",
            Remedy::Shorten => "shorten",
            Remedy::Measure => "measure",
        })
        .collect();
    names.join(" or ")
}
