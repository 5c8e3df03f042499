//! The pages of docs/methods show exchanges with the models: those that the program sends, and a stand-in's replies.
//! `UPDATE=1 cargo test --test requests pages` writes them again.

use crate::Home;
use crate::prompter::prompter_requests;
use crate::stand_in::{Exchange, StandIn};
use retrospect::catalog::METHODS;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- exchanges: begin -->\n";
const END: &str = "<!-- exchanges: end -->\n";
const STEPS: usize = 6;

/// A page, and the runs that its exchanges are from.
struct Page {
    file: &'static str,
    /// The method whose questions it shows.
    method: &'static str,
    runs: &'static [Run],
}

struct Run {
    /// What the run is for, where a page has several.
    heading: &'static str,
    args: &'static [&'static str],
    /// What the actor replies in each attempt.
    attempts: &'static [[&'static str; STEPS]],
    /// The questions that are shown, or none for all of them and the actor's prompt.
    shown: &'static [&'static str],
}

impl Run {
    const fn whole(args: &'static [&'static str], attempts: &'static [[&'static str; STEPS]]) -> Self {
        Self { heading: "", args, attempts, shown: &[] }
    }
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

const PAGES: [Page; 9] = [
    Page {
        file: "react.md",
        method: "react",
        runs: &[Run::whole(&["--method", "react", "--as", "code"], &[WON])],
    },
    Page {
        file: "reflexion.md",
        method: "reflexion",
        runs: &[Run::whole(&["--method", "reflexion", "--as", "code", "--trials", "2"], &[LOST, WON])],
    },
    Page {
        file: "omnireflect.md",
        method: "omnireflect",
        runs: &[Run::whole(
            &["--preset", "omnireflect-1-neural", "--set", "r_freq=4", "--set", "s_freq=1"],
            &[LOST],
        )],
    },
    Page {
        file: "fcrf.md",
        method: "fcrf",
        runs: &[
            Run {
                heading: "The reading of the code",
                args: &["--method", "fcrf", "--as", "code", "--trials", "5", "--pool", "lessons.jsonl"],
                attempts: &[LOST, LOST_AGAIN, LOST, LOST_AGAIN, WON],
                shown: &[],
            },
            Run {
                heading: "The reading of the paper",
                args: &[
                    "--preset",
                    "fcrf-1",
                    "--trials",
                    "4",
                    "--pool",
                    "lessons.jsonl",
                    "--set",
                    "lesson_pool=summary",
                ],
                attempts: &[LOST, LOST, LOST_AGAIN, WON],
                shown: &["build.plan", "contrast.lesson", "summarise.lesson"],
            },
        ],
    },
    Page {
        file: "sweet-and-sour.md",
        method: "sweet_sour",
        runs: &[Run::whole(&["--preset", "sweet-and-sour-2", "--trials", "2"], &[LOST, WON])],
    },
    Page {
        file: "expel.md",
        method: "expel",
        runs: &[Run::whole(
            &["--task", "normal/put/4", "--method", "expel", "--trials", "2", "--set", "success_batch=1"],
            &[LOST, LOST_AGAIN, WON, LOST],
        )],
    },
    Page { file: "rci.md", method: "rci", runs: &[Run::whole(&["--method", "rci"], &[WON])] },
    Page {
        file: "dora.md",
        method: "dora",
        runs: &[Run::whole(
            &["--method", "dora", "--set", "n_init=2", "--set", "rounds=0"],
            &[LOST, LOST_AGAIN, WON, WON],
        )],
    },
    Page {
        file: "planning.md",
        method: "planning",
        runs: &[Run::whole(&["--preset", "fcrf-1-planning", "--trials", "1"], &[])],
    },
];

/// A question to a mentor.
struct Asked {
    /// Words that only its prompts contain; of two questions in one prompt, the one whose words come last is meant.
    words: &'static str,
    /// Its name in the catalogue.
    name: &'static str,
    title: &'static str,
    /// The stand-in's reply.
    reply: &'static str,
}

