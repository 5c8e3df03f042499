//! Words for measurements of a lesson's effect: the plan before it starts, and the result, as lines and as Markdown.

use crate::domain::{
    EffectStart, MeasuredEffect, describe_alpha, describe_level, format_price, percent_interval, pluralize,
};
use crate::text::{escape_markdown, one_line, truncate};
use crate::timeline::effect::{
    ArmResult, BootstrapInterval, BootstrapKind, Column, Contrast, ContrastResult, EffectPlan, EffectResult,
    EffectScope, Exploratory, FixedResult, Outcome, PanelVerdict, StopReason, Verdict,
};

use std::time::Duration;

/// From how many pairs without a single win on it is said that nothing can be seen here.
const FLOOR_PAIRS: u32 = 10;
/// How many characters of the reason of a failure are shown.
const MAX_REASON: usize = 300;

/// What a measurement will cost at most.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlannedCost {
    /// The pairs that were played before; all else is about those that are left.
    pub played: u32,
    pub pairs: u32,
    /// Whether the budget, not the plan, limits the pairs.
    pub is_limited: bool,
    pub episodes: u64,
    pub calls: u64,
    pub tokens: u64,
    /// In billionths of the currency unit; 0 without prices.
    pub cost_nano: u64,
    /// `None` if it isn't known before some pairs are played.
    pub seconds: Option<f64>,
    /// Whether the actor is a stand-in, whose calls cost nothing.
    pub is_free: bool,
}

/// The smallest differences that are detected with a probability of 80 %.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DetectableEffect {
    /// If the arms are independent.
    pub independent: Option<f64>,
    /// If they differ in no more pairs than they must.
    pub best: Option<f64>,
    /// How many pairs can be played; 0 if the outcome isn't success.
    pub pairs: u32,
}

/// Formats a share or a difference as whole percent, without a sign for 0.
pub fn percent(share: f64) -> f64 {
    (share * 100.0).round() + 0.0
}

/// Formats a p-value. A small one isn't written as zero, which no p-value is.
fn p_value(p: f64) -> String {
    if p < 0.0001 { "< 0.0001".to_owned() } else { format!("{p:.4}") }
}

/// Describes where the pairs begin: `at step 10 of episode 1`, `from the start of episode 1`, `over 120 tasks`.
pub fn describe_start(plan: &EffectPlan) -> String {
    match &plan.start {
        EffectStart::Moment { episode, step, .. } => {
            format!("from step {step} of episode {episode} on, new seeds")
        }
        EffectStart::Episode { episode, .. } => format!("from the start of episode {episode}, new seeds"),
        EffectStart::Tasks => {
            let tasks = pluralize(plan.tasks.len() as u64, "task");
            let env = plan.tasks.first().map_or("", |planned| planned.task.env.as_str());
            let learned = plan.tasks.iter().filter(|planned| planned.learned).count();
            match plan.scope {
                EffectScope::These if learned > 0 => {
                    format!("exactly these {tasks} of {env}; learned on {learned} of them")
                }
                EffectScope::These => format!("exactly these {tasks} of {env}"),
                _ if learned > 0 => format!("{env} tasks ({tasks}; learned on {learned} of them)"),
                _ => format!("other {env} tasks ({tasks})"),
            }
        }
    }
}

/// Says whether the method reflects during the episodes, and why.
pub fn describe_mode(plan: &EffectPlan) -> &'static str {
    if plan.frozen {
        "frozen: the method doesn't reflect, so only the lesson's text differs"
    } else {
        "live: the method reflects in every arm, which can mask a lesson"
    }
}

/// Describes what a measurement costs at most: `up to 200 pairs (600 episodes, about 24000 calls, 1.9 M tokens, 9 s)`, or
/// `the budget is enough for about 4 pairs (14 episodes, ...)`.
pub fn describe_cost(cost: &PlannedCost) -> String {
    let mut parts = vec![pluralize(cost.episodes, "episode")];
    if cost.is_free {
        parts.push("no model is called".to_owned());
    } else {
        parts.push(format!("about {}", pluralize(cost.calls, "call")));
        parts.push(format!("{} tokens", short_number(cost.tokens)));
    }
    if cost.cost_nano > 0 {
        parts.push(format!("cost {}", format_price(cost.cost_nano)));
    }
    parts.push(cost.seconds.map_or_else(
        || "time: after the first pairs".to_owned(),
        |seconds| format!("about {}", short_time(seconds)),
    ));
    let lead = if cost.is_limited { "the budget is enough for about" } else { "up to" };
    let (played, more) = match cost.played {
        0 => (String::new(), ""),
        played => (format!("{} played; ", pluralize(played.into(), "pair")), "further "),
    };
    if cost.played > 0 && cost.episodes == 0 && !cost.is_limited {
        return format!("{played}nothing is left to play");
    }
    format!(
        "{played}{lead} {} ({})",
        pluralize(u64::from(cost.pairs), &format!("{more}pair")),
        parts.join(", ")
    )
}

/// Says which effects can be seen.
pub fn describe_detectable(effect: DetectableEffect) -> Option<String> {
    let Some(detected) = effect.independent.or(effect.best) else {
        let pairs = (effect.pairs > 0).then(|| pluralize(effect.pairs.into(), "pair"))?;
        let verb = if effect.pairs == 1 { "detects" } else { "detect" };
        return Some(format!(
            "{pairs} {verb} no effect with 80 % probability, however large: use more tasks or pairs, or a larger budget"
        ));
    };
    let smaller = if detected > 0.101 { "; one of 0.10 usually is not" } else { "" };
    Some(format!("an effect of {detected:.2} is detected with 80 % probability{smaller}"))
}

