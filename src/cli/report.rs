//! `report`: what sessions come to.

use super::args::{self, Sheet};
use super::config::Config;
use super::error::CliError;
use super::locate;
use super::out::Out;
use crate::report::metrics::{Format, Metrics, MetricsCollector, render_metrics};

/// `report PATH...`.
pub(super) fn report(config: &Config, args: &args::Report, out: &mut Out) -> Result<(), CliError> {
    let named: Vec<Option<&str>> =
        if args.last { vec![None] } else { args.paths.iter().map(|p| Some(p.as_str())).collect() };
    let mut sessions = Vec::new();
    let count = named.len();
    for (place, path) in named.into_iter().enumerate() {
        let opened = locate::open(config, path)?;
        if count > 1 {
            out.progress(&format!("reading session {} of {count}", place + 1));
        }
        if let Some(lacks) = opened.lacks() {
            out.note(&format!("{}: {lacks}", opened.meta.session));
        }
        let mut gather = MetricsCollector::default();
        opened.each(|envelope| {
            gather.add_event(envelope);
            Ok(())
        })?;
        sessions.push(gather.finish());
    }
    let form = match args.format {
        Sheet::Json => Format::Json,
        _ if args.json => Format::Json,
        Sheet::Markdown => Format::Markdown,
        Sheet::Text => Format::Text,
    };
    let text = render_metrics(&Metrics::from_sessions(sessions), form, args.against.is_some());
    if form == Format::Json { out.json(&text) } else { out.text(&text) }
}
