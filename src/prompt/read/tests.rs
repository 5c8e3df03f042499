//! Replies as models write them: cases as data, and properties that hold for every text.

use super::*;
use crate::domain::ActionVerbs;
use serde::Deserialize;

mod properties;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Corpus<C> {
    reply: Vec<C>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListCase {
    name: String,
    text: String,
    items: Vec<String>,
    #[serde(default)]
    complaints: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ActorCase {
    name: String,
    text: String,
    thought: Option<String>,
    action: Option<String>,
    #[serde(default)]
    complaints: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanCase {
    name: String,
    text: String,
    plan: String,
    #[serde(default)]
    sections: Vec<(String, String)>,
    #[serde(default)]
    complaints: Vec<String>,
}

fn load_cases<C: for<'a> Deserialize<'a>>(text: &str) -> Vec<C> {
    toml::from_str::<Corpus<C>>(text).unwrap().reply
}

/// Formats a lesson as the corpus writes it.
fn lesson_text(text: &LessonText) -> String {
    match &text.solution {
        Some(solution) => format!("{} => {solution}", text.text),
        None => text.text.clone(),
    }
}

/// Describes how the complaints differ from the expected ones. Returns `None` if they match.
fn complaint_difference(name: &str, expected: &[String], actual: &[&str]) -> Option<String> {
    let is_equal =
        expected.len() == actual.len() && expected.iter().zip(actual).all(|(e, a)| a.contains(e.as_str()));
    (!is_equal).then(|| format!("{name}: complaints {actual:#?}, expected {expected:?}"))
}

fn assert_none_wrong(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_corpus_of_mentor_lists_is_parsed() {
    let mut wrong = Vec::new();
    for case in load_cases::<ListCase>(include_str!("tests/items.toml")) {
        let read = read_items(&case.text);
        let actual: Vec<String> = read.items.iter().map(|i| lesson_text(&i.text)).collect();
        if actual != case.items {
            wrong.push(format!("{}: {actual:#?}", case.name));
        }
        let complaints: Vec<&str> = read.complaints.iter().map(|c| c.message.as_str()).collect();
        wrong.extend(complaint_difference(&case.name, &case.complaints, &complaints));
    }
    assert_none_wrong(&wrong);
}

#[test]
fn the_corpus_of_actor_replies_is_parsed() {
    let mut wrong = Vec::new();
    for case in load_cases::<ActorCase>(include_str!("tests/actor.toml")) {
        let parsed = read_reply(&case.text);
        if (&parsed.thought, &parsed.action) != (&case.thought, &case.action) {
            wrong.push(format!("{}: {parsed:#?}", case.name));
        }
        let complaints: Vec<&str> = parsed.complaints.iter().map(String::as_str).collect();
        wrong.extend(complaint_difference(&case.name, &case.complaints, &complaints));
    }
    assert_none_wrong(&wrong);
}

#[test]
fn the_corpus_of_mentor_plans_is_parsed() {
    let mut wrong = Vec::new();
    for case in load_cases::<PlanCase>(include_str!("tests/plan.toml")) {
        let read = read_free_text(&case.text, &[]);
        if (&read.text, &read.sections) != (&case.plan, &case.sections) {
            wrong.push(format!("{}: {read:#?}", case.name));
        }
        let complaints: Vec<&str> = read.complaints.iter().map(|c| c.message.as_str()).collect();
        wrong.extend(complaint_difference(&case.name, &case.complaints, &complaints));
    }
    assert_none_wrong(&wrong);
}

/// Regression: the last item of a list that was cut off became a lesson ("Never put the mug in the coffeemachine before
/// it").
#[test]
fn an_incomplete_last_item_of_a_truncated_list_is_dropped() {
    let incomplete = "Never put the mug in the coffeemachine before it";
    let cases: &[(&str, &[&str], &[&str])] = &[
        (&format!("- Look first.\n- {incomplete}"), &["Look first."], &[incomplete]),
        (&format!("1. Look first.\n2. {incomplete}"), &["Look first."], &[incomplete]),
        (&format!("Look first.\n{incomplete}"), &["Look first."], &[incomplete]),
        (&format!("[\"Look first.\", \"{incomplete}"), &["Look first."], &[incomplete]),
        (&format!("[Look first, {incomplete}"), &["Look first"], &[incomplete]),
        (&format!("- {incomplete}"), &[], &[incomplete]),
        ("- Mistake: hit a wall Solution: turn le", &[], &["hit a wall => turn le"]),
        // The quote after a quoted word doesn't close the incomplete item.
        ("[\"Look first.\", \"Never put the \"mug\"", &["Look first."], &["Never put the \"mug"]),
        (
            "1. \"Look first.\"\n2. \"Never put the \"mug in the \"coffeemachine\"",
            &["Look first."],
            &["Never put the \"mug in the \"coffeemachine"],
        ),
        (
            "[\"Look first.\", \"Never put the \"mug\" in the \"",
            &["Look first."],
            &["Never put the \"mug\" in the"],
        ),
        (
            "{\"rule\": \"Look first.\"}\n{\"rule\": \"Never put the \"mug\"",
            &["Look first."],
            &["Never put the \"mug"],
        ),
        (
            "['Look first.', 'Don\\'t put the mug\\'s lid away.'",
            &["Look first.", "Don't put the mug's lid away."],
            &[],
        ),
        (
            "[\"Look first.\", \"Don't put the mug's lid away.\"",
            &["Look first.", "Don't put the mug's lid away."],
            &[],
        ),
        ("{\"rule\": \"Look first.\"}\n{\"rule\": \"Then take.\"", &["Look first.", "Then take."], &[]),
        // Closed by a quote, a bracket, a comma or the end of its line.
        ("[\"Look first.\", \"Then take.\"", &["Look first.", "Then take."], &[]),
        ("['Look first.', 'Then take.'", &["Look first.", "Then take."], &[]),
        ("- Look first.\n- Then take.\n", &["Look first.", "Then take."], &[]),
        ("{\"rule\": \"Look first.\"}\n{\"rule\": \"Then take.\"}", &["Look first.", "Then take."], &[]),
        ("[\"Look first.\"]\nThis list is mea", &["Look first."], &[]),
    ];
    for (reply, kept, dropped) in cases {
        let read = read_truncated_items(reply, "the token limit");
        let items: Vec<String> = read.items.iter().map(|i| lesson_text(&i.text)).collect();
        assert_eq!(&items, kept, "{reply:?}");
        let dropped_items: Vec<String> = read.dropped.iter().map(lesson_text).collect();
        assert_eq!(&dropped_items, dropped, "{reply:?}");
        assert!(dropped.is_empty() || !read.complaints.is_empty(), "{reply:?}");
    }
}

#[test]
fn a_truncated_text_is_split_after_its_last_complete_sentence_or_line() {
    for (reply, by_sentence, complete) in [
        ("Go to the shelf. Then take the", true, "Go to the shelf."),
        ("Go to the shelf. Then take the mug.", true, "Go to the shelf. Then take the mug."),
        ("1. Go to the shelf\n2. Take", true, "1. Go to the shelf\n"),
        ("Look on shelves, e.g. shelf 1", true, ""),
        ("He said \"go.\" And the", true, "He said \"go.\""),
        ("go to shelf 1.\ntake mug 1. And", false, "go to shelf 1.\n"),
        ("Take the mug to the", true, ""),
    ] {
        assert_eq!(split_truncated_text(reply, by_sentence).0, complete, "{reply:?}");
    }
}

/// Regression: "I'm sorry, but I can't help with that." became a lesson, and so did every line of an essay.
#[test]
fn refusals_prose_and_long_texts_are_not_lessons() {
    let long = format!("- {}", "word ".repeat(90));
    let dropped = [
        "I'm sorry, but I can't help with that.",
        "I’m sorry, but I can’t assist with that request.",
        "As an AI language model, I have no experience of kitchens.",
        "I cannot reflect on this trajectory.",
        "- I'm sorry, but I can't help with that.",
        "[\"I'm sorry, but I can't help with that.\"]",
        "[{\"mistake\": \"I cannot assist with that\", \"solution\": \"Ask for something else\"}]",
        "The agent went to the shelf. It found nothing there. It should try the drawers.",
        "The agent went to the shelf, and it found nothing there. Then it went\nto the drawers. There it found a mug.",
        "Could you give me the trajectory?",
        &long,
    ];
    for reply in dropped {
        let read = read_items(reply);
        assert!(read.items.is_empty() && !read.complaints.is_empty(), "{reply:?}: {read:#?}");
        assert_eq!(read.dropped.len(), 1, "{reply:?}: {read:#?}");
    }
    // The mentors' texts in the papers are accepted (OmniReflect, tables 6 to 8).
    for (reply, kept) in [
        ("- I cannot carry two things at once.", 1),
        ("Look in the fridge first. It often holds food.\nThen take it.", 2),
        ("- Go first. Then take it. Then heat it. Then put it away.", 1),
        (
            "[\"After hitting a barrier, the agent should turn left or right to explore other directions. The agent should also prioritize finding the red ball and use the go to red ball action if available.\"]",
            1,
        ),
    ] {
        let read = read_items(reply);
        assert_eq!((read.items.len(), read.dropped.len()), (kept, 0), "{reply:?}: {read:#?}");
    }
}

/// Returns the verbs of an environment with these actions, and the usual ones.
fn verbs(forms: &[&str]) -> ActionVerbs {
    let mut verbs = ActionVerbs::default();
    for form in forms {
        verbs.add_form(form);
    }
    verbs
}

/// Regression: an actor's action was used although the token limit had cut it off.
#[test]
fn the_parser_reports_whether_the_action_is_complete() {
    for reply in [
        "go to shelf 1\n",
        "go to shelf 1\nand th",
        "`go to shelf 1`",
        "\"go to shelf 1\"",
        "<action>go to shelf 1</action>",
        "{\"action\": \"go to shelf 1\"",
        "Thought: near.\nAction: go to shelf 1\nObser",
        "think: it is near\n",
        "go to shelf 1 (it is near)",
    ] {
        assert!(read_reply(reply).complete, "{reply:?}");
    }
    for reply in [
        "go to sh",
        "go to shelf 1",
        "Thought: it is ne",
        "Thought: near.\nAction: go to",
        "think: it is ne",
        "I should look. The",
        "{\"thought\": \"near\", \"act",
        "```\ngo to she",
        "{action: go to she",
        "",
    ] {
        assert!(!read_reply(reply).complete, "{reply:?}");
    }
}

/// Regression: "I need to find the mug first, so I will look on the shelf." counted as a complete step, although its
/// action was on the next line.
#[test]
fn a_line_of_prose_may_be_cut_off_before_its_action() {
    for prose in [
        "I need to find the mug first, so I will look on the shelf.",
        "The mug is probably on a shelf.",
        "To find the mug, we should look on the shelves",
        "Since the shelf was empty, the next place to look is the drawer.",
    ] {
        assert!(is_cut_short(prose, &verbs(&[])), "{prose:?}");
        let parsed = read_reply(&format!("{prose}\ngo to shelf 1"));
        assert_eq!(
            (parsed.thought.as_deref(), parsed.action.as_deref()),
            (Some(prose), Some("go to shelf 1"))
        );
    }
    // A line that can be an action and a thought-only step need no second request.
    for action in [
        "go to shelf 1",
        "Go to shelf 1.",
        "put the mug in the coffeemachine",
        "Put the mug in the coffeemachine.",
        "think: I should look on the shelf.",
        "search[Who is the president of France]",
        "take can 1 from shelf 1",
        "check if the mug is on the shelf",
        "fill-shot shot2 ingredient1 right left dispenser1",
    ] {
        assert!(!is_cut_short(action, &verbs(&["check", "fill-shot [shot]"])), "{action:?}");
        let parsed = read_reply(action);
        assert!(parsed.action.is_some() || action.starts_with("think:"), "{action:?}");
    }
}

/// Regression: reasoning without its tags, cut off by the token limit, was executed ("Okay, let's see what the
/// observation says.").
#[test]
fn prose_without_an_action_is_not_executed() {
    let paragraph =
        "Okay, let's see what the observation says. Candles are small, so they might be in a drawer.";
    let reasoning = format!(
        "{paragraph}\n\nWait, I should check which places are left.\n\nAlternatively, we could look."
    );
    for prose in [paragraph, &reasoning, "The mug is probably on a shelf."] {
        let parsed = read_reply(prose);
        assert_eq!(parsed.action, None, "{prose:?}");
        assert!(parsed.thought.is_some_and(|thought| thought.starts_with(&prose[..20])), "{prose:?}");
        assert!(can_be_reasoning(prose), "{prose:?}");
    }
    // The cut line has too few words to count as prose, and nothing distinguishes a plan in reasoning from an action
    // after prose.
    assert!(can_be_reasoning(&format!("{paragraph}\n\nAlternatively, we co")));
    assert!(can_be_reasoning("The mug is probably on a shelf.\ngo to shelf 1\n\nThen the mug is ta"));
    for marked in [
        "",
        "go to shelf 1",
        "think: I should look on the shelf.",
        "Thought: The mug is probably on a shelf.",
        "The mug is probably on a shelf.\nAction: go to shelf 1\nThe mug",
        "The mug is probably on a shelf.\n```\ngo to shelf 1",
        "{\"thought\": \"The mug is probably on a shelf.\"",
    ] {
        assert!(!can_be_reasoning(marked), "{marked:?}");
    }
}

#[test]
fn the_priority_and_heading_of_a_lesson_are_kept() {
    let read =
        read_items("## Kitchen\n- Look first.\n\n{\"hall\": [{\"priority\": \"high\", \"rule\": \"Go.\"}]}");
    let item = &read.items[0];
    assert_eq!((item.priority.as_deref(), item.heading.as_deref()), (Some("high"), Some("hall")));
    let read = read_items("## Kitchen\n- Look first.");
    assert_eq!(read.items[0].heading.as_deref(), Some("Kitchen"));
    assert!(read_items("[]").complaints.is_empty(), "an empty list is an answer");
    let unusable = read_items("[\"Look fir");
    assert!(unusable.items.is_empty() && !unusable.complaints.is_empty());
}

/// Regression: a stop at a newline cut the action off a reply with a labelled thought, and the reply counted as a
/// thought-only step.
#[test]
fn a_reply_that_ends_before_its_action_is_cut_short() {
    let cut = [
        "Thought: it is near.",
        "Thought 3: it is near.",
        "**Thought:** it is near.",
        "> Thoughts: hm",
        "Reasoning: it is near.",
        "THOUGHT:",
        "<thought>it is near</thought>",
        "Action:",
        "**Action 2:**",
        "Observation: a desk.",
        "```",
        "```json",
        "{",
        "{\"thought\": \"it is near\",",
        "<think>hm</think>Thought: it is near.",
        // The action may be on the next line.
        "I should look.",
    ];
    let complete = [
        "",
        " ",
        "go to desk 1",
        "> go to desk 1",
        // In ReAct's format, a `think:` line is a complete step.
        "think: it is near.",
        "> think: it is near.",
        "Think: it is near.",
        "Thought: it is near. Action: look",
        "Action: look",
        "{\"thought\": \"it is near\", \"action\": \"look\"}",
        "```look around```",
        "{\"action\": {\"name\": \"look\"}}",
        "thoughts come and go",
        "<think>hm",
        // Only repeats the cue of ReAct's prompt.
        ">",
        "> >",
        "**",
    ];
    for reply in cut {
        assert!(is_cut_short(reply, &verbs(&[])), "{reply:?}");
        assert_eq!(read_reply(reply).action, None, "{reply:?}");
    }
    for reply in complete {
        assert!(!is_cut_short(reply, &verbs(&[])), "{reply:?}");
    }
}

/// Regression: of fourteen replies with prose before the action, ten had the prose executed as the action.
#[test]
fn prose_before_an_action_is_not_executed() {
    for prose in [
        "Okay, let me check the drawer first.",
        "To find a candle, check the drawers first.",
        "The candle may be in the drawer.",
        "Looking at the room, the drawer seems best.",
        "First, find a candle.",
        "Find a candle.",
        "the candle is probably in the drawer, i will look there.",
        "i will look in the drawer",
        "Sure!",
        "Okay.",
        "Sure! Here is my next action:",
        "Next action:",
        "**Thought:**",
        "I should look in the drawer.",
        "Goal: put candle",
        "1. First, find a candle.",
        "Right, the drawer.",
        "<answer>",
        "<plan>",
    ] {
        assert!(is_cut_short(prose, &verbs(&[])), "{prose:?}");
        let parsed = read_reply(&format!("{prose}\ngo to drawer 1"));
        let action = parsed.action.or_else(|| parsed.thought.filter(|_| prose.contains("Thought")));
        assert_eq!(action.as_deref(), Some("go to drawer 1"), "{prose:?}");
    }
    let labelled = read_reply("Goal: put candle\nThought: it may be near.\nAction: go to drawer 1");
    assert_eq!(labelled.action.as_deref(), Some("go to drawer 1"));
    assert_eq!(read_reply("<answer>\ngo to drawer 1\n</answer>").action.as_deref(), Some("go to drawer 1"));
    assert_eq!(read_reply("<answer>go to drawer 1</answer>").action.as_deref(), Some("go to drawer 1"));
    // Lines that begin with a verb are actions, whatever punctuation they end with.
    for action in [
        "Go to drawer 1.",
        "\"go to drawer 1.\"",
        "- Open drawer 1.",
        "1. go to drawer 1, then open it",
        "look.",
        "Put the mug in the coffeemachine, then close it.",
        "left grasp shot1.",
        "fill-shot shot2 ingredient1 right left dispenser1.",
        "attack the troll",
        "north",
        "(pick ball1 rooma left).",
        "search[the candle, please.]",
    ] {
        assert!(!is_cut_short(action, &verbs(&["[hand] grasp [shot]", "fill-shot [shot]"])), "{action:?}");
        assert!(read_reply(action).action.is_some(), "{action:?}");
    }
    // In an unknown environment, such a line is still the action.
    for action in ["attack troll.", "say hello, friend", "the"] {
        assert_eq!(read_reply(action).action.as_deref(), Some(action));
        assert_eq!(read_reply(&format!("{action}\ndefend castle")).action.as_deref(), Some(action));
    }
}

/// Regression: the verbs of the built-in environments were known to the reader of every environment, and no others: with `add`, the
/// first line was executed; with `move`, the second.
#[test]
fn an_environments_verbs_tell_its_actions_from_prose() {
    let reply = |action: &str| format!("Start with the five.\n{action}");
    let read = |verbs: &ActionVerbs, action: &str| {
        let parsed = read_reply_with(verbs, &reply(action));
        (parsed.thought.unwrap_or_default(), parsed.action.unwrap_or_default())
    };
    let prose = "Start with the five.".to_owned();
    let mut only_add = ActionVerbs::NONE;
    only_add.add_form("add [number]");
    assert_eq!(read(&only_add, "add 5"), (prose.clone(), "add 5".to_owned()));
    // `Move` is no action there.
    let parsed = read_reply_with(&only_add, "Move on with the five.\nadd 5");
    assert_eq!(parsed.action.as_deref(), Some("add 5"));
    assert!(is_cut_short("Move on with the five.", &only_add) && !is_cut_short("Add 5.", &only_add));
    // Where nothing is listed, the usual verbs are known.
    assert_eq!(read(&verbs(&[]), "move 5"), (prose.clone(), "move 5".to_owned()));
    assert_eq!(read(&verbs(&[]), "add 5"), (String::new(), prose));
}

/// Regression: the screen showed `go to shelf 1`, but the invisible bytes of a window title were sent with it.
#[test]
fn control_characters_are_removed_from_an_action() {
    for reply in
        ["go to \u{1b}]0;owned\u{7}shelf 1", "go to \u{1b}[31mshelf 1\u{1b}[0m", "go to shelf\u{202e} 1"]
    {
        let parsed = read_reply(reply);
        assert_eq!(parsed.action.as_deref(), Some("go to shelf 1"), "{reply:?}");
        assert!(parsed.complaints.iter().any(|c| c.starts_with("control characters")), "{parsed:?}");
    }
}

/// Regression: refusals, thanks and a server's error message became lessons.
#[test]
fn refusals_and_error_messages_are_dropped() {
    for reply in [
        "Sorry — I can't help with that request.",
        "Sorry. I can't help with that request.",
        "Unfortunately I cannot help.",
        "I appreciate your request, but I am not able to help with that.",
        "Error: internal model failure",
        "Lo siento, no puedo ayudar con eso.",
        "- I cannot determine any mistakes from this trajectory",
        "Thank you for the trajectory. It is interesting.",
    ] {
        let read = read_items(reply);
        assert!(read.items.is_empty() && read.dropped.len() == 1, "{reply:?}: {read:#?}");
    }
    // An answer without a lesson.
    assert!(read_items("No.").items.is_empty() && read_items("No.").dropped.is_empty());
    for lesson in [
        "- I cannot find the mug in a closed drawer.",
        "Error: opened nothing",
        "Error: the agent opened a closed drawer twice",
        "- No mug is in the fridge.",
        "Sorry objects by their type before you take them.",
    ] {
        assert_eq!(read_items(lesson).items.len(), 1, "{lesson:?}");
    }
}