/// Describes a contrast's mean difference with its running interval: `+57 % [41, 70]`. `None` of copies, which have no interval, and of an
/// outcome without bounds.
pub fn describe_difference(contrast: &ContrastResult) -> Option<String> {
    let judged = &contrast.judged;
    let difference = judged.difference.filter(|_| contrast.fact.is_none())?;
    Some(format!("{:+} % {}", percent(difference), percent_interval(judged.low, judged.high)))
}

/// Describes what a contrast shows: `+57 % [41, 70] · 17 : 0 · 30 pairs`.
pub fn describe_contrast(contrast: &ContrastResult) -> String {
    let judged = &contrast.judged;
    let Some(difference) = judged.difference else {
        let pairs = pluralize(judged.pairs, "pair");
        let tokens = contrast.outcomes.get(Outcome::Tokens.name());
        return tokens.map_or_else(
            || pairs.clone(),
            |tokens| format!("tokens {} · {pairs}", describe_interval(Outcome::Tokens, tokens)),
        );
    };
    format!(
        "{:+} % {} · {} : {} · {}",
        percent(difference),
        percent_interval(judged.low, judged.high),
        judged.counts.first_only,
        judged.counts.second_only,
        pluralize(judged.pairs, "pair"),
    )
}

/// Describes the interval of an outcome's mean difference: `+28 % [10, 45]`, `+3.2 steps [1.0, 5.1]` saved, or of tokens how many times
/// those of the second arm the first one takes: `0.85 times [0.80, 0.91]`.
fn describe_interval(outcome: Outcome, interval: &BootstrapInterval) -> String {
    let BootstrapInterval { estimate, low, high, kind, .. } = *interval;
    let (mean, range) = match outcome {
        Outcome::Success | Outcome::Progress => {
            (format!("{:+} %", percent(estimate)), percent_interval(low, high))
        }
        Outcome::Steps => (format!("{estimate:+.1} steps"), format!("[{low:.1}, {high:.1}]")),
        Outcome::Tokens => {
            let range = format!("[{:.2}, {:.2}]", (-high).exp(), (-low).exp());
            (format!("{:.2} times", (-estimate).exp()), range)
        }
    };
    match kind {
        BootstrapKind::Point => format!("{mean} (nothing varied)"),
        BootstrapKind::Percentile => format!("{mean} {range} (plain percentiles)"),
        BootstrapKind::Bca => format!("{mean} {range}"),
    }
}

/// Describes a contrast's verdict, with what it means or what it needs.
pub fn describe_verdict(contrast: &ContrastResult) -> String {
    let verdict = contrast.judged.verdict;
    let margin = contrast.margin;
    match verdict {
        _ if contrast.fact.is_some() => "no verdict: a fact, not a sample".to_owned(),
        _ if contrast.judged.difference.is_none() && contrast.judged.pairs > 0 => {
            "no verdict: a ratio of tokens has no bounds, so it has an interval only".to_owned()
        }
        Verdict::Helped | Verdict::Harmful if contrast.marked == Some(false) => {
            format!(
                "{verdict} by itself, but not marked: too little for a claim about one of several lessons"
            )
        }
        _ if contrast.exploratory == Some(Exploratory::Helped) => {
            "no verdict of its own, but it follows: this wording does better than the lesson, which helped"
                .to_owned()
        }
        _ if contrast.exploratory.is_some() => format!(
            "exploratory, no verdict: the interval alone is wrong in at most {} % of measurements, beside the verdicts' own errors",
            contrast.alpha * 100.0
        ),
        _ if !contrast.has_claim => "no verdict: the lesson itself has none that it helped".to_owned(),
        Verdict::Helped if contrast.is_small => format!("helped, by less than {margin:.2}"),
        Verdict::Harmful if contrast.is_small => format!("harmful, by less than {margin:.2}"),
        Verdict::NoEffectSeen => format!("no effect seen (smaller than {margin:.2} in both directions)"),
        Verdict::Inconsistent => "inconsistent: earlier and later pairs contradict each other".to_owned(),
        Verdict::Undecided => match contrast.further_pairs {
            Some(further) => format!("undecided; at these rates about {} more", pluralize(further, "pair")),
            None => "undecided".to_owned(),
        },
        Verdict::Helped | Verdict::Harmful => verdict.to_string(),
    }
}

/// Describes the verdict about both columns in a sentence.
pub fn describe_panel(verdict: PanelVerdict, here: Verdict, elsewhere: Verdict) -> String {
    let meaning = match verdict {
        PanelVerdict::Lesson => "it helps elsewhere",
        PanelVerdict::Answer => "it helps here, and no effect was seen elsewhere",
        PanelVerdict::Harmful if here == Verdict::Harmful && elsewhere == Verdict::Harmful => {
            "in both columns"
        }
        PanelVerdict::Harmful if here == Verdict::Harmful => "here",
        PanelVerdict::Harmful => "elsewhere",
        PanelVerdict::NoEffectSeen => "neither here nor elsewhere",
        PanelVerdict::Inconsistent => "the pairs of a column contradict each other",
        PanelVerdict::Undecided => match (here, elsewhere) {
            (Verdict::Helped, _) => "it helps here; elsewhere needs more pairs",
            (Verdict::NoEffectSeen, _) => "no effect was seen here; elsewhere needs more pairs",
            (_, Verdict::NoEffectSeen) => "no effect was seen elsewhere; here needs more pairs",
            _ => "more pairs are needed",
        },
    };
    format!("{verdict}: {meaning}")
}

