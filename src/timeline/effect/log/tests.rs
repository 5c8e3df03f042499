//! The fold and the schedule of measurements with made-up episodes.

use super::{EffectLog, NextRecord};
use crate::domain::{
    AdviceCounts, AskedAt, BranchId, EffectStart, EndReason, LessonId, LessonText, MeasuredEffect, Seq, Task,
};
use crate::timeline::effect::{
    COUNTING_TO_THE_MARK, Contrast, EFFECT_VERSION, EffectBudget, EffectDiscarded, EffectEpisode, EffectPlan,
    EffectRecord, EffectResult, EffectScope, EpisodeSlot, Exploratory, ExtraCalls, Keep, MeasuredLesson,
    Outcome, PlannedTask, Shard, ShardPairs, SplitMix64, StopReason, Verdict, kept_results,
};
use std::collections::BTreeMap;

fn plan(pairs: u32, arms: &[(&str, &str)]) -> EffectPlan {
    let task = |n| Task {
        env: "household".to_owned(),
        id: format!("normal/put/{n}"),
        goal: String::new(),
        task_type: None,
        difficulty: None,
        seed: 0,
    };
    let id = LessonId("abcdef012345".into());
    EffectPlan {
        v: EFFECT_VERSION,
        effect: "e".to_owned(),
        lesson: Some(id.clone()),
        version: Some(1),
        lessons: vec![MeasuredLesson { id, version: 1, text: LessonText::plain("Look.") }],
        groups: Vec::new(),
        column: None,
        contrasts: arms.iter().map(|(first, second)| Contrast::new(*first, *second)).collect(),
        scope: EffectScope::Tasks,
        start: EffectStart::Tasks,
        outcome: Outcome::Success,
        margin: 0.10,
        alpha: 0.05,
        pairs,
        budget: EffectBudget::default(),
        frozen: true,
        seed: 1,
        repeats: 1,
        shard: None,
        pools: BTreeMap::new(),
        step_limit: 50,
        tasks: (1..=pairs).map(|n| PlannedTask { task: task(n), learned: false }).collect(),
        run: String::new(),
        method: "react".to_owned(),
        actor: "rules".to_owned(),
        excluded_seeds: Vec::new(),
        task_blocks: Vec::new(),
        counting: 0,
        keep: Keep::default(),
        asked: None,
        edited: None,
        retries: false,
        orders: false,
    }
}

const TWO_ARMS: &[(&str, &str)] = &[("with", "without")];
const THREE_ARMS: &[(&str, &str)] = &[("with", "without"), ("with", "placebo")];

fn episode(slot: &EpisodeSlot, won: bool) -> EffectRecord {
    EffectRecord::Episode(Box::new(EffectEpisode {
        effect: "e".to_owned(),
        pair: slot.pair,
        repeat: slot.repeat,
        arm: slot.arm.clone(),
        task: slot.task.to_string(),
        seed: slot.seed,
        won,
        progress: f64::from(u8::from(won)),
        steps: 10,
        tokens: 100,
        calls: 10,
        cost_nano: 0,
        extra: ExtraCalls::default(),
        reason: String::new(),
        failure: None,
        trace: format!("{}-{}", slot.pair, slot.arm),
        kept: false,
    }))
}

/// Runs a measurement whose episodes have the outcomes of `wins`, one at a time. `None` is an episode that can't be
/// played.
fn run(mut log: EffectLog, wins: impl Fn(&EpisodeSlot) -> Option<bool>) -> (EffectLog, Vec<EffectRecord>) {
    let mut records = Vec::new();
    loop {
        let record = match log.next(&[], 1) {
            NextRecord::Play(slots) => match wins(&slots[0]) {
                Some(won) => episode(&slots[0], won),
                None => EffectRecord::Discarded(EffectDiscarded {
                    effect: "e".to_owned(),
                    pair: slots[0].pair,
                    arm: slots[0].arm.clone(),
                    reason: "the server is down".to_owned(),
                    absent: false,
                    timed_out: false,
                    extra: ExtraCalls::default(),
                }),
            },
            NextRecord::Write(record) => *record,
            NextRecord::Wait | NextRecord::Done => break,
        };
        log.apply(record.clone());
        records.push(record);
    }
    (log, records)
}

/// Regression: with several jobs, a play of an arm that was no longer needed counted in its rate.
#[test]
fn an_arm_has_the_plays_of_the_pairs_that_its_comparisons_count() {
    // The lesson helps at once; the placebo wins some pairs, so its comparison takes longer.
    let wins =
        |slot: &EpisodeSlot| slot.arm == "with" || slot.arm == "placebo" && slot.pair.is_multiple_of(3);
    let arms = |jobs: usize| {
        let mut log = EffectLog::new(plan(60, THREE_ARMS));
        let mut in_progress: Vec<EpisodeSlot> = Vec::new();
        loop {
            match log.next(&in_progress, jobs) {
                NextRecord::Play(slots) => in_progress.extend(slots),
                NextRecord::Write(record) => {
                    log.apply(*record);
                    continue;
                }
                NextRecord::Wait => {}
                NextRecord::Done => break,
            }
            if in_progress.len() == jobs || !matches!(log.next(&in_progress, jobs), NextRecord::Play(_)) {
                let ended = in_progress.remove(0);
                log.apply(episode(&ended, wins(&ended)));
            }
        }
        ["with", "without", "placebo"].map(|arm| log.wins(arm))
    };
    let [with, without, placebo] = arms(1);
    assert_eq!((without, with.1 == placebo.1 && with.1 > 8), ((0, 8), true), "{with:?} {placebo:?}");
    for jobs in 2..=6 {
        assert_eq!(arms(jobs), [with, without, placebo], "{jobs} jobs");
    }
}

#[test]
fn a_measurement_stops_when_its_verdict_is_decided() {
    // Eight one-sided wins in a row decide at level 0.05.
    let (log, records) = run(EffectLog::new(plan(60, TWO_ARMS)), |slot| Some(slot.arm == "with"));
    assert_eq!((log.settled_pairs(), log.verdict(0)), (8, Some(Verdict::Helped)));
    assert_eq!(log.stopped(), Some(StopReason::Decided));
    // Sixteen episodes, the verdict when it changed, and the reason.
    assert_eq!(records.len(), 16 + 2);
    assert!(
        matches!(&records[16], EffectRecord::Judged(judged) if judged.pairs == 8 && judged.counts.first_only == 8)
    );
}

