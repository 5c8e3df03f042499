//! OmniReflect's settings.

use super::{MOST, SettingSpec, number, switch, word};
use crate::domain::SettingOrigin::{BuiltIn, Paper};

const OMNI: &[&str] = &["omnireflect"];

pub(super) const LIST: &[SettingSpec] = &[
    word(
        "generation",
        "how reflections are written: by rules, by a mentor, or by a mentor that is shown what rules wrote; where nobody sets it, a mentor that is a model makes it neural",
        OMNI,
        "symbolic",
        &["symbolic", "neural", "neuro-symbolic"],
        // All three are the paper's; which of them is the default is our choice.
        BuiltIn,
    ),
    word(
        "reflect",
        "when rules reflect: when a condition fires, every r_freq turns, or never; a mentor always reflects every r_freq turns, or never",
        OMNI,
        "conditions",
        &["conditions", "periodic", "never"],
        Paper,
    ),
    number("r_freq", "turns from one periodic reflection to the next", OMNI, 10, (1, MOST), Paper),
    number(
        "offset",
        "the first turn at which a periodic reflection fires, counted from 0",
        OMNI,
        0,
        (0, MOST),
        Paper,
    ),
    word(
        "progress",
        "whether a new Progress lesson replaces the one before or joins it",
        OMNI,
        "replace",
        &["replace", "append"],
        BuiltIn,
    ),
    number(
        "s_freq",
        "ended tasks from one summary of the constitution by the mentor to the next; 0: none",
        OMNI,
        10,
        (0, MOST),
        Paper,
    ),
    switch(
        "reflect_at_end",
        "a reflection that is due at the turn that ends the episode is still written",
        OMNI,
        true,
        Paper,
    ),
    switch("kind_abstract", "Abstract reflections are written", OMNI, true, Paper),
    switch("kind_error", "Error reflections are written", OMNI, true, Paper),
    switch("kind_progress", "Progress reflections are written", OMNI, true, Paper),
    number(
        "per_type",
        "calibration: tasks of each type that are played to learn from (the paper has 1, 3 and 5)",
        OMNI,
        1,
        (0, 1000),
        Paper,
    ),
    number(
        "explore",
        "calibration: how many of these tasks of each type are also explored, without a goal; rules learn nothing there",
        OMNI,
        1,
        (0, 1000),
        BuiltIn,
    ),
];
