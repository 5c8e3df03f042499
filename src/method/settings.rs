//! What methods, prompts and detectors obey besides the fields of a run: one table for the documents and the start screen.

use crate::domain::{Limits, SettingOrigin, Settings};
use crate::symbolic::thresholds;
use serde_json::{Value, json};

/// Which reading of a method is wanted where paper and public code differ (`--as`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PaperOrCode {
    /// What the paper says.
    #[default]
    Paper,
    /// What the public code does.
    Code,
}

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct SettingSpec {
    /// Its name.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub meaning: &'static str,
    /// The methods it is for; none: all.
    pub methods: &'static [&'static str],
    /// Its default.
    pub default: Fixed,
    /// The least and the greatest number it may be, where it is a number.
    pub range: (u64, u64),
    /// Where the default comes from.
    pub origin: SettingOrigin,
}

/// A default value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fixed {
    /// A whole number.
    Number(u64),
    /// A switch.
    Switch(bool),
    /// A word, and the words it may be replaced by.
    Word(&'static str, &'static [&'static str]),
}

/// The greatest number of what is counted in 32 bits.
const MOST: u64 = u32::MAX as u64;
/// The range of what is no number.
const NO_NUMBER: (u64, u64) = (0, 0);
const OMNI: &[&str] = &["omnireflect"];

/// Every setting by name.
pub const SETTINGS: &[SettingSpec] = &[
    SettingSpec {
        name: "context_tokens",
        meaning: "tokens a prompt may have, by our estimate; the oldest steps are left out first",
        methods: &[],
        default: Fixed::Number(8192),
        range: (1, 16_000_000),
        origin: SettingOrigin::Ours,
    },
    SettingSpec {
        name: "examples",
        meaning: "solved tasks shown in a prompt, 0 to 2",
        methods: &[],
        default: Fixed::Number(2),
        range: (0, 2),
        origin: SettingOrigin::Paper,
    },
    SettingSpec {
        name: "lessons_by_scope",
        meaning: "only lessons whose scope reaches the task enter the prompt",
        methods: &[],
        default: Fixed::Switch(false),
        range: NO_NUMBER,
        origin: SettingOrigin::Ours,
    },
    SettingSpec {
        name: "thoughts_count",
        meaning: "a step that only thinks counts against the cap",
        methods: &[],
        default: Fixed::Switch(true),
        range: NO_NUMBER,
        origin: SettingOrigin::Code,
    },
    SettingSpec {
        name: "thoughts_sent",
        meaning: "thoughts are sent to the world as actions",
        methods: &[],
        default: Fixed::Switch(true),
        range: NO_NUMBER,
        origin: SettingOrigin::Code,
    },
    SettingSpec {
        name: "max_moves",
        meaning: "world actions an episode may take; 0: no bound",
        methods: &[],
        default: Fixed::Number(0),
        range: (0, MOST),
        origin: SettingOrigin::Ours,
    },
    SettingSpec {
        name: "wall_seconds",
        meaning: "seconds of wall time an episode may take; 0: no bound",
        methods: &[],
        default: Fixed::Number(0),
        range: (0, MOST),
        origin: SettingOrigin::Ours,
    },
    SettingSpec {
        name: "pickup_alias",
        meaning: "babyai: `pick up X`, the verb of AgentBoard's prompt, is sent as `pickup X`, the verb of its world",
        methods: &[],
        default: Fixed::Switch(false),
        range: NO_NUMBER,
        origin: SettingOrigin::Ours,
    },
    SettingSpec {
        name: "loop_detector",
        meaning: "an episode ends when two equal actions follow each other (Reflexion's public code)",
        methods: &[],
        default: Fixed::Switch(false),
        range: NO_NUMBER,
        origin: SettingOrigin::Ours,
    },
    SettingSpec {
        name: "generation",
        meaning: "how reflections are written",
        methods: OMNI,
        default: Fixed::Word("symbolic", &["symbolic"]),
        range: NO_NUMBER,
        origin: SettingOrigin::Paper,
    },
    SettingSpec {
        name: "reflect",
        meaning: "when to reflect: when a condition fires, every r_freq turns, or never",
        methods: OMNI,
        default: Fixed::Word("conditions", &["conditions", "periodic", "never"]),
        range: NO_NUMBER,
        origin: SettingOrigin::Paper,
    },
    SettingSpec {
        name: "r_freq",
        meaning: "turns from one periodic reflection to the next",
        methods: OMNI,
        default: Fixed::Number(10),
        range: (1, MOST),
        origin: SettingOrigin::Paper,
    },
    SettingSpec {
        name: "offset",
        meaning: "the first turn at which a periodic reflection fires, counted from 0",
        methods: OMNI,
        default: Fixed::Number(0),
        range: (0, MOST),
        origin: SettingOrigin::Paper,
    },
    SettingSpec {
        name: "progress",
        meaning: "whether a new Progress lesson replaces the one before or joins it",
        methods: OMNI,
        default: Fixed::Word("replace", &["replace", "append"]),
        range: NO_NUMBER,
        origin: SettingOrigin::Ours,
    },
    SettingSpec {
        name: "repeat_after",
        meaning: "how often the same action does nothing before it is called a repeat",
        methods: &[],
        default: Fixed::Number(thresholds::REPEAT_AFTER),
        range: (1, MOST),
        origin: SettingOrigin::Ours,
    },
    SettingSpec {
        name: "circle_visits",
        meaning: "visits of one place without progress that are called going in circles",
        methods: &[],
        default: Fixed::Number(thresholds::CIRCLE_VISITS),
        range: (1, MOST),
        origin: SettingOrigin::Ours,
    },
    SettingSpec {
        name: "circle_turns",
        meaning: "turns the same way, one after the other, that are called going in circles (babyai)",
        methods: &[],
        default: Fixed::Number(thresholds::CIRCLE_TURNS),
        range: (2, MOST),
        origin: SettingOrigin::Ours,
    },
    SettingSpec {
        name: "circle_window",
        meaning: "steps without progress before going in circles can be noted",
        methods: &[],
        default: Fixed::Number(thresholds::CIRCLE_WINDOW),
        range: (1, MOST),
        origin: SettingOrigin::Ours,
    },
];

impl SettingSpec {
    /// What it may be, in words.
    pub fn allowed(&self) -> String {
        match (self.default, self.range) {
            (Fixed::Number(_), (from, MOST)) => format!("a whole number from {from} on"),
            (Fixed::Number(_), (from, to)) => format!("a whole number from {from} to {to}"),
            (Fixed::Switch(_), _) => "true or false".to_owned(),
            (Fixed::Word(_, words), _) => words.join(", "),
        }
    }

    /// Whether it may have this value; numbers never leave their range.
    ///
    /// # Errors
    /// What was expected, in words.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        let fits = match self.default {
            Fixed::Number(_) => value.as_u64().is_some_and(|n| (self.range.0..=self.range.1).contains(&n)),
            Fixed::Switch(_) => value.is_boolean(),
            Fixed::Word(_, words) => words.iter().any(|word| value == word),
        };
        let bound = match (value.as_u64(), self.range.1) {
            (Some(n), MOST) if n > MOST => format!(", at most {MOST}"),
            _ => String::new(),
        };
        if fits { Ok(()) } else { Err(format!("expected {}{bound}", self.allowed())) }
    }
}