/// DORA, question 3: a lost episode counts all 50 steps that it was allowed, a won one those that it took.
#[test]
fn pairs_are_counted_by_their_steps() {
    let mut log = EffectLog::new(plan(5, TWO_ARMS));
    let steps = |arm: &str, pair: u32| match (arm, pair) {
        ("with", 1) => Some(8),
        ("with", 4) | ("without", 3 | 4) => None,
        ("without", 5) => Some(50),
        ("with", 5) => Some(51),
        _ => Some(9),
    };
    let expected = [(1, 0, 0), (1, 1, 0), (2, 1, 0), (2, 2, 0), (2, 3, 0)];
    for (pair, expected) in (1..).zip(expected) {
        let slots = ["with", "without"].map(|arm| EpisodeSlot {
            pair,
            repeat: 1,
            arm: arm.to_owned(),
            task: 0,
            seed: 0,
        });
        for slot in slots {
            let taken = steps(&slot.arm, pair);
            let EffectRecord::Episode(mut record) = episode(&slot, taken.is_some()) else { unreachable!() };
            record.steps = taken.unwrap_or(10);
            log.apply(EffectRecord::Episode(record));
        }
        let counts = EffectResult::from_log(&log).contrasts[0].advice;
        assert_eq!((counts.effective, counts.ineffective, counts.toxic), expected, "pair {pair}");
    }
    let (log, _) = run(EffectLog::new(plan(60, TWO_ARMS)), |slot| Some(slot.arm == "without"));
    let kept = kept_results(log.plan(), &EffectResult::from_log(&log), "2026-11-20");
    assert_eq!(kept[0].1.advice, Some(AdviceCounts { toxic: 8, ..AdviceCounts::default() }));
}

/// What is kept with a lesson says where its episodes began, at which task, and when it was asked for.
#[test]
fn a_kept_result_says_where_it_began() {
    let kept_of = |plan: EffectPlan| {
        let (log, _) = run(EffectLog::new(plan), |slot| Some(slot.arm == "with"));
        kept_results(log.plan(), &EffectResult::from_log(&log), "2026-11-20").remove(0).1
    };
    let start = EffectStart::Moment { session: "s".to_owned(), episode: 2, step: 10, seq: Seq(45) };
    let here = EffectPlan { scope: EffectScope::Moment, start, ..plan(60, TWO_ARMS) };
    let expected = "from step 10 of episode 2 (normal/put/1)";
    assert_eq!(kept_of(here).describe_start().as_deref(), Some(expected));
    let branch = BranchId::trunk();
    let asked = AskedAt { session: "s".to_owned(), branch, seq: Seq(45), episode: Some(2), step: Some(10) };
    let elsewhere = EffectPlan { asked: Some(asked.clone()), ..plan(60, TWO_ARMS) };
    let kept = kept_of(elsewhere);
    assert_eq!((kept.task.as_ref(), kept.asked.as_ref()), (None, Some(&asked)));
    let expected = "from the start of each task, asked for at step 10 of episode 2";
    assert_eq!(kept.describe_start().as_deref(), Some(expected));
}

#[test]
fn without_a_verdict_all_pairs_are_played_and_judged_at_the_end() {
    let (log, records) = run(EffectLog::new(plan(20, TWO_ARMS)), |_| Some(true));
    assert_eq!((log.settled_pairs(), log.verdict(0)), (20, Some(Verdict::Undecided)));
    assert_eq!(log.stopped(), Some(StopReason::Pairs));
    assert!(matches!(&records[40], EffectRecord::Judged(judged) if judged.counts.both == 20));
}

#[test]
fn a_secondary_contrast_gets_a_verdict_only_after_the_primary_one_helped() {
    let nothing = |_: &EpisodeSlot| Some(false);
    let (log, _) = run(EffectLog::new(plan(60, THREE_ARMS)), nothing);
    assert_eq!((log.verdict(0), log.verdict(1)), (Some(Verdict::NoEffectSeen), None));
    assert_eq!(log.contrasts()[1].pairs().len(), 51);
    let only_with = |slot: &EpisodeSlot| Some(slot.arm == "with");
    let (log, _) = run(EffectLog::new(plan(60, THREE_ARMS)), only_with);
    assert_eq!((log.verdict(0), log.verdict(1)), (Some(Verdict::Helped), Some(Verdict::Helped)));
    assert_eq!(log.totals().episodes, 24);
}

#[test]
fn a_discarded_pair_counts_in_no_arm() {
    let fails = |slot: &EpisodeSlot| (slot.pair != 3).then_some(slot.arm == "with");
    let (log, _) = run(EffectLog::new(plan(60, TWO_ARMS)), fails);
    assert_eq!((log.settled_pairs(), log.discarded_pairs()), (9, 1));
    assert_eq!(log.contrasts()[0].counts().pairs(), 8);
}

#[test]
fn with_too_many_discarded_pairs_there_is_no_verdict() {
    let fails = |slot: &EpisodeSlot| (!slot.pair.is_multiple_of(5)).then_some(true);
    let (log, _) = run(EffectLog::new(plan(60, TWO_ARMS)), fails);
    assert_eq!(log.stopped(), Some(StopReason::Discarded));
    assert_eq!((log.settled_pairs(), log.verdict(0)), (20, Some(Verdict::Undecided)));
}

/// Regression: the discarded pairs were compared with those of the primary contrast, which counts none after its verdict.
#[test]
fn pairs_after_the_primary_verdict_count_against_discarded_ones() {
    // The lesson is better from pair 12 on, and never better than the placebo, so the other contrast goes on.
    let wins = |slot: &EpisodeSlot| match slot.arm.as_str() {
        _ if [25, 45].contains(&slot.pair) => None,
        "without" => Some(slot.pair < 12),
        _ => Some(true),
    };
    let (log, _) = run(EffectLog::new(plan(60, THREE_ARMS)), wins);
    let primary = log.contrasts()[0].pairs().len();
    assert!((18..25).contains(&primary) && log.settled_pairs() > 45, "{primary} of {}", log.settled_pairs());
    assert_eq!((log.verdict(0), log.discarded_pairs()), (Some(Verdict::Helped), 2));
}

/// Calls and money stop a measurement like tokens do, and a larger budget continues it.
#[test]
fn calls_and_money_are_budgets() {
    let with = |budget: EffectBudget| EffectPlan { budget, ..plan(60, TWO_ARMS) };
    let calls = EffectBudget { calls: Some(41), ..EffectBudget::default() };
    let (log, _) = run(EffectLog::new(with(calls)), |_| Some(true));
    assert_eq!((log.totals().calls, log.stopped()), (50, Some(StopReason::Calls)));
    let priced = |slot: &EpisodeSlot| {
        let EffectRecord::Episode(mut record) = episode(slot, true) else { unreachable!() };
        record.cost_nano = 400;
        EffectRecord::Episode(record)
    };
    let cost = EffectBudget { cost_nano: Some(1_000), ..EffectBudget::default() };
    let mut log = EffectLog::new(with(cost));
    for larger in [None, Some(2_000)] {
        if larger.is_some() {
            let budget = EffectBudget { cost_nano: larger, ..cost };
            log.apply(EffectRecord::Planned(Box::new(with(budget))));
        }
        loop {
            let record = match log.next(&[], 1) {
                NextRecord::Play(slots) => priced(&slots[0]),
                NextRecord::Write(record) => *record,
                NextRecord::Wait | NextRecord::Done => break,
            };
            log.apply(record);
        }
        let expected = if larger.is_some() { 2_000 } else { 1_200 };
        assert_eq!((log.totals().cost_nano, log.stopped()), (expected, Some(StopReason::Cost)));
        assert!(StopReason::Cost.is_budget() && !log.can_go_on());
    }
}

