//! Measurements with the built-in actor: a lesson and an answer are told apart, and a measurement that is killed, split
//! into shards, short of disk space or without its server loses nothing and counts nothing twice.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may panic, and this one prints its counts"
)]

#[path = "effect/household.rs"]
mod household;
#[cfg(unix)]
#[path = "effect/processes.rs"]
mod processes;
#[path = "effect/told_apart.rs"]
mod told_apart;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use household::{ANSWER, LESSON, Place, elsewhere, here, two_arms_elsewhere, two_arms_here, with_actor};
use retrospect::domain::ModelRole;
use retrospect::driver::measure::{
    Keep, LogFile, MeasureOptions, MeasureUpdate, Measurement, MergeError, OpenMeasurement, Wanted, measure,
    measure_in_turn, merge_logs, missing_shards, read_log,
};
use retrospect::engine::{State, TokenRatio};
use retrospect::journal::{Session, fold_events, read_branch};
use retrospect::provider::RuleBasedActor;
use retrospect::provider::{Delta, FailureKind, Provider, ProviderError, Request};
use retrospect::timeline::effect::{
    EffectBudget, EffectDiscarded, EffectLog, EffectRecord, EffectResult, EffectScope, ExtraCalls,
    PairCounts, PanelVerdict, Shard, StopReason, Verdict,
};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::watch;

const IN_MEMORY: MeasureOptions =
    MeasureOptions { jobs: 1, keep: Keep::None, retry_delay: Duration::ZERO, turn: None, begun: None };

/// Runs a measurement in memory.
fn run(measurement: &Measurement) -> EffectLog {
    run_with_jobs(measurement, 1)
}

/// Runs a measurement in memory, some episodes at a time.
fn run_with_jobs(measurement: &Measurement, jobs: usize) -> EffectLog {
    let (_sender, wanted) = watch::channel(Wanted::Running);
    let options = MeasureOptions { jobs, ..IN_MEMORY };
    measure(measurement, (None, Vec::new()), options, wanted, &mut |_, _| {}).unwrap()
}

/// Runs a measurement with its log in a folder, or continues it there.
fn run_in(dir: &Path, measurement: &Measurement, options: MeasureOptions) -> EffectLog {
    let (mut file, records) = LogFile::open(&dir.join("log.jsonl")).unwrap();
    let (_sender, wanted) = watch::channel(Wanted::Running);
    measure(measurement, (Some(&mut file), records), options, wanted, &mut |_, _| {}).unwrap()
}

fn for_and_against(log: &EffectLog, contrast: usize) -> (u64, u64) {
    let PairCounts { first_only, second_only, .. } = log.contrasts()[contrast].counts();
    (first_only, second_only)
}

/// Whether all pairs are played (`RETROSPECT_SOAK=full`), also after the verdict.
fn is_full() -> bool {
    std::env::var_os("RETROSPECT_SOAK").is_some_and(|mode| mode == "full")
}

/// What the built-in actor does with each lesson, with the seed of the screen: in the README's game from its start and from the moment
/// after its first mistakes, and in 120 other games. `docs/EFFECT.md` has this table.
const TABLE: &str = "\
| lesson | where | pairs | won without, with, with a placebo | lesson, won : lost | placebo, won : lost | verdict |
|---|---|---|---|---|---|---|
| Look for a mug in/on a shelf first. | here, from the start | 30 | 0, 14, 0 | 14 : 0 | 0 : 0 | helped |
| Look for a mug in/on a shelf first. | here, from step 6 | 80 | 0, 16, 0 | 16 : 0 | 0 : 0 | helped |
| Look for a mug in/on a shelf first. | elsewhere | 120 | 62, 63, 62 | 1 : 0 | 0 : 0 | no effect seen |
| Do not repeat an action that did nothing. | here, from the start | 30 | 0, 0, 0 | 0 : 0 | 0 : 0 | undecided |
| Do not repeat an action that did nothing. | here, from step 6 | 80 | 0, 0, 0 | 0 : 0 | 0 : 0 | no effect seen |
| Do not repeat an action that did nothing. | elsewhere | 120 | 62, 87, 62 | 25 : 0 | 0 : 0 | helped |
";

