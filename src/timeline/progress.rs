//! Progress of what takes long because it reads or folds many events.

/// Receives how many of how many parts are done. Returns an error, with the reason, if the work must stop.
pub type ReportProgress<'r> = dyn Fn(u64, u64) -> Result<(), String> + 'r;

/// Reports nothing, and never stops the work.
///
/// # Errors
/// Never.
pub fn no_progress(_: u64, _: u64) -> Result<(), String> {
    Ok(())
}

/// Returns a function that reports the progress of one of `stages` equally long stages, counted from 0.
pub fn stage_progress<'r>(
    report: &'r ReportProgress<'_>,
    stage: u64,
    stages: u64,
) -> impl Fn(u64, u64) -> Result<(), String> + 'r {
    move |done, all| report(stage * 100 + (done * 100).checked_div(all).unwrap_or(100).min(100), stages * 100)
}
