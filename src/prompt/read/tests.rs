//! Replies as models write them: cases as data, and properties that hold for every text.

use super::*;
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
fn complaint_difference(name: &str, expected: &[String], got: &[&str]) -> Option<String> {
    let fits = expected.len() == got.len() && expected.iter().zip(got).all(|(w, g)| g.contains(w.as_str()));
    (!fits).then(|| format!("{name}: complaints {got:#?} where {expected:?} were expected"))
}

fn assert_none_wrong(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn mentors_lists() {
    let mut wrong = Vec::new();
    for case in load_cases::<ListCase>(include_str!("tests/items.toml")) {
        let read = read_items(&case.text);
        let got: Vec<String> = read.items.iter().map(|i| lesson_text(&i.text)).collect();
        if got != case.items {
            wrong.push(format!("{}: {got:#?}", case.name));
        }
        let complaints: Vec<&str> = read.complaints.iter().map(|c| c.message.as_str()).collect();
        wrong.extend(complaint_difference(&case.name, &case.complaints, &complaints));
    }
    assert_none_wrong(&wrong);
}

#[test]
fn actors_replies() {
    let mut wrong = Vec::new();
    for case in load_cases::<ActorCase>(include_str!("tests/actor.toml")) {
        let reading = read_reply(&case.text);
        if (&reading.thought, &reading.action) != (&case.thought, &case.action) {
            wrong.push(format!("{}: {reading:#?}", case.name));
        }
        let complaints: Vec<&str> = reading.complaints.iter().map(String::as_str).collect();
        wrong.extend(complaint_difference(&case.name, &case.complaints, &complaints));
    }
    assert_none_wrong(&wrong);
}

#[test]
fn mentors_plans() {
    let mut wrong = Vec::new();
    for case in load_cases::<PlanCase>(include_str!("tests/plan.toml")) {
        let read = read_plan(&case.text);
        if (&read.text, &read.sections) != (&case.plan, &case.sections) {
            wrong.push(format!("{}: {read:#?}", case.name));
        }
        let complaints: Vec<&str> = read.complaints.iter().map(|c| c.message.as_str()).collect();
        wrong.extend(complaint_difference(&case.name, &case.complaints, &complaints));
    }
    assert_none_wrong(&wrong);
}

/// Regression: "Never put the mug in the coffeemachine before it" became a lesson: the last item of a list that was cut
/// off was kept.
#[test]
fn the_last_item_of_a_list_that_was_cut_off_was_kept() {
    let by = "the token limit";
    let never = "Never put the mug in the coffeemachine before it";
    let cases: &[(&str, &[&str], &[&str])] = &[
        (&format!("- Look first.\n- {never}"), &["Look first."], &[never]),
        (&format!("1. Look first.\n2. {never}"), &["Look first."], &[never]),
        (&format!("Look first.\n{never}"), &["Look first."], &[never]),
        (&format!("[\"Look first.\", \"{never}"), &["Look first."], &[never]),
        (&format!("[Look first, {never}"), &["Look first"], &[never]),
        (&format!("- {never}"), &[], &[never]),
        ("- Mistake: hit a wall Solution: turn le", &[], &["hit a wall => turn le"]),
        // A quoted word of half a sentence closes nothing.
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
        let read = read_truncated_items(reply, by);
        let items: Vec<String> = read.items.iter().map(|i| lesson_text(&i.text)).collect();
        assert_eq!(&items, kept, "{reply:?}");
        let not_kept: Vec<String> = read.dropped.iter().map(lesson_text).collect();
        assert_eq!(&not_kept, dropped, "{reply:?}");
        assert!(dropped.is_empty() || !read.complaints.is_empty(), "{reply:?}");
    }
}

#[test]
fn a_text_that_was_cut_off_ends_with_its_last_whole_sentence_or_line() {
    for (reply, sentences, whole) in [
        ("Go to the shelf. Then take the", true, "Go to the shelf."),
        ("Go to the shelf. Then take the mug.", true, "Go to the shelf. Then take the mug."),
        ("1. Go to the shelf\n2. Take", true, "1. Go to the shelf\n"),
        ("Look on shelves, e.g. shelf 1", true, ""),
        ("He said \"go.\" And the", true, "He said \"go.\""),
        ("go to shelf 1.\ntake mug 1. And", false, "go to shelf 1.\n"),
        ("Take the mug to the", true, ""),
    ] {
        assert_eq!(split_truncated_text(reply, sentences).0, whole, "{reply:?}");
    }
}

/// Regression: "I'm sorry, but I can't help with that." became a lesson, and so did every line of an essay.
#[test]
fn refusals_prose_and_long_texts_became_lessons() {
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
        assert!(read.items.is_empty() && read.is_unusable(), "{reply:?}: {read:#?}");
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

/// Regression: an actor's action counted although the token limit had cut it off. The parser now reports whether the
/// reply shows the end of the action.
#[test]
fn whether_an_action_is_complete_was_not_known() {
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
fn prose_with_the_action_on_its_next_line_was_cut_off_by_the_newline() {
    for prose in [
        "I need to find the mug first, so I will look on the shelf.",
        "The mug is probably on a shelf.",
        "To find the mug, we should look on the shelves",
        "Since the shelf was empty, the next place to look is the drawer.",
    ] {
        assert!(is_cut_short(prose), "{prose:?}");
        let reading = read_reply(&format!("{prose}\ngo to shelf 1"));
        assert_eq!(
            (reading.thought.as_deref(), reading.action.as_deref()),
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
        assert!(!is_cut_short(action), "{action:?}");
        let reading = read_reply(action);
        assert!(reading.action.is_some() || action.starts_with("think:"), "{action:?}");
    }
}

/// Regression: "Okay, let's see what the observation says." was executed: reasoning without its markers, cut off by its
/// token limit.
#[test]
fn prose_without_an_action_was_executed() {
    let paragraph =
        "Okay, let's see what the observation says. Candles are small, so they might be in a drawer.";
    let reasoning = format!(
        "{paragraph}\n\nWait, I should check which places are left.\n\nAlternatively, we could look."
    );
    for prose in [paragraph, &reasoning, "The mug is probably on a shelf."] {
        let reading = read_reply(prose);
        assert_eq!(reading.action, None, "{prose:?}");
        assert!(reading.thought.is_some_and(|thought| thought.starts_with(&prose[..20])), "{prose:?}");
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
fn what_is_said_beside_a_lesson_is_kept_with_it() {
    let read =
        read_items("## Kitchen\n- Look first.\n\n{\"hall\": [{\"priority\": \"high\", \"rule\": \"Go.\"}]}");
    let item = &read.items[0];
    assert_eq!((item.priority.as_deref(), item.heading.as_deref()), (Some("high"), Some("hall")));
    let read = read_items("## Kitchen\n- Look first.");
    assert_eq!(read.items[0].heading.as_deref(), Some("Kitchen"));
    assert!(!read.is_unusable());
    assert!(!read_items("[]").is_unusable(), "an empty list is an answer");
    assert!(read_items("[\"Look fir").is_unusable());
}

/// Regression: a stop at a newline cut the action off a reply with a labelled thought, and the reply counted as a
/// thought-only step.
#[test]
fn a_reply_in_two_parts_that_ends_with_its_first_is_cut_short_and_a_whole_step_is_not() {
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
    let whole = [
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
        // Repeats ReAct's prompt marker.
        ">",
        "> >",
        "**",
    ];
    for reply in cut {
        assert!(is_cut_short(reply), "{reply:?}");
        assert_eq!(read_reply(reply).action, None, "{reply:?}");
    }
    for reply in whole {
        assert!(!is_cut_short(reply), "{reply:?}");
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
        assert!(is_cut_short(prose), "{prose:?}");
        let reading = read_reply(&format!("{prose}\ngo to drawer 1"));
        let action = reading.action.or_else(|| reading.thought.filter(|_| prose.contains("Thought")));
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
        assert!(!is_cut_short(action), "{action:?}");
        assert!(read_reply(action).action.is_some(), "{action:?}");
    }
    // In an unknown environment, such a line is still the action.
    for action in ["attack troll.", "say hello, friend", "the"] {
        assert_eq!(read_reply(action).action.as_deref(), Some(action));
        assert_eq!(read_reply(&format!("{action}\ndefend castle")).action.as_deref(), Some(action));
    }
}

/// Regression: the screen showed `go to shelf 1`, but the invisible bytes of a window title were sent with it.
#[test]
fn an_action_with_control_characters_is_what_is_shown() {
    for reply in
        ["go to \u{1b}]0;owned\u{7}shelf 1", "go to \u{1b}[31mshelf 1\u{1b}[0m", "go to shelf\u{202e} 1"]
    {
        let reading = read_reply(reply);
        assert_eq!(reading.action.as_deref(), Some("go to shelf 1"), "{reply:?}");
        assert!(reading.complaints.iter().any(|c| c.starts_with("control characters")), "{reading:?}");
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
    // A valid answer that contains no lesson.
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
