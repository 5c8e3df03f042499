//! Every shipped theme is read, and can be told apart in every depth of colour.

use super::*;

fn none(_: &str) -> Option<String> {
    None
}

fn shipped() -> impl Iterator<Item = (&'static str, Theme)> {
    SHIPPED.iter().map(|(name, text)| {
        let (theme, problems) = Theme::parse(name, text, &none);
        assert_eq!(problems, [], "{name}");
        (*name, theme)
    })
}

fn ground(theme: &Theme) -> Option<(u8, u8, u8)> {
    theme.style(Role::Ground).bg.and_then(rgb)
}

#[test]
fn every_role_has_a_name_of_its_own() {
    for role in Role::ALL {
        assert_eq!(Role::named(role.name()), Some(*role));
    }
}

#[test]
fn shipped_themes_can_be_read() {
    let mut measured = 0;
    for (name, theme) in shipped() {
        let Some(ground) = ground(&theme) else { continue };
        measured += 1;
        for role in Role::ALL {
            let style = theme.style(*role);
            let fore =
                style.fg.and_then(rgb).unwrap_or_else(|| rgb(theme.style(Role::Text).fg.unwrap()).unwrap());
            let back = style.bg.and_then(rgb).unwrap_or(ground);
            let least = match (role.is_drawn(), name) {
                (true, _) => 3.0,
                (false, "contrast") => 7.0,
                (false, _) => 4.5,
            };
            let ratio = contrast(fore, back);
            assert!(ratio >= least, "{name}: {} has {ratio:.2}:1, {least}:1 is asked for", role.name());
            // A chosen row keeps the colours of what stands in it.
            let chosen = theme.style(Role::Chosen).bg.and_then(rgb).unwrap_or(ground);
            if style.bg.is_none() && !role.is_drawn() && name != "contrast" {
                assert!(contrast(fore, chosen) >= 4.5, "{name}: {} on the selection", role.name());
            }
        }
    }
    assert_eq!(measured, 5);
}

#[test]
fn the_default_needs_no_certain_ground() {
    let theme = Theme::default();
    for role in Role::ALL {
        let style = theme.style(*role);
        assert_eq!(style.bg, None, "{}", role.name());
        let safe = [None, Some(Color::Red), Some(Color::Green), Some(Color::Cyan), Some(Color::Magenta)];
        assert!(safe.contains(&style.fg), "{} may vanish on black or white", role.name());
    }
}

#[test]
fn in_the_default_what_is_read_has_the_colour_of_the_terminal() {
    let theme = Theme::default();
    let read = |name: &str| {
        let first = name.split('.').next().unwrap_or(name);
        let texts =
            ["text", "observation", "thought", "action", "proposal", "human", "lesson", "origin", "diff"];
        texts.contains(&first) || name == "input" || name == "reflection"
    };
    let mut seen = 0;
    for role in Role::ALL.iter().filter(|r| read(r.name())) {
        seen += 1;
        assert_eq!(theme.style(*role).fg, None, "{} is read and has a colour", role.name());
    }
    assert!(seen > 25, "{seen}");
    // ANSI blue is dark on black for most terminals, so nothing at all has it.
    assert!(Role::ALL.iter().all(|r| theme.style(*r).fg != Some(Color::Blue)));
}

#[test]
fn mono_has_no_colour_and_still_tells_apart() {
    let theme = Theme::of("mono");
    for role in Role::ALL {
        assert_eq!((theme.style(*role).fg, theme.style(*role).bg), (None, None));
    }
    let pairs = [
        (Role::Thought, Role::Action),
        (Role::LessonOff, Role::Lesson),
        (Role::Chosen, Role::Text),
        (Role::Added, Role::Removed),
        (Role::Full, Role::Empty),
        (Role::Proposal, Role::Action),
        (Role::Focus, Role::Title),
    ];
    for (a, b) in pairs {
        assert_ne!(theme.style(a), theme.style(b), "{a:?} and {b:?}");
    }
}

#[test]
fn names_fall_back_by_their_dots() {
    let (theme, problems) =
        Theme::parse("mine", "[role]\ntext = \"green\"\nmark = \"red\"\n\"mark.now\" = \"blue\"", &none);
    assert_eq!(problems, []);
    let colour = |role| theme.style(role).fg;
    assert_eq!(colour(Role::MarkMistake), Some(Color::Red));
    assert_eq!(colour(Role::MarkNow), Some(Color::Blue));
    assert_eq!(colour(Role::OriginTask), Some(Color::Green));
}

#[test]
fn a_child_repaints_what_it_inherits() {
    let parent =
        "[palette]\nink = \"red\"\n[role]\ntext = \"ink\"\ntitle = { fg = \"ink\", attrs = [\"bold\"] }";
    let (theme, problems) =
        Theme::parse("child", "inherits = \"parent\"\n[palette]\nink = \"#010203\"", &|name| {
            (name == "parent").then(|| parent.to_owned())
        });
    assert_eq!(problems, []);
    assert_eq!(theme.style(Role::Title), Style::new().fg(Color::Rgb(1, 2, 3)).add_modifier(Modifier::BOLD));
}

