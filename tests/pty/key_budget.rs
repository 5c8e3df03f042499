//! The benchmark of the screen (`benches/terminal.rs`) must not call a budget met that its run doesn't show.

#[path = "../../benches/measure/keys.rs"]
mod keys;

use keys::{Judgement, KeyRun, Work, parse_pace};

fn full_run() -> KeyRun {
    let work = Work { exports: 1, searches: 1 };
    KeyRun { keys: 2_000, events: 1_000_000, p99: 16.0, worst: 50.0, work, pace: Some((1.0, 7.0)) }
}

/// Regression: a run during which nothing was exported or searched met the budget.
#[test]
fn a_budget_is_met_only_if_export_search_and_stream_were_measured() {
    assert_eq!((full_run().judge_keys(), full_run().judge_pace()), (Judgement::Met, Judgement::Met));
    for slow in
        [KeyRun { p99: 16.1, ..full_run() }, KeyRun { worst: 50.1, work: Work::default(), ..full_run() }]
    {
        assert_eq!(slow.judge_keys(), Judgement::Missed);
    }
    let late = KeyRun { pace: Some((1.0, 7.1)), ..full_run() };
    assert_eq!((late.judge_keys(), late.judge_pace()), (Judgement::Met, Judgement::Missed));

    let work = |exports, searches| KeyRun { work: Work { exports, searches }, ..full_run() };
    for (run, why, is_too_short) in [
        (work(0, 9), "no export has ended", false),
        (work(9, 0), "no search has ended", false),
        (KeyRun { pace: None, ..full_run() }, "the pace of the stream is unknown", false),
        (KeyRun { keys: 200, ..full_run() }, "200 of 2000 keys", true),
        (KeyRun { events: 9, ..full_run() }, "9 of 1000000 events", true),
        (KeyRun { keys: 200, ..work(0, 0) }, "no export has ended", true),
    ] {
        let unknown = || Judgement::Unknown { reason: why.to_owned(), is_too_short };
        assert_eq!((run.judge_keys(), run.judge_pace()), (unknown(), unknown()), "{why}");
    }
}

#[test]
fn what_the_measured_process_wrote_is_read_back() {
    assert_eq!(Work::parse(""), Work::default());
    assert_eq!(Work::parse("search 3\nexport 20\nsearch 4\n"), Work { exports: 1, searches: 2 });
    assert_eq!(parse_pace("0.1 6.2"), Some((0.1, 6.2)));
    for text in ["", "0.1", "0.1 NaN", "0.1 x"] {
        assert_eq!(parse_pace(text), None, "{text}");
    }
}