/// The lesson of the README helps in its game, and in no other one; the other lesson does the opposite. A text of equal length
/// does neither.
#[test]
fn an_answer_and_a_lesson_are_told_apart() {
    let mut table: Vec<String> = TABLE.lines().take(2).map(str::to_owned).collect();
    for (text, expected) in [(ANSWER, PanelVerdict::Answer), (LESSON, PanelVerdict::Lesson)] {
        let [from_start, from_moment, elsewhere] = [
            ("here, from the start", here(text, Place::Start, 30)),
            // Fewer games are won from there, so the verdict takes more pairs.
            ("here, from step 6", here(text, Place::Step(6), 80)),
            ("elsewhere", elsewhere(text, 120)),
        ]
        .map(|(place, mut measurement)| {
            measurement.plan.seed = 0;
            // Two episodes at a time; what counts doesn't depend on that.
            let log = run_with_jobs(&measurement, 2);
            let (won, lost) = for_and_against(&log, 0);
            let plays = |arm: &'static str| log.pairs().values().map(move |pair| pair.episode(arm, 1).unwrap());
            assert!(
                plays("placebo").map(|play| &play.trace).eq(plays("without").map(|play| &play.trace)),
                "{text} {place}: to the rule-based actor, a placebo is what no lesson is"
            );
            let differing = |placebo, without| {
                plays("placebo").zip(plays("without")).filter(|(a, b)| (a.won, b.won) == (placebo, without)).count()
            };
            let [without, with, placebo] = ["without", "with", "placebo"].map(|arm| log.wins(arm).0);
            let verdict = log.verdict(0).unwrap();
            table.push(format!(
                "| {text} | {place} | {} | {without}, {with}, {placebo} | {won} : {lost} | {} : {} | {verdict} |",
                log.settled_pairs(),
                differing(true, false),
                differing(false, true),
            ));
            verdict
        });
        for here in [from_start, from_moment] {
            assert_eq!(PanelVerdict::combine(here, elsewhere), expected, "{text}");
        }
    }
    let measured = table.join("\n") + "\n";
    assert!(measured == TABLE, "other numbers:\n{measured}");
    assert!(include_str!("../docs/EFFECT.md").contains(TABLE), "docs/EFFECT.md has another table");
}

#[test]
fn a_measurement_continues_where_it_stopped_and_writes_the_same_log() {
    let measurement = two_arms_here(ANSWER, Place::Step(25), 3);
    let options = MeasureOptions { keep: Keep::All, ..IN_MEMORY };
    let whole = tempfile::tempdir().unwrap();
    run_in(whole.path(), &measurement, options);
    let log = std::fs::read(whole.path().join("log.jsonl")).unwrap();
    let lines: Vec<usize> = (0..log.len()).filter(|at| log[*at] == b'\n').collect();
    // Killed in the middle of the plan, of the first line, between the arms of a pair, and before the end.
    for cut in [7, lines[0] + 1, lines[0] + 20, lines[1] + 1, lines[4] + 1, log.len() - 9] {
        let parts = tempfile::tempdir().unwrap();
        let path = parts.path().join("log.jsonl");
        std::fs::write(&path, &log[..cut]).unwrap();
        run_in(parts.path(), &measurement, options);
        assert!(std::fs::read(&path).unwrap() == log, "cut at {cut}");
        // The journals of a pair that was interrupted are complete, too.
        let interrupted = if cut == lines[1] + 1 { ["1-with", "1-without"] } else { ["3-with", "3-without"] };
        for name in interrupted.iter().filter(|_| cut < lines[6]) {
            assert!(parts.path().join(name).join("meta.toml").is_file(), "{name}, cut at {cut}");
        }
    }
}

/// Two measurements that advance in turn, a pair at a time, have the logs that they would have one after the other.
#[test]
fn measurements_that_advance_in_turn_have_the_same_logs() {
    let dir = tempfile::tempdir().unwrap();
    let both = [two_arms_here(ANSWER, Place::Step(25), 3), two_arms_elsewhere(LESSON, 4)];
    let alone = both.each_ref().map(|measurement| {
        let folder = dir.path().join(format!("alone-{}", measurement.plan.effect));
        run_in(&folder, measurement, IN_MEMORY);
        std::fs::read(folder.join("log.jsonl")).unwrap()
    });
    for jobs in [1, 2] {
        let paths = [1, 2].map(|n| dir.path().join(format!("{jobs}-{n}")).join("log.jsonl"));
        let open = both
            .iter()
            .zip(&paths)
            .map(|(measurement, path)| OpenMeasurement::open(measurement, path).unwrap());
        let options = MeasureOptions { jobs, turn: Some(Duration::ZERO), ..IN_MEMORY };
        let (_sender, wanted) = watch::channel(Wanted::Running);
        // Of successive records of the same measurement, one.
        let mut order = Vec::new();
        let mut on_update = |index: usize, _: &EffectLog, _: MeasureUpdate<'_>| order.push(index);
        let logs = measure_in_turn(open.collect(), options, &wanted, &mut on_update).unwrap();
        order.dedup();
        assert!(order.starts_with(&[0, 1, 0, 1, 0]), "{order:?}");
        if jobs == 1 {
            for (path, alone) in paths.iter().zip(&alone) {
                assert!(std::fs::read(path).unwrap() == *alone, "{}", path.display());
            }
        }
        for (log, alone) in logs.iter().zip(&alone) {
            let lines = alone.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            let alone = EffectLog::fold(lines.map(|line| serde_json::from_slice(line).unwrap())).unwrap();
            let counts = |log: &EffectLog| format!("{:?}", log.contrasts()[0].counts());
            assert_eq!(
                (counts(log), log.settled_pairs()),
                (counts(&alone), alone.settled_pairs()),
                "{jobs} jobs"
            );
        }
    }
}

