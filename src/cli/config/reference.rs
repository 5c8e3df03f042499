//! Generates the reference and the sample file from the table.

use super::programs::PROGRAM_KEYS;
use super::{ENTRIES, Entry, ValueType, keys};
use crate::catalog::PROGRAM_ENVIRONMENT;
#[cfg(test)]
use crate::catalog::{
    METHOD_NAMES, SETTINGS, default_settings, defaults, environments_with_setting, methods_with_setting,
};
#[cfg(test)]
use crate::domain::PaperOrCode;
use crate::domain::SAMPLING_PARAMS;
use crate::provider::openai::{PROFILE_KEYS, Profile};
use std::fmt::Write as _;

/// Returns the text of `docs/CONFIG.md`.
pub fn reference_page() -> String {
    let mut out = String::from(
        "# Configuration\n\nThis page is generated from the program's own table; a test fails when it is out of date.\n\n\
         ```toml\n[run]\nactor = \"openai:qwen3:4b\"\nprofile = \"ollama\"\n\n[screen]\ntheme = \"default\"\n```\n\n\
         The file is `config.toml` in the user's configuration folder. `retrospect config show` prints its path, \
         `RETROSPECT_CONFIG_DIR` sets a different folder, and `--config FILE` reads another file. `themes/` and `keys.toml` are in the \
         same folder.\n\n\
         `retrospect config init` writes the file with every key commented out. `retrospect config show` prints every value and its \
         origin.\n\n\
         A flag overrides the environment variable, which overrides the file, which overrides the default.\n",
    );
    let mut current_table = None;
    for entry in ENTRIES.iter() {
        let table = entry.name.split_once('.').map_or("", |p| p.0);
        if current_table != Some(table) {
            current_table = Some(table);
            let title = if table.is_empty() { "Top level".to_owned() } else { format!("`[{table}]`") };
            let _ = write!(
                out,
                "\n## {title}\n\n| key | what it does | values | default | variable | flag |\n|---|---|---|---|---|---|\n"
            );
        }
        let code = |text: &str| if text.is_empty() { "none".to_owned() } else { format!("`{text}`") };
        let is_method_default = entry.name == keys::TRIALS.name;
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} | `{}` | {} |",
            short_name(entry),
            entry.meaning,
            entry.value_type.allowed_values(),
            if is_method_default { "the method's".to_owned() } else { code(entry.default) },
            entry.variable,
            code(entry.flag)
        );
    }
    write_profile_reference(&mut out);
    write_program_reference(&mut out);
    write_settings_reference(&mut out);
    out
}