/// Runs a measurement in which the lesson always wins, and episodes end at failed calls where `fails` says so.
fn run_with_failed_calls(mut log: EffectLog, fails: impl Fn(&EpisodeSlot) -> bool) -> EffectLog {
    loop {
        let record = match log.next(&[], 1) {
            NextRecord::Play(slots) => {
                let has_failed = fails(&slots[0]);
                let won = slots[0].arm == "with" && !has_failed;
                let EffectRecord::Episode(mut record) = episode(&slots[0], won) else { unreachable!() };
                if has_failed {
                    record.reason = EndReason::Error.describe().to_owned();
                    record.failure = Some(format!("cut off in pair {}", slots[0].pair));
                    record.trace = record.reason.clone();
                }
                EffectRecord::Episode(record)
            }
            NextRecord::Write(record) => *record,
            NextRecord::Wait | NextRecord::Done => break log,
        };
        log.apply(record);
    }
}

/// Regression: a server that gave nothing usable had the verdict "no effect seen".
#[test]
fn where_most_calls_fail_there_is_no_verdict() {
    let log = run_with_failed_calls(EffectLog::new(plan(60, THREE_ARMS)), |_| true);
    assert_eq!((log.settled_pairs(), log.stopped()), (20, Some(StopReason::FailedCalls)));
    assert_eq!((log.verdict(0), log.verdict(1)), (Some(Verdict::Undecided), None));
    let result = EffectResult::from_log(&log);
    assert_eq!(result.first_failed_call.as_deref(), Some("cut off in pair 1"));
    assert_eq!(result.contrasts[0].further_pairs, None, "more of them don't help");
    // A few pairs don't end as if they were a result, either.
    let few = run_with_failed_calls(EffectLog::new(plan(6, TWO_ARMS)), |_| true);
    assert_eq!((few.settled_pairs(), few.stopped()), (6, Some(StopReason::FailedCalls)));
    // The failures of one arm count as lost: a lesson may make a prompt too long for the model (effect.md 3).
    for (arm, verdict) in [("with", None), ("without", Some(Verdict::Helped))] {
        let log = run_with_failed_calls(EffectLog::new(plan(60, TWO_ARMS)), |slot| slot.arm == arm);
        assert_ne!(log.stopped(), Some(StopReason::FailedCalls), "{arm}");
        assert!(
            log.failed_calls(arm) > 0 && verdict.is_none_or(|verdict| log.verdict(0) == Some(verdict)),
            "{arm}"
        );
    }
}

/// Regression: two plays that ended at a failed call each were "a fact, not a sample: with: lost (failed call) in 0 steps".
#[test]
fn failed_calls_are_no_fact_about_a_lesson() {
    let moment = EffectPlan { scope: EffectScope::Moment, ..plan(10, TWO_ARMS) };
    let log = run_with_failed_calls(EffectLog::new(moment), |_| true);
    assert_eq!((log.settled_pairs(), log.stopped()), (2, Some(StopReason::FailedCalls)));
    let result = EffectResult::from_log(&log);
    assert_eq!((result.fact, result.contrasts[0].fact), (None, None));
    assert_eq!(log.failed_calls("with"), 2);
}

/// Once the server is set up, the same measurement begins anew; to play only what failed again would favour what didn't.
#[test]
fn a_measurement_with_too_many_failed_calls_begins_anew_when_it_is_continued() {
    let fails = |slot: &EpisodeSlot| !slot.pair.is_multiple_of(3);
    let mut log = run_with_failed_calls(EffectLog::new(plan(60, TWO_ARMS)), fails);
    assert!(log.can_go_on() && log.can_retry());
    let played = log.totals().episodes;
    log.apply(EffectRecord::Planned(Box::new(EffectPlan { retries: true, ..plan(60, TWO_ARMS) })));
    assert_eq!((log.settled_pairs(), log.stopped(), log.can_retry()), (0, None, false));
    let log = run_with_failed_calls(log, |_| false);
    assert_eq!((log.settled_pairs(), log.verdict(0)), (8, Some(Verdict::Helped)));
    assert_eq!(log.totals().episodes, played + 16, "the budget counts them");
}

/// Regression: an expired key ended a measurement for good.
#[test]
fn discarded_pairs_are_played_when_the_measurement_is_continued() {
    let (mut log, refused) = run(EffectLog::new(plan(60, TWO_ARMS)), |_| None);
    assert_eq!((log.settled_pairs(), log.stopped()), (20, Some(StopReason::Discarded)));
    let again = EffectRecord::Planned(Box::new(plan(60, TWO_ARMS)));
    log.apply(again.clone());
    assert_eq!((log.settled_pairs(), log.discarded_pairs(), log.stopped()), (0, 0, None));
    let (log, records) = run(log, fixed_outcome);
    let (whole, _) = run(EffectLog::new(plan(60, TWO_ARMS)), fixed_outcome);
    assert_eq!(log.contrasts()[0].counts(), whole.contrasts()[0].counts());
    // Read from the disk, it is the same.
    let begun = EffectRecord::Planned(Box::new(plan(60, TWO_ARMS)));
    let all = std::iter::once(begun).chain(refused).chain([again]).chain(records);
    let folded = EffectLog::fold(all).unwrap();
    assert_eq!((folded.settled_pairs(), folded.stopped()), (log.settled_pairs(), log.stopped()));
    assert_eq!(folded.contrasts()[0].counts(), log.contrasts()[0].counts());
}

/// Regression: with fewer than 20 pairs, what a server had refused ended as "all pairs are played" and stayed lost.
#[test]
fn discarded_pairs_of_a_small_measurement_are_played_when_it_is_continued() {
    let small = || EffectPlan { pairs: 6, ..plan(6, TWO_ARMS) };
    let fails = |slot: &EpisodeSlot| if slot.pair.is_multiple_of(3) { None } else { fixed_outcome(slot) };
    let (mut log, first) = run(EffectLog::new(small()), fails);
    assert_eq!((log.settled_pairs(), log.discarded_pairs()), (6, 2));
    assert_eq!((log.stopped(), log.can_go_on()), (Some(StopReason::Pairs), true));
    // A log of an earlier version that went on with other pairs is still what it was.
    let mut older = log.clone();
    older.apply(EffectRecord::Planned(Box::new(small())));
    assert_eq!((older.settled_pairs(), older.discarded_pairs()), (6, 2));
    let again = EffectRecord::Planned(Box::new(EffectPlan { retries: true, ..small() }));
    log.apply(again.clone());
    assert_eq!((log.settled_pairs(), log.discarded_pairs(), log.stopped()), (2, 0, None));
    let (log, records) = run(log, fixed_outcome);
    let (whole, _) = run(EffectLog::new(small()), fixed_outcome);
    assert_eq!(log.contrasts()[0].counts(), whole.contrasts()[0].counts());
    assert_eq!((log.stopped(), log.can_go_on()), (Some(StopReason::Pairs), false));
    let begun = EffectRecord::Planned(Box::new(small()));
    let folded = EffectLog::fold(std::iter::once(begun).chain(first).chain([again]).chain(records)).unwrap();
    assert_eq!(folded.contrasts()[0].counts(), log.contrasts()[0].counts());
    assert_eq!((folded.totals().episodes, folded.stopped()), (12, log.stopped()));
}

