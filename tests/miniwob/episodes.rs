//! Episodes without a session.

use retrospect::domain::{StepResult, Task};
use retrospect::driver::worlds;
use retrospect::env::{EnvError, Environment, TaskOptions};
use serde_json::Value;
use std::path::PathBuf;

/// A test's name and function. It panics if it fails.
pub(crate) type Test = (&'static str, fn());

pub(crate) const TESTS: &[Test] = &[
    ("an episode does not depend on those before it", episodes_are_independent),
    ("animations end before the page is read", animations_end_before_the_page_is_read),
    ("actions that can't be carried out say why", refused_actions_say_why),
    ("a thought is no action that can't be carried out", thoughts_are_answered),
    ("elements are found by XPath in the HTML", xpaths_find_elements),
    ("places are enough for a menu", places_are_enough_for_a_menu),
    ("fields are typed", fields_are_typed),
    ("after the end nothing happens", nothing_happens_after_the_end),
];

/// Returns options with the pages, and values for others.
pub(crate) fn options(values: &[(&'static str, &str)]) -> TaskOptions {
    let pages = std::env::var_os("MINIWOB_HTML").map(PathBuf::from);
    TaskOptions {
        paths: pages.into_iter().map(|path| ("miniwob.pages", path)).collect(),
        chosen: values.iter().map(|(name, value)| (*name, (*value).to_owned())).collect(),
        ..TaskOptions::default()
    }
}

/// Returns why nothing can be played here.
pub(crate) fn check() -> Result<(), String> {
    open_with("click-color/1", &[]).map(drop).map_err(|error| error.to_string())
}

pub(crate) fn task(id: &str) -> Task {
    let (page, seed) = id.split_once('/').unwrap();
    Task {
        env: "miniwob".to_owned(),
        id: id.to_owned(),
        goal: String::new(),
        task_type: Some(page.to_owned()),
        difficulty: None,
        seed: seed.parse().unwrap(),
    }
}

pub(crate) fn open_with(id: &str, values: &[(&'static str, &str)]) -> Result<Box<dyn Environment>, EnvError> {
    worlds::open(&task(id), &options(values))
}

fn play(id: &str, values: &[(&'static str, &str)], actions: &[&str]) -> Vec<StepResult> {
    let mut world = open_with(id, values).unwrap();
    let first = world.reset().unwrap();
    let rest: Vec<StepResult> = actions.iter().map(|action| world.step(action).unwrap()).collect();
    std::iter::once(first).chain(rest).collect()
}

/// The field keeps what an earlier episode has typed, and a list its announcement, unless the page is loaded anew.
fn episodes_are_independent() {
    let second = || play("use-autocomplete/2", &[], &["focus_element_and_type_text 5 Gua"]);
    let before = second();
    let other = play("use-autocomplete/1", &[], &["focus_element_and_type_text 5 Ce", "click_element 10"]);
    assert!(!other[2].done);
    assert_eq!(second(), before);
}

/// Regression: the menu of click-pie was read while it was being drawn, so no two episodes had the same places and HTML.
fn animations_end_before_the_page_is_read() {
    let actions = ["click_element 18", "none"];
    let play = || play("click-pie/1", &[("miniwob.pause", "1")], &actions);
    let results = play();
    assert!(results[1].observation.ends_with("<tspan class=\"SVG_CLASS\"> -"), "{}", results[1].observation);
    // Nothing has moved since.
    assert_eq!((&results[2].shown, &results[2].truth), (&Value::Null, &Value::Null));
    assert_eq!(play(), results);
}

fn refused_actions_say_why() {
    let cases = [
        ("click_element 99", "there is no element 99 on the page now"),
        ("click_element -1", "-1 is a text"),
        ("click the box", "is not an action of a page"),
        ("move_coords 9000 1", "this place is outside of the page"),
        ("clickxpath //video", "no element matches //video"),
        ("clickxpath //[", "this is not an XPath"),
        ("type_field 3", "the task has no field 3"),
    ];
    let actions: Vec<&str> = cases.iter().map(|(action, _)| *action).collect();
    let results = play("click-option/1", &[("miniwob.pause", "1")], &actions);
    for ((action, why), result) in cases.iter().zip(&results[1..]) {
        let (complaint, page) = result.observation.split_once('\n').unwrap();
        assert!(!result.valid && !result.done && complaint.contains(why), "{action}: {complaint}");
        assert!(page.starts_with("[1] <body>\n") && page.ends_with("Submit"), "{action}: {page}");
    }
    let refused = play("click-option/1", &[("miniwob.actions", "rci")], &["click_element 8"]);
    assert!(!refused[1].valid);
}

/// Regression: the step details called a thought an action that was not carried out.
fn thoughts_are_answered() {
    for set in ["full", "paper", "rci"] {
        let results = play("click-color/1", &[("miniwob.actions", set)], &["think: Which box is it?"]);
        let thought = &results[1];
        assert_eq!(
            (thought.observation.as_str(), thought.valid, thought.done),
            ("OK.", true, false),
            "{set}"
        );
    }
}

fn xpaths_find_elements() {
    let actions = ["clickoption //option[text()='Bobine']", "clickxpath //button"];
    let results = play("choose-list/1", &[("miniwob.view", "html"), ("miniwob.actions", "rci")], &actions);
    let first = &results[0].observation;
    assert!(first.starts_with("<div id=\"wrap\">") && first.contains("<option>Bobine</option>"), "{first}");
    assert!(results[1].valid && results[2].won, "{results:?}");
    let hovered = play("click-menu/1", &[], &["movemouse //*[text()='Alvera']"]);
    assert!(hovered[1].valid && hovered[1].observation.contains(" Terza"), "{}", hovered[1].observation);
}

/// What `detailed` shows of the menu's entries is enough to hover over them.
fn places_are_enough_for_a_menu() {
    let mut world = open_with("click-menu/2", &[("miniwob.view", "detailed")]).unwrap();
    let first = world.reset().unwrap().observation;
    let place = |page: &str, text: &str| {
        let line = page.lines().find(|line| line.ends_with(&format!(" {text}"))).unwrap();
        let (_, rest) = line.split_once("at=\"").unwrap();
        rest.split_once('"').unwrap().0.replace(',', " ")
    };
    let open = world.step(&format!("move_coords {}", place(&first, "Evy"))).unwrap();
    let end = world.step(&format!("click_coords {}", place(&open.observation, "Tammara"))).unwrap();
    assert!(end.won, "{first}\n{}\n{end:?}", open.observation);
}

fn fields_are_typed() {
    let results =
        play("use-autocomplete/1", &[], &["focus_element_and_type_field 5 0", "press_key <Backspace>"]);
    assert!(results[1].observation.contains("value=\"Ce\""), "{}", results[1].observation);
    assert!(results[2].observation.contains("value=\"C\""), "{}", results[2].observation);
}

fn nothing_happens_after_the_end() {
    let results = play("click-color/1", &[], &["click_element 5", "click_element 7"]);
    assert!(
        results[1].done && !results[1].won && (results[1].reward + 1.0).abs() < f64::EPSILON,
        "{results:?}"
    );
    assert_eq!((results[2].observation.as_str(), results[2].valid), ("The episode is over.", false));
    // What a person may see: where the elements are, the page's HTML, and its picture at the end.
    let places =
        results[0].shown["page"].as_array().unwrap().iter().map(|row| row["box"].as_array().unwrap().len());
    assert!(places.clone().count() > 4 && places.min() == Some(4), "{}", results[0].shown);
    assert!(results[0].truth["html"].as_str().unwrap().starts_with("<div id=\"wrap\">"), "{:?}", results[0]);
    let url = retrospect::domain::screenshot_url(&results[1].truth).unwrap();
    assert!(url.starts_with("data:image/png;base64,iVBOR") && url.len() < 100_000, "{} bytes", url.len());
    let mut options = options(&[]);
    options.local_words.insert("miniwob.screenshot", "never".to_owned());
    let mut world = worlds::open(&task("click-color/1"), &options).unwrap();
    world.reset().unwrap();
    assert_eq!(world.step("click_element 5").unwrap().truth, Value::Null);
}