fn write_profile_reference(out: &mut String) {
    let _ = write!(
        out,
        "\n## `[models.NAME]`\n\n```toml\n[models.mine]\nbase_url = \"http://127.0.0.1:8080/v1\"\nkey_env = \"MY_KEY\"\n```\n\n\
         A server profile, for `--profile NAME` and `--mentor-profile NAME`. Settings that a profile omits keep the values of the \
         profiles before it, or the defaults. Built-in profiles: {}. `paper` contains only OmniReflect's sampling parameters and can \
         be combined with any other: \
         `--profile vllm,paper`.\n\n\
         **Addresses.** If a built-in profile names a server on this machine, its address is only a default: `OPENAI_BASE_URL` and \
         `run.base_url` override it, even if you choose the profile during a run. An address in a profile of your own overrides all of \
         these, but not `--base-url`. During a run, `O` takes another address (`openai:MODEL at URL`). The session keeps it, and the one that \
         `resume --base-url` gives; a later resume uses it by itself only if the server is on this machine or configured.\n\n\
         **API keys** are never written into this file: a profile names the variable (`key_env`) or file (`key_file`) that \
         holds the key. The key in `OPENAI_API_KEY` (or in the variable named by `run.key_env`) and the headers in `run.headers` are \
         sent only to a server set with `--base-url` or `OPENAI_BASE_URL` or typed on the screen, and to servers on this machine. Redirects to other servers \
         aren't followed.\n\n\
         **https.** A server's certificate must be signed by a CA that the system trusts (on Linux, `SSL_CERT_FILE` and `SSL_CERT_DIR` \
         can replace the system's list), or by one in `ca_file`, `run.ca_file` or `--ca-file FILE`. Certificate checks can't be switched \
         off.\n\n\
         **Proxies** are taken from `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` (or the same in lower case). Servers on \
         this machine are always contacted directly.\n\n\
         **Learned behaviour.** What the program learns about a server is reported once and applies until the program exits:\n\n\
         - A field that the server rejects isn't sent again.\n\
         - Some servers abort a reply when another request arrives. After two aborted replies, or one whose stream ended with \
         `[DONE]` but no finish_reason, such a server gets only one request at a time. llama-cpp-python is recognized by its list of \
         models and gets one at a time from the start.\n\
         - If a call's stream ends without a finish_reason even though no other request was running, the call is \
         retried, at most twice. The second retry doesn't use streaming, unless an earlier stream had a finish_reason. After two \
         calls with empty or incomplete streams, the server is called without streaming.\n\
         - When the program itself ends a reply at a stop sequence, it waits for the server's token counts: up to `tail_seconds` if \
         that stop sequence was also in the request and no more text arrives, otherwise up to 0.25 s. After two waits without counts, \
         it waits only after every eighth reply.\n\n\
         | key | what it does |\n|---|---|\n",
        Profile::shipped_names().iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
    );
    for (key, meaning) in PROFILE_KEYS {
        let _ = writeln!(out, "| `{key}` | {meaning} |");
    }
}

fn write_program_reference(out: &mut String) {
    let _ = write!(
        out,
        "\n## `[environments.NAME]`\n\n```toml\n[environments.mine]\nkind = \"{PROGRAM_ENVIRONMENT}\"\n\
         command = [\"python3\", \"/home/me/bridge.py\", \"my_module:make\"]\n```\n\n\
         An environment that is another program, for `--env NAME` (`ENVIRONMENTS.md`). The name has lower-case letters, digits, `-` and \
         `_`. Sessions record it, but never the command.\n\n| key | what it is |\n|---|---|\n",
    );
    for (key, meaning) in PROGRAM_KEYS {
        let _ = writeln!(out, "| `{key}` | {meaning} |");
    }
}

fn short_name(entry: &Entry) -> &str {
    entry.name.rsplit('.').next().unwrap_or(entry.name)
}

fn write_settings_reference(out: &mut String) {
    out.push_str(
        "\n## Method settings\n\nSet them with `--set NAME=VALUE`, or several at once with a `[preset.NAME]` table and `--preset \
         NAME`. `METHODS.md` lists all settings and the origin of each default.\n\n## Sampling parameters of a run\n\nSet them the same \
         way, for the model of one role: `--set actor.NAME=VALUE` or `--set mentor.NAME=VALUE`, such as `--set actor.max_tokens=4096`. \
         The value replaces the profile's; `off` leaves the parameter out, and `own` goes back to the profile's value. \
         `resume` and `doctor` accept these flags too. A reply truncated by `max_tokens` is requested again with a higher limit \
         (`REPLIES.md`).\n\n| name | meaning | value |\n|---|---|---|\n",
    );
    for param in &SAMPLING_PARAMS {
        // The text above the table explains both words.
        let allowed = param.allowed.replace("off (not sent)", "off").replace("own (the profile's)", "own");
        let _ = writeln!(out, "| `{}` | {} | {allowed} |", param.name, param.meaning);
    }
}