/// Describes what both columns show in a sentence. A column that is a fact is said to be one: it has no verdict, and no further pairs.
/// `retry` says what plays discarded pairs again, such as `Enter plays them again`.
pub fn describe_columns(
    verdict: PanelVerdict,
    here: &EffectResult,
    elsewhere: &EffectResult,
    retry: &str,
) -> String {
    let lacks_pairs = |result: &EffectResult| result.stopped == Some(StopReason::Discarded);
    let has_failed = |result: &EffectResult| result.stopped == Some(StopReason::FailedCalls);
    let facts = [("here", here), ("elsewhere", elsewhere)]
        .into_iter()
        .filter_map(|(name, result)| Some(format!("{name} {}", describe_fact(result)?)));
    let facts: Vec<String> = facts.collect();
    let is_judged = |result: &EffectResult| !lacks_pairs(result) && !has_failed(result);
    if facts.is_empty() && is_judged(here) && is_judged(elsewhere) {
        return describe_panel(verdict, here.verdict(), elsewhere.verdict());
    }
    let rest: Vec<String> = match verdict {
        PanelVerdict::Undecided if lacks_pairs(here) && lacks_pairs(elsewhere) => {
            vec![format!("too many pairs weren't played here and elsewhere: {retry}")]
        }
        PanelVerdict::Undecided if has_failed(here) && has_failed(elsewhere) => {
            vec!["too many calls failed here and elsewhere".to_owned()]
        }
        PanelVerdict::Undecided => {
            let sampled = [("here", here), ("elsewhere", elsewhere)].into_iter();
            let sampled = sampled.filter(|(_, result)| result.fact.is_none());
            let describe = |(name, result): (&str, &EffectResult)| match result.verdict() {
                _ if lacks_pairs(result) => format!("too many pairs weren't played {name}: {retry}"),
                _ if has_failed(result) => format!("too many calls failed {name}"),
                Verdict::NoEffectSeen => format!("no effect was seen {name}"),
                Verdict::Helped => format!("it helps {name}"),
                _ => format!("{name} needs more pairs"),
            };
            sampled.map(describe).collect()
        }
        decided => {
            let sentence = describe_panel(decided, here.verdict(), elsewhere.verdict());
            vec![sentence.split_once(": ").map_or(sentence.clone(), |(_, meaning)| meaning.to_owned())]
        }
    };
    let parts: Vec<String> = rest.into_iter().chain(facts).collect();
    format!("{verdict}: {}", parts.join("; "))
}

/// Says what a result that is a fact means, and what happened. `None` of a sample.
pub fn describe_fact(result: &EffectResult) -> Option<String> {
    let fact = result.fact.as_deref()?;
    Some(match &result.meaning {
        Some(meaning) => format!("{meaning}: a fact, not a sample, as far as 2 repeats show ({fact})"),
        None => format!("it is a fact, not a sample, as far as 2 repeats show: {fact}"),
    })
}

/// Says what a shard has played, and what judges it. `None` of a whole measurement.
fn describe_shard(plan: &EffectPlan, result: &EffectResult) -> Option<String> {
    let (shard, pairs) = plan.shard.zip(result.shard_pairs)?;
    let failed = match pairs.failed {
        0 => String::new(),
        failed => {
            let reason = result.first_discard_reason.as_deref().map(reason_line);
            let reason = reason.map_or_else(String::new, |reason| format!(" (the first: {reason})"));
            format!(", {failed} couldn't be played{reason}")
        }
    };
    let episodes = pluralize(result.totals.episodes, "episode");
    let stopped = result.stopped.filter(|reason| *reason != StopReason::Pairs);
    let stopped = stopped.map_or_else(String::new, |reason| format!("; stopped: {}", reason.describe()));
    Some(format!(
        "shard {} of {}: {} of its {} played ({episodes}){failed}{stopped}; it isn't judged alone: `lessons effect --merge` with the logs \
         of all shards judges them",
        shard.index,
        shard.count,
        pairs.played,
        pluralize(pairs.all.into(), "pair")
    ))
}

/// Returns the result of a measurement as lines.
pub fn result_lines(plan: &EffectPlan, result: &EffectResult) -> Vec<String> {
    let mut lines = vec![title(plan)];
    if let Some(shard) = describe_shard(plan, result) {
        lines.push(format!("  {shard}"));
        return lines;
    }
    if let Some(fact) = describe_fact(result) {
        lines.push(format!("  deterministic: {fact}"));
    }
    for arm in &result.arms {
        let has_rate = result.fact.is_none() && arm.episodes > 0;
        let rate = has_rate.then(|| format!(" ({} %)", percent(arm.won as f64 / arm.episodes as f64)));
        let rate = rate.unwrap_or_default();
        lines.push(format!("  {:<12} won {} of {}{rate}", arm.name, arm.won, arm.episodes));
    }
    // Without variation there is no interval: copies would only make it look certain.
    if result.fact.is_none() {
        for contrast in sorted_contrasts(result) {
            lines.push(format!(
                "  {}: {}; {}",
                contrast.judged.contrast,
                describe_contrast(contrast),
                describe_verdict(contrast)
            ));
            lines.extend(details(plan, contrast).into_iter().map(|line| format!("    {line}")));
        }
    }
    let remarks = several_lessons_remarks(plan).into_iter().chain(credits_remark(plan, result));
    let remarks = remarks.chain(self::remarks(plan.outcome, result));
    let remarks = remarks.chain(wording_remark(result, "measure it as a lesson of its own (`--text`)"));
    lines.extend(remarks.map(|remark| format!("  {remark}")));
    if result.stopped.is_none() {
        lines.extend(describe_discarded(result).map(|pairs| format!("  {pairs}")));
    }
    lines.extend(describe_stop(result).map(|why| format!("  stopped: {why}")));
    lines
}

/// Says why a measurement has stopped, and how many pairs were discarded: `all other pairs are played; 3 pairs discarded: ...`.
/// `None` while it goes on.
pub fn describe_stop(result: &EffectResult) -> Option<String> {
    let reason = result.stopped?;
    if result.absent > 0 {
        let absent = pluralize(result.absent.into(), "pair");
        let pairs = describe_discarded(result).map_or_else(String::new, |pairs| format!("; {pairs}"));
        return Some(format!("not complete: {absent} of missing shards; those that are there count{pairs}"));
    }
    let Some(discarded) = describe_discarded(result) else { return Some(reason.describe().to_owned()) };
    if reason == StopReason::Discarded {
        return Some(format!("{} ({discarded})", reason.describe()));
    }
    let reason = if reason == StopReason::Pairs { "all other pairs are played" } else { reason.describe() };
    let again = if result.can_retry { "; continuing tries again" } else { "" };
    Some(format!("{reason}; {discarded}{again}"))
}

