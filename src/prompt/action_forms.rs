//! The forms of actions that an actor's instruction lists, such as `take [object] from [place]`.

use super::forms::think_text;
use crate::domain::{ActionVerbs, Prompt, PromptRecord, SegmentLabel, SegmentOrigin, SegmentRecord, VERBS};
use crate::engine::State;
use regex::Regex;
use serde_json::Value;

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

/// Returns the forms of a line: `move [object] to [place] (elsewhere: put [object] on [place])` has two, and so has
/// `wait: passes ten units; wait1: passes one`, or `open [thing], close [thing]`. What follows a colon explains a form, and so does what
/// follows a semicolon without being one.
fn forms_of_line(line: &str) -> impl Iterator<Item = &str> {
    let (main, other) = match line.split_once(" (") {
        Some((main, rest)) => (main, rest.split_once(')').and_then(|(inside, _)| inside.split_once(": "))),
        None => (line, None),
    };
    let parts = main.split(';').enumerate().filter(|(n, part)| *n == 0 || part.contains(':'));
    let forms = parts.map(|(_, part)| part.split(':').next().unwrap_or_default());
    let forms = forms.chain(other.map(|(_, form)| form)).flat_map(|forms| forms.split(", "));
    forms.map(str::trim).filter(|form| !form.is_empty() && *form != "think")
}

/// Returns the words with which actions begin, as far as a prompt shows them (`verbs_of_texts`) or the environment lists them
/// ([`VERBS`]). They depend on the journal alone.
pub fn action_verbs(state: &State, record: &PromptRecord) -> ActionVerbs {
    let texts: Vec<_> = record.segments.iter().filter_map(|segment| text_of(state, segment)).collect();
    let mut verbs = verbs_of_texts(&texts);
    let episode = state.episode.as_deref().filter(|episode| episode.number == record.episode);
    let listed = episode.and_then(|episode| episode.shown.get(VERBS)?.as_array());
    listed.into_iter().flatten().filter_map(Value::as_str).for_each(|word| verbs.add_form(word));
    verbs
}

fn text_of<'a>(state: &'a State, segment: &SegmentRecord) -> Option<(SegmentLabel, &'a str)> {
    match &segment.origin {
        SegmentOrigin::Text(hash) => Some((segment.label, state.texts.get(&**hash)?)),
        _ => None,
    }
}

/// Returns the words with which actions begin, as far as a prompt shows them.
pub fn verbs_of_prompt(prompt: &Prompt) -> ActionVerbs {
    let texts: Vec<_> = prompt.segments.iter().map(|segment| (segment.label, &*segment.text)).collect();
    verbs_of_texts(&texts)
}

/// Returns the first words of the forms that instructions list, of what they quote, and of the actions of examples, which are lines
/// that begin with `> `. If no instruction lists forms, those that most environments know are added.
fn verbs_of_texts(texts: &[(SegmentLabel, &str)]) -> ActionVerbs {
    let of = |label: SegmentLabel| texts.iter().filter(move |text| text.0 == label).map(|text| text.1);
    let mut verbs = ActionVerbs::NONE;
    let lines = of(SegmentLabel::Instruction).flat_map(str::lines).filter_map(|line| line.strip_prefix("- "));
    // A sentence is advice.
    lines.flat_map(forms_of_line).filter(|form| !form.ends_with('.')).for_each(|form| verbs.add_form(form));
    if verbs == ActionVerbs::NONE {
        verbs = ActionVerbs::default();
    }
    let quoted = of(SegmentLabel::Instruction).flat_map(|text| text.split('`').skip(1).step_by(2));
    let shown = of(SegmentLabel::Example).flat_map(str::lines).filter_map(|line| line.strip_prefix("> "));
    quoted.chain(shown).filter(|text| think_text(text).is_none()).for_each(|action| verbs.add_form(action));
    verbs
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
