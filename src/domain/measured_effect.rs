//! What a measurement says about a lesson, kept with the lesson.

use super::{AdviceCounts, BranchId, LessonId, LessonText, Seq, pluralize};
use serde::{Deserialize, Serialize};

/// Where the episodes of a measurement begin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "at", rename_all = "snake_case")]
pub enum EffectStart {
    /// At a step of an episode, before its prompt.
    Moment { session: String, episode: u32, step: u32, seq: Seq },
    /// At the start of an episode of a session.
    Episode { session: String, episode: u32 },
    /// At the start of each task.
    Tasks,
}

/// The point of a session at which a person asked for a measurement. A branch reads as its parent up to its first event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedAt {
    pub session: String,
    pub branch: BranchId,
    /// The last event before.
    pub seq: Seq,
    /// The open or last episode there. `None` in older logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub episode: Option<u32>,
    /// Its last step; `None` before the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
}

/// What happened where every play of a task is a copy of the first one, because neither the agent nor the environment is random: a
/// fact about these tasks, not a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeterministicFact {
    pub tasks: u64,
    /// How many of them each arm won.
    pub won: (u64, u64),
}

impl DeterministicFact {
    /// Describes it: `won with it, lost without it`, or `27 of 40 tasks won with it, 19 without`.
    pub fn describe(self) -> String {
        match (self.tasks, self.won) {
            (1, (1, 1)) => "won with it and without it".to_owned(),
            (1, (1, _)) => "won with it, lost without it".to_owned(),
            (1, (_, 1)) => "lost with it, won without it".to_owned(),
            (1, _) => "lost with it and without it".to_owned(),
            (tasks, (with, without)) => {
                format!("{with} of {} won with it, {without} without", pluralize(tasks, "task"))
            }
        }
    }

    /// Describes it in few words: `won, lost without`, or `27 of 40, 19 without`.
    fn describe_short(self) -> String {
        match (self.tasks, self.won) {
            (1, (1, 1)) => "won either way".to_owned(),
            (1, (1, _)) => "won, lost without".to_owned(),
            (1, (_, 1)) => "lost, won without".to_owned(),
            (1, _) => "lost either way".to_owned(),
            (tasks, (with, without)) => format!("{with} of {tasks}, {without} without"),
        }
    }
}

/// What another wording of the lesson did, measured with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredWording {
    #[serde(flatten)]
    pub text: LessonText,
    /// Its comparisons with the lesson's own wording and with no lesson, as far as there are pairs.
    pub compared: Vec<WordingComparison>,
}

/// A comparison of the arm `edited` with another one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WordingComparison {
    pub arms: (String, String),
    /// Of a fact, the number of tasks.
    pub pairs: u64,
    /// Pairs in which the first arm did better.
    pub b: u64,
    /// Pairs in which the second arm did better.
    pub c: u64,
    /// The mean difference; `None` for a fact, and where pairs have no bounded difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<f64>,
    /// The running interval of the mean difference.
    pub low: f64,
    pub high: f64,
    /// `None` if it gets none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
}

impl WordingComparison {
    /// Describes it: `edited - with +35 % [10, 60] · 12 : 1 · 30 pairs, no verdict`.
    pub fn describe(&self) -> String {
        let difference = self.difference.map_or_else(String::new, |difference| {
            format!("{:+} % {} · ", percent(difference), percent_interval(self.low, self.high))
        });
        format!(
            "{} - {} {difference}{} : {} · {}, {}",
            self.arms.0,
            self.arms.1,
            self.b,
            self.c,
            pluralize(self.pairs, "pair"),
            self.verdict.as_deref().unwrap_or("no verdict")
        )
    }
}

