//! The measurements that the chapters of a demo show: folded from their logs, as the screen shows a measurement.

use crate::driver::measure::{EpisodePlace, LOG_NAME, measurements_folder, read_log};
use crate::timeline::effect::{EffectLog, EffectRecord, EffectResult};
use crate::ui::effect::{EffectColumn, EffectPhase, EffectProgress, EffectQuery};
use std::path::Path;

/// Reads the log of a measurement of a session in a folder.
///
/// # Errors
/// Returns why it can't be read.
pub(super) fn log_in_folder(dir: &Path, effect: &str) -> Result<EffectLog, String> {
    let log = measurements_folder(dir).join(effect).join(LOG_NAME);
    fold(read_log(&log).map_err(|error| error.to_string())?)
}

/// Parses the text of a log, a record a line.
///
/// # Errors
/// Returns what is wrong with it.
pub(super) fn log_from_text(text: &str) -> Result<EffectLog, String> {
    let records = text.lines().map(serde_json::from_str::<EffectRecord>).collect::<Result<Vec<_>, _>>();
    fold(records.map_err(|error| error.to_string())?)
}

fn fold(records: Vec<EffectRecord>) -> Result<EffectLog, String> {
    EffectLog::fold(records).ok_or_else(|| "it doesn't begin with a plan".to_owned())
}

/// Returns a measurement that isn't running, with these columns.
///
/// # Errors
/// Returns an error if no column says which lesson it is about.
pub(super) fn stored_measurement(logs: Vec<EffectLog>) -> Result<EffectProgress, String> {
    let lesson = logs.first().and_then(|log| log.plan().lesson.clone()).ok_or("it is about no lesson")?;
    let columns = logs.into_iter().map(|log| EffectColumn {
        result: EffectResult::without_bootstrap(&log),
        log,
        cost: String::new(),
        detectable: None,
        folder: String::new(),
        kept: None,
    });
    Ok(EffectProgress {
        query: EffectQuery::new(lesson, EpisodePlace { episode: None, step: None }),
        phase: EffectPhase::Idle,
        columns: columns.collect(),
        missing_column: None,
        has_older_lessons: false,
        unknown_sources: None,
        outage: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::locate;
    use crate::cli::shipped_demos::DEMOS;
    use crate::timeline::effect::PanelVerdict;

    /// A demo must not show other numbers than its session has.
    #[test]
    fn what_a_demo_shows_is_what_its_session_recorded() {
        let mut verdicts = Vec::new();
        for demo in &DEMOS {
            let opened = locate::open_demo(demo, None).unwrap();
            let lessons: Vec<_> = opened.timeline.head().pool.all().cloned().collect();
            for effects in demo.guide().unwrap().chapters.into_iter().map(|chapter| chapter.measurement) {
                let logs: Vec<EffectLog> =
                    effects.iter().map(|effect| log_from_text(demo.log(effect).unwrap()).unwrap()).collect();
                if logs.is_empty() {
                    continue;
                }
                let stored = stored_measurement(logs).unwrap();
                for column in &stored.columns {
                    let judged = &column.result.contrasts[0].judged;
                    let recorded = lessons.iter().flat_map(|lesson| lesson.measured.iter());
                    let recorded = recorded.clone().find(|one| one.effect == judged.effect).unwrap();
                    assert_eq!(
                        (recorded.pairs, recorded.b, recorded.c),
                        (judged.pairs, judged.counts.first_only, judged.counts.second_only)
                    );
                    assert!(
                        column.log.pairs().values().all(|pair| !pair.is_kept()),
                        "no journals are shipped"
                    );
                }
                verdicts.push(stored.panel().unwrap());
            }
        }
        assert_eq!(verdicts, [PanelVerdict::Answer, PanelVerdict::Lesson]);
    }
}
