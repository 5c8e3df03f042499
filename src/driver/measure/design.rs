//! What is measured: arms, starting point and run, and the plan that describes them in the log.

use super::frozen::FrozenMethod;
use super::starting_point::{PoolChange, StartingPoint};
use crate::catalog::find_environment;
use crate::domain::{EffectStart, LessonId, LessonText, MeasuredEffect, RunSpec, Setting, WordCounts, hex};
use crate::driver::guarded_world::GuardedWorld;
use crate::driver::{OpenWorld, RunConfig};
use crate::env::Environment;
use crate::provider::Provider;
use crate::timeline::effect::{
    COUNTING_TO_THE_MARK, Column, Contrast, EFFECT_VERSION, EffectBudget, EffectPlan, EffectScope,
    EpisodeSlot, Keep, MeasuredLesson, Outcome, PlannedTask, Shard, Totals,
};
use crate::timeline::lesson_health::DUPLICATE_COSINE;
use sha2::{Digest as _, Sha256};
use std::sync::Arc;
use std::time::Duration;

/// The arm without the lesson.
pub const WITHOUT: &str = "without";
/// The arm with the pool as it is.
pub const WITH: &str = "with";
/// The arm with a neutral text of equal length in place of the lesson.
pub const PLACEBO: &str = "placebo";
/// The arm with another wording.
pub const EDITED: &str = "edited";
/// The arm with all measured lessons.
pub const ALL: &str = "all";
/// The arm without any lesson.
pub const NONE: &str = MeasuredEffect::EMPTY_POOL;

/// One side of a measurement.
#[derive(Clone, Debug)]
pub struct Arm {
    pub name: String,
    /// How its lesson pool differs from the pool as it is.
    pub changes: Vec<PoolChange>,
}

/// What a person chooses.
#[derive(Clone, Debug)]
pub struct MeasurementDesign {
    pub lessons: Vec<MeasuredLesson>,
    /// The lessons that are also left out together.
    pub groups: Vec<Vec<LessonId>>,
    pub column: Option<Column>,
    pub arms: Vec<Arm>,
    /// The primary contrast first.
    pub contrasts: Vec<Contrast>,
    pub scope: EffectScope,
    pub start: EffectStart,
    pub outcome: Outcome,
    pub margin: f64,
    pub alpha: f64,
    pub pairs: u32,
    pub budget: EffectBudget,
    pub frozen: bool,
    pub seed: u64,
    pub repeats: u32,
    pub shard: Option<Shard>,
    pub tasks: Vec<PlannedTask>,
    /// The lengths of the blocks in which the tasks were listed; empty if the list is one.
    pub task_blocks: Vec<u32>,
    /// Sample seeds of observed episodes.
    pub excluded_seeds: Vec<u64>,
    /// Whether the lessons join in random orders.
    pub orders: bool,
}

/// What a log has of a measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PlayedPart {
    pub(super) pairs: u32,
    pub(super) totals: Totals,
    /// Whether continuing plays nothing more.
    pub(super) is_over: bool,
}

/// A measurement that is ready to run.
#[derive(Clone)]
pub struct Measurement {
    pub plan: EffectPlan,
    /// How long an episode like these took on average, if some were played in this process.
    pub episode_time: Option<Duration>,
    /// What its log has of it ([`Measurement::continue_from`]).
    pub(super) played: PlayedPart,
    pub(super) arms: Vec<Arm>,
    pub(super) start: StartingPoint,
    pub(super) config: RunConfig,
}

/// Returns the arms and contrasts that measure one lesson, with the other texts of the placebo arm and of the arm with
/// another wording, if there are such arms.
pub fn arms_for_lesson(
    lesson: &LessonId,
    placebo: Option<LessonText>,
    edited: Option<LessonText>,
) -> (Vec<Arm>, Vec<Contrast>) {
    let arm = |name: &str, changes| Arm { name: name.to_owned(), changes };
    let mut arms = vec![arm(WITH, Vec::new()), arm(WITHOUT, vec![PoolChange::Off(lesson.clone())])];
    let mut contrasts = vec![Contrast::new(WITH, WITHOUT)];
    if let Some(text) = placebo {
        arms.push(arm(PLACEBO, vec![PoolChange::Text(lesson.clone(), text)]));
        contrasts.push(Contrast::new(WITH, PLACEBO));
    }
    if let Some(text) = edited {
        arms.push(arm(EDITED, vec![PoolChange::Text(lesson.clone(), text)]));
        contrasts.push(Contrast::new(EDITED, WITH));
    }
    (arms, contrasts)
}