/// A verdict stays as it is: pairs that it was reached without aren't counted in afterwards.
#[test]
fn discarded_pairs_are_not_played_again_after_a_verdict() {
    let going_on = EffectPlan {
        budget: EffectBudget { keep_going: true, ..EffectBudget::default() },
        ..plan(12, TWO_ARMS)
    };
    let fails = |slot: &EpisodeSlot| (slot.pair != 3).then_some(slot.arm == "with");
    let (log, _) = run(EffectLog::new(going_on), fails);
    assert_eq!((log.verdict(0), log.discarded_pairs()), (Some(Verdict::Helped), 1));
    assert_eq!((log.stopped(), log.can_go_on()), (Some(StopReason::Pairs), false));
}

/// Regression: statistics for a number of pairs fixed in advance were given without a caveat after a look at fewer pairs.
#[test]
fn a_size_that_was_changed_after_a_look_was_not_fixed_in_advance() {
    let sized = |pairs| {
        let budget = EffectBudget { keep_going: true, ..EffectBudget::default() };
        EffectPlan { pairs, budget, ..plan(20, TWO_ARMS) }
    };
    let (mut log, _) = run(EffectLog::new(sized(10)), |_| Some(true));
    assert!(log.is_size_fixed());
    log.apply(EffectRecord::Planned(Box::new(sized(20))));
    let (log, _) = run(log, |_| Some(true));
    assert_eq!((log.settled_pairs(), log.is_size_fixed()), (20, false));
    let (log, _) = run(EffectLog::new(plan(10, TWO_ARMS)), |_| Some(true));
    assert!(!log.is_size_fixed(), "it would have stopped at a verdict");
}

#[test]
fn budgets_stop_a_measurement() {
    let budget = EffectBudget { episodes: Some(7), ..EffectBudget::default() };
    let (log, _) = run(EffectLog::new(EffectPlan { budget, ..plan(60, TWO_ARMS) }), |_| Some(true));
    assert_eq!((log.totals().episodes, log.stopped()), (7, Some(StopReason::Episodes)));
    let budget = EffectBudget { tokens: Some(450), ..EffectBudget::default() };
    let (log, _) = run(EffectLog::new(EffectPlan { budget, ..plan(60, TWO_ARMS) }), |_| Some(true));
    assert_eq!((log.totals().tokens, log.stopped()), (500, Some(StopReason::Tokens)));
}

#[test]
fn a_larger_budget_continues_a_measurement() {
    let budget = EffectBudget { episodes: Some(7), ..EffectBudget::default() };
    let small = EffectPlan { budget, ..plan(10, TWO_ARMS) };
    let (mut log, _) = run(EffectLog::new(small), |_| Some(true));
    log.apply(EffectRecord::Planned(Box::new(plan(10, TWO_ARMS))));
    let (log, records) = run(log, |_| Some(true));
    assert_eq!((log.totals().episodes, log.stopped()), (20, Some(StopReason::Pairs)));
    assert_eq!(records.iter().filter(|record| matches!(record, EffectRecord::Episode(_))).count(), 13);
}

#[test]
fn two_equal_pairs_at_one_moment_are_a_fact() {
    let moment = EffectPlan { scope: EffectScope::Moment, ..plan(10, TWO_ARMS) };
    let mut log = EffectLog::new(moment);
    for _ in 0..4 {
        let NextRecord::Play(slots) = log.next(&[], 1) else { panic!("an episode is due") };
        let EffectRecord::Episode(mut record) = episode(&slots[0], slots[0].arm == "with") else { continue };
        record.trace.clone_from(&slots[0].arm);
        log.apply(EffectRecord::Episode(record));
    }
    assert!(log.is_deterministic());
    let (log, _) = run(log, |_| Some(true));
    assert_eq!((log.settled_pairs(), log.stopped()), (2, Some(StopReason::Deterministic)));
}

/// The outcome of an episode in the tests of determinism: any fixed function of the slot.
fn fixed_outcome(slot: &EpisodeSlot) -> Option<bool> {
    let random = SplitMix64::new(slot.seed ^ slot.arm.len() as u64).next_u64();
    (!random.is_multiple_of(50)).then_some(random % 10 < if slot.arm == "with" { 6 } else { 4 })
}

#[test]
fn a_killed_measurement_writes_the_same_lines() {
    let (_, whole) = run(EffectLog::new(plan(60, THREE_ARMS)), fixed_outcome);
    for killed_after in 0..whole.len() {
        let begun = std::iter::once(EffectRecord::Planned(Box::new(plan(60, THREE_ARMS))));
        let log = EffectLog::fold(begun.chain(whole[..killed_after].iter().cloned())).unwrap();
        let (_, rest) = run(log, fixed_outcome);
        assert_eq!(rest, whole[killed_after..], "after {killed_after} records");
    }
}

#[test]
fn any_order_of_completion_gives_the_same_numbers() {
    let (expected, _) = run(EffectLog::new(plan(60, THREE_ARMS)), fixed_outcome);
    for shuffle in 0..20 {
        let mut random = SplitMix64::new(shuffle);
        let mut log = EffectLog::new(plan(60, THREE_ARMS));
        let mut in_progress: Vec<EpisodeSlot> = Vec::new();
        loop {
            match log.next(&in_progress, 7) {
                NextRecord::Play(slots) => in_progress.extend(slots),
                NextRecord::Write(record) => log.apply(*record),
                NextRecord::Done => break,
                NextRecord::Wait => {
                    let slot = in_progress.remove(random.index_below(in_progress.len()));
                    log.apply(match fixed_outcome(&slot) {
                        Some(won) => episode(&slot, won),
                        None => EffectRecord::Discarded(EffectDiscarded {
                            effect: "e".to_owned(),
                            pair: slot.pair,
                            arm: slot.arm.clone(),
                            reason: "the server is down".to_owned(),
                            absent: false,
                            timed_out: false,
                            extra: ExtraCalls::default(),
                        }),
                    });
                }
            }
        }
        for index in 0..2 {
            assert_eq!(log.judge(index), expected.judge(index), "shuffle {shuffle}");
        }
        assert_eq!(log.settled_pairs(), expected.settled_pairs());
    }
}

#[test]
fn a_record_survives_its_line() {
    let (log, mut records) = run(EffectLog::new(plan(3, THREE_ARMS)), fixed_outcome);
    records.push(EffectRecord::Planned(Box::new(log.plan().clone())));
    for record in records {
        let line = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<EffectRecord>(&line).unwrap(), record, "{line}");
        assert!(line.starts_with("{\"type\":\"effect_"), "{line}");
    }
}

#[test]
fn seeds_of_observed_episodes_are_not_used_again() {
    let slots = |plan: EffectPlan| match EffectLog::new(plan).next(&[], 1) {
        NextRecord::Play(slots) => slots,
        other => panic!("{other:?}"),
    };
    let usual = slots(plan(1, TWO_ARMS))[0].seed;
    let excluded = EffectPlan { excluded_seeds: vec![usual], ..plan(1, TWO_ARMS) };
    assert_ne!(slots(excluded)[0].seed, usual);
}