#[test]
fn mistakes_are_told_with_their_line_and_the_rest_counts() {
    let cases = [
        ("[role]\ntext = \"red\"\ntitel = \"red\"", 3, "no role is called `titel`; did you mean `title`?"),
        ("[role]\ntext = \"red\"\ntitle = \"reed\"", 3, "`reed` is no colour; write #rrggbb"),
        ("[palette]\nink = \"#12345\"\n[role]\ntext = \"red\"", 2, "`#12345` is no colour"),
        ("[palette]\nrust = \"red\"\n[role]\ntext = \"red\"\nmuted = \"rast\"", 5, "did you mean `rust`?"),
        (
            "[role]\ntext = \"red\"\ntitle = 7",
            3,
            "a role is integer; it must be a colour or { fg, bg, attrs }",
        ),
        (
            "[role]\ntext = \"red\"\ntitle = { fg = \"red\", attrs = [\"blink\"] }",
            3,
            "`blink` is no attribute",
        ),
        ("[role]\ntext = \"red\"\ntitle = { colour = \"red\" }", 3, "`colour` is no part of a look"),
        (
            "inherits = \"drak\"\n[role]\ntext = \"red\"",
            1,
            "no theme is called `drak`; there are default, light",
        ),
        ("[role]\ntext = \"red\"\n[roles]", 3, "`roles` means nothing here"),
        ("[role]\ntext = \"red\"\ntitle = \"", 3, "not TOML"),
    ];
    for (text, line, reason) in cases {
        let (theme, problems) = Theme::parse("mine.toml", text, &none);
        assert_eq!(problems.len(), 1, "{text:?}: {problems:?}");
        assert_eq!((problems[0].file.as_str(), problems[0].line), ("mine.toml", line), "{text:?}");
        assert!(problems[0].reason.contains(reason), "{text:?}: {}", problems[0]);
        assert_eq!(theme.style(Role::Text).fg, Some(Color::Red), "{text:?}");
    }
}

#[test]
fn circles_of_inheritance_end() {
    let (_, problems) = Theme::parse("a", "inherits = \"b\"", &|name| {
        Some(format!("inherits = \"{}\"", if name == "b" { "c" } else { "b" }))
    });
    assert_eq!(problems.len(), 1);
    assert!(problems[0].reason.contains("circle"), "{}", problems[0]);
}

#[test]
fn depth_is_read_from_the_environment() {
    let cases: [(&[(&str, &str)], Depth); 7] = [
        (&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")], Depth::Rgb),
        (&[("TERM", "xterm-256color")], Depth::Ansi256),
        (&[("TERM", "xterm")], Depth::Ansi16),
        (&[("TERM", "xterm-direct")], Depth::Rgb),
        (&[("TERM", "xterm"), ("COLORTERM", "24bit"), ("NO_COLOR", "1")], Depth::None),
        (&[("TERM", "xterm"), ("NO_COLOR", "")], Depth::Ansi16),
        (&[("TERM", "dumb")], Depth::None),
    ];
    for (variables, depth) in cases {
        let found = Depth::detect(|name| variables.iter().find(|v| v.0 == name).map(|v| v.1.to_owned()));
        assert_eq!(found, depth, "{variables:?}");
    }
    let utf8 = Ability::detect(|name| (name == "LANG").then(|| "de_DE.UTF-8".to_owned()));
    let plain = Ability::detect(|name| (name == "LC_ALL").then(|| "C".to_owned()));
    assert_eq!((utf8.unicode, plain.unicode), (true, false));
}

#[test]
fn fewer_colours_come_near() {
    let (theme, _) = Theme::parse("t", "[role]\ntext = \"#ff0000\"\nground = { bg = \"#000000\" }", &none);
    assert_eq!(theme.at(Depth::Ansi256).style(Role::Text).fg, Some(Color::Indexed(196)));
    assert_eq!(theme.at(Depth::Ansi16).style(Role::Text).fg, Some(Color::LightRed));
    assert_eq!(theme.at(Depth::Rgb), theme);
    assert_eq!(theme.at(Depth::None), Theme::of("mono"));
}

#[test]
fn letters_stay_apart_from_their_ground_in_sixteen_colours() {
    for (name, theme) in shipped() {
        for depth in [Depth::Ansi16, Depth::Ansi256] {
            let theme = theme.at(depth);
            let Some(ground) = theme.style(Role::Ground).bg else { continue };
            for role in Role::ALL {
                let style = theme.style(*role);
                assert_ne!(style.fg, Some(style.bg.unwrap_or(ground)), "{name}: {}", role.name());
                for c in [style.fg, style.bg].into_iter().flatten() {
                    assert!(!matches!(c, Color::Rgb(..)), "{name}: {}", role.name());
                }
            }
        }
    }
}
