//! The pool files whose rule-written lessons replace the exemplars, which a mentor's questions show ([`ExemplarFile`]).

use super::config::Config;
use super::error::{CliError, CliErrorKind};
use super::lesson_environments::foreign_exemplars;
use super::pool::PoolFile;
use crate::catalog::{ExemplarFile, exemplar_files};
use crate::domain::{ReflectionKind, RunSpec};
use crate::prompt::{Templates, forms};
use std::path::PathBuf;

/// Returns the files that the configuration names, each with its declaration.
fn named_files(config: &Config) -> impl Iterator<Item = (&'static ExemplarFile, PathBuf)> {
    exemplar_files().filter_map(|declared| Some((declared, config.option_path(&declared.option)?)))
}

/// Returns templates whose exemplars are the rule-written lessons of the pool files that the configuration names. A kind without
/// such lessons keeps those of the environment.
///
/// # Errors
/// Fails if a file does not exist, cannot be read, or contains no lesson written by a rule.
pub(super) fn with_exemplars(mut templates: Templates, config: &Config) -> Result<Templates, CliError> {
    for (declared, file) in named_files(config) {
        if !file.exists() {
            return Err(CliError::usage(
                format!("{} {}: no such file", declared.option.flag, file.display()),
                "create the file with `retrospect calibrate --mentor symbolic --out FILE`",
            ));
        }
        let pool = PoolFile::read(&file)?;
        let texts = declared.kinds.iter().map(|kind| (*kind, rule_written_lines(&pool, *kind)));
        let filled: Vec<_> = texts.filter(|(_, text)| !text.is_empty()).collect();
        if filled.is_empty() {
            return Err(CliError::new(
                CliErrorKind::File,
                format!("{}: contains no lesson written by a rule", file.display()),
                "calibrate with `--mentor symbolic` in an environment that has rules, or add the texts to a file in the folder \
                 of --prompts",
            ));
        }
        templates = templates.with_exemplars(filled);
    }
    Ok(templates)
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
/// Fails if a file cannot be read.
pub(super) fn warnings(spec: &RunSpec, config: &Config) -> Result<Vec<String>, CliError> {
    let mut warnings = Vec::new();
    for (declared, file) in named_files(config) {
        let named = format!("{} {}", declared.option.flag, file.display());
        if let Some(why) = (declared.unused)(&spec.settings) {
            warnings.push(format!("{named} has no effect: {why}"));
            continue;
        }
        let pool = PoolFile::read(&file)?;
        warnings.extend(foreign_exemplars(spec, &named, &pool));
        let missing = declared.kinds.iter().filter(|kind| rule_written_lines(&pool, **kind).is_empty());
        let missing: Vec<&str> = missing.map(|kind| kind.name()).collect();
        if !missing.is_empty() {
            warnings.push(format!(
                "{named} has no {} lessons written by rules: the environment's own examples of them stay",
                missing.join(" and no ")
            ));
        }
    }
    Ok(warnings)
}
