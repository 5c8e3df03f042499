//! Breakpoint conditions, each with the steps at which it becomes true in the shipped sessions. Each session has one
//! episode.

/// A condition, and the steps at which it becomes true.
pub(crate) type ConditionSteps = (&'static str, &'static [u32]);

/// The task is to heat a mug. A person adds a lesson during the episode, and the agent wins at step 27.
pub(crate) const WITH_LESSON: &[ConditionSteps] = &[
    ("action ~ heat", &[12, 22, 24]),
    ("action = heat mug 1 with stoveburner 4", &[22]),
    ("action ~ ^go to (microwave|desk)", &[23]),
    ("observation ~ closed", &[2, 23]),
    ("observation ~ Nothing", &[12, 15, 22]),
    ("observation ~ Your task is", &[0]),
    ("thought ~ solve the task", &[18]),
    ("nothing", &[12, 15, 22]),
    ("nothing 2", &[]),
    ("invalid", &[12, 15, 22]),
    ("same action 2", &[]),
    ("mistake", &[5, 7, 12, 15, 17, 22]),
    ("note wrong_object", &[5]),
    ("note subgoal", &[9, 13, 24, 27]),
    ("reward changed", &[27]),
    ("progress changed", &[9, 13, 24, 27]),
    ("stalled 8", &[8, 21]),
    ("stalled 5", &[5, 18, 23]),
    ("step 12", &[12]),
    ("step 28", &[]),
    ("won", &[27]),
    ("lesson 6", &[16]),
    ("lesson 99", &[]),
    ("tokens > 20k", &[16]),
    ("episode tokens > 1000", &[1]),
    ("tokens > 1M", &[]),
    ("end", &[27]),
    ("end success", &[27]),
    ("end failure", &[]),
];

/// The same task without that lesson: lost at the step limit, 50.
pub(crate) const WITHOUT_LESSON: &[ConditionSteps] = &[
    ("action ~ heat", &[49]),
    ("nothing", &[46, 49]),
    ("reward changed", &[]),
    ("progress changed", &[45, 50]),
    ("stalled 8", &[8, 16, 24, 32, 40]),
    ("stalled 44", &[44]),
    ("lesson 6", &[50]),
    ("won", &[]),
    ("end", &[50]),
    ("end failure", &[50]),
    ("end success", &[]),
];

pub(crate) const LAMP_TASK: &[ConditionSteps] = &[
    ("mistake", &[8, 12]),
    ("reflection error", &[8, 12]),
    ("reflection plan", &[]),
    ("thought ~ .", &[1, 7, 11]),
    ("stalled 3", &[3, 12]),
    ("progress changed", &[5, 6, 9, 13]),
    ("tokens > 2000", &[3]),
    ("observation ~ nothing", &[3, 4]),
    ("observation ~ Nothing", &[]),
];