/// Says how many pairs don't count, and why the first one doesn't: `3 pairs discarded: an episode couldn't be played (openai:m: HTTP 400)`,
/// `1 pair not played: server timed out or busy`. `None` if there are none.
pub fn describe_discarded(result: &EffectResult) -> Option<String> {
    let pairs = pluralize(u64::from(result.discarded), "pair");
    let reason = result.first_discard_reason.as_deref().map(reason_line);
    let with_reason = |text: String| match &reason {
        Some(reason) => format!("{text} (the first: {reason})"),
        None => text,
    };
    Some(match result.timed_out {
        _ if result.discarded == 0 => return None,
        0 => with_reason(format!("{pairs} discarded: an episode couldn't be played")),
        all if all == result.discarded => format!("{pairs} not played: server timed out or busy"),
        some => with_reason(format!(
            "{pairs} discarded: an episode couldn't be played, {some} of them because the server timed out or was busy"
        )),
    })
}

/// Returns why something failed, on one line that isn't long. It may be a server's own words.
fn reason_line(reason: &str) -> String {
    truncate(&one_line(reason), MAX_REASON, "…")
}

/// Returns the contrasts in the order of a table: those of several lessons by the lower end of the interval, then by the difference,
/// largest first.
pub fn sorted_contrasts(result: &EffectResult) -> Vec<&ContrastResult> {
    let mut contrasts: Vec<&ContrastResult> = result.contrasts.iter().collect();
    if contrasts.iter().all(|contrast| contrast.marked.is_some()) {
        let key = |contrast: &ContrastResult| {
            (contrast.judged.low, contrast.judged.difference.unwrap_or(f64::NEG_INFINITY))
        };
        contrasts.sort_by(|one, other| {
            let ((low, difference), (other_low, other_difference)) = (key(one), key(other));
            other_low.total_cmp(&low).then(other_difference.total_cmp(&difference))
        });
    }
    contrasts
}

/// Returns what a reader of a table of several lessons must know: what leaving one out can't show, and which groups are left out
/// together.
pub fn several_lessons_remarks(plan: &EffectPlan) -> Vec<String> {
    if plan.lessons.len() < 2 || plan.contrasts.iter().any(|c| c.second == MeasuredEffect::EMPTY_POOL) {
        return Vec::new();
    }
    let (limit, what) = if plan.orders {
        let limit = "of two lessons that say the same, the one that joins first gets the credit, so each has half of it on average";
        (limit, "share their credit")
    } else {
        let limit =
            "of two lessons that say the same, neither shows an effect, because the other one remains";
        (limit, "are also left out together")
    };
    let groups = (1..).zip(&plan.groups).map(|(number, group)| {
        let ids: Vec<String> = group.iter().map(ToString::to_string).collect();
        format!("group {number}, similar lessons that {what}: {}", ids.join(", "))
    });
    std::iter::once(limit.to_owned()).chain(groups).collect()
}

/// Says what the credits of lessons that join in random orders add up to. `None` of another measurement, or without pairs.
fn credits_remark(plan: &EffectPlan, result: &EffectResult) -> Option<String> {
    let credits = result.contrasts.iter().map(|contrast| contrast.judged.difference);
    let sum = credits.sum::<Option<f64>>().filter(|_| plan.orders && result.settled > result.discarded)?;
    Some(format!("the credits add up to {:+} %, what all lessons together do against none", percent(sum)))
}

/// Returns what a reader of the numbers must know: that calls failed, that nothing could be won, or that the arms' rates are of different
/// pairs.
pub fn remarks(outcome: Outcome, result: &EffectResult) -> Vec<String> {
    let sum = |count: fn(&ArmResult) -> u64| result.arms.iter().map(count).sum::<u64>();
    let (failed, all) = (sum(|arm| arm.failed_calls), sum(|arm| arm.episodes));
    let mut remarks = Vec::new();
    if failed > 0 {
        let is_above_limit = result.stopped == Some(StopReason::FailedCalls);
        let without = if is_above_limit { ", too many for a verdict" } else { "" };
        remarks.push(format!(
            "{failed} of {all} episodes ended at a failed call and count as lost{without}: {}",
            reason_line(
                result
                    .first_failed_call
                    .as_deref()
                    .unwrap_or("why isn't in this log; one episode alone shows it")
            )
        ));
    }
    // Plays that are all lost still differ in their progress and their tokens.
    let needs_wins = matches!(outcome, Outcome::Success | Outcome::Steps);
    let counted = result.settled.saturating_sub(result.discarded);
    if needs_wins && counted >= FLOOR_PAIRS && result.arms.iter().all(|arm| arm.won == 0) {
        remarks.push(
            "no play was won, with the lesson or without: no harm could be seen here, and help only if it had been enough to win"
                .to_owned(),
        );
    }
    let mut played = result.arms.iter().map(|arm| arm.episodes).filter(|episodes| *episodes > 0);
    if let Some(first) = played.next()
        && played.any(|episodes| episodes != first)
    {
        remarks.push(
            "an arm is played no further once its comparisons are decided, so the arms' wins are of different numbers of pairs; each \
             difference is of pairs that both of its arms played"
                .to_owned(),
        );
    }
    remarks
}

