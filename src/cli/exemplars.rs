//! The pool file of `--exemplars`: its rule-written lessons replace the exemplars, which a mentor's questions show.

use super::error::{CliError, CliErrorKind};
use super::lesson_environments::foreign_exemplars;
use super::pool::PoolFile;
use crate::domain::{ReflectionKind, RunSpec};
use crate::method::unused_exemplars_reason;
use crate::prompt::{Templates, forms};
use std::path::Path;

/// The kinds of reflections that have exemplars.
const KINDS: [ReflectionKind; 3] =
    [ReflectionKind::Abstract, ReflectionKind::Error, ReflectionKind::Progress];

/// Returns templates whose exemplars are the rule-written lessons of a pool file. A kind without such lessons keeps those of
/// the environment.
///
/// # Errors
/// Fails if the file does not exist, cannot be read, or contains no lesson written by a rule.
pub(super) fn with_exemplars(templates: Templates, file: &Path) -> Result<Templates, CliError> {
    if !file.exists() {
        return Err(CliError::usage(
            format!("--exemplars {}: no such file", file.display()),
            "create the file with `retrospect calibrate --mentor symbolic --out FILE`",
        ));
    }
    let pool = PoolFile::read(file)?;
    let texts = KINDS.map(|kind| (kind, rule_written_lines(&pool, kind)));
    let filled: Vec<_> = texts.into_iter().filter(|(_, text)| !text.is_empty()).collect();
    if filled.is_empty() {
        return Err(CliError::new(
            CliErrorKind::File,
            format!("{}: contains no lesson written by a rule", file.display()),
            "calibrate with `--mentor symbolic` in an environment that has rules, or add the texts to a file in the folder of \
             --prompts",
        ));
    }
    Ok(templates.with_exemplars(filled))
}

/// Returns the active lessons of a kind that rules wrote, one per line.
fn rule_written_lines(pool: &PoolFile, kind: ReflectionKind) -> String {
    let lessons = pool.lessons().filter(|l| l.kind == kind && l.rule.is_some() && l.is_active());
    lessons.map(|l| forms::lesson_line(l.text())).collect()
}

/// Returns what a person who names such a file may not expect: that no prompt shows it, that it is from another environment,
/// or that a kind keeps the exemplars of the environment.
///
/// # Errors
/// Fails if the file cannot be read.
pub(super) fn warnings(spec: &RunSpec, file: &Path) -> Result<Vec<String>, CliError> {
    let name = file.display();
    if let Some(why) = unused_exemplars_reason(&spec.settings) {
        return Ok(vec![format!("--exemplars {name} has no effect: {why}")]);
    }
    let pool = PoolFile::read(file)?;
    let missing = KINDS.into_iter().filter(|kind| rule_written_lines(&pool, *kind).is_empty());
    let missing: Vec<&str> = missing.map(ReflectionKind::name).collect();
    let kept = (!missing.is_empty()).then(|| {
        format!(
            "--exemplars {name} has no {} lessons written by rules: the environment's own examples of them stay",
            missing.join(" and no ")
        )
    });
    Ok(foreign_exemplars(spec, file, &pool).into_iter().chain(kept).collect())
}
