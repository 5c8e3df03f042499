//! The shipped themes parse and stay readable at every colour depth.

use super::*;
use crate::ui::theme::{Role, Theme};

fn no_lookup(_: &str) -> Option<String> {
    None
}

fn shipped_themes() -> impl Iterator<Item = (&'static str, Theme)> {
    SHIPPED.iter().map(|(name, text)| {
        let (theme, problems) = Theme::parse(name, text, &no_lookup);
        assert_eq!(problems, [], "{name}");
        (*name, theme)
    })
}

fn background(theme: &Theme) -> Option<(u8, u8, u8)> {
    theme.style(Role::Background).bg.and_then(to_rgb)
}

/// Returns true for frames, bars and marks, which aren't text: a contrast of 3:1 is enough (WCAG 2.2, 1.4.11).
fn is_graphical(role: Role) -> bool {
    let name = role.name();
    name.starts_with("frame") || name.starts_with("mark") || name.starts_with("progress.")
}

#[test]
fn role_names_are_unique() {
    for role in Role::ALL {
        assert_eq!(Role::from_name(role.name()), Some(*role));
    }
}

#[test]
fn shipped_themes_can_be_read() {
    let mut measured = 0;
    for (name, theme) in shipped_themes() {
        let Some(ground) = background(&theme) else { continue };
        measured += 1;
        for role in Role::ALL {
            let style = theme.style(*role);
            let fore = style
                .fg
                .and_then(to_rgb)
                .unwrap_or_else(|| to_rgb(theme.style(Role::Text).fg.unwrap()).unwrap());
            let back = style.bg.and_then(to_rgb).unwrap_or(ground);
            let least = match (is_graphical(*role), name) {
                (true, _) => 3.0,
                (false, "contrast") => 7.0,
                (false, _) => 4.5,
            };
            let ratio = contrast_ratio(fore, back);
            assert!(ratio >= least, "{name}: {} has contrast {ratio:.2}:1, needs {least}:1", role.name());
            // A selected row keeps the text colours of its contents.
            let chosen = theme.style(Role::Selection).bg.and_then(to_rgb).unwrap();
            if style.bg.is_none() && !is_graphical(*role) {
                assert!(contrast_ratio(fore, chosen) >= 4.5, "{name}: {} on the selection", role.name());
            }
        }
    }
    assert_eq!(measured, 5);
}

/// Minimum contrast of the selected row with the rows around it. More would take it from its texts, which need 4.5:1; the row
/// is marked by a sign at its left and bold text as well.
const MIN_SELECTION_CONTRAST: f64 = 1.6;

/// Regression: in the light theme the selected row had a contrast of 1.2:1 with its neighbours, and was hardly seen.
#[test]
fn a_selected_row_is_seen_at_a_glance() {
    for (name, theme) in shipped_themes() {
        let selection = theme.style(Role::Selection);
        let Some(ground) = background(&theme) else {
            assert!(selection.add_modifier.contains(Modifier::REVERSED), "{name}");
            continue;
        };
        let ratio = contrast_ratio(selection.bg.and_then(to_rgb).unwrap(), ground);
        assert!(ratio >= MIN_SELECTION_CONTRAST, "{name}: {ratio:.2}:1");
        assert!(selection.add_modifier.contains(Modifier::BOLD), "{name}");
    }
}

#[test]
fn default_theme_is_readable_on_any_background() {
    let theme = Theme::default();
    for role in Role::ALL {
        let style = theme.style(*role);
        assert_eq!(style.bg, None, "{}", role.name());
        let safe = [None, Some(Color::Red), Some(Color::Green), Some(Color::Cyan), Some(Color::Magenta)];
        assert!(safe.contains(&style.fg), "{} may vanish on black or white", role.name());
    }
}

#[test]
fn default_theme_keeps_the_terminal_text_colour() {
    let theme = Theme::default();
    let read = |name: &str| {
        let first = name.split('.').next().unwrap_or(name);
        let texts = ["text", "observation", "thought", "proposal", "lesson", "origin", "diff"];
        // What a person did is told apart at a glance, as are actions and what failed, which are short.
        let is_short = name.ends_with("human") || name.ends_with("failed");
        !is_short && texts.contains(&first) || name == "input" || name == "reflection"
    };
    let mut seen = 0;
    for role in Role::ALL.iter().filter(|r| read(r.name())) {
        seen += 1;
        assert_eq!(theme.style(*role).fg, None, "{} is text and has a colour of its own", role.name());
    }
    assert!(seen > 25, "{seen}");
    // ANSI blue is hard to read on black in most terminals, so no role uses it.
    assert!(Role::ALL.iter().all(|r| theme.style(*r).fg != Some(Color::Blue)));
}

