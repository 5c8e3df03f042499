//! The pages of docs/methods show exchanges with the models: those that the program sends, and a stand-in's replies.
//! `UPDATE=1 cargo test --test requests pages` writes them again.

use crate::stand_in::{Exchange, StandIn};
use crate::{Home, World};
use std::fmt::Write as _;
use std::path::Path;

const BEGIN: &str = "<!-- exchanges: begin -->\n";
const END: &str = "<!-- exchanges: end -->\n";
const STEPS: usize = 6;

/// A page, and the run that its exchanges are from.
struct Page {
    file: &'static str,
    args: &'static [&'static str],
    /// What the actor replies in each attempt.
    attempts: &'static [[&'static str; STEPS]],
}

const LOST: [&str; STEPS] = [
    "think: Dishsponges are used at the sink. I'll look there and on the countertops.",
    "go to sinkbasin 1",
    "go to countertop 1",
    "go to countertop 4",
    "go to drawer 2",
    "go to countertop 3",
];

const LOST_AGAIN: [&str; STEPS] = [
    "think: The places around the sink are empty. I'll look further away.",
    "go to countertop 2",
    "go to shelf 1",
    "go to shelf 2",
    "go to shelf 3",
    "go to cabinet 1",
];

const WON: [&str; STEPS] = [
    "think: The drawers are still closed. I'll open drawer 2 first.",
    "go to drawer 2",
    "open drawer 2",
    "take dishsponge 1 from drawer 2",
    "go to garbagecan 1",
    "move dishsponge 1 to garbagecan 1",
];

const PAGES: [Page; 7] = [
    Page { file: "react.md", args: &["--method", "react", "--as", "code"], attempts: &[WON] },
    Page {
        file: "reflexion.md",
        args: &["--method", "reflexion", "--as", "code", "--trials", "2"],
        attempts: &[LOST, WON],
    },
    Page {
        file: "omnireflect.md",
        args: &["--preset", "omnireflect-1-neural", "--set", "r_freq=4", "--set", "s_freq=1"],
        attempts: &[LOST],
    },
    Page {
        file: "fcrf.md",
        args: &["--method", "fcrf", "--as", "code", "--trials", "5", "--pool", "lessons.jsonl"],
        attempts: &[LOST, LOST_AGAIN, LOST, LOST_AGAIN, WON],
    },
    Page {
        file: "sweet-and-sour.md",
        args: &["--preset", "sweet-and-sour-2", "--trials", "2"],
        attempts: &[LOST, WON],
    },
    Page {
        file: "expel.md",
        args: &["--task", "normal/put/4", "--method", "expel", "--trials", "2", "--set", "success_batch=1"],
        attempts: &[LOST, LOST_AGAIN, WON, LOST],
    },
    Page { file: "planning.md", args: &["--preset", "fcrf-1-planning", "--trials", "1"], attempts: &[] },
];

/// How a prompt to the mentor is recognised, what it asks for, and the stand-in's reply.
const QUESTIONS: [(&str, &str, &str); 15] = [
    (
        "Shorten the list below",
        "Summary",
        "['Small cleaning things lie in closed drawers.', 'Open places show their contents on arrival.']",
    ),
    (
        "a Python list of dictionaries",
        "Error reflection",
        "[{'mistake': 'Searched open places only.', 'solution': 'Open the drawers near the sink, one after the other.'}]",
    ),
    (
        "what helps with tasks of this type",
        "Abstract reflection",
        "['Open places show their contents on arrival.', 'A closed drawer shows nothing until it is opened.']",
    ),
    (
        "Which parts of the task are done",
        "Progress reflection",
        "['Nothing is done yet.', 'Open drawer 2 and take dishsponge 1.', 'Move dishsponge 1 to garbagecan 1.']",
    ),
    (
        "Valuable experience:",
        "Experience",
        "Going to the places around the sink first was right: each visit showed at once what lies there.",
    ),
    (
        "The number of the most helpful lesson",
        "Tip from the pool",
        "1: The closed drawers were never opened; open each of them before leaving it.",
    ),
    (
        "The lesson:",
        "Lesson for the pool",
        "The failed attempt visited open places only; the other opened a drawer before it left it.",
    ),
    (
        "Plan:",
        "Plan",
        "I only looked at open places. Next time I'll go to drawer 2, open it, take the dishsponge and move it to garbagecan 1.",
    ),
    (
        "New plan:",
        "Plan",
        "I only looked at open places. Next time I'll go to drawer 2, open it, take the dishsponge and move it to garbagecan 1.",
    ),
    (
        "why the last action worked",
        "Positive reflection",
        "Opening the drawer worked because small things are kept in closed places. Opening each closed place on the way will help with other tasks too.",
    ),
    (
        "why the attempt failed",
        "Negative reflection",
        "The attempt failed because it never opened a closed place. Its plan was to visit the open places around the sink. \
         At drawer 2 it should have opened the drawer. Next time: open drawer 2, take the dishsponge, move it to garbagecan 1.",
    ),
    (
        "Answer with the program from here on",
        "Plan of all actions",
        "# find the dishsponge\ngo to drawer 2\nopen drawer 2\ntake dishsponge 1 from drawer 2\n\
         assert('dishsponge 1' in 'hands') else: take dishsponge 1 from drawer 2\n# throw it away\ngo to garbagecan 1\n\
         move dishsponge 1 to garbagecan 1",
    ),
    (
        "which choices made the\ndifference",
        "Insights from a failure and a success",
        "ADD: Open closed places before searching the whole room.\nADD: Small cleaning things are kept in drawers.",
    ),
    (
        "what they have in common: which approach worked",
        "Insights from successes",
        "AGREE 1\nEDIT 2: Small cleaning things are often kept in closed drawers.",
    ),
    ("", "Other", ""),
];

