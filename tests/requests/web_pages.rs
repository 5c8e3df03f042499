//! The requests of DORA and of its baseline on one of the ten web pages of its paper, in a real Chromium.
//!
//! Runs only where `RETROSPECT_REAL` is set, with the pages where `MINIWOB_HTML` says; `required` makes their absence a failure.

use crate::matrix::STEPS;
use crate::outline::{goals_of, outlines};
use crate::play;
use crate::stand_in::{Exchange, StandIn};
use crate::worlds::World;

/// A page on which moving the mouse neither wins nor loses. Each method has its own words for it.
const PAGE: World = World {
    env: "miniwob",
    task: "click-option/1",
    actions: ["move_coords 20 80", "move_coords 30 90", "move_coords 20 80"],
    solved_task: "",
    solution: &[],
};

const XPATH_ACTIONS: [&str; 3] = ["movemouse //label[1]", "movemouse //button", "movemouse //label[1]"];

/// Returns whether web pages can be played here, and says why not past the harness, which shows only what fails.
fn has_web_pages() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has_driver = std::env::split_paths(&path).any(|folder| folder.join("chromedriver").is_file());
    let missing = match (set("RETROSPECT_REAL"), set("MINIWOB_HTML"), has_driver) {
        (false, ..) => "RETROSPECT_REAL isn't set",
        (_, false, _) => "MINIWOB_HTML doesn't say where the pages are",
        (.., false) => "there is no chromedriver on PATH",
        (true, true, true) => return true,
    };
    let is_required = std::env::var("RETROSPECT_REAL").is_ok_and(|value| value == "required");
    assert!(!is_required, "{missing}");
    eprintln!("skipped MiniWoB++: {missing}");
    false
}