/// Says what to do for a verdict on another wording that has none; `None` if there is no such wording, or while it is measured.
/// `what_to_do` goes on the sentence.
pub fn wording_remark(result: &EffectResult, what_to_do: &str) -> Option<String> {
    let has_no_verdict = |contrast: &ContrastResult| contrast.exploratory == Some(Exploratory::Unjudged);
    let is_over = result.stopped.is_some() && result.fact.is_none();
    (is_over && result.contrasts.iter().any(has_no_verdict))
        .then(|| format!("for a verdict on whether the new wording helps, {what_to_do}"))
}

fn title(plan: &EffectPlan) -> String {
    let column = plan.column.map_or_else(String::new, |column| format!("{column}: "));
    let mode = if plan.frozen { "frozen" } else { "live" };
    format!("{column}{}, {mode}, {}, actor {}", describe_start(plan), plan.outcome, plan.actor)
}

/// Says on which condition numbers for a fixed number of pairs are valid; empty if it holds.
fn fixed_validity(contrast: &ContrastResult) -> String {
    let FixedResult { is_valid, planned_pairs, .. } = contrast.fixed;
    if is_valid {
        return String::new();
    }
    format!(" (valid only if {planned_pairs} pairs were fixed in advance)")
}

/// Describes the outcomes that weren't chosen, which have intervals and no verdict. `None` without pairs, of copies, and where the bootstrap
/// wasn't computed.
pub fn describe_other_outcomes(plan: &EffectPlan, contrast: &ContrastResult) -> Option<String> {
    let others = Outcome::ALL.into_iter().filter(|outcome| *outcome != plan.outcome);
    let others = others.filter_map(|outcome| {
        let interval = describe_interval(outcome, contrast.outcomes.get(outcome.name())?);
        Some(match outcome {
            Outcome::Success => format!("won {interval}"),
            Outcome::Progress => format!("progress {interval}"),
            Outcome::Steps => format!("saved {interval}"),
            Outcome::Tokens => format!("tokens {interval}"),
        })
    });
    let others: Vec<String> = others.collect();
    let level = describe_level(contrast.fixed_confidence, "bootstrap intervals");
    let text = || {
        let others = others.join(", ");
        format!("other outcomes, without a verdict: {others} ({level}){}", fixed_validity(contrast))
    };
    (!others.is_empty()).then(text)
}

fn details(plan: &EffectPlan, contrast: &ContrastResult) -> Vec<String> {
    let mut lines = Vec::new();
    let (fixed, validity) = (&contrast.fixed, fixed_validity(contrast));
    let own = contrast.outcomes.get(plan.outcome.name());
    let level = |interval| describe_level(contrast.fixed_confidence, interval);
    if let Some(newcombe) = fixed.newcombe {
        lines.push(format!(
            "fixed: {} {}, mid-p {}{validity}",
            level("interval"),
            percent_interval(newcombe.low, newcombe.high),
            p_value(fixed.mcnemar.mid_p)
        ));
    } else if let Some(interval) = own {
        let interval = describe_interval(plan.outcome, interval);
        lines.push(format!("fixed: {interval} ({}){validity}", level("bootstrap interval")));
    }
    lines.extend(describe_other_outcomes(plan, contrast));
    let gain = contrast.judged.gain.map_or_else(|| "nothing varied".to_owned(), |gain| format!("{gain:.2}"));
    let alpha = describe_alpha(contrast.alpha, contrast.margin);
    lines.push(format!("{alpha}, pairing gain {gain}"));
    lines.extend(describe_advice(contrast));
    if let Some(counts) = contrast.without_learned {
        lines.push(format!(
            "without the tasks on which it was learned: {} : {}",
            counts.first_only, counts.second_only
        ));
    }
    if let Some(marked) = contrast.marked {
        let what = if marked { "marked" } else { "not marked" };
        lines.push(format!("{what} (share of falsely marked lessons at most 10 %)"));
    }
    lines
}

/// Describes a contrast's pairs by their steps. `None` without pairs.
pub fn describe_advice(contrast: &ContrastResult) -> Option<String> {
    let Contrast { first, second } = &contrast.judged.contrast;
    (contrast.advice.total() > 0).then(|| contrast.advice.describe_arms(first, second))
}

/// Returns results as Markdown.
pub fn result_markdown(results: &[(EffectPlan, EffectResult)], panel: Option<&str>) -> String {
    let mut lines: Vec<String> = Vec::new();
    if let Some((plan, _)) = results.first() {
        lines.extend(["# Effect of a lesson".to_owned(), String::new()]);
        for lesson in &plan.lessons {
            let solution = lesson.text.solution.as_deref().map_or_else(String::new, |s| format!(" -> {s}"));
            let quoted = escape_markdown(&one_line(&format!("{}{solution}", lesson.text.text)));
            lines.push(format!("- `{}` (version {}): {quoted}", lesson.id, lesson.version));
        }
        lines.push(String::new());
    }
    if let Some(panel) = panel {
        lines.extend([format!("**{}**", escape_markdown(panel)), String::new()]);
    }
    for (plan, result) in results {
        lines.extend([format!("## {}", escape_markdown(&title(plan))), String::new()]);
        if let Some(shard) = describe_shard(plan, result) {
            lines.extend([format!("{}.", escape_markdown(&shard)), String::new()]);
            continue;
        }
        if let Some(fact) = describe_fact(result) {
            lines.extend([format!("Deterministic: {}.", escape_markdown(&fact)), String::new()]);
        }
        lines.extend(["| arm | won | episodes |".to_owned(), "|---|---|---|".to_owned()]);
        for arm in &result.arms {
            lines.push(format!("| {} | {} | {} |", escape_markdown(&arm.name), arm.won, arm.episodes));
        }
        if result.fact.is_none() {
            let heads = "| contrast | pairs | for : against | difference | interval | verdict |";
            lines.extend([String::new(), heads.to_owned(), "|---|---|---|---|---|---|".to_owned()]);
            let contrasts = sorted_contrasts(result);
            lines.extend(contrasts.iter().copied().map(contrast_row));
            for contrast in contrasts {
                let about = escape_markdown(&contrast.judged.contrast.to_string());
                lines.extend([String::new(), format!("{about}:"), String::new()]);
                lines.extend(
                    details(plan, contrast).iter().map(|line| format!("- {}", escape_markdown(line))),
                );
            }
        }
        let own = remarks(plan.outcome, result).into_iter().map(|remark| escape_markdown(&remark));
        let remarks =
            several_lessons_remarks(plan).into_iter().chain(credits_remark(plan, result)).chain(own);
        let remarks = remarks.chain(wording_remark(result, "measure it as a lesson of its own (`--text`)"));
        lines.extend(remarks.flat_map(|remark| [String::new(), format!("{remark}.")]));
        let discarded = describe_discarded(result).map_or_else(String::new, |pairs| format!("; {pairs}"));
        let end = describe_stop(result).unwrap_or_else(|| format!("In progress{discarded}"));
        lines.push(String::new());
        let end = escape_markdown(&end);
        lines.push(match result.stopped {
            Some(_) => format!("Stopped: {end}."),
            None => format!("{end}."),
        });
        lines.push(String::new());
    }
    lines.join("\n")
}

