//! The flags of configuration keys. Help, completions and parsing come from the table of keys.

use crate::cli::config::{Config, Entry, ValueType, exemplar_entries, keys, method_entries};
use crate::cli::error::CliError;
use crate::cli::settings::{known_assignments, sampling_assignments};
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, ValueHint};
use std::ffi::OsStr;
use std::marker::PhantomData;

/// The keys whose flags a command has.
pub trait KeySet: Clone + std::fmt::Debug + Default + Send + Sync + 'static {
    const KEYS: &'static [Entry];
    /// The heading of the flags in the help.
    const HEADING: Option<&'static str>;
    /// Whether every command has these flags.
    const IS_GLOBAL: bool = false;
    /// Returns those among them that methods declare.
    const OF_METHODS: fn() -> Vec<&'static Entry> = Vec::new;

    /// Returns all of its keys.
    fn entries() -> impl Iterator<Item = &'static Entry> {
        Self::KEYS.iter().chain((Self::OF_METHODS)())
    }
}

/// The flags of a [`KeySet`] that were given.
#[derive(Clone, Debug, Default)]
pub struct KeyFlags<S> {
    given: Vec<(&'static Entry, String)>,
    set: PhantomData<S>,
}

impl<S: KeySet> KeyFlags<S> {
    /// Returns the text given for a key.
    pub fn get(&self, key: &Entry) -> Option<&str> {
        self.given.iter().find(|(entry, _)| entry.name == key.name).map(|(_, text)| text.as_str())
    }

    /// Copies the flags into the configuration.
    ///
    /// # Errors
    /// Fails with a usage [`CliError`] if a value is invalid.
    pub fn apply(&self, config: &mut Config) -> Result<(), CliError> {
        self.given.iter().try_for_each(|(entry, text)| config.set_flag(entry, Some(text)))
    }
}

impl<S: KeySet> Args for KeyFlags<S> {
    fn augment_args(command: Command) -> Command {
        S::entries().fold(command, |command, entry| {
            let arg = flag(entry).global(S::IS_GLOBAL);
            command.arg(match S::HEADING {
                Some(heading) => arg.help_heading(heading),
                None => arg,
            })
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<S: KeySet> FromArgMatches for KeyFlags<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = S::entries().filter_map(|entry| Some((entry, given_text(entry, matches)?))).collect();
        Ok(Self { given, set: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Returns the text of a flag, `None` if it was not given. Lines are joined.
fn given_text(entry: &Entry, matches: &ArgMatches) -> Option<String> {
    if let ValueType::Bool = entry.value_type {
        return matches.get_flag(entry.name).then(|| "true".to_owned());
    }
    let lines: Vec<&str> = matches.get_many::<String>(entry.name)?.map(String::as_str).collect();
    Some(lines.join("\n"))
}

/// The keys whose flags `-h` lists; `--help` lists all.
const IN_SHORT_HELP: [Entry; 14] = [
    keys::ENV.entry(),
    keys::METHOD.entry(),
    keys::ACTOR.entry(),
    keys::MENTOR.entry(),
    keys::SEED.entry(),
    keys::TRIALS.entry(),
    keys::BASE_URL.entry(),
    keys::PROFILE.entry(),
    keys::CACHE.entry(),
    keys::ON_ERROR.entry(),
    keys::THEME.entry(),
    keys::SESSIONS.entry(),
    keys::DATA.entry(),
    keys::POOL.entry(),
];

/// Returns the flag of a key.
fn flag(entry: &'static Entry) -> Arg {
    let arg = Arg::new(entry.name).long(entry.flag.trim_start_matches('-')).help(key_help(entry));
    let arg = arg.hide_short_help(!IN_SHORT_HELP.iter().any(|listed| listed.name == entry.name));
    let action = match entry.value_type {
        ValueType::Bool => return arg.action(ArgAction::SetTrue),
        ValueType::Lines => ArgAction::Append,
        _ => ArgAction::Set,
    };
    let hint = match entry.value_type {
        ValueType::Path if entry.value_name == "DIR" => ValueHint::DirPath,
        ValueType::Path => ValueHint::FilePath,
        _ => ValueHint::Other,
    };
    let parser = Suggested { words: Vec::new, known: entry.value_type.words().unwrap_or_default() };
    arg.action(action).value_name(entry.value_name).value_hint(hint).value_parser(parser)
}

/// Returns the meaning of a key as the help of its flag.
pub fn key_help(entry: &Entry) -> String {
    sentence(&entry.meaning.replace('`', ""))
}

/// Returns a text with its first letter in upper case, as the help of a flag begins.
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Returns the parser of `--set`, which offers the names of all settings to the completions of shells.
pub fn setting_parser() -> ValueParser {
    ValueParser::new(Suggested { words: known_assignments, known: &[] })
}

/// Returns the parser of `--set` where only sampling parameters can be set.
pub fn sampling_parser() -> ValueParser {
    ValueParser::new(Suggested { words: sampling_assignments, known: &[] })
}

/// Accepts any text, but offers some to the help and the completions. The program itself rejects what isn't allowed: the
/// same words are checked in the configuration file.
#[derive(Clone, Copy)]
struct Suggested {
    known: &'static [&'static str],
    /// More words, which are collected only if somebody asks for them.
    words: fn() -> Vec<String>,
}

impl TypedValueParser for Suggested {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let words: Vec<PossibleValue> = self
            .known
            .iter()
            .map(PossibleValue::new)
            .chain((self.words)().into_iter().map(PossibleValue::new))
            .collect();
        if words.is_empty() { None } else { Some(Box::new(words.into_iter())) }
    }
}

/// Declares sets of keys.
macro_rules! key_sets {
    ($($(#[$doc:meta])* $name:ident($heading:expr $(, global: $global:literal)? $(, of_methods: $of_methods:ident)?): $($key:ident),+;)+) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Debug, Default)]
            pub struct $name;

            impl KeySet for $name {
                const KEYS: &'static [Entry] = &[$(keys::$key.entry()),+];
                const HEADING: Option<&'static str> = $heading;
                $(const IS_GLOBAL: bool = $global;)?
                $(const OF_METHODS: fn() -> Vec<&'static Entry> = $of_methods;)?
            }
        )+
    };
}

key_sets! {
    /// The keys of every command.
    GlobalKeys(Some("Global options"), global: true): SESSIONS, DATA;
    /// The keys that choose tasks.
    TaskKeys(None): ENV;
    /// The keys of `play`.
    PlayKeys(None): ENV, INTERFACE;
    /// The keys of the method.
    MethodKeys(Some("Method"), of_methods: method_entries): METHOD, ACTOR, MENTOR, SEED, TRIALS, AS, INTERFACE, PROMPTS;
    /// The keys that choose the models whose servers are checked.
    RoleKeys(None): ACTOR, MENTOR;
    /// The key of the actor alone.
    ActorKeys(None): ACTOR;
    /// The keys of templates that a resumed session may have been started with.
    ResumeKeys(None, of_methods: exemplar_entries): PROMPTS;
    /// The key of templates that a rerun session may have been started with.
    RerunKeys(None): PROMPTS;
    /// The keys of the model servers.
    ModelKeys(Some("Models")): BASE_URL, PROFILE, KEY_ENV, HEADERS, CA_FILE, API, MENTOR_BASE_URL, MENTOR_PROFILE, CACHE, PREFETCH;
    /// The keys of how a run is driven.
    DriveKeys(Some("Run control")): ON_ERROR;
    /// The key of the `lessons` commands.
    PoolKeys(None, global: true): POOL;
}