/// A deterministic agent: what happens depends on arm and task alone, not on the seed.
fn copies(plan: EffectPlan, won: impl Fn(&EpisodeSlot) -> bool) -> EffectLog {
    let mut log = EffectLog::new(plan);
    loop {
        match log.next(&[], 1) {
            NextRecord::Play(slots) => {
                let EffectRecord::Episode(mut record) = episode(&slots[0], won(&slots[0])) else {
                    unreachable!()
                };
                record.trace = format!("{} {}", slots[0].arm, slots[0].task);
                log.apply(EffectRecord::Episode(record));
            }
            NextRecord::Write(record) => log.apply(*record),
            NextRecord::Wait | NextRecord::Done => return log,
        }
    }
}

/// Regression: rounds over the same tasks counted as so many pairs, although each was a copy of the first.
#[test]
fn a_deterministic_agent_shows_a_fact_about_each_task() {
    let tasks = plan(40, TWO_ARMS).tasks;
    let these = EffectPlan { scope: EffectScope::These, tasks, repeats: 2, ..plan(60, TWO_ARMS) };
    let won = |slot: &EpisodeSlot| slot.task < if slot.arm == "with" { 27 } else { 19 };
    let log = copies(these, won);
    assert_eq!((log.settled_pairs(), log.stopped()), (2, Some(StopReason::Deterministic)));
    assert_eq!((log.wins("with"), log.wins("without")), ((27, 40), (19, 40)));
    let result = EffectResult::from_log(&log);
    assert_eq!(result.fact.as_deref(), Some("with: won 27 of 40 tasks, without: won 19 of 40 tasks"));
    let contrast = &result.contrasts[0];
    let (judged, fact) = (&contrast.judged, contrast.fact.unwrap());
    assert_eq!((judged.pairs, judged.counts.first_only, judged.counts.second_only), (40, 8, 0));
    assert_eq!((fact.tasks, fact.won), (40, (27, 19)));
    assert_eq!((judged.low, judged.high, judged.verdict), (-1.0, 1.0, Verdict::Undecided), "no sample");
    assert!(contrast.fixed.newcombe.is_none() && result.arms.iter().all(|arm| arm.rate.is_none()));
    let json = serde_json::to_value(contrast).unwrap();
    assert_eq!(json["fact"], serde_json::json!({"tasks": 40, "won": [27, 19]}));
    let (_, kept) = &kept_results(log.plan(), &result, "2026-11-20")[0];
    assert_eq!(kept.describe(), "a fact, not a sample: 27 of 40 tasks won with it, 19 without");
    // A moment is one task.
    let moment = EffectPlan { scope: EffectScope::Moment, ..plan(60, TWO_ARMS) };
    let log = copies(moment, |slot| slot.arm == "with");
    let result = EffectResult::from_log(&log);
    assert_eq!((result.contrasts[0].judged.pairs, log.wins("with")), (1, (1, 1)));
    let (_, kept) = &kept_results(log.plan(), &result, "2026-11-20")[0];
    assert_eq!(kept.describe(), "a fact, not a sample: won with it, lost without it");
    // If a pair is a task, each is another one.
    let sampled = copies(plan(60, TWO_ARMS), |slot| slot.arm == "with");
    assert_eq!((sampled.stopped(), sampled.verdict(0)), (Some(StopReason::Decided), Some(Verdict::Helped)));
}

/// A round of which one task is random is no copy.
#[test]
fn one_random_task_makes_a_round_a_sample() {
    let tasks = plan(3, TWO_ARMS).tasks;
    let these = EffectPlan { scope: EffectScope::These, tasks, ..plan(2, TWO_ARMS) };
    let mut log = EffectLog::new(these);
    while let NextRecord::Play(slots) = log.next(&[], 1) {
        let EffectRecord::Episode(mut record) = episode(&slots[0], true) else { unreachable!() };
        let seed = if slots[0].task == 2 { slots[0].seed } else { 0 };
        record.trace = format!("{} {} {seed}", slots[0].arm, slots[0].task);
        log.apply(EffectRecord::Episode(record));
    }
    assert!(!log.is_deterministic());
    assert_eq!((log.settled_pairs(), log.wins("with")), (2, (6, 6)));
}

/// Placebo and another wording have their claims once the lesson has helped; together they may be wrong as often as one claim.
#[test]
fn two_secondary_contrasts_share_the_level() {
    let arms: &[(&str, &str)] = &[("with", "without"), ("with", "placebo"), ("edited", "with")];
    let shared = EffectPlan { counting: COUNTING_TO_THE_MARK, ..plan(60, arms) };
    let levels = |plan: &EffectPlan| {
        (0..plan.contrasts.len()).map(|index| plan.contrast_alpha(index)).collect::<Vec<f64>>()
    };
    assert_eq!(levels(&shared), [0.05, 0.025, 0.025]);
    assert_eq!(levels(&plan(60, arms)), [0.05; 3], "as older logs were judged");
    let alone = EffectPlan { counting: COUNTING_TO_THE_MARK, ..plan(60, THREE_ARMS) };
    assert_eq!(levels(&alone)[1..2], [0.05]);
    // Eight one-sided pairs decide at the whole level, nine at the half.
    let (log, _) = run(EffectLog::new(shared), |slot| Some(slot.arm == "with"));
    assert_eq!(log.contrasts()[0].pairs().len(), 8);
    assert_eq!((log.contrasts()[1].pairs().len(), log.verdict(1)), (9, Some(Verdict::Helped)));
    assert_eq!((log.contrasts()[2].pairs().len(), log.verdict(2)), (9, Some(Verdict::Harmful)));
}