/// The result of a measurement of a lesson, as it is kept in a session and in a pool file (`docs/EFFECT.md`). Words such as the
/// verdict are those of the measurement's log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredEffect {
    /// The day, as `2026-11-20`.
    pub date: String,
    /// The id of the measurement.
    pub effect: String,
    /// The version of the lesson's text that was measured, counted from 1.
    pub version: u32,
    /// What one pair is: `moment`, `tasks` or `these`.
    pub scope: String,
    /// The column of the panel: `here` or `elsewhere`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// Where its episodes began. `None` in results of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<EffectStart>,
    /// The id of the task, if all episodes play the same one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// When it was asked for: elsewhere, the other lessons are those of then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<AskedAt>,
    /// The compared arms.
    pub arms: (String, String),
    pub outcome: String,
    pub pairs: u64,
    /// Pairs in which the first arm did better.
    pub b: u64,
    /// Pairs in which the second arm did better.
    pub c: u64,
    /// Pairs in which the first arm needed fewer, as many or more steps. `None` in results of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<AdviceCounts>,
    /// If it is a fact, not a sample: then pairs are tasks, and there is no interval and no verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fact: Option<DeterministicFact>,
    /// The mean difference; `None` without pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<f64>,
    /// The running interval of the mean difference.
    pub low: f64,
    pub high: f64,
    pub alpha: f64,
    pub margin: f64,
    pub verdict: String,
    /// Lessons that say nearly the same and stayed in both arms: what the lesson does together with them, it doesn't say. Empty in
    /// results of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<LessonId>,
    /// What another wording did that was measured with it. `None` if there was none, and in results of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<MeasuredWording>,
    /// Whether the method reflected during the episodes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub live: bool,
    /// The actor, as on the command line.
    pub model: String,
    /// The server profile; empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub profile: String,
}

impl MeasuredEffect {
    /// The arm without any lesson, with which a lesson alone is compared.
    pub const EMPTY_POOL: &str = "none";
    /// What the names of arms begin with that a lesson has joined, in random orders of all lessons.
    pub const JOINED: &str = "joined-";

    /// Describes the result in a few words: `+12 % elsewhere [3, 21] · 60 pairs`, `+12 % here from step 10 [3, 21] · 60 pairs`, or
    /// `a fact here from the start, not a sample: won with it, lost without it`.
    pub fn describe(&self) -> String {
        self.describe_at(&self.describe_place_and_start())
    }

    /// The same without where its episodes began: `+12 % here [3, 21] · 60 pairs`.
    pub fn describe_without_start(&self) -> String {
        self.describe_at(&self.describe_place())
    }

    fn describe_at(&self, place: &str) -> String {
        if let Some(fact) = self.fact {
            return format!("a fact{place}, not a sample: {}", fact.describe());
        }
        match self.difference {
            Some(_) => format!(
                "{}{place} {} · {}{}",
                self.describe_difference(),
                percent_interval(self.low, self.high),
                pluralize(self.pairs, "pair"),
                if self.beside.is_empty() { "" } else { ", beside a lesson like it" }
            ),
            None => format!("{}{place}", self.describe_difference()),
        }
    }

    /// Describes the result without its interval and its start: `+12 % elsewhere`, `undecided elsewhere`. Without an interval, the
    /// difference of an undecided one would claim more than was measured.
    pub fn describe_short(&self) -> String {
        let place = self.describe_place();
        match self.fact {
            Some(fact) => format!("a fact{place}: {}", fact.describe_short()),
            None if self.verdict == "undecided" => format!("undecided{place}"),
            None => format!("{}{place}", self.describe_difference()),
        }
    }

    fn describe_place(&self) -> String {
        // Beside an empty pool, it may do what it doesn't do beside others.
        let beside = if self.arms.1 == Self::EMPTY_POOL {
            " alone"
        } else if self.arms.0.starts_with(Self::JOINED) {
            " in random orders"
        } else {
            ""
        };
        self.column.as_deref().map_or_else(|| beside.to_owned(), |column| format!(" {column}{beside}"))
    }

