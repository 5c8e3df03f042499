//! The `sessions` verb: lists sessions.

use super::config::Config;
use super::error::CliError;
use super::output::Output;
use super::{args, locate};
use crate::domain::pluralize;
use crate::journal::{SessionStatus, list_sessions};
use serde::Serialize;

#[derive(Serialize)]
struct Row<'a> {
    session: String,
    path: String,
    created: Option<String>,
    #[serde(rename = "standing")]
    status: Option<SessionStatus>,
    env: Option<&'a str>,
    method: Option<&'a str>,
    actor: Option<&'a str>,
    goal: Option<&'a str>,
    episodes: Option<u32>,
    won: Option<u32>,
    /// Of these episodes, those at which the environment failed.
    not_counted: Option<u32>,
    /// Ended episodes in which a person intervened, and of those the won ones.
    assisted: Option<u32>,
    assisted_won: Option<u32>,
    #[serde(skip)]
    wins: Option<String>,
    #[serde(skip)]
    label: String,
    steps: Option<u32>,
    progress: Option<f64>,
    lessons: Option<u32>,
    /// Number of branches; the other fields describe the one written last.
    branches: Option<u32>,
    #[serde(rename = "over")]
    is_over: Option<bool>,
    /// First and last number of the events missing at the end of the branch.
    missing: Option<(u64, u64)>,
    error: Option<String>,
}

/// Runs `sessions`: prints the sessions, newest first.
pub(super) fn sessions(config: &Config, args: &args::Sessions, out: &mut Output) -> Result<(), CliError> {
    let root = locate::sessions_folder(config);
    let found = list_sessions(&root);
    if found.is_empty() && !args.json {
        out.print_note(&format!("no sessions in {} yet; `retrospect run` starts one", root.display()));
    }
    for (dir, read) in &found {
        let name = dir.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let row = match read {
            Ok((session, summary)) => Row {
                session: name,
                path: dir.display().to_string(),
                created: Some(session.meta.created.to_string()),
                status: Some(summary.status(session)),
                env: Some(&session.meta.env),
                method: Some(&session.meta.method),
                actor: Some(&session.meta.actor),
                goal: Some(&summary.goal),
                episodes: Some(summary.episodes),
                won: Some(summary.won),
                not_counted: Some(summary.not_counted),
                assisted: Some(summary.assisted),
                assisted_won: Some(summary.assisted_won),
                wins: Some(summary.describe_wins()),
                label: locate::run_label(&session.meta, &summary.goal),
                steps: Some(summary.steps),
                progress: Some(summary.progress),
                lessons: Some(summary.lessons),
                branches: Some(summary.branches),
                is_over: Some(summary.over),
                missing: summary.missing().map(|missing| (missing.first.0, missing.last.0)),
                error: None,
            },
            Err(error) => Row {
                session: name,
                path: dir.display().to_string(),
                created: None,
                status: None,
                env: None,
                method: None,
                actor: None,
                goal: None,
                episodes: None,
                won: None,
                not_counted: None,
                assisted: None,
                assisted_won: None,
                wins: None,
                label: String::new(),
                steps: None,
                progress: None,
                lessons: None,
                branches: None,
                is_over: None,
                missing: None,
                error: Some(error.to_string()),
            },
        };
        if args.json {
            out.print_json(&serde_json::to_string(&row).unwrap_or_default())?;
        } else {
            out.print_line(&crate::text::one_line(&format_row(&row)))?;
        }
    }
    if !found.is_empty() && !args.json {
        out.print_note(&format!(
            "each session is a folder in {}: to delete a session, delete its folder",
            root.display()
        ));
    }
    Ok(())
}

fn format_row(row: &Row<'_>) -> String {
    if let Some(error) = &row.error {
        return format!("{}  damaged: {error}", row.session);
    }
    let status = match row.status {
        Some(SessionStatus::Live) => "in progress in another program",
        Some(SessionStatus::Crashed) => "crashed, can be resumed",
        _ if row.is_over == Some(true) => "finished",
        _ => "stopped, can be resumed",
    };
    let status = match row.missing {
        Some((first, last)) => format!("truncated: events {first} to {last} are missing"),
        None => status.to_owned(),
    };
    let branches = row.branches.filter(|n| *n > 1).map_or(String::new(), |n| format!(", {n} branches"));
    let outcome = match row.episodes.unwrap_or(0) {
        0 => "no episode ended".to_owned(),
        _ => format!(
            "{}, progress {:.2}",
            row.wins.as_deref().unwrap_or_default(),
            row.progress.unwrap_or(0.0)
        ),
    };
    format!(
        "{}  {status}; {}, {outcome}, {}{branches}; {}",
        row.session,
        row.method.unwrap_or(""),
        pluralize(row.lessons.unwrap_or(0) as u64, "lesson"),
        row.label
    )
}