const QUESTIONS: [Asked; 20] = [
    Asked {
        words: "so that every agent can act quickly in this environment",
        name: "summarise.abstract",
        title: "Shorter list of Abstract lessons",
        reply: "['Small cleaning things lie in closed drawers.', 'Open places show their contents on arrival.']",
    },
    Asked {
        words: "so that no agent makes these mistakes again",
        name: "summarise.error",
        title: "Shorter list of Error lessons",
        reply: "[{'mistake': 'Searched open places only, or passed a closed one.', 'solution': 'Open each closed place on arrival.'}]",
    },
    Asked {
        words: "List only mistakes in the steps above",
        name: "reflect.error",
        title: "Error reflection",
        reply: "[{'mistake': 'Searched open places only.', 'solution': 'Open the drawers near the sink, one after the other.'}, \
                {'mistake': 'Stood at a closed drawer and left it.', 'solution': 'Open a drawer before leaving it.'}]",
    },
    Asked {
        words: "what helps with tasks of this type",
        name: "reflect.abstract",
        title: "Abstract reflection",
        reply: "['Open places show their contents on arrival.', 'A closed drawer shows nothing until it is opened.']",
    },
    Asked {
        words: "Which parts of the task are done",
        name: "reflect.progress",
        title: "Progress reflection",
        reply: "['Nothing is done yet.', 'Open drawer 2 and take dishsponge 1.', 'Move dishsponge 1 to garbagecan 1.']",
    },
    Asked {
        words: "\nValuable experience:",
        name: "reflect.experience",
        title: "Experience",
        reply: "Going to the places around the sink first was right: each visit showed at once what lies there.",
    },
    Asked {
        words: "The number of the most helpful lesson",
        name: "choose.lesson",
        title: "Tip from the pool",
        reply: "1: The closed drawers were never opened; open each of them before leaving it.",
    },
    Asked {
        words: "The lesson:",
        name: "contrast.lesson",
        title: "Lesson for the pool",
        reply: "The failed attempt visited open places only; the other opened a drawer before it left it.",
    },
    Asked {
        words: "Rewrite this list: state each lesson once",
        name: "summarise.lesson",
        title: "Shorter pool of lessons",
        reply: "['A failed attempt passed by a closed container; the other opened it and found the thing inside.']",
    },
    Asked { words: "\nPlan:", name: "build.plan", title: "Plan of an in-depth reflection", reply: PLAN },
    Asked { words: "\nNew plan:", name: "reflect.plan", title: "Plan", reply: PLAN },
    Asked {
        words: "why the last action worked",
        name: "reflect.positive",
        title: "Positive reflection",
        reply: "Opening the drawer worked because small things are kept in closed places. Opening each closed place on the way will help with other tasks too.",
    },
    Asked {
        words: "why the attempt failed",
        name: "reflect.negative",
        title: "Negative reflection",
        reply: "The attempt failed because it never opened a closed place. Its plan was to visit the open places around the sink. \
         At drawer 2 it should have opened the drawer. Next time: open drawer 2, take the dishsponge, move it to garbagecan 1.",
    },
    Asked {
        words: "Answer with the program from here on",
        name: "actions.plan",
        title: "Plan of all actions",
        reply: "# find the dishsponge\ngo to drawer 2\nopen drawer 2\ntake dishsponge 1 from drawer 2\n\
         assert('dishsponge 1' in 'hands') else: take dishsponge 1 from drawer 2\n# throw it away\ngo to garbagecan 1\n\
         move dishsponge 1 to garbagecan 1",
    },
    Asked {
        words: "which choices made the\ndifference",
        name: "contrast.abstract",
        title: "Insights from a failure and a success",
        reply: "ADD: Open closed places before searching the whole room.\nADD: Small cleaning things are kept in drawers.",
    },
    Asked {
        words: "what they have in common: which approach worked",
        name: "extract.abstract",
        title: "Insights from successes",
        reply: "AGREE 1\nEDIT 2: Small cleaning things are often kept in closed drawers.",
    },
    Asked {
        words: "The plan, one step per line:",
        name: "draft.plan",
        title: "First plan",
        reply: "go to sinkbasin 1\ntake dishsponge 1 from sinkbasin 1\nmove dishsponge 1 to garbagecan 1",
    },
    Asked {
        words: "The problems of this plan",
        name: "criticise.negative",
        title: "Criticism of the plan",
        reply: "It is not known where the dishsponge is, closed drawers are left out, and nobody goes to garbagecan 1.",
    },
    Asked {
        words: "The whole new plan, one step per line:",
        name: "improve.plan",
        title: "Improved plan",
        reply: "go to each drawer, open it, and look for a dishsponge\ntake the dishsponge\ngo to garbagecan 1\n\
                move the dishsponge to garbagecan 1",
    },
    Asked {
        words: "Your advice for the next attempt",
        name: "reflect.advice",
        title: "Advice",
        reply: "Go to drawer 2 first and open it; the places around the sink were empty.",
    },
];

const PLAN: &str = "I only looked at open places. Next time I'll go to drawer 2, open it, take the dishsponge and move it to garbagecan 1.";

/// Returns the question that a prompt asks.
fn question(prompt: &str) -> &'static Asked {
    let last = QUESTIONS.iter().filter_map(|asked| Some((prompt.rfind(asked.words)?, asked)));
    last.max_by_key(|(at, _)| *at).unwrap_or_else(|| panic!("what does this ask?\n{prompt}")).1
}

const TASK: [&str; 4] = ["--env", "household", "--task", "normal/put/3"];

/// Returns the exchanges of a run, and what its prompter was given (see [`prompter_requests`]).
fn exchanges(run: &'static Run) -> (Vec<Exchange>, Vec<String>) {
    let server = StandIn::start(move |model, prompt, earlier| {
        if model == "mentor" {
            return question(prompt).reply.to_owned();
        }
        run.attempts[earlier / STEPS][earlier % STEPS].to_owned()
    });
    let home = Home::new();
    let lesson = "The failed attempt left a closed cabinet without opening it; the other opened it and found the object.";
    home.add_lesson("lesson", lesson, "lessons.jsonl");
    let steps = STEPS.to_string();
    let mut args = [&["run"], &TASK[..], &["--max-steps", &steps]].concat();
    args.extend(["--actor", "openai:actor", "--mentor", "openai:mentor", "--set", "mentor_at_once=false"]);
    args.extend(run.args);
    home.run(&server, &args);
    (server.take(), prompter_requests(&home))
}

