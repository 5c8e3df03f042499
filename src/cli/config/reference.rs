//! The reference and the sample file, from the table.

use super::{ENTRIES, Entry, Sort};
use crate::domain::SAMPLING_PARAMS;
#[cfg(test)]
use crate::method::SETTINGS;
use crate::provider::openai::{KEYS, Profile};
use std::fmt::Write as _;

/// `docs/CONFIG.md`.
pub fn reference() -> String {
    let mut out = String::from(
        "# Configuration\n\nThis page is generated from the program's own table; a test fails when it is stale.\n\n\
         The file is `config.toml` in the user's configuration folder (`retrospect config show` names it; \
         `RETROSPECT_CONFIG_DIR` moves the folder, `--config FILE` names another file). Beside it stand `themes/` and \
         `keys.toml`. A value is taken from the default, then the file, then the environment variable, then the flag; the \
         last that is set counts. `retrospect config init` writes the file with every key as a comment, `retrospect \
         config show` tells every value and where it comes from.\n",
    );
    let mut table = None;
    for entry in ENTRIES {
        let of = entry.name.split_once('.').map_or("", |p| p.0);
        if table != Some(of) {
            table = Some(of);
            let title = if of.is_empty() { "Top level".to_owned() } else { format!("`[{of}]`") };
            let _ = write!(
                out,
                "\n## {title}\n\n| key | what it does | values | default | variable | flag |\n|---|---|---|---|---|---|\n"
            );
        }
        let code = |text: &str| if text.is_empty() { "none".to_owned() } else { format!("`{text}`") };
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} | `{}` | {} |",
            key(entry),
            entry.meaning,
            entry.sort.words(),
            code(entry.default),
            entry.variable,
            code(entry.flag)
        );
    }
    models(&mut out);
    settings(&mut out);
    out
}

fn models(out: &mut String) {
    let _ = write!(
        out,
        "\n## `[models.NAME]`\n\nHow a model server is spoken to, for `--profile NAME` and `--mentor-profile NAME`. What a \
         profile does not say is left as it is. Shipped: {}. `paper` is OmniReflect's sampling alone, and joins any other: \
         `--profile vllm,paper`. The address of a shipped profile for a server on this machine is only where such a server usually \
         is: `OPENAI_BASE_URL` and `run.base_url` count more, also where it is chosen while a run goes on; the address of a profile of your own counts more than both. A key is never written into this file: a profile says where it is. The key of `OPENAI_API_KEY` \
         (or of `run.key_env`) and the headers of `run.headers` are sent to a server given with `--base-url` or \
         `OPENAI_BASE_URL` and to servers on this machine, and to no other; a server that sends elsewhere is not followed.\n\n\
         **https.** A server's certificate has to be signed by an authority that the system believes (on Linux `SSL_CERT_FILE` \
         and `SSL_CERT_DIR` name other files of them), or by one in `ca_file`, `run.ca_file` or `--ca-file FILE`; there is no \
         way to switch this off. **Proxies** are taken from `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` (or the \
         same in small letters); servers on this machine are always spoken to directly.\n\n\
         **What a server teaches** holds until the program ends, and is said once: a field that it refuses isn't sent again, and a \
         server that breaks off a reply when another request arrives (`[DONE]` without a finish_reason, or twice any other end of \
         the stream) gets one request at a time; llama-cpp-python, which does so, is known by its list of models before it gets \
         two. A stream that ends without a finish_reason though the server has no other request is asked for again, the second \
         time without a stream. A server that is silent or never whole in streams is asked without them after two such calls. \
         Where a stop text ends a reply here, the server's usage is waited for: up to `tail_seconds` if the server got that stop \
         text too and writes nothing more, else for a quarter of a second; after two waits in vain only for every eighth \
         reply.\n\n\
         | key | what it does |\n|---|---|\n",
        Profile::shipped_names().iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
    );
    for (key, meaning) in KEYS {
        let _ = writeln!(out, "| `{key}` | {meaning} |");
    }
}

fn key(entry: &Entry) -> &str {
    entry.name.rsplit('.').next().unwrap_or(entry.name)
}

fn settings(out: &mut String) {
    out.push_str(
        "\n## Settings of methods\n\nSet with `--set NAME=VALUE`, or together as a `[preset.NAME]` table that `--preset \
         NAME` takes. What there is, and who chose each default, stands in `METHODS.md`.\n\n## Sampling parameters of a \
         run\n\nSet in the same way, for the model of one role: `--set actor.NAME=VALUE` or `--set mentor.NAME=VALUE`, such as \
         `--set actor.max_tokens=4096`. `resume` and `doctor` take these too. What is set here is sent in place of the profile's value. A reply that `max_tokens` cuts off is asked for again with more (`REPLIES.md`).\n\n| name | meaning | value |\n|---|---|---|\n",
    );
    for knob in &SAMPLING_PARAMS {
        let _ = writeln!(out, "| `{}` | {} | {} |", knob.name, knob.meaning, knob.allowed);
    }
}

/// The table of all settings of methods, as the end of `docs/METHODS.md` holds it.
#[cfg(test)]
pub(super) fn methods() -> String {
    let mut out = String::from(
        "| setting | what it does | values | default | from | with `--as code` | methods |\n|---|---|---|---|---|---|---|\n",
    );
    let plain = |value: serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    for spec in SETTINGS.iter() {
        let (values, default) = (spec.allowed_values(), plain(spec.default.to_json()));
        let origin = serde_json::to_value(spec.origin).ok();
        let origin = origin.as_ref().and_then(|o| o.as_str()).unwrap_or("ours");
        let code = spec.code_default.map_or_else(String::new, |code| format!("`{}`", plain(code.to_json())));
        let methods = if spec.methods.is_empty() { "all".to_owned() } else { spec.methods.join(", ") };
        let _ = writeln!(
            out,
            "| `{}` | {} | {values} | `{default}` | {origin} | {code} | {methods} |",
            spec.name, spec.meaning
        );
    }
    out
}

/// The file that `config init` writes: every key with its default, as comments.
pub fn sample() -> String {
    let mut out = String::from(
        "# retrospect's configuration. Take the `#` away from a line to set it.\n\
         # An environment variable counts more than this file, a flag more than both.\n",
    );
    let mut table = "";
    for entry in ENTRIES {
        let of = entry.name.split_once('.').map_or("", |p| p.0);
        if of != table {
            table = of;
            let _ = write!(out, "\n[{of}]\n");
        }
        let value = match entry.sort {
            Sort::Number(_) | Sort::Switch => entry.default.to_owned(),
            Sort::Conditions => "[]".to_owned(),
            Sort::Text | Sort::Path | Sort::Word(_) => format!("{:?}", entry.default),
        };
        let _ = writeln!(out, "\n# {} ({}).\n#{} = {value}", entry.meaning, entry.sort.words(), key(entry));
    }
    out.push_str(
        "\n# A model server under a name of yours, for `run --actor openai:MODEL --profile mine`:\n#[models.mine]\n\
         #base_url = \"http://127.0.0.1:8080/v1\"\n#key_env = \"MY_KEY\"\n",
    );
    out.push_str("\n# Settings of methods under a name of yours, for `run --preset`:\n#[preset.every-five]\n#reflect = \"periodic\"\n#r_freq = 5\n");
    out
}