/// Another wording is compared with no lesson, too, but that is no claim: it takes no level from the claims and no further episode.
#[test]
fn another_wording_is_compared_with_none_outside_of_the_claims() {
    let arms: &[(&str, &str)] = &[("with", "without"), ("with", "placebo"), ("edited", "with")];
    let plan = EffectPlan { counting: COUNTING_TO_THE_MARK, ..plan(60, arms) };
    // The lesson does nothing, and its new wording wins: the claim is that no effect was seen.
    let outcome = |slot: &EpisodeSlot| Some(slot.arm == "edited");
    let (log, records) = run(EffectLog::new(plan.clone()), outcome);
    assert_eq!((log.stopped(), log.verdict(0)), (Some(StopReason::Decided), Some(Verdict::NoEffectSeen)));
    let result = EffectResult::without_bootstrap(&log);
    let shown = result.contrasts.last().unwrap();
    assert_eq!((result.contrasts.len(), shown.judged.contrast.to_string().as_str()), (4, "edited - without"));
    assert_eq!(
        (shown.judged.pairs, shown.judged.counts.first_only),
        (51, 51),
        "the pairs of the primary contrast"
    );
    assert!(shown.judged.low > 0.0 && shown.exploratory == Some(Exploratory::Unjudged) && !shown.has_claim);
    assert_eq!((shown.judged.verdict, [shown.alpha]), (Verdict::Undecided, [plan.alpha]));
    let levels: Vec<f64> = log.contrasts()[..3].iter().map(|contrast| contrast.judgement().alpha).collect();
    assert_eq!(levels, [0.05, 0.025, 0.025], "the claims share as without it");
    let episodes = |log: &EffectLog| log.totals().episodes;
    assert_eq!(episodes(&log), 51 * 4, "no episode is played for it");
    let kept = kept_results(&plan, &result, "2026-11-20");
    assert!(
        kept.len() == 1 && kept[0].1.arms.0 == "with" && kept[0].1.edited.is_none(),
        "an older log has no text"
    );
    // Regression: what it did was kept nowhere, so its numbers were gone once the lesson had its text.
    let text = LessonText::plain("Look twice.");
    let with_text = EffectPlan { edited: Some(text.clone()), ..plan.clone() };
    assert!(with_text.is_same_measurement(&plan));
    let kept = &kept_results(&with_text, &result, "2026-11-20")[0].1;
    let numbers = "edited - with +100 % [77, 100] · 51 : 0 · 51 pairs, no verdict; edited - without +100 % [80, 100] · 51 : 0 · 51 pairs, no verdict";
    let expected = [
        (&text, format!("this wording, as another one of version 1: {numbers}")),
        (&plan.lessons[0].text, format!("another wording of version 1, \"Look twice.\": {numbers}")),
    ];
    for (present, expected) in expected {
        assert_eq!(kept.describe_edited(present), Some(expected));
    }
    assert_eq!(serde_json::from_str::<MeasuredEffect>(&serde_json::to_string(kept).unwrap()).unwrap(), *kept);
    // Its numbers are the fold of the log, wherever it was killed.
    for killed_after in (0..records.len()).step_by(17) {
        let begun = std::iter::once(EffectRecord::Planned(Box::new(plan.clone())));
        let log = EffectLog::fold(begun.chain(records[..killed_after].iter().cloned())).unwrap();
        assert_eq!(run(log, outcome).1, records[killed_after..], "after {killed_after} records");
    }
    // If the lesson helped, and the new wording helped more than it, the new wording helped.
    let by_pair = |slot: &EpisodeSlot| match slot.arm.as_str() {
        "edited" => Some(true),
        "with" => Some(slot.pair <= 8),
        _ => Some(false),
    };
    let (log, _) = run(EffectLog::new(plan.clone()), by_pair);
    assert_eq!((log.verdict(0), log.verdict(2)), (Some(Verdict::Helped), Some(Verdict::Helped)));
    let result = EffectResult::without_bootstrap(&log);
    let shown = result.contrasts.last().unwrap();
    assert!(
        shown.exploratory == Some(Exploratory::Helped) && shown.judged.pairs == 8 && log.verdict(3).is_none()
    );
    // Without that wording there is no such contrast.
    assert_eq!(EffectLog::new(self::plan(60, THREE_ARMS)).contrasts().len(), 2);
}

/// A measurement of several lessons, each left out in turn.
fn several(pairs: u32, lessons: usize, counting: u32) -> EffectPlan {
    let names: Vec<String> = (1..=lessons).map(|n| format!("without-{n}")).collect();
    let arms: Vec<(&str, &str)> = names.iter().map(|name| ("all", name.as_str())).collect();
    let base = plan(pairs, &arms);
    let lesson = base.lessons[0].clone();
    let lessons =
        names.iter().map(|name| MeasuredLesson { id: LessonId(name.as_str().into()), ..lesson.clone() });
    EffectPlan { lesson: None, version: None, counting, lessons: lessons.collect(), ..base }
}

/// Regression: a lesson stopped at its own verdict, with too little evidence to be marked among several.
#[test]
fn one_of_several_lessons_goes_on_until_it_is_marked() {
    // Only the first of eight lessons does anything.
    let outcome = |slot: &EpisodeSlot| Some(slot.arm != "without-1");
    let marked = |log: &EffectLog| EffectResult::without_bootstrap(log).contrasts[0].marked;
    let (older, _) = run(EffectLog::new(several(60, 8, 0)), outcome);
    assert_eq!((older.contrasts()[0].pairs().len(), marked(&older)), (8, Some(false)));
    let (log, _) = run(EffectLog::new(several(60, 8, COUNTING_TO_THE_MARK)), outcome);
    // Evidence of at least 8 / 0.1 takes ten one-sided pairs.
    assert_eq!((log.contrasts()[0].pairs().len(), marked(&log)), (10, Some(true)));
    assert_eq!(log.contrasts()[1].pairs().len(), 51, "no effect seen");
    assert_eq!(log.stopped(), Some(StopReason::Decided));
    // With too few pairs left it can't be marked, and stops at its verdict.
    let (log, _) = run(EffectLog::new(several(9, 20, COUNTING_TO_THE_MARK)), outcome);
    assert_eq!((log.contrasts()[0].pairs().len(), marked(&log)), (8, Some(false)));
    // Killed anywhere, it writes the same lines.
    let (_, whole) = run(EffectLog::new(several(60, 3, COUNTING_TO_THE_MARK)), outcome);
    for killed_after in (0..whole.len()).step_by(7) {
        let begun = std::iter::once(EffectRecord::Planned(Box::new(several(60, 3, COUNTING_TO_THE_MARK))));
        let log = EffectLog::fold(begun.chain(whole[..killed_after].iter().cloned())).unwrap();
        assert_eq!(run(log, outcome).1, whole[killed_after..], "after {killed_after} records");
    }
}

/// Regression: more pairs elsewhere were another measurement, because their list of tasks is longer.
#[test]
fn more_pairs_continue_the_same_tasks() {
    let outcome = |slot: &EpisodeSlot| Some(slot.task.is_multiple_of(2));
    let short = plan(20, TWO_ARMS);
    let long = EffectPlan { task_blocks: vec![20, 10], ..plan(30, TWO_ARMS) };
    assert!(short.is_same_measurement(&long) && long.is_same_measurement(&short));
    let other = EffectPlan { tasks: plan(31, TWO_ARMS).tasks[1..].to_vec(), ..long.clone() };
    assert!(!short.is_same_measurement(&other), "other tasks");
    let (mut log, first) = run(EffectLog::new(short.clone()), outcome);
    assert_eq!(log.stopped(), Some(StopReason::Pairs));
    log.apply(EffectRecord::Planned(Box::new(long.clone())));
    let (log, rest) = run(log, outcome);
    assert_eq!((log.settled_pairs(), log.totals().episodes), (30, 60));
    // The same pairs as in one go.
    let (_, whole) = run(EffectLog::new(long), outcome);
    let episodes = |records: &[EffectRecord]| -> Vec<EffectRecord> {
        records.iter().filter(|record| matches!(record, EffectRecord::Episode(_))).cloned().collect()
    };
    assert_eq!([episodes(&first), episodes(&rest)].concat(), episodes(&whole));
    // Fewer pairs leave the longer list.
    let mut log = log;
    log.apply(EffectRecord::Planned(Box::new(short)));
    assert_eq!((log.plan().tasks.len(), log.settled_pairs()), (30, 30));
}