fn contrast_row(contrast: &ContrastResult) -> String {
    let judged = &contrast.judged;
    let difference = judged.difference.map_or_else(|| "-".to_owned(), |d| format!("{:+} %", percent(d)));
    format!(
        "| {} | {} | {} : {} | {difference} | {} | {} |",
        escape_markdown(&judged.contrast.to_string()),
        judged.pairs,
        judged.counts.first_only,
        judged.counts.second_only,
        percent_interval(judged.low, judged.high),
        escape_markdown(&describe_verdict(contrast)),
    )
}

/// Returns the name of a column, or of a measurement over a task list.
pub fn column_name(column: Option<Column>) -> String {
    column.map_or_else(|| "tasks".to_owned(), |column| column.to_string())
}

fn short_number(number: u64) -> String {
    match number {
        0..10_000 => number.to_string(),
        10_000..1_000_000 => format!("{} k", number.div_ceil(1000)),
        _ => format!("{:.1} M", number as f64 / 1e6),
    }
}

/// Describes how long what is left takes at most, if `done` took `elapsed`: `at most about 40 s left`. `None` before anything is done.
pub fn describe_time_left(elapsed: Duration, done: u32, left: u32) -> Option<String> {
    let each = elapsed.checked_div(done)?;
    Some(format!("at most about {} left", short_time((each * left).as_secs_f64())))
}

