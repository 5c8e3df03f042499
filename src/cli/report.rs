//! The `report` verb: summarizes results.

use super::args::{self, ReportFormat};
use super::config::Config;
use super::error::CliError;
use super::locate;
use super::output::Output;
use crate::report::metrics::{Format, Metrics, MetricsCollector, render_metrics};

/// Runs `report PATH...`.
pub(super) fn report(config: &Config, args: &args::Report, out: &mut Output) -> Result<(), CliError> {
    let paths: Vec<Option<&str>> =
        if args.last { vec![None] } else { args.paths.iter().map(|p| Some(p.as_str())).collect() };
    let mut sessions = Vec::new();
    let count = paths.len();
    for (index, path) in paths.into_iter().enumerate() {
        let opened = locate::open_session(config, path)?;
        if count > 1 {
            out.show_progress(&format!("reading session {} of {count}", index + 1));
        }
        if let Some(missing) = opened.missing_summary() {
            out.print_note(&format!("{}: {missing}", opened.meta.session));
        }
        let mut collector = MetricsCollector::default();
        opened.for_each_event(|envelope| {
            collector.add_event(envelope);
            Ok(())
        })?;
        sessions.push(collector.finish());
    }
    let format = match args.format {
        ReportFormat::Json => Format::Json,
        _ if args.json => Format::Json,
        ReportFormat::Markdown => Format::Markdown,
        ReportFormat::Text => Format::Text,
    };
    let text = render_metrics(&Metrics::from_sessions(sessions), format, args.against.is_some());
    if format == Format::Json { out.print_json(&text) } else { out.print_text(&text) }
}