/// Regression: in a terminal of sixteen colours, thoughts and observations were told apart by a slant only, and actions from headings
/// by nothing.
#[test]
fn default_theme_tells_what_a_step_has_apart_without_a_slant() {
    let theme = Theme::default();
    let kinds = [
        Role::Thought,
        Role::Action,
        Role::Observation,
        Role::Abstract,
        Role::Error,
        Role::Progress,
        Role::Person,
        Role::Title,
    ];
    let seen = |role: Role| {
        let style = theme.style(role);
        (style.fg, style.add_modifier - Modifier::ITALIC)
    };
    for (place, a) in kinds.iter().enumerate() {
        for b in &kinds[place + 1..] {
            assert_ne!(seen(*a), seen(*b), "{a:?} and {b:?}");
        }
    }
}

#[test]
fn mono_has_no_colours_but_distinct_styles() {
    let theme = Theme::from_shipped("mono");
    for role in Role::ALL {
        assert_eq!((theme.style(*role).fg, theme.style(*role).bg), (None, None));
    }
    let pairs = [
        (Role::Thought, Role::Action),
        (Role::LessonOff, Role::Lesson),
        (Role::Selection, Role::Text),
        (Role::Added, Role::Removed),
        (Role::ProgressFull, Role::ProgressEmpty),
        (Role::Action, Role::Observation),
        (Role::MarkPerson, Role::MarkReflection),
        (Role::TitleFocus, Role::Title),
    ];
    for (a, b) in pairs {
        assert_ne!(theme.style(a), theme.style(b), "{a:?} and {b:?}");
    }
}

/// Regression: `mono` had no actions, and marks of persons were as dim as all others, since a role that a theme leaves out looks
/// like the first part of its name, or like plain text.
#[test]
fn a_shipped_theme_leaves_out_no_role() {
    for (name, text) in SHIPPED {
        let (mut named, mut next) = (Vec::new(), Some(text.to_owned()));
        while let Some(source) = next.take() {
            let table: toml::Table = source.parse().unwrap();
            let roles = table.get("role").and_then(toml::Value::as_table);
            named.extend(roles.into_iter().flat_map(|roles| roles.keys().cloned()));
            let parent = table.get("inherits").and_then(toml::Value::as_str);
            next = parent.map(|parent| Theme::shipped_source(parent).unwrap().to_owned());
        }
        let is_left_out = |role: &&Role| !named.iter().any(|name| name == role.name());
        let left_out: Vec<&str> = Role::ALL.iter().filter(is_left_out).map(|role| role.name()).collect();
        assert_eq!(left_out, [""; 0], "{name}");
    }
}

/// Regression: guidance was brighter than the instructions beside it.
#[test]
fn mono_dims_guidance_like_instructions() {
    let theme = Theme::from_shipped("mono");
    assert_eq!(theme.style(Role::OriginGuidance), theme.style(Role::OriginInstruction));
    assert!(theme.style(Role::OriginGuidance).add_modifier.contains(Modifier::DIM));
}

/// Regression: without colours, the focused title, what the goal names and search matches were all underlined.
#[test]
fn mono_tells_focus_goal_and_search_apart() {
    let theme = Theme::from_shipped("mono");
    let is_underlined = |role| theme.style(role).add_modifier.contains(Modifier::UNDERLINED);
    let is_reversed = |role| theme.style(role).add_modifier.contains(Modifier::REVERSED);
    assert!(is_underlined(Role::TitleFocus) && !is_reversed(Role::TitleFocus));
    assert!(is_reversed(Role::ThingGoal) && !is_underlined(Role::ThingGoal));
    let roles = [Role::TitleFocus, Role::ThingGoal, Role::Search, Role::SearchCurrent, Role::ThingAgent];
    for (place, a) in roles.iter().enumerate() {
        for b in &roles[place + 1..] {
            assert_ne!(theme.style(*a), theme.style(*b), "{a:?} and {b:?}");
        }
    }
}

#[test]
fn role_names_fall_back_to_their_prefix() {
    let (theme, problems) =
        Theme::parse("mine", "[role]\ntext = \"green\"\nmark = \"red\"\n\"mark.now\" = \"blue\"", &no_lookup);
    assert_eq!(problems, []);
    let colour = |role| theme.style(role).fg;
    assert_eq!(colour(Role::MarkMistake), Some(Color::Red));
    assert_eq!(colour(Role::MarkNow), Some(Color::Blue));
    assert_eq!(colour(Role::OriginTask), Some(Color::Green));
}

