//! Parses key files.

use super::{Binding, Key, Problem};
use crate::text::nearest_name;
use crate::ui::keymap::{Action, Mode};
use crate::ui::source::ConfigSource;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A row as the file gives it. A row without an action (`run = "none"`) only unbinds its keys.
pub(super) struct BindingRow {
    pub(super) mode: Mode,
    pub(super) keys: Vec<Key>,
    action: Option<Action>,
    description: Option<String>,
    footer_label: Option<String>,
}

impl BindingRow {
    /// Converts the row to a binding; None if it only unbinds.
    pub(super) fn into_binding(self) -> Option<Binding> {
        let action = self.action?;
        let desc = self.description.unwrap_or_else(|| action.about().to_owned());
        Some(Binding {
            mode: self.mode,
            keys: self.keys,
            action,
            description: desc,
            footer_label: self.footer_label,
        })
    }
}

/// Parses all rows of a key file. The problems are sorted by line.
pub(super) fn parse_rows(file: &str, text: &str) -> (Vec<BindingRow>, Vec<Problem>) {
    let (mut source, table) = ConfigSource::parse(file, text);
    let mut rows = Vec::new();
    parse_modes(&mut source, &table, "", &mut rows);
    source.problems.sort_by_key(|p| p.line);
    (rows, source.problems)
}

/// Collects the rows of all modes. TOML reads `[[search.input]]` as a table inside `search`; in quotes,
/// `[["search.input"]]` is a key of its own. Both are accepted.
fn parse_modes(source: &mut ConfigSource<'_>, table: &DeTable<'_>, prefix: &str, rows: &mut Vec<BindingRow>) {
    for (name, value) in table {
        let full = format!("{prefix}{}", name.get_ref());
        if let Some(inner) = value.get_ref().as_table() {
            parse_modes(source, inner, &format!("{full}."), rows);
            continue;
        }
        let Some(mode) = Mode::ALL.iter().copied().find(|m| m.name() == full) else {
            let near = nearest_name(&full, Mode::ALL.iter().map(|m| m.name()));
            let names: Vec<&str> = Mode::ALL.iter().map(|m| m.name()).collect();
            let hint = near.map_or_else(
                || format!("the modes are {}", names.join(", ")),
                |n| format!("did you mean `{n}`?"),
            );
            source.report(name.span(), format!("unknown mode `{full}`; {hint}"));
            continue;
        };
        let Some(list) = value.get_ref().as_array() else {
            source.report(value.span(), format!("`{full}` must be rows; start each with [[{full}]]"));
            continue;
        };
        let mut taken: Vec<(Key, usize)> = Vec::new();
        for item in list {
            if let Some(row) = parse_row(source, mode, item, &mut taken) {
                rows.push(row);
            }
        }
    }
}

fn parse_row(
    source: &mut ConfigSource<'_>,
    mode: Mode,
    item: &Spanned<DeValue<'_>>,
    taken: &mut Vec<(Key, usize)>,
) -> Option<BindingRow> {
    let parts = source.expect_table("a row", item)?;
    let mut row = BindingRow { mode, keys: Vec::new(), action: None, description: None, footer_label: None };
    let mut run = false;
    for (name, value) in parts {
        match &**name.get_ref() {
            "on" => parse_keys(source, mode, value, taken, &mut row.keys),
            "run" => {
                run = true;
                let word = source.expect_string("run", value)?;
                row.action = Action::from_name(word);
                if row.action.is_none() && word != "none" {
                    let near = nearest_name(word, Action::ALL.iter().map(|a| a.name()));
                    let hint = near.map_or_else(
                        || "docs/KEYS.md lists the actions".to_owned(),
                        |n| format!("did you mean `{n}`?"),
                    );
                    source.report(value.span(), format!("unknown action `{word}`; {hint}"));
                    return None;
                }
            }
            "desc" => row.description = source.expect_string("desc", value).map(str::to_owned),
            "hint" => row.footer_label = source.expect_string("hint", value).map(str::to_owned),
            other => {
                source.report(
                    name.span(),
                    format!("unknown field `{other}`; a row has on, run, desc and hint"),
                );
            }
        }
    }
    if !run || !parts.contains_key("on") {
        source.report(item.span(), "a row needs `on` (its keys) and `run` (its action)");
        return None;
    }
    (!row.keys.is_empty()).then_some(row)
}

fn parse_keys(
    source: &mut ConfigSource<'_>,
    mode: Mode,
    value: &Spanned<DeValue<'_>>,
    taken: &mut Vec<(Key, usize)>,
    keys: &mut Vec<Key>,
) {
    let list = value.get_ref().as_array();
    let items = list.map_or_else(|| vec![value], |l| l.iter().collect());
    for item in items {
        let Some(word) = source.expect_string("a key", item) else { continue };
        let key = match Key::parse(word) {
            Ok(key) => key,
            Err(reason) => {
                source.report(item.span(), reason);
                continue;
            }
        };
        if let Some((_, line)) = taken.iter().find(|t| t.0 == key) {
            let reason = format!("`{word}` is already bound in `{}`, line {line}; remove one", mode.name());
            source.report(item.span(), reason);
        } else if mode.types() && key.is_character() {
            source.report(
                item.span(),
                format!("`{word}` types text in `{}`; use a key with ctrl or alt", mode.name()),
            );
        } else {
            taken.push((key, source.line_number(item.span().start)));
            keys.push(key);
        }
    }
}