#[test]
fn the_journals_of_a_pair_that_differs_open_and_share_their_past() {
    let measurement = two_arms_here(ANSWER, Place::Step(6), 20);
    let dir = tempfile::tempdir().unwrap();
    let log = run_in(dir.path(), &measurement, MeasureOptions { keep: Keep::Differing, ..IN_MEMORY });
    let kept: Vec<u32> = log.pairs().iter().filter(|(_, pair)| pair.is_kept()).map(|(n, _)| *n).collect();
    let differing: Vec<u32> =
        log.contrasts()[0].pairs().iter().filter(|p| p.won.0 != p.won.1).map(|p| p.pair).collect();
    assert!(!kept.is_empty() && kept == differing, "{kept:?} {differing:?}");
    let open = |arm: &str| {
        let session = Session::open(&dir.path().join(format!("{}-{arm}", kept[0]))).unwrap();
        fold_events(read_branch(&session.trunk()).unwrap().events)
    };
    let (with, without) = (open("with"), open("without"));
    let of = |timeline: &retrospect::timeline::Timeline| timeline.head().episode.clone().unwrap();
    assert_eq!(
        (of(&with).outcome.clone().unwrap().won, of(&without).outcome.clone().unwrap().won),
        (true, false)
    );
    let step =
        |episode: &retrospect::engine::Episode, n| episode.step(n).unwrap().action().map(str::to_owned);
    for n in 1..6 {
        assert_eq!(step(&of(&with), n), step(&of(&without), n), "step {n}");
    }
    let is_shown = |timeline: &retrospect::timeline::Timeline| {
        timeline.head().pool.all().any(|l| l.is_active() && l.text().text == ANSWER)
    };
    assert_eq!((is_shown(&with), is_shown(&without)), (true, false));
}

#[test]
fn shards_give_the_numbers_of_one_process() {
    let one = two_arms_elsewhere(LESSON, 16);
    let dir = tempfile::tempdir().unwrap();
    run_in(dir.path(), &one, IN_MEMORY);
    let whole = read_log(&dir.path().join("log.jsonl")).unwrap();
    let mut logs = Vec::new();
    for index in 1..=8 {
        let mut shard = one.clone();
        shard.plan.shard = Some(Shard { index, count: 8 });
        let folder = dir.path().join(index.to_string());
        let log = run_in(&folder, &shard, IN_MEMORY);
        assert_eq!((log.totals().episodes, log.stopped()), (4, Some(StopReason::Pairs)), "shard {index}");
        logs.push((index.to_string(), read_log(&folder.join("log.jsonl")).unwrap()));
    }
    assert_eq!(merge_logs(&logs).unwrap(), whole);
    // The order of the logs doesn't matter. Without one of them, its pairs count in no arm.
    logs.reverse();
    assert_eq!(merge_logs(&logs).unwrap(), whole);
    logs.pop();
    let merged = EffectLog::fold(merge_logs(&logs).unwrap()).unwrap();
    assert_eq!((merged.settled_pairs(), merged.contrasts()[0].pairs().len()), (16, 14));
    assert_eq!(merged.discarded_pairs(), 0, "an absent shard is no failure");
    assert_eq!(missing_shards(&logs), (vec![1], 8), "the last one of the reversed logs");
    // Regression: its result counted them as played, and as a number of pairs that was fixed before.
    let result = EffectResult::from_log(&merged);
    assert_eq!((result.settled, result.absent, result.contrasts[0].fixed.is_valid), (14, 2, false));
    // A shard that was continued with more pairs says how large the measurement is, wherever it stands.
    for larger in [0, 1] {
        let mut logs: Vec<_> = logs[5..].to_vec();
        for record in &mut logs[larger].1 {
            if let EffectRecord::Planned(plan) = record {
                plan.pairs = 24;
            }
        }
        assert_eq!(EffectLog::fold(merge_logs(&logs).unwrap()).unwrap().plan().pairs, 24);
    }
    // A log of another measurement doesn't belong to them.
    let other = two_arms_elsewhere(ANSWER, 1);
    logs.push(("other".to_owned(), vec![EffectRecord::Planned(Box::new(other.plan.clone()))]));
    assert!(matches!(merge_logs(&logs), Err(MergeError::OtherMeasurement { .. })));
}