/// Puts the bounds that are named among the settings where the engine looks for them. Where none is named the bounds stay.
pub fn bind(settings: &Settings, limits: &mut Limits, loop_detector: &mut bool) {
    let bound = |name: &str| settings.0.get(name).and_then(|s| s.value.as_u64());
    if let Some(moves) = bound("max_moves") {
        limits.moves = u32::try_from(moves).ok().filter(|n| *n > 0);
    }
    if let Some(seconds) = bound("wall_seconds") {
        limits.wall_seconds = Some(seconds).filter(|n| *n > 0);
    }
    *loop_detector = settings.switch("loop_detector", *loop_detector);
}

impl Fixed {
    /// As a JSON value.
    pub fn value(self) -> Value {
        match self {
            Self::Number(n) => json!(n),
            Self::Switch(on) => json!(on),
            Self::Word(word, _) => json!(word),
        }
    }
}

/// The limits, settings and loop detector a method starts with, each setting with its origin.
///
/// Papers give 50 steps; ReAct's public code (and so Reflexion's) counts from 1 to below 50, which is 49. OmniReflect has
/// no public code, so both readings are the paper's. The loop detector is Reflexion's and off here.
pub fn defaults(method: &str, reading: PaperOrCode) -> (Limits, Settings, bool) {
    let steps = match (method, reading) {
        ("react", PaperOrCode::Code) => 49,
        _ => 50,
    };
    let mut settings = Settings::default();
    for spec in SETTINGS.iter().filter(|s| s.methods.is_empty() || s.methods.contains(&method)) {
        settings.set(spec.name, spec.default.value(), spec.origin);
    }
    (Limits { steps, moves: None, wall_seconds: None }, settings, false)
}