/// Returns the table of all method settings at the end of `docs/METHODS.md`.
#[cfg(test)]
pub(super) fn settings_table() -> String {
    let mut out = String::from(
        "| setting | what it does | values | default | from | with `--as code` | methods, or environments |\n|---|---|---|---|---|---|---|\n",
    );
    let plain = |value: serde_json::Value| match value {
        // The greatest number means "no limit".
        value if value == u32::MAX => "all".to_owned(),
        value => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
    };
    for spec in SETTINGS.iter() {
        let values = spec.allowed_values();
        let mut default = format!("`{}`", plain(spec.default.to_json()));
        // Some methods follow their public code in settings shared by all methods, with `--as paper` too.
        let mut code_value = None;
        let follow_code: Vec<&str> = METHOD_NAMES
            .iter()
            .copied()
            .filter(|method| {
                let value = defaults(method, PaperOrCode::Paper).1.value(spec.name).cloned();
                let differs = value.as_ref().is_some_and(|v| *v != spec.default.to_json());
                if differs {
                    code_value = value;
                }
                differs
            })
            .collect();
        if let Some(value) = code_value {
            let _ = write!(default, "; {}: `{}` (code)", follow_code.join(", "), plain(value));
        }
        let origin = serde_json::to_value(spec.origin).ok();
        let origin = origin.as_ref().and_then(|o| o.as_str()).unwrap_or("ours");
        // The public code of some methods has a value of its own in a setting that all methods have.
        let own_in_code = |method: &&str| {
            let value = |reading| default_settings(method, reading).value(spec.name).cloned();
            let code =
                value(PaperOrCode::Code).filter(|code| Some(code) != value(PaperOrCode::Paper).as_ref());
            code.map(|code| format!("{method}: `{}`", plain(code)))
        };
        let code = match spec.code_default {
            Some(code) => format!("`{}`", plain(code.to_json())),
            None => METHOD_NAMES.iter().filter_map(own_in_code).collect::<Vec<_>>().join(", "),
        };
        let methods = methods_with_setting(spec.name).map(|names| names.join(", "));
        let environments =
            environments_with_setting(spec.name).map(|names| format!("in {}", names.join(", ")));
        let users: Vec<String> = methods.into_iter().chain(environments).collect();
        let users = if users.is_empty() { "all".to_owned() } else { users.join("; ") };
        let _ = writeln!(
            out,
            "| `{}` | {} | {values} | {default} | {origin} | {code} | {users} |",
            spec.name, spec.meaning
        );
    }
    out
}

/// Returns the file that `config init` writes: every key with its default, as comments.
pub fn sample_file() -> String {
    let mut out = String::from(
        "# The configuration of retrospect. Remove the `#` of a line to set its value.\n\
         # An environment variable overrides this file, and a flag overrides both.\n",
    );
    let mut current_table = "";
    for entry in ENTRIES.iter() {
        let table = entry.name.split_once('.').map_or("", |p| p.0);
        if table != current_table {
            current_table = table;
            let _ = write!(out, "\n[{table}]\n");
        }
        let value = match entry.value_type {
            ValueType::Number(_) | ValueType::Bool => entry.default.to_owned(),
            ValueType::Conditions => "[]".to_owned(),
            ValueType::Text
            | ValueType::Lines
            | ValueType::Path
            | ValueType::Choice(_)
            | ValueType::Name(_) => format!("{:?}", entry.default),
        };
        let _ = writeln!(
            out,
            "\n# {} ({}).\n#{} = {value}",
            entry.meaning,
            entry.value_type.allowed_values(),
            short_name(entry)
        );
    }
    out.push_str(
        "\n# A server profile of your own, for `run --actor openai:MODEL --profile mine`:\n#[models.mine]\n\
         #base_url = \"http://127.0.0.1:8080/v1\"\n#key_env = \"MY_KEY\"\n",
    );
    let _ = write!(
        out,
        "\n# An environment of your own that is another program, for `run --env mine`:\n#[environments.mine]\n\
         #kind = \"{PROGRAM_ENVIRONMENT}\"\n#command = [\"python3\", \"/home/me/bridge.py\", \"my_module:make\"]\n",
    );
    out.push_str("\n# A preset of your own, for `run --preset every-five`:\n#[preset.every-five]\n#reflect = \"periodic\"\n#r_freq = 5\n");
    out
}