    /// Describes the column, and for the one of a single task where its episodes began: ` here from step 10`, ` elsewhere`.
    fn describe_place_and_start(&self) -> String {
        let start = match &self.start {
            Some(EffectStart::Moment { step, .. }) => format!(" from step {step}"),
            Some(EffectStart::Episode { .. }) => " from the start".to_owned(),
            // Whole episodes of other tasks are what "elsewhere" means.
            Some(EffectStart::Tasks) | None => String::new(),
        };
        format!("{}{start}", self.describe_place())
    }

    /// Describes where the episodes began, and when it was asked for: `from step 10 of episode 2 (easy/heat/23)`,
    /// `from the start of each task, asked for at step 10 of episode 2`. `None` in results of earlier versions.
    pub fn describe_start(&self) -> Option<String> {
        let task = self.task.as_ref().map_or_else(String::new, |task| format!(" ({task})"));
        let (start, moment) = match self.start.as_ref()? {
            EffectStart::Moment { episode, step, .. } => {
                (format!("from step {step} of episode {episode}{task}"), Some((*episode, Some(*step))))
            }
            EffectStart::Episode { episode, .. } => {
                (format!("from the start of episode {episode}{task}"), None)
            }
            EffectStart::Tasks => ("from the start of each task".to_owned(), None),
        };
        let asked = self.asked.as_ref().and_then(|asked| Some((asked.episode?, asked.step)));
        Some(match asked.filter(|asked| moment != Some(*asked)) {
            Some((episode, Some(step))) => format!("{start}, asked for at step {step} of episode {episode}"),
            Some((episode, None)) => format!("{start}, asked for at the start of episode {episode}"),
            None => start,
        })
    }

    /// Returns the verdict in a word; `deterministic` for a fact, which has none.
    pub fn describe_verdict(&self) -> &str {
        if self.fact.is_some() { "deterministic" } else { &self.verdict }
    }

    /// Describes it in a word: `+12 %`, `a fact` or `undecided`.
    pub fn describe_shortest(&self) -> String {
        if self.fact.is_none() && self.verdict == "undecided" {
            return self.verdict.clone();
        }
        self.describe_difference()
    }

    /// Describes only the difference: `+12 %`.
    pub fn describe_difference(&self) -> String {
        if self.fact.is_some() {
            return "a fact".to_owned();
        }
        self.difference
            .map_or_else(|| "no pairs".to_owned(), |difference| format!("{:+} %", percent(difference)))
    }

    /// Describes how the result came about:
    /// `with - without, 25 : 1, alpha 0.025 (97.5 % interval), margin 0.10, from step 10 of episode 2 (easy/heat/23), rules, frozen, 2026-11-20, version 1`.
    pub fn describe_measurement(&self) -> String {
        let mode = if self.live { "live" } else { "frozen" };
        let outcome = if self.outcome == "success" { String::new() } else { format!("{}, ", self.outcome) };
        let start = self.describe_start().map_or_else(String::new, |start| format!("{start}, "));
        let beside: Vec<&str> = self.beside.iter().map(|id| &*id.0).collect();
        let beside = match beside.as_slice() {
            [] => String::new(),
            _ => format!("beside {}, which said nearly the same, ", beside.join(", ")),
        };
        let level = match (self.fact, self.difference) {
            (None, Some(_)) => format!("{}, ", describe_alpha(self.alpha, self.margin)),
            _ => String::new(),
        };
        format!(
            "{outcome}{} - {}, {} : {}, {level}{beside}{start}{}, {mode}, {}, version {}",
            self.arms.0, self.arms.1, self.b, self.c, self.model, self.date, self.version
        )
    }

    /// Describes the pairs by their steps, if they were counted:
    /// `effective 12, ineffective 5, toxic 3 pairs (fewer, as many, more steps; with : without)`.
    pub fn describe_advice(&self) -> Option<String> {
        let counts = self.advice.filter(|counts| counts.total() > 0)?;
        Some(counts.describe_arms(&self.arms.0, &self.arms.1))
    }