/// Returns title and reply of the question that a prompt asks: the one whose words come last in it.
fn question(prompt: &str) -> (&'static str, &'static str) {
    let last = QUESTIONS.iter().filter_map(|q| Some((prompt.rfind(q.0)?, q.1, q.2)));
    let found = last.filter(|(_, title, _)| *title != "Other").max_by_key(|(at, _, _)| *at);
    found.map_or_else(|| panic!("what does this ask?\n{prompt}"), |(_, title, reply)| (title, reply))
}

fn exchanges(page: &'static Page) -> Vec<Exchange> {
    let world = World { env: "household", task: "normal/put/3", actions: ["", "", ""] };
    let server = StandIn::start(move |model, prompt, earlier| {
        if model == "mentor" {
            return question(prompt).1.to_owned();
        }
        page.attempts[earlier / STEPS][earlier % STEPS].to_owned()
    });
    let home = Home::new();
    let lesson = "The failed attempt left a closed cabinet without opening it; the other opened it and found the object.";
    home.add_lesson("lesson", lesson, "lessons.jsonl");
    let steps = STEPS.to_string();
    let mut args = vec!["run", "--env", world.env, "--task", world.task, "--max-steps", &steps];
    args.extend(["--actor", "openai:actor", "--mentor", "openai:mentor", "--set", "mentor_at_once=false"]);
    args.extend(page.args);
    home.run(&server, &args);
    server.take()
}

/// Writes the last exchange of each kind, in the order in which the kinds were asked first.
fn section(page: &'static Page) -> String {
    let mut kinds: Vec<(&str, Exchange)> = Vec::new();
    for exchange in exchanges(page) {
        let title = if exchange.is_actor() { "Actor" } else { question(&exchange.text()).0 };
        match kinds.iter_mut().find(|(name, _)| *name == title) {
            Some(kind) => kind.1 = exchange,
            None => kinds.push((title, exchange)),
        }
    }
    let mut out = format!(
        "```sh\nretrospect run --env household --task normal/put/3 --max-steps {STEPS} {}\n```\n",
        page.args.join(" ")
    );
    for (title, exchange) in &kinds {
        let who = if *title == "Actor" { String::new() } else { "Mentor: ".to_owned() };
        let _ = write!(out, "\n### {who}{title}\n\nSampling: `{}`\n\n~~~text\n", exchange.sampling());
        for (role, content) in exchange.messages() {
            let _ = writeln!(out, "---- {role}\n{}", content.trim_end());
        }
        let _ = writeln!(out, "---- reply\n{}\n~~~", exchange.reply);
    }
    out
}

#[test]
fn the_pages_of_the_methods_show_what_is_sent() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/methods");
    for page in &PAGES {
        let path = folder.join(page.file);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let (before, rest) = text.split_once(BEGIN).unwrap();
        let (old, after) = rest.split_once(END).unwrap();
        let new = section(page);
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, format!("{before}{BEGIN}{new}{END}{after}")).unwrap();
        } else {
            assert!(new.contains("---- reply"), "{} shows no exchange", page.file);
            assert_eq!(old, new, "{} is out of date: UPDATE=1 cargo test --test requests pages", page.file);
        }
    }
}