/// Writes the last exchange of each kind, in the order in which the kinds were asked first.
fn section(run: &'static Run) -> String {
    let mut kinds: Vec<(String, Exchange)> = Vec::new();
    let (exchanges, to_prompter) = exchanges(run);
    for exchange in exchanges {
        let name = if exchange.is_actor() { "" } else { question(&exchange.text()).name };
        if !run.shown.is_empty() && !run.shown.contains(&name) {
            continue;
        }
        let title = match name {
            "" => "Actor".to_owned(),
            name => format!("Mentor: {} (`{name}`)", question(&exchange.text()).title),
        };
        match kinds.iter_mut().find(|(known, _)| *known == title) {
            Some(kind) => kind.1 = exchange,
            None => kinds.push((title, exchange)),
        }
    }
    let mut out = if run.heading.is_empty() { String::new() } else { format!("### {}\n\n", run.heading) };
    let (task, args) = (TASK.join(" "), run.args.join(" "));
    let _ = writeln!(out, "```sh\nretrospect run {task} --max-steps {STEPS} {args}\n```");
    let level = if run.heading.is_empty() { "###" } else { "####" };
    for (title, exchange) in &kinds {
        let _ = write!(out, "\n{level} {title}\n\nSampling: `{}`\n\n~~~text\n", exchange.sampling());
        for (role, content) in exchange.messages() {
            let _ = writeln!(out, "---- {role}\n{}", content.trim_end());
        }
        let _ = writeln!(out, "---- reply\n{}\n~~~", exchange.reply);
    }
    if let Some(text) = to_prompter.last() {
        let _ = write!(
            out,
            "\n{level} Prompter\n\nWhat a model is given after its soft prompt, with `--prompter local:DIR` and Vicuna's form. \
             Text steering records the same pairs\nand doesn't read them.\n\n~~~text\n{text}\n~~~\n"
        );
    }
    out
}

fn path_of(page: &Page) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/methods").join(page.file)
}

fn text_of(page: &Page) -> String {
    let path = path_of(page);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn the_pages_of_the_methods_show_what_is_sent() {
    for page in &PAGES {
        let text = text_of(page);
        let (before, rest) = text.split_once(BEGIN).unwrap();
        let (old, after) = rest.split_once(END).unwrap();
        let new = page.runs.iter().map(section).collect::<Vec<_>>().join("\n");
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(path_of(page), format!("{before}{BEGIN}{new}{END}{after}")).unwrap();
        } else {
            assert!(new.contains("---- reply"), "{} shows no exchange", page.file);
            assert_eq!(old, new, "{} is out of date: UPDATE=1 cargo test --test requests pages", page.file);
        }
    }
}

/// Regression: FCRF's page lacked the summary of its pool, and had two exchanges with the same title.
#[test]
fn each_question_of_a_method_has_an_exchange_on_its_page() {
    for method in METHODS.iter() {
        let page = PAGES.iter().find(|page| page.method == method.name);
        let page = page.unwrap_or_else(|| panic!("{} has no page", method.name));
        let text = text_of(page);
        for part in text.split("\n### The reading of ") {
            let mut titles: Vec<&str> = part.lines().filter(|line| line.starts_with("###")).collect();
            titles.sort_unstable();
            assert!(titles.windows(2).all(|pair| pair[0] != pair[1]), "{}: {titles:?}", page.file);
        }
        for entry in method.questions {
            let (purpose, kind) = (entry.question.purpose.name(), entry.question.kind.name());
            let name = format!("(`{purpose}.{}`)\n", kind.to_lowercase());
            assert!(text.contains(&name), "{} shows no exchange of {name:?}", page.file);
        }
    }
}

/// The words by which a page recognises a question are those of the question with this name.
#[test]
fn the_questions_on_the_pages_have_their_names_of_the_catalogue() {
    let server = StandIn::start(|_, _, _| String::new());
    let mut seen = Vec::new();
    for method in METHODS.iter() {
        let args =
            ["run", "--method", method.name, "--dry-run", "--actor", "openai:m", "--mentor", "openai:m"];
        for prompt in Home::new().run(&server, &[&args[..], &TASK].concat()) {
            let Some(name) = prompt["question"].as_str() else { continue };
            let messages =
                prompt["messages"].as_array().unwrap_or_else(|| panic!("not asked: {prompt}")).iter();
            let text: String = messages.map(|message| message["content"].as_str().unwrap()).collect();
            assert_eq!(question(&text).name, name, "{}", method.name);
            seen.push(question(&text).name);
        }
    }
    assert!(server.take().is_empty(), "a dry run calls no model");
    assert!(QUESTIONS.iter().all(|asked| seen.contains(&asked.name)), "{seen:?}");
}