#[test]
fn child_palette_applies_to_inherited_roles() {
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
fn problems_are_reported_with_their_line_and_valid_roles_apply() {
    let cases = [
        ("[role]\ntext = \"red\"\ntitel = \"red\"", 3, "unknown role `titel`; did you mean `title`?"),
        ("[role]\ntext = \"red\"\ntitle = \"reed\"", 3, "unknown colour `reed`; use #rrggbb"),
        ("[palette]\nink = \"#12345\"\n[role]\ntext = \"red\"", 2, "unknown colour `#12345`"),
        ("[palette]\nrust = \"red\"\n[role]\ntext = \"red\"\nmuted = \"rast\"", 5, "did you mean `rust`?"),
        (
            "[role]\ntext = \"red\"\ntitle = 7",
            3,
            "a role is integer; it must be a colour or { fg, bg, attrs }",
        ),
        (
            "[role]\ntext = \"red\"\ntitle = { fg = \"red\", attrs = [\"blink\"] }",
            3,
            "unknown attribute `blink`",
        ),
        ("[role]\ntext = \"red\"\ntitle = { colour = \"red\" }", 3, "unknown field `colour`"),
        (
            "inherits = \"drak\"\n[role]\ntext = \"red\"",
            1,
            "unknown theme `drak`; the shipped themes are default, light",
        ),
        ("[role]\ntext = \"red\"\n[roles]", 3, "unknown key `roles`"),
        ("[role]\ntext = \"red\"\ntitle = \"", 3, "not TOML"),
    ];
    for (text, line, reason) in cases {
        let (theme, problems) = Theme::parse("mine.toml", text, &no_lookup);
        assert_eq!(problems.len(), 1, "{text:?}: {problems:?}");
        assert_eq!((problems[0].file.as_str(), problems[0].line), ("mine.toml", line), "{text:?}");
        assert!(problems[0].reason.contains(reason), "{text:?}: {}", problems[0]);
        assert_eq!(theme.style(Role::Text).fg, Some(Color::Red), "{text:?}");
    }
}

#[test]
fn inheritance_cycles_are_reported() {
    let (_, problems) = Theme::parse("a", "inherits = \"b\"", &|name| {
        Some(format!("inherits = \"{}\"", if name == "b" { "c" } else { "b" }))
    });
    assert_eq!(problems.len(), 1);
    assert!(problems[0].reason.contains("inherits itself"), "{}", problems[0]);
}

#[test]
fn depth_is_read_from_the_environment() {
    let cases: [(&[(&str, &str)], ColourDepth); 7] = [
        (&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")], ColourDepth::Rgb),
        (&[("TERM", "xterm-256color")], ColourDepth::Ansi256),
        (&[("TERM", "xterm")], ColourDepth::Ansi16),
        (&[("TERM", "xterm-direct")], ColourDepth::Rgb),
        (&[("TERM", "xterm"), ("COLORTERM", "24bit"), ("NO_COLOR", "1")], ColourDepth::None),
        (&[("TERM", "xterm"), ("NO_COLOR", "")], ColourDepth::Ansi16),
        (&[("TERM", "dumb")], ColourDepth::None),
    ];
    for (variables, depth) in cases {
        let found =
            ColourDepth::detect(|name| variables.iter().find(|v| v.0 == name).map(|v| v.1.to_owned()));
        assert_eq!(found, depth, "{variables:?}");
    }
    let utf8 = TerminalCapabilities::detect(|name| (name == "LANG").then(|| "de_DE.UTF-8".to_owned()));
    let plain = TerminalCapabilities::detect(|name| (name == "LC_ALL").then(|| "C".to_owned()));
    assert_eq!((utf8.unicode, plain.unicode), (true, false));
}

#[test]
fn colours_are_reduced_to_the_nearest() {
    let (theme, _) =
        Theme::parse("t", "[role]\ntext = \"#ff0000\"\nground = { bg = \"#000000\" }", &no_lookup);
    assert_eq!(theme.with_depth(ColourDepth::Ansi256).style(Role::Text).fg, Some(Color::Indexed(196)));
    assert_eq!(theme.with_depth(ColourDepth::Ansi16).style(Role::Text).fg, Some(Color::LightRed));
    assert_eq!(theme.with_depth(ColourDepth::Rgb), theme);
    assert_eq!(theme.with_depth(ColourDepth::None), Theme::from_shipped("mono"));
}

#[test]
fn the_nearest_of_the_palette_is_the_nearest_of_all() {
    let distance = |a: (u8, u8, u8), b: (u8, u8, u8)| {
        let part = |a: u8, b: u8, weight: i32| weight * (i32::from(a) - i32::from(b)).pow(2);
        part(a.0, b.0, 3) + part(a.1, b.1, 6) + part(a.2, b.2, 1)
    };
    // A prime step, so that no channel keeps the remainder of the others.
    for number in (0..=0xff_ff_ffu32).step_by(2_311) {
        let [_, r, g, b] = number.to_be_bytes();
        let tried = (16..=255).filter_map(|n| Some((n, to_rgb(Color::Indexed(n))?)));
        let nearest =
            tried.min_by_key(|(_, colour)| distance((r, g, b), *colour)).map(|(n, _)| Color::Indexed(n));
        assert_eq!(Some(colour::reduce(Color::Rgb(r, g, b), ColourDepth::Ansi256)), nearest, "#{number:06x}");
    }
}

#[test]
fn text_differs_from_its_background_at_every_depth() {
    for (name, theme) in shipped_themes() {
        for depth in [ColourDepth::Ansi16, ColourDepth::Ansi256] {
            let theme = theme.with_depth(depth);
            let Some(ground) = theme.style(Role::Background).bg else { continue };
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