/// Regression: with a budget of 100 calls, 60 pairs were promised, with what they detect; a few were played.
#[test]
fn the_promised_pairs_are_those_of_every_part_of_the_budget() {
    let session = household::session();
    let recorded = Some(&**session.head());
    let promised = |budget: EffectBudget| {
        let mut measurement = here(ANSWER, Place::Step(6), 60);
        measurement.plan.budget = budget;
        let estimate = measurement.estimate(recorded, 1);
        let detectable = measurement.detectable(recorded, 1);
        assert_eq!(detectable.pairs, estimate.pairs.max(1));
        (estimate, detectable)
    };
    let (whole, full) = promised(EffectBudget::default());
    assert_eq!((whole.pairs, whole.is_limited), (60, false));
    let none = EffectBudget::default();
    for (budget, pairs) in [
        (EffectBudget { calls: Some(whole.calls / 6), ..none }, 10),
        (EffectBudget { tokens: Some(whole.tokens / 6), ..none }, 10),
        (EffectBudget { episodes: Some(whole.episodes / 6), ..none }, 10),
        (EffectBudget { calls: Some(whole.calls / 6), episodes: Some(whole.episodes / 12), ..none }, 5),
        (EffectBudget { calls: Some(1), ..none }, 0),
    ] {
        let (estimate, detectable) = promised(budget);
        assert_eq!((estimate.pairs, estimate.is_limited), (pairs, true), "{budget:?}");
        assert!(detectable.best.is_none_or(|effect| Some(effect) > full.best), "{detectable:?}");
    }
    assert_eq!(promised(EffectBudget { minutes: Some(10), ..none }).0.pairs, 60, "that is enough time");
}

/// Regression: the plan took our estimate of a prompt, of which the server counts more than twice as many tokens.
#[test]
fn the_planned_tokens_are_those_that_the_server_counts() {
    let session = household::session();
    let mut recorded = State::clone(session.head());
    recorded.ended_episodes = State::default().ended_episodes;
    let measurement = here(ANSWER, Place::Step(6), 60);
    let estimated = measurement.estimate(Some(&recorded), 1);
    recorded.token_ratios = vec![TokenRatio { role: ModelRole::Actor, estimated: 1000, counted: 2400 }];
    let counted = measurement.estimate(Some(&recorded), 1);
    assert_eq!(counted.calls, estimated.calls);
    let times = counted.tokens as f64 / estimated.tokens as f64;
    assert!((2.0..2.4).contains(&times), "{} instead of {}", counted.tokens, estimated.tokens);
}

/// Regression: the plan of a continued measurement had the pairs again that its log has, and promised some where the budget was used up.
#[test]
fn the_plan_of_a_continued_measurement_is_about_the_rest() {
    let continued = |budget: EffectBudget, pairs: u32, more: EffectBudget| {
        let mut measurement = two_arms_here(ANSWER, Place::Step(25), pairs);
        let keep_going = measurement.plan.budget.keep_going;
        measurement.plan.budget = EffectBudget { keep_going, ..budget };
        let log = run(&measurement);
        measurement.plan.budget = EffectBudget { keep_going, ..more };
        measurement.continue_from(&log);
        (log.settled_pairs(), measurement.estimate(None, 1))
    };
    let (none, ten) =
        (EffectBudget::default(), EffectBudget { episodes: Some(10), ..EffectBudget::default() });
    let (played, rest) = continued(ten, 60, none);
    assert_eq!((played, rest.played, rest.pairs, rest.episodes), (5, 5, 55, 110));
    let (_, used_up) = continued(ten, 60, ten);
    assert_eq!((used_up.played, used_up.pairs, used_up.episodes), (5, 0, 0));
    let (_, limited) = continued(ten, 60, EffectBudget { episodes: Some(16), ..none });
    assert_eq!((limited.played, limited.pairs, limited.is_limited), (5, 3, true));
    let (_, over) = continued(none, 4, none);
    assert_eq!((over.played, over.pairs, over.calls), (4, 0, 0));
}

/// Regression: which line of a pair says that its journals are kept, and which pairs are kept at all, depended on the arms that a
/// shard plays; one process stops playing some of them at their verdict.
#[test]
fn shards_that_keep_journals_give_the_log_of_one_process() {
    let one = || {
        let mut measurement = here(ANSWER, Place::Start, 14);
        measurement.plan.budget.keep_going = false;
        measurement
    };
    for keep in [Keep::Differing, Keep::All] {
        let options = MeasureOptions { keep, ..IN_MEMORY };
        let dir = tempfile::tempdir().unwrap();
        run_in(dir.path(), &one(), options);
        let whole = read_log(&dir.path().join("log.jsonl")).unwrap();
        let is_kept = |record: &EffectRecord| matches!(record, EffectRecord::Episode(e) if e.kept);
        assert!(whole.iter().any(is_kept));
        let mut logs = Vec::new();
        for index in 1..=3 {
            let mut shard = one();
            shard.plan.shard = Some(Shard { index, count: 3 });
            let folder = dir.path().join(index.to_string());
            run_in(&folder, &shard, options);
            logs.push((index.to_string(), read_log(&folder.join("log.jsonl")).unwrap()));
        }
        assert_eq!(merge_logs(&logs).unwrap(), whole, "{keep:?}");
    }
}