/// Regression: with several episodes of an arm in a pair, "who did better" was printed with an interval for pairs that are won or lost, which
/// may exclude its own estimate, and repeats of a task counted as independent plays.
#[test]
fn pairs_with_repeats_have_no_interval_for_single_plays() {
    let repeated = EffectPlan { repeats: 2, ..plan(20, TWO_ARMS) };
    // The first arm wins one of its two plays in each pair, the other one none or, in each fourth pair, both.
    let wins = |slot: &EpisodeSlot| match slot.arm.as_str() {
        "with" => slot.repeat == 1,
        _ => slot.pair.is_multiple_of(4),
    };
    let (log, _) = run(EffectLog::new(repeated), |slot| Some(wins(slot)));
    let result = EffectResult::from_log(&log);
    let contrast = &result.contrasts[0];
    assert_eq!((contrast.judged.counts.first_only, contrast.judged.counts.second_only), (15, 5));
    assert!(contrast.fixed.newcombe.is_none() && contrast.fixed.tango.is_none());
    assert!(result.arms.iter().all(|arm| arm.rate.is_none() && arm.episodes == 40));
    let interval = contrast.outcomes["success"];
    assert_eq!(contrast.judged.difference, Some(interval.estimate));
    assert!(interval.low < interval.estimate && interval.estimate < interval.high, "{interval:?}");
    // One play of each arm has both.
    let (log, _) = run(EffectLog::new(plan(20, TWO_ARMS)), fixed_outcome);
    let result = EffectResult::from_log(&log);
    assert!(result.contrasts[0].fixed.newcombe.is_some() && result.arms.iter().all(|arm| arm.rate.is_some()));
}

/// Regression: pairs whose tokens are compared were counted as none.
#[test]
fn pairs_of_tokens_are_counted() {
    let (log, _) =
        run(EffectLog::new(EffectPlan { outcome: Outcome::Tokens, ..plan(6, TWO_ARMS) }), fixed_outcome);
    let result = EffectResult::from_log(&log);
    assert_eq!((result.contrasts[0].judged.pairs, result.contrasts[0].judged.difference), (6, None));
    assert!(result.contrasts[0].outcomes.contains_key("tokens") && log.is_size_fixed());
}

/// Regression: what happened was told by pair 1, also if it was discarded.
#[test]
fn a_fact_is_told_by_the_first_pair_that_counts() {
    let mut log = EffectLog::new(EffectPlan { scope: EffectScope::Moment, ..plan(60, TWO_ARMS) });
    loop {
        match log.next(&[], 1) {
            NextRecord::Play(slots) if slots[0].pair == 1 => {
                log.apply(EffectRecord::Discarded(EffectDiscarded {
                    effect: "e".to_owned(),
                    pair: 1,
                    arm: slots[0].arm.clone(),
                    reason: "the server is down".to_owned(),
                    absent: false,
                    timed_out: false,
                    extra: ExtraCalls::default(),
                }));
            }
            NextRecord::Play(slots) => {
                let EffectRecord::Episode(mut record) = episode(&slots[0], slots[0].arm == "with") else {
                    unreachable!()
                };
                record.trace.clone_from(&slots[0].arm);
                log.apply(EffectRecord::Episode(record));
            }
            NextRecord::Write(record) => log.apply(*record),
            NextRecord::Wait | NextRecord::Done => break,
        }
    }
    assert_eq!((log.discarded_pairs(), log.stopped()), (1, Some(StopReason::Deterministic)));
    let result = EffectResult::from_log(&log);
    assert_eq!(result.fact.as_deref(), Some("with: won in 10 steps, without: lost () in 10 steps"));
    assert_eq!(result.meaning.as_deref(), Some("it turns a loss into a win"));
}

/// Regression: of two lessons that say the same, of which either makes the other one superfluous, both were kept as "no effect seen",
/// which is advice to retire both.
#[test]
fn a_result_beside_a_lesson_like_it_says_so() {
    let plan = several(60, 2, COUNTING_TO_THE_MARK);
    let groups = vec![plan.lessons.iter().map(|lesson| lesson.id.clone()).collect::<Vec<_>>()];
    for groups in [groups, Vec::new()] {
        let plan = EffectPlan { groups, ..plan.clone() };
        let (log, _) = run(EffectLog::new(plan), |_: &EpisodeSlot| Some(false));
        let kept = kept_results(log.plan(), &EffectResult::from_log(&log), "2026-11-20");
        let beside: Vec<usize> = kept.iter().map(|(_, result)| result.beside.len()).collect();
        let expected = if log.plan().groups.is_empty() { [0, 0] } else { [1, 1] };
        assert_eq!(beside, expected);
        for (id, result) in kept {
            assert!(!result.beside.contains(&id));
            assert_eq!(result.describe().ends_with("beside a lesson like it"), !result.beside.is_empty());
        }
    }
}

/// Regression: a shard's end said "won 0 of 0" and "0 pairs", whatever it had played.
#[test]
fn a_shard_says_how_many_pairs_it_has_played() {
    let mut part = plan(10, TWO_ARMS);
    part.shard = Some(Shard { index: 3, count: 4 });
    // Pairs 2, 6 and 10.
    let (log, _) = run(EffectLog::new(part.clone()), |slot| (slot.pair != 6).then_some(true));
    let result = EffectResult::from_log(&log);
    assert_eq!(result.shard_pairs, Some(ShardPairs { played: 2, failed: 1, all: 3 }));
    let text = crate::report::effect::result_lines(&part, &result);
    assert_eq!(text.len(), 2, "{text:?}");
    assert_eq!(
        text[1],
        "  shard 3 of 4: 2 of its 3 pairs played (4 episodes), 1 couldn't be played (the first: the server is \
         down); it isn't judged alone: `lessons effect --merge` with the logs of all shards judges them"
    );
    let page = crate::report::effect::result_markdown(&[(part.clone(), result)], None);
    assert!(page.contains("2 of its 3 pairs played") && !page.contains("| arm |"), "{page}");
    part.budget.episodes = Some(2);
    let (log, _) = run(EffectLog::new(part.clone()), |_| Some(true));
    let text = crate::report::effect::result_lines(&part, &EffectResult::from_log(&log)).concat();
    assert!(text.contains("1 of its 3 pairs played (2 episodes); stopped: "), "{text}");
    assert_eq!(EffectResult::from_log(&EffectLog::new(plan(4, TWO_ARMS))).shard_pairs, None);
}