/// Plays the page with these actions over and over, and numbered replies of the mentor.
fn play_page(actions: [&'static str; 3], args: &[&str]) -> Vec<Exchange> {
    play_world(&PAGE, actions.to_vec(), args)
}

fn play_world(page: &World, replies: Vec<&'static str>, args: &[&str]) -> Vec<Exchange> {
    let server = StandIn::start(move |model, _, earlier| match model {
        "actor" => replies[earlier % replies.len()].to_owned(),
        _ => format!("Rule {} of the mentor.", earlier + 1),
    });
    play(&server, page, args)
}

/// Returns the outlines of the prompts to the actor and to the mentor.
fn outlines_of(exchanges: &[Exchange]) -> [Vec<(usize, String)>; 2] {
    let goals = goals_of(exchanges);
    let (actor, mentor): (Vec<_>, Vec<_>) = exchanges.iter().partition(|exchange| exchange.is_actor());
    [actor, mentor].map(|prompts| outlines(&prompts, &goals))
}

fn expected(list: &[(usize, &str)]) -> Vec<(usize, String)> {
    list.iter().map(|(count, outline)| (*count, (*outline).to_owned())).collect()
}

#[test]
fn dora_sends_the_requests_of_its_paper_on_one_of_its_pages() {
    if !has_web_pages() {
        return;
    }
    let steps = STEPS.to_string();
    let exchanges = play_page(
        PAGE.actions,
        &["--method", "dora", "--max-steps", &steps, "--set", "n_init=1", "--set", "rounds=0"],
    );
    let [actor, mentor] = outlines_of(&exchanges);
    assert_eq!(
        actor,
        expected(&[
            (1, "system: instruction; user: task, cue"),
            (STEPS - 1, "system: instruction; user: task, steps, cue"),
            (2, "system: instruction; user: task, memory, cue"),
            (2 * (STEPS - 1), "system: instruction; user: task, memory, steps, cue"),
        ])
    );
    assert_eq!(
        mentor,
        expected(&[
            (1, "system: instruction; user: task, steps, outcome, question"),
            (2, "system: instruction; user: task, steps, outcome, memory, question"),
        ])
    );
    let question = exchanges.iter().find(|exchange| !exchange.is_actor()).unwrap().text();
    assert!(question.contains("- click_element [number]") && question.contains("<button"), "{question}");
}

/// As in the public code: a plan in its form is dropped when the number of elements changes, and one that leaves it as it is ends the
/// attempt. The order of its agent's prompt: actions, task, elements, suggestions, form of the answer.
#[test]
fn dora_plans_for_each_screen_of_a_page() {
    if !has_web_pages() {
        return;
    }
    let page = World { task: "click-collapsible-2/1", ..PAGE };
    let opens = "{\"think\": \"The first section.\", \"action\": {\"name\": \"click_element\", \"input_args_schema\": {\"ref\": 4}}}\n\
                 click_element 5";
    let replies = vec![opens, "move_coords 20 80\nmove_coords 30 90"];
    let args = ["--method", "dora", "--set", "acting=screen-plan", "--set", "miniwob.actions=code"];
    let args = [&args[..], &["--set", "n_init=1", "--set", "rounds=0", "--set", "attempts=2"]].concat();
    let exchanges = play_world(&page, replies, &args);
    let (actor, mentor): (Vec<_>, Vec<_>) = exchanges.iter().partition(|exchange| exchange.is_actor());
    assert_eq!((actor.len(), mentor.len()), (4, 2));
    let order = |text: &str, parts: &[&str]| {
        let places: Vec<Option<usize>> = parts.iter().map(|part| text.find(part)).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{parts:?}: {places:?} in {text}");
    };
    let (system, form) =
        ("This time you plan for a whole screen", "Leave out what cannot be done on this screen");
    for (index, exchange) in actor.iter().enumerate() {
        let text = exchange.text();
        let screen = format!("This is screen {} of the attempt.", index % 2 + 1);
        order(&text, &["- click_element [number]", system, "Section #1", &screen, form]);
        assert!(!text.contains("> click_element 5") && !text.contains("> move_coords"), "{text}");
    }
    order(
        &actor[1].text(),
        &["> think: The first section.", "> {\"name\": \"click_element\"", "[7] <div", "This is screen 2"],
    );
    order(&actor[2].text(), &["This is screen 1", "Rule 1 of the mentor.", form]);
    order(
        &mentor[0].text(),
        &["It planned all actions", "[7] <div", "> move_coords 30 90", "For screen 2, you should"],
    );
}

/// Regression: the preset of RCI's row set neither its view nor its actions, and the prompt listed actions that are refused.
#[test]
fn rci_sends_the_requests_of_its_code_on_one_of_the_pages() {
    if !has_web_pages() {
        return;
    }
    let steps = STEPS.to_string();
    let args = ["--preset", "dora-1-rci", "--trials", "1", "--max-steps", &steps];
    let exchanges = play_page(XPATH_ACTIONS, &args);
    // The page's HTML has the task, so no line of its own does.
    let (actor, mentor): (Vec<_>, Vec<_>) = exchanges.iter().partition(|exchange| exchange.is_actor());
    let order = |exchange: &Exchange, parts: &[&str]| {
        let text = exchange.text();
        let places: Vec<Option<usize>> = parts.iter().map(|part| text.find(part)).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{parts:?}: {places:?} in {text}");
    };
    let base = "- clickxpath [xpath]";
    let html = "<div id=\"wrap\"";
    let plans = ["Rule 1 of the mentor.", "Rule 2 of the mentor.", "Rule 3 of the mentor."];
    assert_eq!((actor.len(), mentor.len()), (STEPS, 3));
    order(mentor[0], &[base, html, "The plan, one step per line:"]);
    order(mentor[1], &[base, html, plans[0]]);
    order(mentor[2], &[base, html, plans[0], plans[1]]);
    for (step, exchange) in actor.iter().enumerate() {
        order(exchange, &[base, html, "Your plan for it:", plans[2]]);
        let text = exchange.text();
        assert_eq!(text.matches("> movemouse ").count(), step, "{text}");
        assert!(
            text.trim_end().ends_with('>') && !text.contains(plans[0]) && !text.contains(plans[1]),
            "{text}"
        );
    }
    for exchange in &exchanges {
        let text = exchange.text();
        assert!(text.contains("- clickxpath [xpath]") && !text.contains("click_element"), "{text}");
        assert!(text.contains("<div id=\"wrap\""), "{text}");
    }
    // An action by number is asked for again, then it ends the episode; without that, the page refuses it.
    let by_number = ["click_element 3", "click_element 4", XPATH_ACTIONS[0]];
    let exchanges = play_page(by_number, &args);
    assert_eq!(exchanges.iter().filter(|exchange| exchange.is_actor()).count(), 2);
    let exchanges = play_page(by_number, &[&args[..], &["--set", "form_ends=false"]].concat());
    let reminded =
        exchanges.iter().filter(|exchange| exchange.text().contains("Your last reply was not one of"));
    assert_eq!(reminded.count(), 2);
    assert!(exchanges.last().unwrap().text().contains("The action was not carried out"));
}