/// Regression: a shard stops a pair at the first arm that can't be played; the merge waited for its other arm, and counted no later pair.
#[test]
fn a_pair_that_a_shard_has_discarded_holds_up_no_later_one() {
    for arm in ["with", "without"] {
        let mut logs = Vec::new();
        for index in 1..=2 {
            let mut shard = two_arms_elsewhere(LESSON, 6);
            shard.plan.shard = Some(Shard { index, count: 2 });
            let dir = tempfile::tempdir().unwrap();
            run_in(dir.path(), &shard, IN_MEMORY);
            let mut records = read_log(&dir.path().join("log.jsonl")).unwrap();
            if index == 2 {
                let is_of_pair =
                    |record: &EffectRecord| matches!(record, EffectRecord::Episode(e) if e.pair == 3);
                let at = records.iter().position(is_of_pair).unwrap();
                records.retain(|record| !is_of_pair(record));
                let discarded = EffectDiscarded {
                    effect: shard.plan.effect.clone(),
                    pair: 3,
                    arm: arm.to_owned(),
                    reason: "the server refused".to_owned(),
                    absent: false,
                    timed_out: false,
                    extra: ExtraCalls::default(),
                };
                records.insert(at, EffectRecord::Discarded(discarded));
            }
            logs.push((index.to_string(), records));
        }
        let merged = EffectLog::fold(merge_logs(&logs).unwrap()).unwrap();
        assert_eq!((merged.settled_pairs(), merged.discarded_pairs()), (6, 1), "discarded in arm {arm}");
    }
}

/// The rule-based actor behind a server that fails now and then.
struct FlakyServer {
    actor: Arc<dyn Provider>,
    calls: AtomicU64,
    fails: fn(u64) -> bool,
    kind: FailureKind,
}

impl FlakyServer {
    fn new(fails: fn(u64) -> bool) -> Self {
        let (actor, calls) = (Arc::new(RuleBasedActor::default()), AtomicU64::new(0));
        Self { actor, calls, fails, kind: FailureKind::Unreachable }
    }
}

impl Provider for FlakyServer {
    fn name(&self) -> String {
        "flaky".to_owned()
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
        if (self.fails)(self.calls.fetch_add(1, Ordering::SeqCst)) {
            let error = ProviderError::new("the server is down", "start it").with_kind(self.kind);
            return futures_util::stream::iter([Err(error)]).boxed();
        }
        self.actor.stream(request)
    }
}

fn with_flaky_server(measurement: Measurement, fails: fn(u64) -> bool) -> Measurement {
    with_actor(measurement, Arc::new(FlakyServer::new(fails)))
}

/// A server that is down for many calls in a row: as long as three tries of an episode and longer.
#[test]
fn a_server_that_fails_for_a_while_changes_no_numbers() {
    let measurement = || two_arms_here(ANSWER, Place::Step(25), 4);
    let dir = tempfile::tempdir().unwrap();
    let whole = dir.path().join("whole");
    run_in(&whole, &measurement(), IN_MEMORY);
    let expected = std::fs::read(whole.join("log.jsonl")).unwrap();
    let fails: [fn(u64) -> bool; 2] = [|call| call % 40 == 0, |call| (30..90).contains(&call)];
    let kinds = [FailureKind::Unreachable, FailureKind::Busy, FailureKind::TimedOut];
    let cases =
        kinds.iter().flat_map(|kind| (0..).zip(fails).map(move |(number, fails)| (*kind, number, fails)));
    for (kind, number, fails) in cases {
        let folder = dir.path().join(format!("{kind:?} {number}"));
        let (mut file, records) = LogFile::open(&folder.join("log.jsonl")).unwrap();
        let (_sender, wanted) = watch::channel(Wanted::Running);
        let mut outages = Vec::new();
        let mut on_update = |_: &EffectLog, update: MeasureUpdate<'_>| {
            if let MeasureUpdate::Outage(outage) = update {
                outages.push(outage.map(|outage| (outage.attempts, outage.describe())));
            }
        };
        let flaky = with_actor(measurement(), Arc::new(FlakyServer { kind, ..FlakyServer::new(fails) }));
        let log = measure(&flaky, (Some(&mut file), records), IN_MEMORY, wanted, &mut on_update).unwrap();
        assert_eq!(log.discarded_pairs(), 0);
        assert!(std::fs::read(folder.join("log.jsonl")).unwrap() == expected, "the same bytes");
        let longest = outages.iter().flatten().map(|(attempts, _)| *attempts).max();
        // From the seventh failure on, every other call asks whether the server answers anything.
        let asks_for_another = kind != FailureKind::Unreachable;
        let expected_longest = [1, if asks_for_another { 33 } else { 60 }][number];
        assert_eq!(longest, Some(expected_longest), "{kind:?}");
        let (_, text) = outages[0].as_ref().unwrap();
        assert!(text.contains("the server is down; start it") && text.contains("1 attempt failed"), "{text}");
        assert_eq!(outages.last(), Some(&None), "the server has answered");
    }
}