/// Regression: Markdown had the measurement's alpha for every contrast, no correction for several lessons and no interval for a fixed number
/// of pairs, and neither had the other outcomes. Markdown has each fact of the text.
#[test]
fn text_and_markdown_have_the_same_details() {
    let mut panel = plan(20, &[("with", "without"), ("with", "placebo"), ("edited", "with")]);
    (panel.counting, panel.budget.keep_going) = (COUNTING_TO_THE_MARK, true);
    let played = |plan: &EffectPlan| {
        let (log, _) =
            run(EffectLog::new(plan.clone()), |slot| Some(slot.arm == "with" || slot.arm == "all"));
        let result = EffectResult::from_log(&log);
        let text = crate::report::effect::result_lines(plan, &result);
        let page = crate::report::effect::result_markdown(&[(plan.clone(), result)], None);
        let details: Vec<String> =
            text.iter().filter_map(|line| line.strip_prefix("    ")).map(str::to_owned).collect();
        assert!(details.len() >= 3 * plan.contrasts.len(), "{text:?}");
        for detail in details {
            assert!(
                page.contains(&format!("- {}", crate::text::escape_markdown(&detail))),
                "{detail}: {page}"
            );
        }
        (text.join("\n"), page)
    };
    let (text, page) = played(&panel);
    for expected in ["alpha 0.05 (95 % interval), margin 0.10", "alpha 0.025 (97.5 % interval), margin 0.10"]
    {
        assert!(text.contains(expected) && page.contains(expected), "{expected}: {text}");
    }
    assert!(text.contains("fixed: 95 % interval [") && page.contains("fixed: 95 % interval"), "{page}");
    let others = "other outcomes, without a verdict: progress +100 % (nothing varied), saved +40.0 steps (nothing varied), tokens 1.00 times";
    assert!(text.contains(others) && text.contains("(95 % bootstrap intervals)"), "{text}");
    let mut several = plan(20, &[("all", "without-1"), ("all", "without-2")]);
    several.budget.keep_going = true;
    several
        .lessons
        .push(MeasuredLesson { id: LessonId("abcdef012346".into()), ..several.lessons[0].clone() });
    several.tasks[0].learned = true;
    let (_, page) = played(&several);
    for expected in [
        "- marked (share of falsely marked lessons at most 10 %)",
        "- without the tasks on which it was learned: ",
    ] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
}

/// Returns a plan in which three lessons join in random orders.
fn joining(pairs: u32) -> EffectPlan {
    let arms = [("joined-a", "before-a"), ("joined-b", "before-b"), ("joined-c", "before-c")];
    let mut plan = plan(pairs, &arms);
    let lesson = |id: &str| MeasuredLesson { id: LessonId(id.into()), ..plan.lessons[0].clone() };
    plan.lessons = ["a", "b", "c"].map(lesson).into();
    (plan.lesson, plan.version, plan.orders, plan.counting) = (None, None, true, COUNTING_TO_THE_MARK);
    plan
}

/// Runs a measurement in which each lesson of a pool adds to the progress: that of pair `k` is the sum of `adds(k, lesson)`.
fn run_additive(log: EffectLog, jobs: usize, adds: impl Fn(u32, &str) -> f64) -> EffectLog {
    let mut log = log;
    loop {
        match log.next(&[], jobs) {
            // Whoever plays several at once records them in another order.
            NextRecord::Play(slots) => slots.iter().rev().for_each(|slot| {
                let order = log.plan().joining_order(slot.pair);
                let place = order.iter().position(|arm| *arm == slot.arm).unwrap();
                let lessons = order[1..=place].iter().map(|arm| arm.strip_prefix("joined-").unwrap());
                let progress: f64 = 0.3 + lessons.map(|lesson| adds(slot.pair, lesson)).sum::<f64>();
                let EffectRecord::Episode(mut played) = episode(slot, progress > 0.99) else {
                    unreachable!()
                };
                played.progress = progress;
                log.apply(EffectRecord::Episode(played));
            }),
            NextRecord::Write(record) => log.apply(*record),
            NextRecord::Wait | NextRecord::Done => return log,
        }
    }
}

/// Where lessons add up, each one's credit is what it adds, in whatever order they join; and the credits add up to what all do.
#[test]
fn credits_of_lessons_that_join_are_what_they_add() {
    let mut plan = joining(24);
    plan.outcome = Outcome::Progress;
    plan.budget.keep_going = true;
    let adds = |_: u32, lesson: &str| match lesson {
        "a" => 0.1,
        "b" => 0.3,
        _ => -0.2,
    };
    let log = run_additive(EffectLog::new(plan.clone()), 1, adds);
    let result = EffectResult::from_log(&log);
    assert_eq!((result.settled, result.stopped), (24, Some(StopReason::Pairs)));
    assert_eq!(log.totals().episodes, 24 * 4, "an order of three lessons has four pools");
    let credits: Vec<f64> = result.contrasts.iter().map(|c| c.judged.difference.unwrap()).collect();
    for (credit, added) in credits.iter().zip([0.1, 0.3, -0.2]) {
        assert!((credit - added).abs() < 1e-6, "{credits:?}");
    }
    let text = crate::report::effect::result_lines(log.plan(), &result).join("\n");
    for expected in [
        "the credits add up to +20 %, what all lessons together do against none",
        "the one that joins first gets the credit",
        "none         won 0 of 24",
        "all          won 0 of 24",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    // Each lesson joins first in some orders, and each order is random.
    let first: std::collections::BTreeSet<&str> = (1..=24).map(|pair| plan.joining_order(pair)[1]).collect();
    assert_eq!(first.len(), 3);
    // Several jobs and the fold of the records give the same numbers.
    let several = run_additive(EffectLog::new(plan), 4, adds);
    assert_eq!(EffectResult::from_log(&several).contrasts, result.contrasts);
}

/// Of lessons that interact, the credits are different in each order, and still add up to what all do together.
#[test]
fn credits_add_up_whatever_the_lessons_do_together() {
    let mut plan = joining(40);
    plan.budget.keep_going = true;
    // Only two of them together win, in three pairs of four.
    let (log, _) = run(EffectLog::new(plan), |slot| {
        let order =
            joining(40).joining_order(slot.pair).iter().map(|arm| (*arm).to_owned()).collect::<Vec<_>>();
        let place = order.iter().position(|arm| *arm == slot.arm).unwrap();
        let has = |arm: &str| order[..=place].iter().any(|joined| joined == arm);
        Some(slot.pair % 4 != 0 && has("joined-a") && has("joined-b"))
    });
    let result = EffectResult::from_log(&log);
    let credits: Vec<f64> = result.contrasts.iter().map(|c| c.judged.difference.unwrap()).collect();
    let (none, all) = (&result.arms[0], &result.arms[1]);
    assert_eq!((none.name.as_str(), none.won, all.name.as_str(), all.won), ("none", 0, "all", 30));
    assert!((credits.iter().sum::<f64>() - 0.75).abs() < 1e-9, "{credits:?}");
    assert!(credits[0] > 0.2 && credits[1] > 0.2 && credits[2] == 0.0, "{credits:?}");
    let kept = kept_results(log.plan(), &result, "2026-11-20");
    assert_eq!(kept.len(), 3);
    assert!(kept[0].1.describe().contains(" in random orders ["), "{}", kept[0].1.describe());
}

/// All lessons count the same pairs, also where one is decided earlier: else the credits would not add up.
#[test]
fn lessons_that_join_stop_together() {
    let (log, _) = run(EffectLog::new(joining(400)), |slot| {
        let order: Vec<String> =
            joining(400).joining_order(slot.pair).iter().map(|arm| (*arm).to_owned()).collect();
        let place = order.iter().position(|arm| *arm == slot.arm).unwrap();
        Some(order[..=place].iter().any(|joined| joined == "joined-a"))
    });
    let pairs: Vec<usize> = log.contrasts().iter().map(|contrast| contrast.pairs().len()).collect();
    assert_eq!(log.stopped(), Some(StopReason::Decided));
    assert!(pairs[0] >= 51 && pairs.iter().all(|count| *count == pairs[0]), "{pairs:?}");
    assert_eq!(log.verdict(0), Some(Verdict::Helped));
    assert_eq!(log.verdict(1), Some(Verdict::NoEffectSeen));
}
