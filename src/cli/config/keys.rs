//! All configuration keys.

use super::key::{FilePath, Key, OrAsk, Text, TextList};
use super::value::ValueType;
use crate::catalog::{CALIBRATION_METHOD, DEFAULT_ENVIRONMENT, ENVIRONMENT_NAMES, METHOD_NAMES};
use crate::domain::common_settings::{OVERRIDDEN_THOUGHT, OVERRIDE_SHOWN_AS, OverriddenThought};
use crate::domain::{Interface, PaperOrCode, RoleSource, ShownAs, actor_names, mentor_names, setting_words};
use crate::provider::openai::Api;

setting_words! {
    /// What a run without a screen does when a call fails.
    #[derive(Default)]
    pub enum OnError {
        /// Stop the session, which can be resumed; exit 3.
        #[default]
        Stop = "stop",
        /// End the episode and start the next task.
        SkipTask = "skip-task",
    }
}

setting_words! {
    /// How replies of a model are cached on disk.
    #[derive(Default)]
    pub enum ReplyCache {
        #[default]
        Off = "off",
        /// Cached replies are used; new ones are not cached.
        Read = "read",
        ReadWrite = "read-write",
    }
}

setting_words! {
    /// The characters for frames and marks.
    #[derive(Default)]
    pub enum GlyphSet {
        #[default]
        Unicode = "unicode",
        Ascii = "ascii",
    }
}

pub const SESSIONS: Key<FilePath> = Key::new(
    "sessions",
    "folder for sessions; by default `sessions/` in the working directory if it exists, else the user's state folder",
    ValueType::Path,
    "",
)
.variable("RETROSPECT_SESSIONS")
.flag("--sessions", "DIR");

pub const DATA: Key<FilePath> = Key::new(
    "data",
    "folder with data of environments that is not part of this program, such as `json_2.1.1` of ALFWorld",
    ValueType::Path,
    "",
)
.variable("ALFWORLD_DATA")
.flag("--data", "DIR");

pub const POOL: Key<FilePath> = Key::new(
    "pool",
    "pool file of the `lessons` command; by default `pool.jsonl` in the user's data folder",
    ValueType::Path,
    "",
)
.variable("RETROSPECT_POOL")
.flag("--pool", "FILE");

pub const CACHE_FOLDER: Key<FilePath> = Key::new(
    "cache",
    "folder for cached model replies; by default `answers/` in the user's cache folder",
    ValueType::Path,
    "",
)
.variable("RETROSPECT_CACHE_DIR");

pub const ENV: Key<Text> =
    Key::new("run.env", "environment", ValueType::Name(|| &ENVIRONMENT_NAMES), DEFAULT_ENVIRONMENT.name)
        .variable("RETROSPECT_ENV")
        .flag("--env", "NAME");

pub const METHOD: Key<Text> =
    Key::new("run.method", "method", ValueType::Name(|| &METHOD_NAMES), CALIBRATION_METHOD.name)
        .variable("RETROSPECT_METHOD")
        .flag("--method", "NAME");

pub const ACTOR: Key<Text> = Key::new(
    "run.actor",
    concat!("actor, who proposes actions: ", actor_names!()),
    ValueType::Text,
    RoleSource::RULES,
)
.variable("RETROSPECT_ACTOR")
.flag("--actor", "ACTOR")
.typed("openai:MODEL or recorded:SESSION", RoleSource::RULES);

pub const MENTOR: Key<Text> = Key::new(
    "run.mentor",
    concat!("mentor, who writes reflections: ", mentor_names!()),
    ValueType::Text,
    RoleSource::SYMBOLIC,
)
.variable("RETROSPECT_MENTOR")
.flag("--mentor", "MENTOR")
.typed("openai:MODEL or recorded:SESSION", RoleSource::SYMBOLIC);