/// The rule-based actor behind a gateway that times out at one prompt: that of the first call after the 29th.
struct SlowPrompt {
    actor: Arc<dyn Provider>,
    calls: AtomicU64,
    slow_seed: AtomicU64,
    timeouts: AtomicU64,
}

impl Provider for SlowPrompt {
    fn name(&self) -> String {
        "slow".to_owned()
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
        if self.calls.fetch_add(1, Ordering::SeqCst) == 30 {
            self.slow_seed.store(request.seed, Ordering::SeqCst);
        }
        if request.seed != 0 && request.seed == self.slow_seed.load(Ordering::SeqCst) {
            self.timeouts.fetch_add(1, Ordering::SeqCst);
            let error = ProviderError::new("HTTP 504", "wait, then retry").with_kind(FailureKind::Busy);
            return futures_util::stream::iter([Err(error)]).boxed();
        }
        self.actor.stream(request)
    }
}

/// Regression: one slow prompt, at which a gateway timed out each time, held up a measurement until somebody stopped it.
#[test]
fn a_prompt_at_which_a_server_always_times_out_leaves_its_pair() {
    let measurement = || two_arms_here(ANSWER, Place::Step(25), 4);
    let dir = tempfile::tempdir().unwrap();
    let server = Arc::new(SlowPrompt {
        actor: Arc::new(RuleBasedActor::default()),
        calls: AtomicU64::new(0),
        slow_seed: AtomicU64::new(0),
        timeouts: AtomicU64::new(0),
    });
    let log =
        run_in(dir.path(), &with_actor(measurement(), Arc::clone(&server) as Arc<dyn Provider>), IN_MEMORY);
    let tries = server.timeouts.load(Ordering::SeqCst);
    assert!(tries.is_multiple_of(8) && tries > 0, "{tries} calls");
    assert_eq!((log.settled_pairs(), u64::from(log.discarded_pairs())), (4, tries / 8));
    assert_eq!(log.timed_out_pairs(), log.discarded_pairs());
    // Regression: what was called for discarded episodes, and to ask whether the server is there, was in no budget.
    let answered = server.calls.load(Ordering::SeqCst) - tries;
    // A call that is sent again counts once.
    assert_eq!(log.totals().calls, answered + tries / 8);
    let result = EffectResult::from_log(&log);
    let stop = retrospect::report::effect::describe_stop(&result).unwrap();
    assert!(stop.ends_with("not played: server timed out or busy; continuing tries again"), "{stop}");
    // Continued with a server that is fast enough, it plays them.
    let log = run_in(dir.path(), &measurement(), IN_MEMORY);
    assert_eq!((log.discarded_pairs(), log.timed_out_pairs(), log.totals().episodes), (0, 0, 8));
    assert_eq!(for_and_against(&log, 0), for_and_against(&run(&measurement()), 0));
}

/// While it waits for a server, a person and the clock stop it at once; nothing is discarded, and it goes on later.
#[test]
fn a_measurement_that_waits_for_its_server_can_be_stopped() {
    let down = with_flaky_server(two_arms_here(ANSWER, Place::Step(25), 4), |_| true);
    let dir = tempfile::tempdir().unwrap();
    let patient = MeasureOptions { retry_delay: Duration::from_secs(3600), ..IN_MEMORY };
    let (sender, wanted) = watch::channel(Wanted::Running);
    let (mut file, records) = LogFile::open(&dir.path().join("log.jsonl")).unwrap();
    let mut stop = |_: &EffectLog, update: MeasureUpdate<'_>| {
        if matches!(update, MeasureUpdate::Outage(Some(_))) {
            sender.send(Wanted::Stopped).unwrap();
        }
    };
    let log = measure(&down, (Some(&mut file), records), patient, wanted, &mut stop).unwrap();
    assert_eq!((log.stopped(), log.totals().episodes), (Some(StopReason::Person), 0));
    assert_eq!(log.discarded_pairs(), 0);
    drop(file);
    let mut late = down;
    late.plan.budget.minutes = Some(0);
    let log = run_in(dir.path(), &late, patient);
    assert_eq!((log.stopped(), log.discarded_pairs()), (Some(StopReason::Minutes), 0));
    let log = run_in(dir.path(), &two_arms_here(ANSWER, Place::Step(25), 4), IN_MEMORY);
    assert_eq!((log.stopped(), log.totals().episodes), (Some(StopReason::Pairs), 8));
}