/// Returns the arms and contrasts that measure each of several lessons by leaving it out; all share the arm with all
/// lessons. After the lessons, each group of lessons that say nearly the same is left out together: of two such lessons, neither
/// shows an effect alone, because the other one remains.
pub fn arms_leaving_one_out(
    lessons: &[MeasuredLesson],
    groups: &[Vec<LessonId>],
) -> (Vec<Arm>, Vec<Contrast>) {
    let mut arms = vec![Arm { name: ALL.to_owned(), changes: Vec::new() }];
    let mut contrasts = Vec::new();
    let singles = lessons.iter().map(|lesson| (lesson.id.to_string(), std::slice::from_ref(&lesson.id)));
    let together = (1..).zip(groups).map(|(number, group)| (format!("group-{number}"), group.as_slice()));
    for (name, left_out) in singles.chain(together) {
        let name = format!("without-{name}");
        contrasts.push(Contrast::new(ALL, &name));
        arms.push(Arm { name, changes: left_out.iter().cloned().map(PoolChange::Off).collect() });
    }
    (arms, contrasts)
}

/// Returns the arms and contrasts that measure each lesson alone, against a pool without any of `pool`; all share that arm.
pub fn arms_adding_one_in(lessons: &[MeasuredLesson], pool: &[LessonId]) -> (Vec<Arm>, Vec<Contrast>) {
    let off = |kept: Option<&LessonId>| {
        let others = pool.iter().filter(|id| Some(*id) != kept);
        others.cloned().map(PoolChange::Off).collect()
    };
    let mut arms = vec![Arm { name: NONE.to_owned(), changes: off(None) }];
    let mut contrasts = Vec::new();
    for lesson in lessons {
        let name = format!("only-{}", lesson.id);
        contrasts.push(Contrast::new(&name, NONE));
        arms.push(Arm { name, changes: off(Some(&lesson.id)) });
    }
    (arms, contrasts)
}

/// Returns the arms and contrasts that credit each lesson with what changes when it joins those before it, in random orders: the arms are
/// the empty pool and what each lesson has joined. Each arm but the first has what is off until its lesson joins. The second arm of a
/// contrast is another one in each order ([`EffectPlan::arms_in_pair`]).
pub(super) fn arms_joining(lessons: &[MeasuredLesson], pool: &[LessonId]) -> (Vec<Arm>, Vec<Contrast>) {
    let off = |ids: &[LessonId]| ids.iter().cloned().map(PoolChange::Off).collect();
    let mut arms = vec![Arm { name: NONE.to_owned(), changes: off(pool) }];
    let mut contrasts = Vec::new();
    for lesson in lessons {
        let name = format!("{}{}", MeasuredEffect::JOINED, lesson.id);
        contrasts.push(Contrast::new(&name, format!("before-{}", lesson.id)));
        arms.push(Arm { name, changes: off(std::slice::from_ref(&lesson.id)) });
    }
    (arms, contrasts)
}

/// Returns the groups of lessons that say nearly the same: each is connected to another one of its group by a similarity of at least
/// [`DUPLICATE_COSINE`]. A lesson without such another one is in none.
pub fn similar_lessons(lessons: &[MeasuredLesson]) -> Vec<Vec<LessonId>> {
    let counts: Vec<WordCounts> =
        lessons.iter().map(|lesson| WordCounts::of(&lesson.text.normalized())).collect();
    let mut group_of: Vec<usize> = (0..lessons.len()).collect();
    for (one, first) in counts.iter().enumerate() {
        for (other, second) in counts.iter().enumerate().skip(one + 1) {
            if first.cosine(second) >= DUPLICATE_COSINE {
                let (kept, joined) = (group_of[one], group_of[other]);
                group_of.iter_mut().filter(|group| **group == joined).for_each(|group| *group = kept);
            }
        }
    }
    let members = |group: usize| {
        let of_group = lessons.iter().zip(&group_of).filter(move |(_, own)| **own == group);
        of_group.map(|(lesson, _)| lesson.id.clone()).collect::<Vec<LessonId>>()
    };
    (0..lessons.len()).map(members).filter(|group| group.len() > 1).collect()
}

