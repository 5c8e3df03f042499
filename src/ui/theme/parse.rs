//! Parses theme files.

use super::{Problem, colour};
use crate::text::nearest_name;
use crate::ui::source::ConfigSource;
use crate::ui::theme::{Role, Theme};
use ratatui::style::{Color, Modifier, Style};
use std::collections::BTreeMap;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The longest chain of themes that inherit from each other.
const MAX_INHERITANCE_DEPTH: usize = 8;

/// Colours and styles by name, collected from a theme and those it inherits from.
#[derive(Default)]
struct Definitions {
    palette: BTreeMap<String, Color>,
    styles: BTreeMap<String, RawStyle>,
}

/// A style before its colours are resolved, so that a child's palette also recolours what it inherits.
#[derive(Clone, Debug, Default)]
struct RawStyle {
    fg: Option<String>,
    bg: Option<String>,
    attrs: Modifier,
}

/// Parses a theme; see [`Theme::parse`].
pub(super) fn parse_theme(
    file: &str,
    text: &str,
    lookup: &dyn Fn(&str) -> Option<String>,
) -> (Theme, Vec<Problem>) {
    let mut known = Definitions::default();
    let mut problems = Vec::new();
    collect_definitions(file, text, lookup, &mut Vec::new(), &mut known, &mut problems);
    let colour = |word: &String| known.palette.get(word).copied().or_else(|| colour::parse(word));
    let theme = Theme::resolve(|name| {
        let style = known.styles.get(name)?;
        let fg = style.fg.as_ref().and_then(colour);
        let bg = style.bg.as_ref().and_then(colour);
        Some(Style { fg, bg, add_modifier: style.attrs, ..Style::new() })
    });
    (theme, problems)
}

/// Adds the definitions of the parents, then those of the file. `chain` holds the names of the themes inherited so far.
fn collect_definitions(
    file: &str,
    text: &str,
    lookup: &dyn Fn(&str) -> Option<String>,
    chain: &mut Vec<String>,
    known: &mut Definitions,
    problems: &mut Vec<Problem>,
) {
    let (mut source, table) = ConfigSource::parse(file, text);
    if let Some(value) = table.get("inherits")
        && let Some(parent) = source.expect_string("inherits", value)
    {
        let found = lookup(parent).or_else(|| Theme::shipped_source(parent).map(str::to_owned));
        if chain.iter().any(|name| name == parent) || chain.len() >= MAX_INHERITANCE_DEPTH {
            source.report(
                value.span(),
                format!("`{parent}` inherits itself through other themes; remove one `inherits`"),
            );
        } else if let Some(text) = found {
            chain.push(parent.to_owned());
            collect_definitions(parent, &text, lookup, chain, known, problems);
        } else {
            let names: Vec<&str> = super::SHIPPED.iter().map(|t| t.0).collect();
            source.report(
                value.span(),
                format!("unknown theme `{parent}`; the shipped themes are {}", names.join(", ")),
            );
        }
    }
    parse_palette(&mut source, &table, known);
    parse_roles(&mut source, &table, known);
    for (key, _) in &table {
        if !matches!(&**key.get_ref(), "name" | "inherits" | "palette" | "role") {
            source.report(
                key.span(),
                format!("unknown key `{}`; use inherits, [palette] or [role]", key.get_ref()),
            );
        }
    }
    source.problems.sort_by_key(|p| p.line);
    problems.extend(source.problems);
}

fn parse_palette(source: &mut ConfigSource<'_>, table: &DeTable<'_>, known: &mut Definitions) {
    let Some(value) = table.get("palette") else { return };
    let Some(colours) = source.expect_table("palette", value) else { return };
    for (name, value) in colours {
        let Some(word) = source.expect_string("a colour", value) else { continue };
        match colour::parse(word) {
            Some(colour) => {
                known.palette.insert(name.get_ref().to_string(), colour);
            }
            None => source.report(value.span(), unknown_colour_message(word, known)),
        }
    }
}

