//! The forms of actions that an actor's instruction lists, such as `take [object] from [place]`.

use regex::Regex;

/// Returns whether an action has one of the forms that an instruction lists: one in each line that begins with `- `, others in
/// parentheses after it, and words in back quotes. If no line lists one, any action is accepted, and so is every thought.
pub(super) fn accept(instruction: &str, action: &str) -> bool {
    let action = action.trim();
    if action.is_empty() || action.to_lowercase().starts_with("think:") {
        return true;
    }
    let lines = instruction.lines().filter_map(|line| line.strip_prefix("- "));
    let listed: Vec<&str> = lines.flat_map(forms_of_line).collect();
    if listed.is_empty() {
        return true;
    }
    let quoted = instruction.split('`').skip(1).step_by(2);
    listed.into_iter().chain(quoted).any(|form| has_form(form, action))
}

/// Returns the forms of a line: `move [object] to [place] (elsewhere: put [object] on [place])` has two. What follows a colon
/// or a semicolon explains the form.
fn forms_of_line(line: &str) -> impl Iterator<Item = &str> {
    let (main, other) = match line.split_once(" (") {
        Some((main, rest)) => (main, rest.split_once(')').and_then(|(inside, _)| inside.split_once(": "))),
        None => (line, None),
    };
    let end = main.find([':', ';']).unwrap_or(main.len());
    let forms = std::iter::once(&main[..end]).chain(other.map(|(_, form)| form));
    forms.map(str::trim).filter(|form| !form.is_empty() && *form != "think")
}

/// Returns whether an action has a form, in which each pair of brackets stands for one or more words, or for one of those that
/// it lists with `|` between them.
fn has_form(form: &str, action: &str) -> bool {
    let mut pattern = String::from("(?is)^");
    let mut rest = form;
    while let Some((literal, (inside, after))) =
        rest.split_once('[').and_then(|(literal, bracket)| Some((literal, bracket.split_once(']')?)))
    {
        pattern.push_str(&regex::escape(literal));
        if inside.contains('|') {
            let words: Vec<String> = inside.split('|').map(regex::escape).collect();
            pattern.push('(');
            pattern.push_str(&words.join("|"));
            pattern.push(')');
        } else {
            pattern.push_str(".+");
        }
        rest = after;
    }
    pattern.push_str(&regex::escape(rest));
    pattern.push('$');
    // A form is a short text, so its pattern is never too large.
    Regex::new(&pattern).is_ok_and(|pattern| pattern.is_match(action))
}

#[cfg(test)]
mod tests {
    use super::*;

    const INSTRUCTION: &str = "Reply with a single line.\n\
        - go to [place]\n\
        - move [object] to [place] (in some rooms: put [object] in/on [place])\n\
        - toggle: opens a door\n\
        - go through [closed door] [number]; you need a key\n\
        - [hand] grasp [container]\n\
        - press [enter|space]\n\
        - drop\n\
        - think: [a short thought]\n\
        If nothing helps, `check valid actions` lists what you can do.\n";

    #[test]
    fn actions_of_the_listed_forms_are_accepted() {
        for action in [
            "go to shelf 1",
            "Go to Shelf 1",
            "move apple 1 to shelf 2",
            "put apple 1 in/on shelf 2",
            "toggle",
            "go through red door 1",
            "left grasp shot1",
            "press Enter",
            "drop",
            " drop ",
            "think: where is it?",
            "check valid actions",
        ] {
            assert!(accept(INSTRUCTION, action), "{action}");
        }
    }

    #[test]
    fn other_actions_are_not() {
        for action in [
            "go shelf 1",
            "drop apple 1",
            "toggle the door",
            "grasp",
            "I will go to shelf 1",
            "move apple 1",
            "press f1",
        ] {
            assert!(!accept(INSTRUCTION, action), "{action}");
        }
    }

    #[test]
    fn an_instruction_without_forms_accepts_anything() {
        assert!(accept("Write an action; `look around` describes everything.", "fly away"));
        assert!(accept("", "fly away"));
    }
}