impl Measurement {
    /// Prepares a measurement. `config` is the configuration of the starting point's run.
    pub fn new(design: MeasurementDesign, start: StartingPoint, mut config: RunConfig) -> Self {
        if design.frozen {
            config.policy.method = Arc::new(FrozenMethod(config.policy.method));
        }
        // No person is present to decide after an empty reply.
        config.policy.is_attended = false;
        config.open_world = guarded(&config);
        let run = start.run().cloned();
        let single = match design.lessons.as_slice() {
            [lesson] => Some((lesson.id.clone(), lesson.version)),
            _ => None,
        };
        let has_several_claims = design.lessons.len() > 1 || design.contrasts.len() > 2;
        let counting = if has_several_claims { COUNTING_TO_THE_MARK } else { 0 };
        let mut plan = EffectPlan {
            v: EFFECT_VERSION,
            effect: String::new(),
            version: single.as_ref().map(|(_, version)| *version),
            lesson: single.map(|(id, _)| id),
            lessons: design.lessons,
            groups: design.groups,
            column: design.column,
            contrasts: design.contrasts,
            scope: design.scope,
            start: design.start,
            outcome: design.outcome,
            margin: design.margin,
            alpha: design.alpha,
            pairs: design.pairs,
            budget: design.budget,
            frozen: design.frozen,
            seed: design.seed,
            repeats: design.repeats,
            shard: design.shard,
            pools: if design.orders {
                // Between them, each order has other ones.
                let none = design.arms.first().map_or(&[][..], |arm| &arm.changes);
                [(ALL, &[][..]), (NONE, none)]
                    .map(|(name, off)| (name.to_owned(), start.pool_hash(off)))
                    .into()
            } else {
                design.arms.iter().map(|arm| (arm.name.clone(), start.pool_hash(&arm.changes))).collect()
            },
            step_limit: start.remaining_steps(),
            tasks: design.tasks,
            run: run.as_ref().map_or_else(String::new, |run| run_hash(run, &config.recorded_settings)),
            method: run.as_ref().map_or_else(String::new, |run| run.method.clone()),
            actor: run.as_ref().map_or_else(String::new, |run| run.actor.clone()),
            excluded_seeds: design.excluded_seeds,
            task_blocks: design.task_blocks,
            counting,
            keep: Keep::default(),
            asked: None,
            edited: edited_text(&design.arms),
            retries: false,
            orders: design.orders,
        };
        plan.effect = identity(&plan);
        Self { plan, episode_time: None, played: PlayedPart::default(), arms: design.arms, start, config }
    }

    /// Returns the changes of an episode's pool: those of its arm, or, where lessons join in random orders, of the arms after it.
    pub(super) fn changes(&self, slot: &EpisodeSlot) -> Vec<PoolChange> {
        let order = self.plan.orders.then(|| self.plan.joining_order(slot.pair));
        changes_of(&self.arms, order.as_deref(), &slot.arm)
    }

    /// Returns the measurement with another actor in place of the run's.
    #[must_use]
    pub fn with_actor(mut self, actor: Arc<dyn Provider>) -> Self {
        self.config.actor = actor;
        self
    }
}

/// Returns the changes of an arm's pool; `order` is that in which the lessons join.
fn changes_of(arms: &[Arm], order: Option<&[&str]>, arm: &str) -> Vec<PoolChange> {
    let of = |name: &str| arms.iter().find(|arm| arm.name == name).map_or(&[][..], |arm| &arm.changes);
    match order.filter(|_| arm != NONE) {
        None => of(arm).to_vec(),
        Some(order) => {
            let later = order.iter().skip_while(|joined| **joined != arm).skip(1);
            later.flat_map(|joined| of(joined)).cloned().collect()
        }
    }
}

/// Returns the text of the arm with another wording, if there is one.
fn edited_text(arms: &[Arm]) -> Option<LessonText> {
    let mut changes = arms.iter().filter(|arm| arm.name == EDITED).flat_map(|arm| &arm.changes);
    changes.find_map(|change| match change {
        PoolChange::Text(_, text) => Some(text.clone()),
        PoolChange::Off(_) => None,
    })
}

/// Returns the id of a measurement: a hash of everything that makes it this measurement. Its size, its budget and its shards
/// don't: a measurement may be continued.
fn identity(plan: &EffectPlan) -> String {
    let identified = EffectPlan { effect: String::new(), ..plan.identified() };
    let json = serde_json::to_vec(&identified).unwrap_or_default();
    hex(&Sha256::digest(json)[..6])
}