    /// Describes what another wording did that was measured with it; `None` if there was none. `present` is the lesson's text, which may be
    /// this wording by now: `this wording, as another one of version 1 here: edited - with +35 % ..., no verdict; edited - without ...`.
    pub fn describe_edited(&self, present: &LessonText) -> Option<String> {
        let edited = self.edited.as_ref()?;
        let compared: Vec<String> = edited.compared.iter().map(WordingComparison::describe).collect();
        let (version, place) = (self.version, self.describe_place_and_start());
        let lead = if edited.text == *present {
            format!("this wording, as another one of version {version}{place}")
        } else {
            let solution = edited.text.solution.as_deref().map_or_else(String::new, |s| format!(" -> {s}"));
            format!("another wording of version {version}{place}, \"{}{solution}\"", edited.text.text)
        };
        Some(format!("{lead}: {}", compared.join("; ")))
    }

    /// Returns whether another result has the same numbers of the same measurement, whatever the day, and whenever it was asked for.
    /// What only one of them has, because an earlier version kept the other, makes no difference.
    pub fn is_same_result(&self, other: &Self) -> bool {
        let advice = self.advice.and(other.advice);
        let have_wordings = self.edited.is_some() && other.edited.is_some();
        // Start and task follow from the measurement's id.
        let normalize = |result: &Self| Self {
            date: String::new(),
            advice: advice.and(result.advice),
            start: None,
            task: None,
            asked: None,
            beside: Vec::new(),
            edited: result.edited.clone().filter(|_| have_wordings),
            ..result.clone()
        };
        normalize(self) == normalize(other)
    }

    /// Returns the results to show: of each measurement and pair of arms the one with the most pairs, in the order in which they
    /// were first kept. A measurement that was continued has several.
    pub fn latest<'a>(all: impl IntoIterator<Item = &'a Self>) -> Vec<&'a Self> {
        let mut latest: Vec<&Self> = Vec::new();
        for result in all {
            let known = latest
                .iter_mut()
                .find(|known| (&known.effect, &known.arms) == (&result.effect, &result.arms));
            match known {
                Some(known) if known.pairs <= result.pairs => *known = result,
                Some(_) => {}
                None => latest.push(result),
            }
        }
        latest
    }

    /// Returns the result to show in a lesson's row: the newest one of its present text, or else of an earlier one; of those the
    /// one that decides the verdict about both columns: harm before help, and elsewhere before here, because that is what makes
    /// it a lesson; of those the one with the most pairs.
    pub fn headline<'a>(all: impl IntoIterator<Item = &'a Self>, version: u32) -> Option<&'a Self> {
        let rank = |result: &&Self| {
            let is_elsewhere = result.column.as_deref() != Some("here");
            let weight = match &*result.verdict {
                "inconsistent" => 3,
                "harmful" => 2,
                "helped" => 1,
                _ => 0,
            };
            (result.version == version, result.version, weight, is_elsewhere, result.pairs)
        };
        // Of equal ones, the last.
        Self::latest(all).into_iter().filter(|result| result.pairs > 0).max_by_key(rank)
    }

    /// Returns the results of the two columns, here and elsewhere, that a lesson's row shows beside each other: those of the same
    /// text as its headline.
    pub fn both_columns<'a>(all: &[&'a Self], version: u32) -> Option<[&'a Self; 2]> {
        let shown = Self::headline(all.iter().copied(), version)?.version;
        let best = |column: &str| {
            let is_of_column = |r: &&Self| r.column.as_deref() == Some(column) && r.version == shown;
            Self::headline(all.iter().copied().filter(is_of_column), version)
        };
        Some([best("here")?, best("elsewhere")?])
    }
}

/// Formats a share as whole percent, without a sign for 0.
fn percent(share: f64) -> f64 {
    (share * 100.0).round() + 0.0
}