pub const INTERFACE: Key<Interface> = Key::new(
    "run.interface",
    "how observations are shown to the agent in a run (`play` uses `raw` unless you set the flag)",
    ValueType::Choice(Interface::WORDS),
    Interface::React.word(),
)
.variable("RETROSPECT_INTERFACE")
.flag("--interface", "NAME");

pub const AS: Key<PaperOrCode> = Key::new(
    "run.as",
    "which version of a method to use where paper and public code differ",
    ValueType::Choice(PaperOrCode::WORDS),
    PaperOrCode::Paper.word(),
)
.variable("RETROSPECT_AS")
.flag("--as", "VERSION");

pub const SEED: Key<u64> = Key::new("run.seed", "random seed of a run", ValueType::Number(0), "0")
    .variable("RETROSPECT_SEED")
    .flag("--seed", "N");

pub const TRIALS: Key<u64> = Key::new(
    "run.trials",
    "maximum number of trials per task; the default depends on the method",
    ValueType::Number(1),
    "1",
)
.variable("RETROSPECT_TRIALS")
.flag("--trials", "N");

pub const ON_ERROR: Key<OnError> = Key::new(
    "run.on_error",
    "what to do when a call fails in a run without a screen: stop (exit 3, resumable) or skip the task",
    ValueType::Choice(OnError::WORDS),
    OnError::Stop.word(),
)
.variable("RETROSPECT_ON_ERROR")
.flag("--on-error", "POLICY");

pub const BASE_URL: Key<Text> = Key::new(
    "run.base_url",
    "address of the model server, such as `http://127.0.0.1:8080/v1`; the API key is read from `OPENAI_API_KEY`",
    ValueType::Text,
    "",
)
.variable("OPENAI_BASE_URL")
.flag("--base-url", "URL")
.typed("a URL", "none");

pub const PROFILE: Key<Text> = Key::new(
    "run.profile",
    "server profiles by name, separated by commas: `[models.NAME]` of the configuration file or built in; later ones take precedence",
    ValueType::Text,
    "",
)
.variable("RETROSPECT_PROFILE")
.flag("--profile", "NAMES")
.typed("profile names, separated by commas", "none");

pub const KEY_ENV: Key<Text> = Key::new(
    "run.key_env",
    "environment variable that holds the API key, instead of `OPENAI_API_KEY`",
    ValueType::Text,
    "",
)
.variable("RETROSPECT_KEY_ENV")
.flag("--key-env", "NAME");

pub const HEADERS: Key<Text> = Key::new(
    "run.headers",
    "additional headers for the model server, `NAME: VALUE`, one per line (the flag may be repeated); `$NAME` in a value is an environment variable, `$$` a dollar sign",
    ValueType::Lines,
    "",
)
.variable("RETROSPECT_HEADERS")
.flag("--header", "HEADER");

pub const CA_FILE: Key<FilePath> = Key::new(
    "run.ca_file",
    "trusted CA certificates (PEM), in addition to the system's",
    ValueType::Path,
    "",
)
.variable("RETROSPECT_CA_FILE")
.flag("--ca-file", "FILE");

pub const API: Key<Api> = Key::new(
    "run.api",
    "which API of the model server to use; completions sends the prompt as one text that the model continues",
    ValueType::Choice(Api::WORDS),
    Api::Chat.word(),
)
.variable("RETROSPECT_API")
.flag("--api", "API");

pub const MENTOR_BASE_URL: Key<Text> = Key::new(
    "run.mentor_base_url",
    "address of the mentor's server, if it differs from the actor's",
    ValueType::Text,
    "",
)
.variable("RETROSPECT_MENTOR_BASE_URL")
.flag("--mentor-base-url", "URL")
.typed("a URL", "the actor's");

pub const MENTOR_PROFILE: Key<Text> = Key::new(
    "run.mentor_profile",
    "the mentor's server profiles, if they differ from the actor's",
    ValueType::Text,
    "",
)
.variable("RETROSPECT_MENTOR_PROFILE")
.flag("--mentor-profile", "NAMES")
.typed("profile names", "the actor's");