fn short_time(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => "1 s".to_owned(),
        s if s < 120.0 => format!("{} s", s.round()),
        s if s < 7200.0 => format!("{} min", (s / 60.0).round()),
        s => format!("{:.1} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{AdviceCounts, DeterministicFact};
    use crate::timeline::effect::{EffectJudged, PairCounts, Totals};
    use std::collections::BTreeMap;

    #[test]
    fn costs_are_short() {
        for (number, text) in [(9_999, "9999"), (10_001, "11 k"), (1_900_000, "1.9 M")] {
            assert_eq!(short_number(number), text);
        }
        for (seconds, text) in [(0.2, "1 s"), (9.4, "9 s"), (600.0, "10 min"), (9000.0, "2.5 h")] {
            assert_eq!(short_time(seconds), text);
        }
    }

    /// Regression: a budget that is enough for four pairs was said to buy sixty, and to detect what they do.
    #[test]
    fn a_plan_promises_the_pairs_of_its_budget() {
        let cost = |pairs, is_limited| {
            describe_cost(&PlannedCost {
                pairs,
                is_limited,
                episodes: 12,
                is_free: true,
                ..PlannedCost::default()
            })
        };
        let expected = "up to 4 pairs (12 episodes, no model is called, time: after the first pairs)";
        assert_eq!(cost(4, false), expected);
        let limited = "the budget is enough for about 4 pairs (12 episodes, no model is called, time: after the first pairs)";
        assert_eq!(cost(4, true), limited);
        // Regression: a continued measurement was said to play the pairs again that its log has.
        let rest =
            PlannedCost { played: 56, pairs: 4, episodes: 12, is_free: true, ..PlannedCost::default() };
        let expected = "56 pairs played; up to 4 further pairs (12 episodes, no model is called, time: after the first pairs)";
        assert_eq!(describe_cost(&rest), expected);
        let over = PlannedCost { pairs: 0, episodes: 0, ..rest };
        assert_eq!(describe_cost(&over), "56 pairs played; nothing is left to play");
        let one = DetectableEffect { pairs: 1, ..DetectableEffect::default() };
        assert!(describe_detectable(one).unwrap().starts_with("1 pair detects no effect"));
    }

    #[test]
    fn the_time_left_follows_what_was_played() {
        let left = |seconds, done, left| describe_time_left(Duration::from_secs(seconds), done, left);
        assert_eq!(left(10, 0, 60), None, "nothing is played");
        assert_eq!(left(10, 1, 9).unwrap(), "at most about 90 s left");
        assert_eq!(left(10, 20, 180).unwrap(), "at most about 90 s left");
        assert_eq!(left(60, 1, 59).unwrap(), "at most about 59 min left");
    }

    /// Returns the result of a measurement with this verdict, or of one that is a fact.
    fn result(verdict: Verdict, fact: Option<&str>) -> EffectResult {
        let judged = EffectJudged {
            effect: String::new(),
            contrast: Contrast::new("with", "without"),
            pairs: 1,
            counts: PairCounts::default(),
            difference: None,
            low: -1.0,
            high: 1.0,
            ln_e: 0.0,
            verdict,
            gain: None,
        };
        let contrast = ContrastResult {
            judged,
            advice: AdviceCounts::default(),
            alpha: 0.05,
            margin: 0.1,
            fact: fact.map(|_| DeterministicFact { tasks: 1, won: (1, 0) }),
            has_claim: true,
            exploratory: None,
            is_small: false,
            further_pairs: None,
            anytime_p: 1.0,
            fixed_confidence: 0.95,
            fixed: FixedResult {
                planned_pairs: 1,
                is_valid: true,
                mcnemar: PairCounts::default().mcnemar(),
                newcombe: None,
                tango: None,
            },
            outcomes: BTreeMap::new(),
            without_learned: None,
            marked: None,
            adjusted: None,
        };
        EffectResult {
            settled: 2,
            discarded: 0,
            first_discard_reason: None,
            absent: 0,
            timed_out: 0,
            can_retry: false,
            stopped: None,
            arms: Vec::new(),
            contrasts: vec![contrast],
            fact: fact.map(str::to_owned),
            meaning: fact.map(|_| "it turns a loss into a win".to_owned()),
            totals: Totals::default(),
            first_failed_call: None,
            shard_pairs: None,
        }
    }

    /// Regression: the sentence asked for more pairs where every further pair is a copy.
    #[test]
    fn the_panel_says_that_a_column_is_a_fact() {
        let here = result(Verdict::Undecided, Some("with: won in 12 steps, without: lost"));
        let fact = "here it turns a loss into a win: a fact, not a sample, as far as 2 repeats show (with: won in 12 steps, without: lost)";
        for (elsewhere, expected) in [
            (Verdict::Undecided, format!("undecided: elsewhere needs more pairs; {fact}")),
            (Verdict::NoEffectSeen, format!("undecided: no effect was seen elsewhere; {fact}")),
            (Verdict::Helped, format!("a lesson: it helps elsewhere; {fact}")),
            (Verdict::Harmful, format!("harmful: elsewhere; {fact}")),
        ] {
            let panel = PanelVerdict::combine(Verdict::Undecided, elsewhere);
            assert_eq!(describe_columns(panel, &here, &result(elsewhere, None), ""), expected);
        }
        let both = describe_columns(PanelVerdict::Undecided, &here, &here, "");
        assert!(
            !both.contains("more pairs") && both.contains("elsewhere it turns a loss into a win: a fact"),
            "{both}"
        );
        assert_eq!(describe_verdict(&here.contrasts[0]), "no verdict: a fact, not a sample");
    }

    /// Regression: the panel asked for more pairs where playing the discarded ones again was what helps.
    #[test]
    fn too_many_discarded_pairs_are_played_again() {
        let undecided = |stopped| EffectResult { stopped, ..result(Verdict::Undecided, None) };
        let (lacking, short) = (undecided(Some(StopReason::Discarded)), undecided(Some(StopReason::Pairs)));
        let describe = |here: &EffectResult, elsewhere: &EffectResult| {
            let panel = PanelVerdict::combine(here.verdict(), elsewhere.verdict());
            describe_columns(panel, here, elsewhere, "Enter plays them again")
        };
        assert_eq!(
            describe(&lacking, &lacking),
            "undecided: too many pairs weren't played here and elsewhere: Enter plays them again"
        );
        assert_eq!(
            describe(&lacking, &short),
            "undecided: too many pairs weren't played here: Enter plays them again; elsewhere needs more pairs"
        );
        assert_eq!(
            describe(&result(Verdict::Helped, None), &lacking),
            "undecided: it helps here; too many pairs weren't played elsewhere: Enter plays them again"
        );
        assert_eq!(describe(&lacking, &result(Verdict::Helped, None)), "a lesson: it helps elsewhere");
        assert_eq!(describe(&short, &short), "undecided: more pairs are needed");
    }

    /// Of several lessons, the ones that surely help come first.
    #[test]
    fn several_lessons_are_sorted_by_the_lower_end_of_their_interval() {
        let of = |second: &str, low: f64, difference: f64, marked| {
            let mut contrast = result(Verdict::Undecided, None).contrasts.remove(0);
            contrast.judged.contrast = Contrast::new("all", second);
            (contrast.judged.low, contrast.judged.difference, contrast.marked) =
                (low, Some(difference), marked);
            contrast
        };
        let order = |marked| {
            let contrasts = [("a", -0.5, 0.0), ("b", 0.1, 0.3), ("c", 0.1, 0.4), ("d", 0.2, 0.2)];
            let contrasts = contrasts.map(|(name, low, difference)| of(name, low, difference, marked));
            let several = EffectResult { contrasts: contrasts.into(), ..result(Verdict::Undecided, None) };
            let sorted = sorted_contrasts(&several).into_iter();
            sorted.map(|contrast| contrast.judged.contrast.second.clone()).collect::<Vec<_>>().concat()
        };
        assert_eq!((order(Some(false)), order(None)), ("dcba".to_owned(), "abcd".to_owned()));
    }

    /// Regression: that no harm could be seen was also said where progress was compared, which differs without a win.
    #[test]
    fn only_where_wins_are_compared_nothing_can_be_seen_without_one() {
        let floor = EffectResult { settled: FLOOR_PAIRS, ..result(Verdict::Undecided, None) };
        for (outcome, said) in
            [(Outcome::Success, 1), (Outcome::Steps, 1), (Outcome::Progress, 0), (Outcome::Tokens, 0)]
        {
            assert_eq!(remarks(outcome, &floor).len(), said, "{outcome}");
        }
        let discarded = EffectResult { discarded: FLOOR_PAIRS, ..floor };
        assert!(remarks(Outcome::Success, &discarded).is_empty(), "nothing was played");
    }

    /// Regression: where a server gave nothing usable, the remark guessed at too long a prompt.
    #[test]
    fn the_remark_on_failed_calls_names_the_first_reason() {
        let arm = |failed_calls| ArmResult {
            name: "with".to_owned(),
            won: 1,
            episodes: 20,
            failed_calls,
            rate: None,
        };
        let remark = |failed_calls, stopped| {
            let measured = EffectResult {
                arms: vec![arm(failed_calls), arm(0)],
                first_failed_call: Some("openai:m: the reply was cut off at\nmax_tokens 24".to_owned()),
                stopped: Some(stopped),
                ..result(Verdict::Undecided, None)
            };
            remarks(Outcome::Success, &measured).concat()
        };
        assert_eq!(
            remark(5, StopReason::FailedCalls),
            "5 of 40 episodes ended at a failed call and count as lost, too many for a verdict: openai:m: the reply was cut off at \
             max_tokens 24"
        );
        assert!(remark(1, StopReason::Pairs).contains("count as lost: openai:m: the reply"));
    }

    /// Regression: an arm that was played no further after its verdict stood beside the others as if its rate were of the same pairs.
    #[test]
    fn rates_of_different_numbers_of_pairs_say_so() {
        let arm = |name: &str, episodes| ArmResult {
            name: name.to_owned(),
            won: episodes / 2,
            episodes,
            failed_calls: 0,
            rate: None,
        };
        for (without, said) in [(20, 0), (8, 1), (0, 0)] {
            let arms = vec![arm("with", 20), arm("without", without), arm("placebo", 20)];
            let measured = EffectResult { arms, ..result(Verdict::Helped, None) };
            assert_eq!(remarks(Outcome::Success, &measured).len(), said, "{without} plays");
        }
    }

    /// Regression: the end said that all pairs were played, although some had been discarded.
    #[test]
    fn the_end_says_how_many_pairs_were_discarded() {
        let ended_with = |reason, discarded, timed_out, can_retry| {
            let stopped = Some(reason);
            let undecided = result(Verdict::Undecided, None);
            let ended = EffectResult { discarded, timed_out, can_retry, stopped, ..undecided };
            describe_stop(&ended).unwrap()
        };
        let ended = |reason, discarded, can_retry| ended_with(reason, discarded, 0, can_retry);
        assert_eq!(ended(StopReason::Pairs, 0, false), "all pairs are played");
        assert_eq!(
            ended(StopReason::Pairs, 3, true),
            "all other pairs are played; 3 pairs discarded: an episode couldn't be played; continuing tries again"
        );
        assert_eq!(
            ended(StopReason::Decided, 1, false),
            "there is a verdict; 1 pair discarded: an episode couldn't be played"
        );
        let too_many = ended_with(StopReason::Discarded, 2, 2, true);
        let expected = "continuing tries them again (2 pairs not played: server timed out or busy)";
        assert!(too_many.ends_with(expected), "{too_many}");
        assert_eq!(
            ended_with(StopReason::Minutes, 3, 1, true),
            "the time budget is used up; 3 pairs discarded: an episode couldn't be played, 1 of them because the server timed out or was busy; \
             continuing tries again"
        );
    }

    /// Regression: what a server refused was only in the log.
    #[test]
    fn discarded_pairs_name_the_first_reason() {
        let refused = EffectResult {
            discarded: 3,
            first_discard_reason: Some("openai:m: HTTP 400: Server is pinned to\nother".to_owned()),
            stopped: Some(StopReason::Discarded),
            ..result(Verdict::Undecided, None)
        };
        let expected = "3 pairs discarded: an episode couldn't be played (the first: openai:m: HTTP 400: Server is pinned to other)";
        assert_eq!(describe_discarded(&refused).unwrap(), expected);
        let stop = describe_stop(&refused).unwrap();
        assert!(stop.starts_with("too many pairs couldn't be played") && stop.contains(expected), "{stop}");
        let long = EffectResult { first_discard_reason: Some("word ".repeat(200)), ..refused };
        assert!(describe_discarded(&long).unwrap().len() < 400);
    }

    /// Regression: a measurement of tokens ended as "0 pairs; undecided", without its interval.
    #[test]
    fn tokens_have_their_interval_and_no_verdict() {
        let mut contrast = result(Verdict::Undecided, None).contrasts.remove(0);
        contrast.judged.pairs = 12;
        let interval = BootstrapInterval {
            estimate: 0.2,
            low: 0.1,
            high: 0.3,
            kind: BootstrapKind::Bca,
            bias: None,
            acceleration: None,
        };
        contrast.outcomes.insert("tokens", interval);
        assert_eq!(describe_contrast(&contrast), "tokens 0.82 times [0.74, 0.90] · 12 pairs");
        assert_eq!(
            describe_verdict(&contrast),
            "no verdict: a ratio of tokens has no bounds, so it has an interval only"
        );
        assert_eq!(describe_interval(Outcome::Steps, &interval), "+0.2 steps [0.1, 0.3]");
        assert_eq!(describe_interval(Outcome::Success, &interval), "+20 % [10, 30]");
        // Regression: a mean of equal values had the interval `[0.2, 0.2]`, as if it were certain.
        let point = BootstrapInterval { kind: BootstrapKind::Point, low: 0.2, high: 0.2, ..interval };
        assert_eq!(describe_interval(Outcome::Steps, &point), "+0.2 steps (nothing varied)");
        let plain = BootstrapInterval { kind: BootstrapKind::Percentile, ..interval };
        assert_eq!(describe_interval(Outcome::Success, &plain), "+20 % [10, 30] (plain percentiles)");
    }

    #[test]
    fn the_panel_names_the_harmful_column() {
        let harmful = |here, elsewhere| describe_panel(PanelVerdict::Harmful, here, elsewhere);
        assert_eq!(harmful(Verdict::Harmful, Verdict::Undecided), "harmful: here");
        assert_eq!(harmful(Verdict::Helped, Verdict::Harmful), "harmful: elsewhere");
        assert_eq!(harmful(Verdict::Harmful, Verdict::Harmful), "harmful: in both columns");
    }
}
