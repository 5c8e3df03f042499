//! The program's name in texts that tell a person what to run.
//!
//! Messages name commands as `` `retrospect VERB` ``, wherever they come from. A program built on this crate has another name,
//! so whatever shows a message to a person passes it through [`with_program_name`].

use std::borrow::Cow;
use std::sync::OnceLock;

const OWN_NAME: &str = "retrospect";
static NAME: OnceLock<String> = OnceLock::new();

/// Sets the name under which the program was started. Only the first call has an effect.
pub fn set_program_name(name: String) {
    let _ = NAME.set(name);
}

/// Returns the name under which the program was started.
pub fn program_name() -> &'static str {
    NAME.get().map_or(OWN_NAME, String::as_str)
}

/// Returns a message in which commands begin with the program's name.
pub fn with_program_name(message: &str) -> Cow<'_, str> {
    rename_commands(message, program_name(), "`")
}

/// Returns a help text in which commands, which also fill lines of their own there, begin with the program's name.
pub fn help_with_program_name(help: &str) -> Cow<'_, str> {
    rename_commands(help, program_name(), "")
}

/// Replaces this program's name at the beginning of commands, which follow `prefix`.
fn rename_commands<'t>(text: &'t str, name: &str, prefix: &str) -> Cow<'t, str> {
    let own = format!("{prefix}{OWN_NAME} ");
    if name == OWN_NAME || !text.contains(&own) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace(&own, &format!("{prefix}{name} ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: a program built on this crate told its users to run `retrospect`.
    #[test]
    fn commands_begin_with_the_name_of_the_program() {
        let message = "no sessions; `retrospect run` starts one, written by retrospect 1";
        assert_eq!(
            rename_commands(message, "counter", "`"),
            "no sessions; `counter run` starts one, written by retrospect 1"
        );
        assert_eq!(rename_commands("Examples:\n  retrospect run", "counter", ""), "Examples:\n  counter run");
        assert!(matches!(rename_commands(message, OWN_NAME, "`"), Cow::Borrowed(_)));
        assert_eq!(with_program_name(message), message, "nothing has set a name");
    }
}