pub const CACHE: Key<ReplyCache> = Key::new(
    "run.cache",
    "cache of model replies on disk: the same request with the same seed gets the same reply",
    ValueType::Choice(ReplyCache::WORDS),
    ReplyCache::Off.word(),
)
.variable("RETROSPECT_CACHE")
.flag("--cache", "MODE");

pub const PREFETCH: Key<bool> = Key::new(
    "run.prefetch",
    "request the next reply while a person reads a proposal; requires `run.cache = \"read-write\"`; unused prefetches are counted separately",
    ValueType::Bool,
    "false",
)
.variable("RETROSPECT_PREFETCH")
.flag("--prefetch", "");

pub const PROMPTS: Key<FilePath> = Key::new(
    "run.prompts",
    "folder of prompt templates, each of which replaces the built-in one with the same file name; or `builtin`",
    ValueType::Path,
    "",
)
.variable("RETROSPECT_PROMPTS")
.flag("--prompts", "DIR")
.typed("the path of a folder", "built in");

/// Its flag is declared in [`DriveArgs`](crate::cli::args::DriveArgs): it may be repeated and has a help of its own.
pub const BREAKS: Key<TextList> = Key::new(
    "run.breaks",
    "breakpoints and watches of every new session; separated by `;` in the variable",
    ValueType::Conditions,
    "",
)
.variable("RETROSPECT_BREAKS")
.flag("--break", "COND");

/// Its flag is declared in [`ScreenArgs`](crate::cli::args::ScreenArgs), which may stand before the command.
pub const THEME: Key<Text> = Key::new(
    "screen.theme",
    "name of a theme, or a theme file; `auto` follows the background of a terminal with true colour",
    ValueType::Text,
    "auto",
)
.variable("RETROSPECT_THEME")
.flag("--theme", "NAME");

pub const GLYPHS: Key<GlyphSet> = Key::new(
    "screen.glyphs",
    "characters for frames and marks",
    ValueType::Choice(GlyphSet::WORDS),
    GlyphSet::Unicode.word(),
)
.variable("RETROSPECT_GLYPHS");

pub const MOTION: Key<bool> =
    Key::new("screen.motion", "animate the busy indicator while a model works", ValueType::Bool, "true")
        .variable("RETROSPECT_MOTION");

pub const MOUSE: Key<bool> = Key::new("screen.mouse", "capture the mouse at start", ValueType::Bool, "true")
    .variable("RETROSPECT_MOUSE");

pub const HINTS: Key<bool> =
    Key::new("screen.hints", "show hints during the first run", ValueType::Bool, "true")
        .variable("RETROSPECT_HINTS");

const SHOWN_AS_WORDS: &[&str] =
    &[ShownAs::AgentAction.word(), ShownAs::HumanEdit.word(), OrAsk::<ShownAs>::ASK];

pub const SHOWN_AS: Key<OrAsk<ShownAs>> = Key::new(
    OVERRIDE_SHOWN_AS.spec.name,
    OVERRIDE_SHOWN_AS.spec.meaning,
    ValueType::Choice(SHOWN_AS_WORDS),
    ShownAs::AgentAction.word(),
)
.variable("RETROSPECT_SHOWN_AS");

const THOUGHT_WORDS: &[&str] = &[
    OverriddenThought::Kept.word(),
    OverriddenThought::Dropped.word(),
    OverriddenThought::Rewritten.word(),
    OrAsk::<OverriddenThought>::ASK,
];

pub const THOUGHT: Key<OrAsk<OverriddenThought>> = Key::new(
    OVERRIDDEN_THOUGHT.spec.name,
    OVERRIDDEN_THOUGHT.spec.meaning,
    ValueType::Choice(THOUGHT_WORDS),
    OverriddenThought::Kept.word(),
)
.variable("RETROSPECT_THOUGHT");
