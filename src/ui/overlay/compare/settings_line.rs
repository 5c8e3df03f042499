//! The header's line of what the runs differ in: `settings  method A | B  · seed 0 | 5  · 4 more`.

use crate::text::{truncate, width};
use crate::timeline::compare::ComparisonEntry;
use crate::ui::glyphs::Glyphs;
use crate::ui::theme::Role;
use crate::ui::widget::window::Line;

/// What a person looks for first, in this order.
const FIRST: [&str; 3] = ["method", "actor", "mentor"];
/// The most columns of a value, from the roomiest form to the tightest.
const VALUE_COLUMNS: [usize; 5] = [usize::MAX, 32, 20, 14, 12];
/// The columns between two settings.
const GAP_COLUMNS: usize = 3;
/// The fewest columns of a common beginning that is left out.
const MIN_PREFIX_COLUMNS: usize = 5;

/// Returns the settings that differ in one line of at most so many columns, the baseline's value first. Values are shortened as
/// far as needed. What doesn't fit then is counted, and what only one side has comes last. The details list everything.
pub(super) fn line(label: &str, entries: &[ComparisonEntry], columns: usize, glyphs: &Glyphs) -> Line {
    let mut entries: Vec<&ComparisonEntry> = entries.iter().filter(|entry| entry.differs()).collect();
    entries.sort_by_key(|entry| {
        let is_one_sided = entry.left.is_none() || entry.right.is_none();
        (is_one_sided, FIRST.iter().position(|name| *name == entry.name).unwrap_or(FIRST.len()))
    });
    let room = columns.saturating_sub(width(label) + 2);
    let form = |most| -> Vec<Line> { entries.iter().map(|entry| setting(entry, most, glyphs)).collect() };
    let forms = VALUE_COLUMNS.map(form);
    let fits = |form: &&Vec<Line>| {
        form.iter().map(|one| columns_of(one) + GAP_COLUMNS).sum::<usize>() <= room + GAP_COLUMNS
    };
    let shown = forms.iter().find(fits).unwrap_or(&forms[VALUE_COLUMNS.len() - 1]);
    let gap = || (Role::Muted, format!(" {} ", glyphs.separator));
    let (mut line, mut used, mut omitted) = (vec![(Role::Warning, format!("{label}  "))], 0, 0);
    for (index, one) in shown.iter().enumerate() {
        let before = if line.len() > 1 { GAP_COLUMNS } else { 0 };
        let others = omitted + shown.len() - index - 1;
        let after = if others > 0 { GAP_COLUMNS + width(&more(others)) } else { 0 };
        if used + before + columns_of(one) + after > room && (line.len() > 1 || others > 0) {
            omitted += 1;
            continue;
        }
        line.extend((before > 0).then(gap));
        line.extend(one.iter().cloned());
        used += before + columns_of(one);
    }
    if omitted > 0 {
        line.extend((line.len() > 1).then(gap));
        line.push((Role::Muted, more(omitted)));
    }
    line
}

/// Returns the values of one setting that differs, to stand in the columns of the sides: `seed 0` and `seed 5`. `None` if several
/// settings differ.
pub(super) fn in_columns(entries: &[ComparisonEntry]) -> Option<(String, String)> {
    let mut differing = entries.iter().filter(|entry| entry.differs());
    let entry = differing.next().filter(|_| differing.next().is_none())?;
    let side = |value: &Option<String>| format!("{} {}", entry.name, value.as_deref().unwrap_or("-"));
    Some((side(&entry.left), side(&entry.right)))
}

fn more(count: usize) -> String {
    format!("{count} more")
}

/// Returns a setting with both values: `seed 0 | 5`. Where they are shortened, a beginning that both have is left out.
fn setting(entry: &ComparisonEntry, most: usize, glyphs: &Glyphs) -> Line {
    let [left, right] = [&entry.left, &entry.right].map(|value| value.as_deref().unwrap_or("-").to_owned());
    let is_long = width(&left).max(width(&right)) > most;
    let prefix = if is_long { common_prefix(&left, &right) } else { 0 };
    let value = |text: &str| match prefix {
        0 => cut(text, most, glyphs),
        _ => format!("{}{}", glyphs.ellipsis, cut(&text[prefix..], most - width(glyphs.ellipsis), glyphs)),
    };
    vec![
        (Role::Muted, format!("{} ", entry.name)),
        (Role::SideA, value(&left)),
        (Role::FrameOverlay, " | ".replace('|', glyphs.box_drawing[1 | 4])),
        (Role::SideB, value(&right)),
    ]
}

