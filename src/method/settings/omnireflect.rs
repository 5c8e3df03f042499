//! OmniReflect's settings.

use super::{MAX_NUMBER, SettingSpec, number, switch, word};
use crate::domain::SettingOrigin::{BuiltIn, Paper};

const METHODS: &[&str] = &["omnireflect"];

pub(super) const LIST: &[SettingSpec] = &[
    word(
        "generation",
        "how reflections are written: by rules, by a mentor, or by a mentor that is shown what rules wrote; where nobody sets it, a mentor that is a model makes it neural",
        METHODS,
        "symbolic",
        &["symbolic", "neural", "neuro-symbolic"],
        // All three are the paper's; which of them is the default is our choice.
        BuiltIn,
    ),
    word(
        "reflect",
        "when rules reflect: when a condition fires, every r_freq turns, or never; a mentor always reflects every r_freq turns, or never",
        METHODS,
        "conditions",
        &["conditions", "periodic", "never"],
        Paper,
    ),
    number("r_freq", "turns from one periodic reflection to the next", METHODS, 10, (1, MAX_NUMBER), Paper),
    number(
        "offset",
        "the first turn at which a periodic reflection fires, counted from 0",
        METHODS,
        0,
        (0, MAX_NUMBER),
        Paper,
    ),
    word(
        "progress",
        "whether a new Progress lesson replaces the one before or joins it",
        METHODS,
        "replace",
        &["replace", "append"],
        BuiltIn,
    ),
    number(
        "s_freq",
        "ended tasks from one summary of the constitution by the mentor to the next; 0: none",
        METHODS,
        10,
        (0, MAX_NUMBER),
        Paper,
    ),
    switch(
        "reflect_at_end",
        "a reflection that is due at the turn that ends the episode is still written",
        METHODS,
        true,
        Paper,
    ),
    switch("kind_abstract", "Abstract reflections are written", METHODS, true, Paper),
    switch("kind_error", "Error reflections are written", METHODS, true, Paper),
    switch("kind_progress", "Progress reflections are written", METHODS, true, Paper),
    number(
        "per_type",
        "calibration: tasks of each type that are played to learn from (the paper has 1, 3 and 5)",
        METHODS,
        1,
        (0, 1000),
        Paper,
    ),
    number(
        "explore",
        "calibration: how many of these tasks of each type are also explored, without a goal; rules learn nothing there",
        METHODS,
        1,
        (0, 1000),
        BuiltIn,
    ),
];