fn parse_roles(source: &mut ConfigSource<'_>, table: &DeTable<'_>, known: &mut Definitions) {
    let Some(value) = table.get("role") else { return };
    let Some(roles) = source.expect_table("role", value) else { return };
    for (name, value) in roles {
        let name_text = name.get_ref();
        // A prefix of role names, such as `origin`, `mark` or `progress`, may be styled too.
        let is_prefix_of =
            |r: &Role| r.name().strip_prefix(&**name_text).is_some_and(|rest| rest.starts_with('.'));
        if Role::from_name(name_text).is_none() && !Role::ALL.iter().any(is_prefix_of) {
            let near = nearest_name(name_text, Role::ALL.iter().map(|r| r.name()));
            let hint = near.map_or_else(
                || "themes/dark.toml lists the roles".to_owned(),
                |n| format!("did you mean `{n}`?"),
            );
            source.report(name.span(), format!("unknown role `{name_text}`; {hint}"));
            continue;
        }
        if let Some(style) = parse_style(source, value, known) {
            known.styles.insert(name_text.to_string(), style);
        }
    }
}

fn parse_style(
    source: &mut ConfigSource<'_>,
    value: &Spanned<DeValue<'_>>,
    known: &Definitions,
) -> Option<RawStyle> {
    if value.get_ref().is_str() {
        return Some(RawStyle { fg: parse_colour_name(source, value, known), ..RawStyle::default() });
    }
    let Some(parts) = value.get_ref().as_table() else {
        let kind = value.get_ref().type_str();
        source.report(value.span(), format!("a role is {kind}; it must be a colour or {{ fg, bg, attrs }}"));
        return None;
    };
    let mut style = RawStyle::default();
    for (key, value) in parts {
        match &**key.get_ref() {
            "fg" => style.fg = parse_colour_name(source, value, known),
            "bg" => style.bg = parse_colour_name(source, value, known),
            "attrs" => style.attrs = parse_attributes(source, value),
            other => {
                source.report(key.span(), format!("unknown field `{other}`; use fg, bg or attrs"));
            }
        }
    }
    Some(style)
}

fn parse_colour_name(
    source: &mut ConfigSource<'_>,
    value: &Spanned<DeValue<'_>>,
    known: &Definitions,
) -> Option<String> {
    let word = source.expect_string("a colour", value)?;
    if known.palette.contains_key(word) || colour::parse(word).is_some() {
        return Some(word.to_owned());
    }
    source.report(value.span(), unknown_colour_message(word, known));
    None
}

fn unknown_colour_message(word: &str, known: &Definitions) -> String {
    let near = nearest_name(word, known.palette.keys().map(String::as_str));
    let hint = near.map_or_else(
        || "use #rrggbb, a number from 0 to 255, an ANSI name such as bright-red, default, or a name of [palette]"
            .to_owned(),
        |n| format!("did you mean `{n}`?"),
    );
    format!("unknown colour `{word}`; {hint}")
}

fn parse_attributes(source: &mut ConfigSource<'_>, value: &Spanned<DeValue<'_>>) -> Modifier {
    let mut all = Modifier::empty();
    let Some(list) = value.get_ref().as_array() else {
        source.report(value.span(), "attrs must be a list such as [\"bold\", \"underlined\"]");
        return all;
    };
    for item in list {
        let Some(word) = source.expect_string("an attribute", item) else { continue };
        match word {
            "bold" => all |= Modifier::BOLD,
            "dim" => all |= Modifier::DIM,
            "italic" => all |= Modifier::ITALIC,
            "underlined" => all |= Modifier::UNDERLINED,
            "reversed" => all |= Modifier::REVERSED,
            "crossed-out" => all |= Modifier::CROSSED_OUT,
            _ => source.report(
                item.span(),
                format!(
                    "unknown attribute `{word}`; use bold, dim, italic, underlined, reversed or crossed-out"
                ),
            ),
        }
    }
    all
}