/// Returns the length of what both values begin with, up to the end of a word; 0 if it isn't worth leaving out.
fn common_prefix(left: &str, right: &str) -> usize {
    let equal = left.char_indices().zip(right.chars()).take_while(|((_, a), b)| a == b);
    let words = equal.filter(|((_, c), _)| !c.is_alphanumeric()).map(|((at, c), _)| at + c.len_utf8());
    words.last().filter(|end| width(&left[..*end]) >= MIN_PREFIX_COLUMNS).unwrap_or(0)
}

fn columns_of(setting: &Line) -> usize {
    setting.iter().map(|(_, text)| width(text)).sum()
}

/// Cuts a value at the end of a word, if one ends in the second half of the columns, and marks it with an ellipsis.
fn cut(text: &str, most: usize, glyphs: &Glyphs) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if width(&text) <= most {
        return text;
    }
    let cut = truncate(&text, most, glyphs.ellipsis);
    let kept = cut.strip_suffix(glyphs.ellipsis).unwrap_or(&cut);
    let next = text.get(kept.len()..).and_then(|rest| rest.chars().next());
    if next.is_none_or(|c| !c.is_alphanumeric()) {
        return cut;
    }
    match kept.rfind(|c: char| !c.is_alphanumeric()) {
        Some(end) if 2 * width(&kept[..end]) >= most => format!("{}{}", &kept[..end], glyphs.ellipsis),
        _ => cut,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::glyphs::UNICODE;

    fn entries() -> Vec<ComparisonEntry> {
        let entry = |name: &str, left: Option<&str>, right: Option<&str>| ComparisonEntry {
            topic: "settings",
            name: name.to_owned(),
            left: left.map(str::to_owned),
            right: right.map(str::to_owned),
        };
        vec![
            entry("generation", None, Some("symbolic")),
            entry("interface", Some("react"), Some("react")),
            entry("actor", Some("openai:llama-3.1-8b-instruct-awq-int4"), Some("openai:qwen2.5-7b-instruct")),
            entry("method", Some("react"), Some("omnireflect")),
            entry("seed", Some("0"), Some("5")),
        ]
    }

    fn text(columns: usize) -> String {
        line("settings", &entries(), columns, &UNICODE).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn what_differs_is_listed_baseline_first_and_what_one_side_has_last() {
        assert_eq!(
            text(200),
            "settings  method react │ omnireflect · actor openai:llama-3.1-8b-instruct-awq-int4 │ openai:qwen2.5-7b-instruct · seed 0 │ 5 · generation - │ symbolic"
        );
    }

    #[test]
    fn long_values_end_with_a_word_and_what_does_not_fit_is_counted() {
        for (columns, expected) in [
            (
                140,
                "settings  method react │ omnireflect · actor …llama-3.1-8b-instruct-awq-int4 │ …qwen2.5-7b-instruct · seed 0 │ 5 · generation - │ symbolic",
            ),
            (
                120,
                "settings  method react │ omnireflect · actor …llama-3.1-8b… │ …qwen2.5-7b… · seed 0 │ 5 · generation - │ symbolic",
            ),
            (90, "settings  method react │ omnireflect · actor …llama-3.1… │ …qwen2.5-7b… · 2 more"),
            (75, "settings  method react │ omnireflect · seed 0 │ 5 · 2 more"),
            (56, "settings  method react │ omnireflect · 3 more"),
        ] {
            assert_eq!(text(columns), expected, "{columns}");
        }
        for columns in 40..200 {
            let text = text(columns);
            assert!(width(&text) <= columns, "{columns}: {text}");
            assert!(!text.contains("interface"), "{text}");
        }
    }
}
