//! `lessons VERB`: which function runs each verb.

use super::args::{self, LessonSubcommand};
use super::config::Config;
use super::error::CliError;
use super::lesson_kinds::parse_scope;
use super::lessons::{
    append_and_report, edit_lesson, export_lessons, import_lessons, list_lessons, parse_typed_lesson,
    promote_lessons, retire_lessons,
};
use super::output::Output;
use super::pool::{self, add_line};
use super::{effect, lesson_health, lesson_tests};
use crate::domain::LessonOrigin;
use crate::driver::wall_clock_now;

/// Runs `lessons VERB`.
pub(super) fn run_lessons_command(
    config: &mut Config,
    args: &args::Lessons,
    out: &mut Output,
) -> Result<(), CliError> {
    args.keys.apply(config)?;
    let path = pool::pool_path(config);
    match &args.verb {
        LessonSubcommand::List { from, all, json } => {
            list_lessons(config, &path, from.as_deref(), *all, *json, out)
        }
        LessonSubcommand::Add { text, solution, kind, scope } => {
            let (kind, lesson_text) = parse_typed_lesson(text, solution.as_deref(), kind.as_deref())?;
            let line =
                add_line(wall_clock_now(), kind, parse_scope(scope)?, lesson_text, LessonOrigin::Person);
            append_and_report(config, &path, std::slice::from_ref(&line), out)?;
            out.print_line(&format!("added {} to {}", line.operation.id(), path.display()))
        }
        LessonSubcommand::Edit { lesson, text, solution } => {
            edit_lesson(config, &path, lesson, text.as_deref(), solution.as_deref(), out)
        }
        LessonSubcommand::Retire { lessons } => retire_lessons(config, &path, lessons, out),
        LessonSubcommand::Import { file } => import_lessons(config, &path, file, out),
        LessonSubcommand::Export { from, format } => {
            export_lessons(config, &path, from.as_deref(), *format, out)
        }
        LessonSubcommand::Health { from, json } => {
            lesson_health::check_health(config, &path, from.as_deref(), *json, out)
        }
        LessonSubcommand::Test(args) => lesson_tests::run_lesson_tests(config, args, out),
        LessonSubcommand::Promote { session, lessons } => {
            promote_lessons(config, &path, session, lessons, out)
        }
        LessonSubcommand::Effect(args) => effect::measure_effect(config, &path, args, out),
    }
}