#[test]
fn a_server_that_refuses_discards_pairs_until_the_measurement_stops() {
    let refusing = FlakyServer { kind: FailureKind::Credentials, ..FlakyServer::new(|_| true) };
    let log = run(&with_actor(two_arms_here(ANSWER, Place::Step(25), 60), Arc::new(refusing)));
    assert_eq!((log.stopped(), log.settled_pairs()), (Some(StopReason::Discarded), 20));
    assert_eq!((log.verdict(0), log.totals().episodes), (Some(Verdict::Undecided), 0));
    let reason = &log.discarded(1).unwrap().reason;
    assert!(reason.contains("the server is down"), "{reason}");
    // Regression: the result didn't say why.
    let said = retrospect::report::effect::result_lines(log.plan(), &EffectResult::from_log(&log)).join("\n");
    assert!(said.contains("20 pairs discarded") && said.contains(reason.as_str()), "{said}");
}

/// Regression: a server whose every reply was unusable had a verdict, or "a fact", and the result guessed at the reason.
#[test]
fn a_server_that_gives_nothing_usable_gives_no_verdict() {
    let unusable = || FlakyServer { kind: FailureKind::Unusable, ..FlakyServer::new(|_| true) };
    for measurement in [two_arms_here(ANSWER, Place::Start, 60), two_arms_elsewhere(ANSWER, 60)] {
        let log = run(&with_actor(measurement, Arc::new(unusable())));
        assert_eq!(
            (log.stopped(), log.verdict(0)),
            (Some(StopReason::FailedCalls), Some(Verdict::Undecided))
        );
        let said =
            retrospect::report::effect::result_lines(log.plan(), &EffectResult::from_log(&log)).join("\n");
        assert!(
            said.contains("too many for a verdict") && said.contains("the server is down; start it"),
            "{said}"
        );
        assert!(!said.contains("a fact") && !said.contains("no effect"), "{said}");
    }
}

/// Regression: with fewer than 20 pairs, they ended as "all pairs are played", and the same command did nothing more.
#[test]
fn a_few_pairs_that_a_server_refused_are_played_when_the_measurement_is_continued() {
    let dir = tempfile::tempdir().unwrap();
    let measurement = || two_arms_here(ANSWER, Place::Step(25), 4);
    let refusing = FlakyServer { kind: FailureKind::Credentials, ..FlakyServer::new(|call| call < 30) };
    let log = run_in(dir.path(), &with_actor(measurement(), Arc::new(refusing)), IN_MEMORY);
    assert_eq!((log.stopped(), log.discarded_pairs() > 0), (Some(StopReason::Pairs), true));
    let stop = retrospect::report::effect::describe_stop(&EffectResult::from_log(&log)).unwrap();
    assert!(stop.contains("discarded") && stop.contains("continuing tries again"), "{stop}");
    let log = run_in(dir.path(), &measurement(), IN_MEMORY);
    assert_eq!((log.discarded_pairs(), log.totals().episodes), (0, 8));
    let whole = run(&measurement());
    assert_eq!(for_and_against(&log, 0), for_and_against(&whole, 0));
    // All are played now: the same command writes nothing more.
    let written = std::fs::read(dir.path().join("log.jsonl")).unwrap();
    run_in(dir.path(), &measurement(), IN_MEMORY);
    assert!(std::fs::read(dir.path().join("log.jsonl")).unwrap() == written);
}

/// The rule-based actor with one seed for everything: what it does depends on the task alone.
struct FixedSeed(Arc<dyn Provider>);

impl Provider for FixedSeed {
    fn name(&self) -> String {
        "fixed".to_owned()
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
        self.0.stream(Request { seed: 7, ..request })
    }
}

#[test]
fn a_deterministic_agent_is_a_fact_about_exactly_these_tasks() {
    let mut these = two_arms_elsewhere(LESSON, 30);
    these.plan.scope = EffectScope::These;
    these.plan.tasks.truncate(3);
    let log = run(&with_actor(these, Arc::new(FixedSeed(Arc::new(RuleBasedActor::default())))));
    assert_eq!((log.settled_pairs(), log.stopped()), (2, Some(StopReason::Deterministic)));
    let result = EffectResult::from_log(&log);
    assert_eq!((log.judge(0).pairs, log.wins("with").1), (3, 3), "tasks are counted, not rounds");
    assert!(result.fact.unwrap().contains("of 3 tasks"));
}

