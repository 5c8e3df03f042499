//! Search in the prompt view.

use super::overlays::{type_text, with_prompts};
use super::{TestScreen, screen_text};
use crate::ui::theme::{Role, Theme};

fn open(width: u16, height: u16) -> TestScreen {
    let mut stage = TestScreen::new(with_prompts(), width, height);
    stage.press("p");
    stage.draw();
    stage
}

/// Returns the highlighted texts, from top to bottom; the current match in brackets.
fn highlights(stage: &mut TestScreen) -> Vec<String> {
    let buffer = stage.draw();
    let (all, current) = (stage.theme.style(Role::Search), stage.theme.style(Role::SearchCurrent));
    let mut found: Vec<String> = Vec::new();
    for y in 0..buffer.area.height {
        let mut run = (String::new(), None);
        for x in 0..=buffer.area.width {
            let cell = buffer.cell((x, y)).filter(|_| x < buffer.area.width);
            let is = |style: ratatui::style::Style| {
                cell.is_some_and(|cell| {
                    (Some(cell.fg), cell.modifier) == (style.fg, style.add_modifier)
                        && cell.bg == style.bg.unwrap_or(cell.bg)
                })
            };
            let kind = if is(current) {
                Some(true)
            } else if is(all) {
                Some(false)
            } else {
                None
            };
            if kind != run.1 {
                match run {
                    (text, Some(true)) => found.push(format!("[{text}]")),
                    (text, Some(false)) => found.push(text),
                    _ => {}
                }
                run = (String::new(), kind);
            }
            run.0.extend(cell.map(|cell| cell.symbol().to_owned()));
        }
    }
    found
}

#[test]
fn a_search_unfolds_what_matches_and_moves_through_it() {
    for (w, h) in [(120, 36), (80, 24), (60, 16)] {
        let mut stage = open(w, h);
        let folded = screen_text(&stage.draw());
        assert!(folded.contains("+ 26 tokens"), "{folded}");
        stage.press("/");
        type_text(&mut stage, "TAKE");
        let shown = screen_text(&stage.draw());
        assert!(!shown.contains("+ 26 tokens") && shown.contains("Enter goes through"), "{shown}");
        insta::assert_snapshot!(format!("prompt_search_{w}x{h}"), shown);
        stage.press("Enter");
        let first = screen_text(&stage.draw());
        // The row of the search ends with its keys: `/ TAKE   1 of 3  n N next, previous; p ends`.
        let count = |shown: &str| {
            let row = shown.lines().find(|line| line.contains("next, previous")).unwrap().to_owned();
            let words: Vec<&str> = row.split_whitespace().collect();
            let of = words.iter().position(|word| *word == "of").unwrap_or_else(|| panic!("{row}"));
            (words[of - 1].to_owned(), words[of + 1].to_owned())
        };
        let (at, all) = count(&first);
        let all: usize = all.parse().unwrap();
        assert!(all >= 2, "{first}");
        // `n` and `N` move and wrap.
        let mut seen = vec![at.clone()];
        for _ in 1..all {
            stage.press("n");
            seen.push(count(&screen_text(&stage.draw())).0);
        }
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), all, "every match was visited");
        stage.press("n");
        assert_eq!(count(&screen_text(&stage.draw())).0, at);
        stage.press("N");
        stage.press("n");
        assert_eq!(count(&screen_text(&stage.draw())).0, at);
        // Esc ends the search, and folds again what it unfolded; the view stays.
        stage.press("Esc");
        stage.draw();
        for _ in 0..9 {
            stage.press("Up");
        }
        assert!(screen_text(&stage.draw()).contains("+ 26 tokens"));
        assert_eq!(stage.compositor.overlays().len(), 1);
        stage.press("Esc");
        assert!(stage.compositor.overlays().is_empty());
    }
}

#[test]
fn matches_are_highlighted_and_the_current_one_stands_out() {
    let mut stage = open(120, 36);
    let source = Theme::shipped_source("dark").unwrap();
    stage.theme = Theme::parse("dark", source, &|_| None).0;
    assert_eq!(highlights(&mut stage), Vec::<String>::new());
    stage.press("/");
    type_text(&mut stage, "you can");
    assert_eq!(highlights(&mut stage), ["[You can]"]);
    // A text without a match says so, and nothing moves.
    type_text(&mut stage, "not");
    assert_eq!(highlights(&mut stage), Vec::<String>::new());
    assert!(screen_text(&stage.draw()).contains("no match"));
    for key in ["Enter", "n"] {
        assert_eq!(stage.press(key), []);
    }
    stage.press("Esc");
    // Without a search, `n` says so instead of stepping.
    assert_eq!(stage.press("n"), []);
    assert!(stage.model.notice.as_ref().unwrap().text.contains("no search yet"));
    // An empty search ends at once; the list of changes can be searched, too.
    for key in ["/", "Enter", "d", "/"] {
        stage.press(key);
    }
    type_text(&mut stage, "about");
    assert!(screen_text(&stage.draw()).contains("1 of "), "{}", screen_text(&stage.draw()));
}
