//! Key files.

use super::{Action, Binding, Key, Mode, Problem};
use crate::ui::source::{Source, nearest};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A row as the file gives it; without an action it only takes keys away.
pub(super) struct Row {
    pub(super) mode: Mode,
    pub(super) keys: Vec<Key>,
    action: Option<Action>,
    desc: Option<String>,
    hint: Option<String>,
}

impl Row {
    pub(super) fn binding(self) -> Option<Binding> {
        let action = self.action?;
        let desc = self.desc.unwrap_or_else(|| action.about().to_owned());
        Some(Binding { mode: self.mode, keys: self.keys, action, desc, hint: self.hint })
    }
}

pub(super) fn rows(file: &str, text: &str) -> (Vec<Row>, Vec<Problem>) {
    let (mut source, table) = Source::parse(file, text);
    let mut rows = Vec::new();
    modes(&mut source, &table, "", &mut rows);
    source.problems.sort_by_key(|p| p.line);
    (rows, source.problems)
}

/// The modes of a table; `[[search.input]]` is a table inside the one of `search`, or beside its rows in quotes.
fn modes(source: &mut Source<'_>, table: &DeTable<'_>, prefix: &str, rows: &mut Vec<Row>) {
    for (name, value) in table {
        let full = format!("{prefix}{}", name.get_ref());
        if let Some(inner) = value.get_ref().as_table() {
            modes(source, inner, &format!("{full}."), rows);
            continue;
        }
        let Some(mode) = Mode::ALL.iter().copied().find(|m| m.name() == full) else {
            let near = nearest(&full, Mode::ALL.iter().map(|m| m.name()));
            let names: Vec<&str> = Mode::ALL.iter().map(|m| m.name()).collect();
            let hint = near.map_or_else(
                || format!("there are {}", names.join(", ")),
                |n| format!("did you mean `{n}`?"),
            );
            source.say(name.span(), format!("no mode is called `{full}`; {hint}"));
            continue;
        };
        let Some(list) = value.get_ref().as_array() else {
            source.say(value.span(), format!("`{full}` must be rows that begin with [[{full}]]"));
            continue;
        };
        let mut taken: Vec<(Key, usize)> = Vec::new();
        for item in list {
            if let Some(row) = row(source, mode, item, &mut taken) {
                rows.push(row);
            }
        }
    }
}

fn row(
    source: &mut Source<'_>,
    mode: Mode,
    item: &Spanned<DeValue<'_>>,
    taken: &mut Vec<(Key, usize)>,
) -> Option<Row> {
    let parts = source.table("a row", item)?;
    let mut row = Row { mode, keys: Vec::new(), action: None, desc: None, hint: None };
    let mut run = false;
    for (name, value) in parts {
        match &**name.get_ref() {
            "on" => keys(source, mode, value, taken, &mut row.keys),
            "run" => {
                run = true;
                let word = source.string("run", value)?;
                row.action = Action::named(word);
                if row.action.is_none() && word != "none" {
                    let near = nearest(word, Action::ALL.iter().map(|a| a.name()));
                    let hint = near.map_or_else(
                        || "docs/KEYS.md lists the actions".to_owned(),
                        |n| format!("did you mean `{n}`?"),
                    );
                    source.say(value.span(), format!("no action is called `{word}`; {hint}"));
                    return None;
                }
            }
            "desc" => row.desc = source.string("desc", value).map(str::to_owned),
            "hint" => row.hint = source.string("hint", value).map(str::to_owned),
            other => {
                source.say(name.span(), format!("`{other}` is no part of a row; on, run, desc and hint are"));
            }
        }
    }
    if !run || !parts.contains_key("on") {
        source.say(item.span(), "a row needs `on` (its keys) and `run` (its action)");
        return None;
    }
    (!row.keys.is_empty()).then_some(row)
}

fn keys(
    source: &mut Source<'_>,
    mode: Mode,
    value: &Spanned<DeValue<'_>>,
    taken: &mut Vec<(Key, usize)>,
    keys: &mut Vec<Key>,
) {
    let list = value.get_ref().as_array();
    let items = list.map_or_else(|| vec![value], |l| l.iter().collect());
    for item in items {
        let Some(word) = source.string("a key", item) else { continue };
        let key = match Key::parse(word) {
            Ok(key) => key,
            Err(reason) => {
                source.say(item.span(), reason);
                continue;
            }
        };
        if let Some((_, line)) = taken.iter().find(|t| t.0 == key) {
            let reason =
                format!("`{word}` has a meaning in `{}` already, at line {line}; take one away", mode.name());
            source.say(item.span(), reason);
        } else if mode.types() && key.types() {
            source.say(
                item.span(),
                format!("`{word}` is typed as text in `{}`; use a key with ctrl or alt", mode.name()),
            );
        } else {
            taken.push((key, source.line(item.span().start)));
            keys.push(key);
        }
    }
}