#[test]
fn a_stopped_measurement_says_so_and_can_be_continued() {
    let measurement = two_arms_here(ANSWER, Place::Step(25), 4);
    let dir = tempfile::tempdir().unwrap();
    let (sender, wanted) = watch::channel(Wanted::Running);
    let (mut file, records) = LogFile::open(&dir.path().join("log.jsonl")).unwrap();
    let mut stop = |log: &EffectLog, _: MeasureUpdate<'_>| {
        if log.settled_pairs() == 2 {
            sender.send(Wanted::Stopped).unwrap();
        }
    };
    let log = measure(&measurement, (Some(&mut file), records), IN_MEMORY, wanted, &mut stop).unwrap();
    assert_eq!((log.stopped(), log.settled_pairs()), (Some(StopReason::Person), 2));
    drop(file);
    let mut longer = measurement.clone();
    longer.plan.pairs = 5;
    let log = run_in(dir.path(), &longer, IN_MEMORY);
    assert_eq!((log.stopped(), log.settled_pairs()), (Some(StopReason::Pairs), 5));
    assert_eq!(log.totals().episodes, 10, "no episode was played twice");
}

/// Regression: shards that were extended after a look were merged as if the larger number had been fixed in advance, and the log of the first
/// merge wasn't replaced.
#[test]
fn shards_that_were_extended_after_a_look_say_so() {
    let dir = tempfile::tempdir().unwrap();
    let of_size = |pairs: u32, shard: Option<Shard>| {
        let mut measurement = two_arms_here(ANSWER, Place::Step(25), pairs);
        (measurement.plan.budget.keep_going, measurement.plan.shard) = (true, shard);
        measurement
    };
    let (mut merged, mut whole) = (Vec::new(), Vec::new());
    for pairs in [4, 8] {
        let mut logs = Vec::new();
        for index in 1..=2 {
            let folder = dir.path().join(index.to_string());
            run_in(&folder, &of_size(pairs, Some(Shard { index, count: 2 })), IN_MEMORY);
            logs.push((index.to_string(), read_log(&folder.join("log.jsonl")).unwrap()));
        }
        merged.push(merge_logs(&logs).unwrap());
        run_in(&dir.path().join("one"), &of_size(pairs, None), IN_MEMORY);
        whole.push(read_log(&dir.path().join("one/log.jsonl")).unwrap());
    }
    assert!(merged == whole, "the records of one process that was extended");
    assert_eq!(merged[1][..merged[0].len()], merged[0], "the second merge continues the first one");
    let is_fixed = |records: &[EffectRecord]| EffectLog::fold(records.to_vec()).unwrap().is_size_fixed();
    assert_eq!((is_fixed(&merged[0]), is_fixed(&merged[1])), (true, false));
}

/// The rule-based actor behind a server that answers only the thread that has called it first.
struct ServerOfOneThread {
    actor: Arc<dyn Provider>,
    first: std::sync::OnceLock<std::thread::ThreadId>,
}

impl Provider for ServerOfOneThread {
    fn name(&self) -> String {
        "one thread".to_owned()
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
        let own = std::thread::current().id();
        if *self.first.get_or_init(|| own) != own {
            let error = ProviderError::new("down", "start it").with_kind(FailureKind::Unreachable);
            return futures_util::stream::iter([Err(error)]).boxed();
        }
        self.actor.stream(request)
    }
}

/// Regression: with two jobs, an error of the disk was only told once the other job's server answered, which may be never.
#[test]
fn an_error_is_told_while_another_job_waits_for_its_server() {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let dir = tempfile::tempdir().unwrap();
        let (mut file, records) = LogFile::open(&dir.path().join("log.jsonl")).unwrap();
        // No journal can be written where a file is in the way.
        for pair in 1..=8 {
            for arm in ["with", "without"] {
                std::fs::write(dir.path().join(format!("{pair}-{arm}")), "").unwrap();
            }
        }
        let actor = Arc::new(RuleBasedActor::default());
        let server = Arc::new(ServerOfOneThread { actor, first: std::sync::OnceLock::new() });
        let measurement = with_actor(two_arms_here(ANSWER, Place::Step(25), 8), server);
        let retry_delay = Duration::from_secs(3600);
        let options = MeasureOptions { jobs: 2, keep: Keep::All, retry_delay, ..IN_MEMORY };
        // A person could stop it, but doesn't.
        let (_person, wanted) = watch::channel(Wanted::Running);
        let outcome = measure(&measurement, (Some(&mut file), records), options, wanted, &mut |_, _| {});
        let _ = sender.send(outcome.map(|log| log.settled_pairs()).map_err(|error| error.to_string()));
    });
    let outcome = receiver.recv_timeout(Duration::from_secs(120)).expect("it ends");
    assert!(outcome.as_ref().is_err_and(|error| error.contains("incomplete journal")), "{outcome:?}");
}