/// Describes the level of an interval: `97.5 % interval`.
pub fn describe_level(confidence: f64, interval: &str) -> String {
    // Without the digits that only binary fractions have.
    format!("{} % {interval}", (confidence * 1e6).round() / 1e4)
}

/// Describes at which level a verdict and its interval are: `alpha 0.025 (97.5 % interval), margin 0.10`.
pub fn describe_alpha(alpha: f64, margin: f64) -> String {
    format!("alpha {alpha} ({}), margin {margin:.2}", describe_level(1.0 - alpha, "interval"))
}

/// Formats an interval of shares in percent: `[12, 27]`. Where a whole number would show a bound as 0 that isn't, both have one
/// digit more, `[0.4, 24.1]`: an interval without 0 is what "helped" means.
pub fn percent_interval(low: f64, high: f64) -> String {
    let rounds_to_zero = |share: f64| share != 0.0 && percent(share) == 0.0;
    if rounds_to_zero(low) || rounds_to_zero(high) {
        // Away from zero, so that the digit doesn't vanish again.
        let digit = |share: f64| {
            let tenths = share * 1000.0;
            let rounded =
                if tenths.abs() < 1.0 { tenths.signum() * tenths.abs().ceil() } else { tenths.round() };
            (if share == 0.0 { 0.0 } else { rounded }) / 10.0 + 0.0
        };
        return format!("[{:.1}, {:.1}]", digit(low), digit(high));
    }
    format!("[{}, {}]", percent(low), percent(high))
}