/// Returns a hash of a run's settings, without its tasks and its seed. `current` are the prompts and the servers that play now, which
/// may differ from what a session recorded.
fn run_hash(run: &RunSpec, current: &[(String, Setting)]) -> String {
    let mut settings = RunSpec { tasks: Vec::new(), seed: 0, ..run.clone() };
    for (name, setting) in current {
        let is_recorded = |recorded: &Setting| recorded.value == setting.value;
        if !settings.settings.recorded(name).is_some_and(is_recorded) {
            settings.settings.insert(name, setting.clone());
        }
    }
    let json = serde_json::to_vec(&settings).unwrap_or_default();
    hex(&Sha256::digest(json)[..8])
}

/// Returns the function that opens environments. Those that are other programs are opened with time limits for their answers.
fn guarded(config: &RunConfig) -> OpenWorld {
    let (open, deadlines) = (config.open_world.clone(), config.answer_deadlines.clone());
    Arc::new(move |task| {
        if !find_environment(&task.env).is_some_and(|entry| entry.tasks.is_external()) {
            return open(task);
        }
        let (open, opened) = (open.clone(), task.clone());
        let world = GuardedWorld::open(deadlines(task), move || open(&opened))?;
        Ok(Box::new(world) as Box<dyn Environment>)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lesson(id: &str, text: &str) -> MeasuredLesson {
        MeasuredLesson { id: LessonId(id.into()), version: 1, text: LessonText::plain(text) }
    }

    fn off(ids: &[&str]) -> Vec<PoolChange> {
        ids.iter().map(|id| PoolChange::Off(LessonId((*id).into()))).collect()
    }

    /// Of two lessons that say the same, neither shows an effect while the other one remains.
    #[test]
    fn lessons_that_say_the_same_are_also_left_out_together() {
        let lessons = [
            lesson("a", "Only a microwave can heat things."),
            lesson("b", "Open a container before you take from it."),
            lesson("c", "A microwave alone can heat things."),
            lesson("d", "Only a microwave can heat these things."),
        ];
        let groups = similar_lessons(&lessons);
        assert_eq!(groups, [["a", "c", "d"].map(|id| LessonId(id.into()))]);
        let (arms, contrasts) = arms_leaving_one_out(&lessons, &groups);
        let names: Vec<&str> = contrasts.iter().map(|contrast| contrast.second.as_str()).collect();
        assert_eq!(names, ["without-a", "without-b", "without-c", "without-d", "without-group-1"]);
        assert!(contrasts.iter().all(|contrast| contrast.first == ALL));
        let last = arms.last().unwrap();
        assert_eq!((last.name.as_str(), &last.changes), ("without-group-1", &off(&["a", "c", "d"])));
        assert!(similar_lessons(&lessons[..2]).is_empty());
    }

    #[test]
    fn a_lesson_alone_is_compared_with_an_empty_pool() {
        let lessons = [lesson("a", "Look."), lesson("b", "Wait.")];
        let pool: Vec<LessonId> = ["a", "b", "c"].into_iter().map(|id| LessonId(id.into())).collect();
        let (arms, contrasts) = arms_adding_one_in(&lessons, &pool);
        let changes: Vec<(&str, &[PoolChange])> =
            arms.iter().map(|arm| (arm.name.as_str(), arm.changes.as_slice())).collect();
        assert_eq!(
            changes,
            [(NONE, &*off(&["a", "b", "c"])), ("only-a", &*off(&["b", "c"])), ("only-b", &*off(&["a", "c"]))]
        );
        assert_eq!(contrasts, [Contrast::new("only-a", NONE), Contrast::new("only-b", NONE)]);
    }

    #[test]
    fn a_lesson_joins_those_before_it() {
        let lessons = [lesson("a", "Look."), lesson("b", "Wait."), lesson("c", "Go.")];
        let pool: Vec<LessonId> = ["a", "b", "c"].into_iter().map(|id| LessonId(id.into())).collect();
        let (arms, contrasts) = arms_joining(&lessons, &pool);
        assert_eq!(contrasts[1], Contrast::new("joined-b", "before-b"));
        let order = [NONE, "joined-b", "joined-c", "joined-a"];
        for (arm, left_out) in
            [(NONE, &["a", "b", "c"][..]), ("joined-b", &["c", "a"]), ("joined-c", &["a"]), ("joined-a", &[])]
        {
            assert_eq!(changes_of(&arms, Some(&order), arm), off(left_out), "{arm}");
        }
    }
}
