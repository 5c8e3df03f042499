//! Theme files.

use super::{Problem, Role, Theme, colour};
use crate::ui::source::{Source, nearest};
use ratatui::style::{Color, Modifier, Style};
use std::collections::BTreeMap;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Themes that may stand behind each other.
const GENERATIONS: usize = 8;

/// Colours and looks by name, gathered over a theme and those it inherits from.
#[derive(Default)]
struct Known {
    palette: BTreeMap<String, Color>,
    looks: BTreeMap<String, Look>,
}

/// A look as a file gives it, before its colours are looked up: a child's palette also repaints what it inherits.
#[derive(Clone, Debug, Default)]
struct Look {
    fg: Option<String>,
    bg: Option<String>,
    attrs: Modifier,
}

pub(super) fn theme(
    file: &str,
    text: &str,
    lookup: &dyn Fn(&str) -> Option<String>,
) -> (Theme, Vec<Problem>) {
    let mut known = Known::default();
    let mut problems = Vec::new();
    gather(file, text, lookup, &mut Vec::new(), &mut known, &mut problems);
    let colour = |word: &String| known.palette.get(word).copied().or_else(|| colour::parse(word));
    let theme = Theme::resolve(|name| {
        let look = known.looks.get(name)?;
        let fg = look.fg.as_ref().and_then(colour);
        let bg = look.bg.as_ref().and_then(colour);
        Some(Style { fg, bg, add_modifier: look.attrs, ..Style::new() })
    });
    (theme, problems)
}

/// Adds the parents first, then what the file itself says.
fn gather(
    file: &str,
    text: &str,
    lookup: &dyn Fn(&str) -> Option<String>,
    line: &mut Vec<String>,
    known: &mut Known,
    problems: &mut Vec<Problem>,
) {
    let (mut source, table) = Source::parse(file, text);
    if let Some(value) = table.get("inherits")
        && let Some(parent) = source.string("inherits", value)
    {
        let found = lookup(parent).or_else(|| Theme::shipped(parent).map(str::to_owned));
        if line.iter().any(|l| l == parent) || line.len() >= GENERATIONS {
            source.say(
                value.span(),
                format!("inherits goes in a circle over `{parent}`; take one of the two away"),
            );
        } else if let Some(text) = found {
            line.push(parent.to_owned());
            gather(parent, &text, lookup, line, known, problems);
        } else {
            let names: Vec<&str> = super::SHIPPED.iter().map(|t| t.0).collect();
            source
                .say(value.span(), format!("no theme is called `{parent}`; there are {}", names.join(", ")));
        }
    }
    palette(&mut source, &table, known);
    roles(&mut source, &table, known);
    for (key, _) in &table {
        if !matches!(&**key.get_ref(), "name" | "inherits" | "palette" | "role") {
            source.say(
                key.span(),
                format!("`{}` means nothing here; inherits, [palette] and [role] do", key.get_ref()),
            );
        }
    }
    source.problems.sort_by_key(|p| p.line);
    problems.extend(source.problems);
}

fn palette(source: &mut Source<'_>, table: &DeTable<'_>, known: &mut Known) {
    let Some(value) = table.get("palette") else { return };
    let Some(colours) = source.table("palette", value) else { return };
    for (name, value) in colours {
        let Some(word) = source.string("a colour", value) else { continue };
        match colour::parse(word) {
            Some(colour) => {
                known.palette.insert(name.get_ref().to_string(), colour);
            }
            None => source.say(value.span(), not_a_colour(word, known)),
        }
    }
}

fn roles(source: &mut Source<'_>, table: &DeTable<'_>, known: &mut Known) {
    let Some(value) = table.get("role") else { return };
    let Some(roles) = source.table("role", value) else { return };
    for (name, value) in roles {
        let name_text = name.get_ref();
        // A name that stands above known ones may be given a look as well: `origin`, `mark`, `progress`.
        let above = |r: &Role| r.name().strip_prefix(&**name_text).is_some_and(|rest| rest.starts_with('.'));
        if Role::named(name_text).is_none() && !Role::ALL.iter().any(above) {
            let near = nearest(name_text, Role::ALL.iter().map(|r| r.name()));
            let hint = near.map_or_else(
                || "themes/dark.toml names the roles".to_owned(),
                |n| format!("did you mean `{n}`?"),
            );
            source.say(name.span(), format!("no role is called `{name_text}`; {hint}"));
            continue;
        }
        if let Some(look) = look(source, value, known) {
            known.looks.insert(name_text.to_string(), look);
        }
    }
}

fn look(source: &mut Source<'_>, value: &Spanned<DeValue<'_>>, known: &Known) -> Option<Look> {
    if value.get_ref().is_str() {
        return Some(Look { fg: colour_word(source, value, known), ..Look::default() });
    }
    let Some(parts) = value.get_ref().as_table() else {
        let kind = value.get_ref().type_str();
        source.say(value.span(), format!("a role is {kind}; it must be a colour or {{ fg, bg, attrs }}"));
        return None;
    };
    let mut look = Look::default();
    for (key, value) in parts {
        match &**key.get_ref() {
            "fg" => look.fg = colour_word(source, value, known),
            "bg" => look.bg = colour_word(source, value, known),
            "attrs" => look.attrs = attrs(source, value),
            other => source.say(key.span(), format!("`{other}` is no part of a look; fg, bg and attrs are")),
        }
    }
    Some(look)
}

fn colour_word(source: &mut Source<'_>, value: &Spanned<DeValue<'_>>, known: &Known) -> Option<String> {
    let word = source.string("a colour", value)?;
    if known.palette.contains_key(word) || colour::parse(word).is_some() {
        return Some(word.to_owned());
    }
    source.say(value.span(), not_a_colour(word, known));
    None
}

fn not_a_colour(word: &str, known: &Known) -> String {
    let near = nearest(word, known.palette.keys().map(String::as_str));
    let hint = near.map_or_else(
        || "write #rrggbb, a number from 0 to 255, a name such as red or bright-red, default, or a name of [palette]"
            .to_owned(),
        |n| format!("did you mean `{n}`?"),
    );
    format!("`{word}` is no colour; {hint}")
}

fn attrs(source: &mut Source<'_>, value: &Spanned<DeValue<'_>>) -> Modifier {
    let mut all = Modifier::empty();
    let Some(list) = value.get_ref().as_array() else {
        source.say(value.span(), "attrs must be a list such as [\"bold\", \"underlined\"]");
        return all;
    };
    for item in list {
        let Some(word) = source.string("an attribute", item) else { continue };
        match word {
            "bold" => all |= Modifier::BOLD,
            "dim" => all |= Modifier::DIM,
            "italic" => all |= Modifier::ITALIC,
            "underlined" => all |= Modifier::UNDERLINED,
            "reversed" => all |= Modifier::REVERSED,
            "crossed-out" => all |= Modifier::CROSSED_OUT,
            _ => source.say(
                item.span(),
                format!(
                    "`{word}` is no attribute; bold, dim, italic, underlined, reversed and crossed-out are"
                ),
            ),
        }
    }
    all
}
