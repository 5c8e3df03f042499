//! OmniReflect's settings.

use crate::domain::SettingOrigin::{BuiltIn, Paper};
use crate::method::settings::{MAX_NUMBER, SettingSpec, choice, number, switch};

/// See [`SettingSpec`].
pub const LIST: &[SettingSpec] = &[
    choice(
        "generation",
        "who writes reflections: rules, a mentor, or a mentor that also sees what rules write; if not set and the mentor is a model: neural",
        "symbolic",
        &["symbolic", "neural", "neuro-symbolic"],
        // All three are the paper's; which of them is the default is our choice.
        BuiltIn,
    ),
    choice(
        "reflect",
        "when rules reflect: when a condition holds, every r_freq steps, or never; a mentor reflects every r_freq steps, or never",
        "conditions",
        &["conditions", "periodic", "never"],
        Paper,
    ),
    number("r_freq", "steps between periodic reflections", 10, (1, MAX_NUMBER), Paper),
    number("offset", "first step with a periodic reflection, counted from 0", 0, (0, MAX_NUMBER), Paper),
    choice(
        "progress",
        "whether a new Progress lesson replaces the previous one or is added to it",
        "replace",
        &["replace", "append"],
        BuiltIn,
    ),
    number(
        "s_freq",
        "finished tasks between the mentor's summaries of the constitution; 0: no summaries",
        10,
        (0, MAX_NUMBER),
        Paper,
    ),
    switch("reflect_at_end", "a reflection due at the last step of an episode is still written", true, Paper),
    switch("kind_abstract", "Abstract reflections are written", true, Paper),
    switch("kind_error", "Error reflections are written", true, Paper),
    switch("kind_progress", "Progress reflections are written", true, Paper),
    number(
        "per_type",
        "calibration: tasks of each type to learn from (1, 3 and 5 in the paper)",
        1,
        (0, 1000),
        Paper,
    ),
    number(
        "explore",
        "calibration: how many of these tasks of each type are also explored without a goal; if rules reflect, 0 unless set, because they learn nothing from exploring",
        1,
        (0, 1000),
        BuiltIn,
    ),
];