#[cfg(test)]
impl MeasuredEffect {
    /// Returns a result of a measurement with tasks: the lesson helped.
    pub(crate) fn sample(effect: &str, column: &str, version: u32, pairs: u64) -> Self {
        Self {
            date: "2026-11-20".to_owned(),
            effect: effect.to_owned(),
            version,
            scope: "tasks".to_owned(),
            column: Some(column.to_owned()),
            start: None,
            task: None,
            asked: None,
            arms: ("with".to_owned(), "without".to_owned()),
            outcome: "success".to_owned(),
            pairs,
            b: 25,
            c: 1,
            advice: None,
            fact: None,
            difference: Some(0.2),
            low: 0.12,
            high: 0.27,
            alpha: 0.025,
            margin: 0.1,
            verdict: "helped".to_owned(),
            beside: Vec::new(),
            edited: None,
            live: false,
            model: "rules".to_owned(),
            profile: String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: a lesson had "helped" with the interval [0, 24].
    #[test]
    fn a_bound_that_is_not_zero_does_not_look_like_zero() {
        let cases = [
            (0.12, 0.274, "[12, 27]"),
            (0.004, 0.241, "[0.4, 24.1]"),
            (0.0001, 0.2, "[0.1, 20.0]"),
            (-0.3, -0.0049, "[-30.0, -0.5]"),
            (0.0, 0.2, "[0, 20]"),
            (-0.004, 0.004, "[-0.4, 0.4]"),
        ];
        for (low, high, expected) in cases {
            assert_eq!(percent_interval(low, high), expected);
        }
    }

    #[test]
    fn a_result_is_described_at_three_lengths() {
        let helped = MeasuredEffect::sample("a", "elsewhere", 1, 120);
        assert_eq!(helped.describe(), "+20 % elsewhere [12, 27] · 120 pairs");
        assert_eq!(helped.describe_short(), "+20 % elsewhere");
        assert_eq!(helped.describe_difference(), "+20 %");
        assert_eq!(
            helped.describe_measurement(),
            "with - without, 25 : 1, alpha 0.025 (97.5 % interval), margin 0.10, rules, frozen, 2026-11-20, version 1"
        );
        let none = MeasuredEffect { difference: None, pairs: 0, ..helped.clone() };
        assert_eq!(none.describe(), "no pairs elsewhere");
        let fact = |tasks, won| MeasuredEffect {
            column: Some("here".to_owned()),
            fact: Some(DeterministicFact { tasks, won }),
            ..helped.clone()
        };
        assert_eq!(fact(1, (1, 0)).describe(), "a fact here, not a sample: won with it, lost without it");
        assert_eq!(fact(1, (0, 0)).describe_short(), "a fact here: lost either way");
        assert_eq!(fact(1, (1, 0)).describe_short(), "a fact here: won, lost without");
        assert_eq!(fact(40, (27, 19)).describe_short(), "a fact here: 27 of 40, 19 without");
        assert_eq!(
            fact(40, (27, 19)).describe(),
            "a fact here, not a sample: 27 of 40 tasks won with it, 19 without"
        );
        assert_eq!(
            (&*fact(1, (1, 0)).describe_difference(), fact(1, (1, 0)).describe_verdict()),
            ("a fact", "deterministic")
        );
        assert_eq!(helped.describe_verdict(), "helped");
    }

    /// Regression: of two results in the same column, nothing said from which moment each was measured.
    #[test]
    fn a_result_says_from_which_moment_it_was_measured() {
        let session = || "s".to_owned();
        let here = |start| MeasuredEffect {
            start: Some(start),
            task: Some("easy/heat/23".to_owned()),
            ..MeasuredEffect::sample("a", "here", 1, 60)
        };
        let moment = here(EffectStart::Moment { session: session(), episode: 2, step: 10, seq: Seq(45) });
        let from_start = here(EffectStart::Episode { session: session(), episode: 2 });
        let asked = |step| AskedAt {
            session: session(),
            branch: BranchId::trunk(),
            seq: Seq(45),
            episode: Some(2),
            step,
        };
        let elsewhere = |asked| MeasuredEffect {
            start: Some(EffectStart::Tasks),
            asked,
            ..MeasuredEffect::sample("b", "elsewhere", 1, 60)
        };
        assert_eq!(moment.describe(), "+20 % here from step 10 [12, 27] · 60 pairs");
        assert_eq!(from_start.describe(), "+20 % here from the start [12, 27] · 60 pairs");
        assert_eq!(elsewhere(None).describe(), "+20 % elsewhere [12, 27] · 60 pairs");
        assert_eq!(moment.describe_without_start(), "+20 % here [12, 27] · 60 pairs");
        assert_eq!(moment.describe_short(), "+20 % here", "a narrow row keeps its number");
        let asked_there = MeasuredEffect { asked: Some(asked(Some(10))), ..moment.clone() };
        let asked_later = MeasuredEffect { asked: Some(asked(Some(12))), ..moment.clone() };
        for (result, expected) in [
            (&asked_there, "from step 10 of episode 2 (easy/heat/23)"),
            (&asked_later, "from step 10 of episode 2 (easy/heat/23), asked for at step 12 of episode 2"),
            (&from_start, "from the start of episode 2 (easy/heat/23)"),
            (&elsewhere(None), "from the start of each task"),
            (
                &elsewhere(Some(asked(Some(10)))),
                "from the start of each task, asked for at step 10 of episode 2",
            ),
            (
                &elsewhere(Some(asked(None))),
                "from the start of each task, asked for at the start of episode 2",
            ),
        ] {
            assert_eq!(result.describe_start().as_deref(), Some(expected));
            assert!(result.describe_measurement().contains(expected));
        }
        // Earlier versions kept no start: such a result is read, and isn't another one.
        let mut json = serde_json::to_value(&asked_there).unwrap();
        for field in ["start", "task", "asked"] {
            assert!(json.as_object_mut().unwrap().remove(field).is_some(), "{field} is written");
        }
        let old: MeasuredEffect = serde_json::from_value(json).unwrap();
        assert_eq!(
            (old.describe_start(), old.describe()),
            (None, "+20 % here [12, 27] · 60 pairs".to_owned())
        );
        assert!(old.is_same_result(&asked_there) && asked_later.is_same_result(&asked_there));
    }

    #[test]
    fn a_continued_measurement_is_shown_once() {
        let all = [
            MeasuredEffect::sample("a", "here", 1, 20),
            MeasuredEffect::sample("b", "elsewhere", 1, 60),
            MeasuredEffect::sample("a", "here", 1, 40),
        ];
        let shown: Vec<(&str, u64)> =
            MeasuredEffect::latest(&all).iter().map(|r| (r.effect.as_str(), r.pairs)).collect();
        assert_eq!(shown, [("a", 40), ("b", 60)]);
        let tomorrow = MeasuredEffect { date: "2026-11-21".to_owned(), ..all[0].clone() };
        assert!(all[0].is_same_result(&tomorrow) && !all[0].is_same_result(&all[2]));
        let counted = |toxic| MeasuredEffect {
            advice: Some(AdviceCounts { effective: 17, ineffective: 2, toxic }),
            ..all[0].clone()
        };
        assert!(all[0].is_same_result(&counted(1)), "an earlier version counted no steps");
        assert!(!counted(1).is_same_result(&counted(2)));
        assert_eq!(all[0].describe_advice(), None);
        assert_eq!(
            counted(1).describe_advice().as_deref(),
            Some("effective 17, ineffective 2, toxic 1 pairs (fewer, as many, more steps; with : without)")
        );
    }

    /// Regression: a lesson that helped here and not elsewhere showed only its +0 % elsewhere.
    #[test]
    fn the_headline_is_what_decides_the_verdict() {
        let nothing = |effect, column| MeasuredEffect {
            difference: Some(0.0),
            verdict: "no effect seen".to_owned(),
            ..MeasuredEffect::sample(effect, column, 1, 60)
        };
        let answer = [MeasuredEffect::sample("a", "here", 1, 60), nothing("b", "elsewhere")];
        let headline = |all: &[MeasuredEffect]| {
            MeasuredEffect::headline(all, 1).map(MeasuredEffect::describe_short).unwrap_or_default()
        };
        assert_eq!(headline(&answer), "+20 % here");
        let both = MeasuredEffect::both_columns(&[&answer[0], &answer[1]], 1).unwrap();
        assert_eq!(both.map(MeasuredEffect::describe_short), ["+20 % here", "+0 % elsewhere"]);
        assert_eq!(headline(&[nothing("a", "here"), nothing("b", "elsewhere")]), "+0 % elsewhere");
        let harm = MeasuredEffect { verdict: "harmful".to_owned(), ..nothing("a", "here") };
        assert_eq!(headline(&[harm, MeasuredEffect::sample("b", "elsewhere", 1, 60)]), "+0 % here");
        assert_eq!(MeasuredEffect::both_columns(&[&answer[0]], 1), None);
    }

    #[test]
    fn the_headline_is_about_the_present_text_and_elsewhere() {
        let all = [
            MeasuredEffect::sample("a", "elsewhere", 1, 60),
            MeasuredEffect::sample("b", "here", 1, 60),
            MeasuredEffect::sample("c", "here", 2, 8),
        ];
        let headline = |version| MeasuredEffect::headline(&all, version).map(|r| r.effect.as_str());
        assert_eq!(headline(1), Some("a"));
        assert_eq!(headline(2), Some("c"));
        assert_eq!(headline(3), Some("c"), "of earlier texts, the latest");
        assert_eq!(MeasuredEffect::headline(&[MeasuredEffect::sample("d", "here", 1, 0)], 1), None);
        let small_and_late =
            [MeasuredEffect::sample("a", "elsewhere", 1, 60), MeasuredEffect::sample("b", "elsewhere", 1, 2)];
        let shown = MeasuredEffect::headline(&small_and_late, 1).unwrap();
        assert_eq!(shown.pairs, 60, "of otherwise equal ones, the one with more pairs");
    }
}
