//! Tests of the actor on web pages: made-up prompts, and the goals of DORA's ten pages.

use super::super::tests::{answer, prompt, segment};
use super::*;
use crate::domain::SegmentLabel;
use goal::Shape;

const LESSONS: [&str; 2] = [
    "Check every box that the task names, look at the values, and only then click Submit.",
    "A submenu opens when the mouse is over its entry; a click there counts as a wrong answer.",
];

/// Returns the actor's replies on a page: each is followed by the next of the answers.
fn replies(lessons: &[&str], goal: &str, page: &str, answers: &[&str]) -> Vec<String> {
    let mut prompt = prompt(lessons, &format!("{page}\nYour task is to: {goal}"), &[]);
    let cue = prompt.segments.pop().unwrap();
    let mut replies = vec![answer(&prompt, 7)];
    assert!(replies[0].starts_with("think: "), "{replies:?}");
    prompt.segments.push(segment(SegmentLabel::Thought, &format!("> {}\n", replies[0])));
    prompt.segments.push(segment(SegmentLabel::Observation, "OK.\n"));
    for seen in answers.iter().map(Some).chain([None]) {
        let mut with_cue = prompt.clone();
        with_cue.segments.push(cue.clone());
        let line = answer(&with_cue, 7);
        prompt.segments.push(segment(SegmentLabel::Action, &format!("> {line}\n")));
        prompt.segments.push(segment(SegmentLabel::Observation, &format!("{}\n", seen.unwrap_or(&""))));
        replies.push(line);
    }
    replies.split_off(1)
}

#[test]
fn goals_are_understood_as_far_as_possible() {
    let names = |goal: &'static str| WebGoal::parse(goal).names;
    assert_eq!(names("Select brave, chubby, depraved and click Submit."), ["brave", "chubby", "depraved"]);
    assert_eq!(names("Select words similar to brave, chubby and click Submit."), ["brave", "chubby"]);
    assert_eq!(names("Find and click on the folder or file named \"Truman\"."), ["Truman"]);
    assert_eq!(names("Select Alvera>Terza>Ludovika"), ["Alvera", "Terza", "Ludovika"]);
    assert_eq!(names("Click on a 9"), ["9"]);
    let word = WebGoal::parse(
        "Find the 12th word in the paragraph, type that into the textbox and press \"Submit\".",
    );
    assert_eq!(
        (word.word_number, word.types, word.ends_with_submit, word.names.len()),
        (Some(12), true, true, 0)
    );
    assert_eq!(WebGoal::parse("Click on a large digit").shape, Some(Shape::Digit));
    assert_eq!(WebGoal::parse(""), WebGoal::default());
}

#[test]
fn elements_are_read_with_their_attributes() {
    let page = parse_page(
        "Text\n[1] <body>\n[4] <input_text id=\"t\" value=\"a > b\"> x\n[-2] <t> one two\n[x] <b>",
    );
    let found: Vec<_> = page.iter().map(|e| (e.number, e.tag, e.id, e.value, e.text)).collect();
    assert_eq!(
        found,
        [(1, "body", "", "", ""), (4, "input_text", "t", "a > b", "x"), (-2, "t", "", "", "one two")]
    );
    assert!(is_same_text("[1] <body>\n[-1] <t> a", "[1] <body>\n[-9] <t> a"));
    assert!(!is_same_text("[1] <body>\n[-1] <t> a", "[1] <body>\n[-1] <t> b"));
}

fn is_same_text(before: &str, after: &str) -> bool {
    page::is_same(&parse_page(before), &parse_page(after))
}

#[test]
fn it_ticks_what_the_goal_names_and_submits() {
    let page = |first: &str, second: &str| {
        format!(
            "[1] <body>\n[5] <label>\n[6] <input_checkbox id=\"ch0\"{first}>\n[-1] <t> red\n[8] <input_checkbox id=\"ch1\"{second}>\n[-2] <t> blue\n[9] <button id=\"subbtn\"> Submit"
        )
    };
    let (none, one, both) =
        (page("", ""), page(" value=\"True\"", ""), page(" value=\"True\"", " value=\"True\""));
    assert_eq!(
        replies(&LESSONS, "Select red, blue and click Submit.", &none, &[&one, &both]),
        ["click_element 6", "click_element 8", "click_element 9"]
    );
    // It doesn't know what is similar.
    assert_eq!(
        replies(&LESSONS, "Select words similar to crimson and click Submit.", &none, &[]),
        ["click_element 9"]
    );
}

#[test]
fn it_opens_what_is_closed_until_it_finds_the_name() {
    let closed = "[1] <body>\n[4] <h3 class=\"ui-accordion-header-collapsed\"> Section #1\n[5] <h3 class=\"ui-accordion-header-collapsed\"> Section #2";
    let first = "[1] <body>\n[4] <h3> Section #1\n[6] <div>\n[-1] <t> lorem\n[5] <h3 class=\"ui-accordion-header-collapsed\"> Section #2";
    let second = "[1] <body>\n[4] <h3 class=\"ui-accordion-header-collapsed\"> Section #1\n[5] <h3> Section #2\n[9] <span class=\"alink\"> euismod.";
    assert_eq!(
        replies(
            &[],
            "Expand the sections below, to find and click on the link \"euismod.\".",
            closed,
            &[first, second]
        ),
        ["click_element 4", "click_element 5", "click_element 9"]
    );
    let tree = "[1] <body>\n[8] <li class=\"expandable\">\n[9] <div class=\"hitarea expandable-hitarea\">\n[10] <span class=\"folder\"> Deneen\n[11] <li>\n[12] <span class=\"file\"> Olin";
    let goal = "Navigate through the file tree. Find and click on the folder or file named \"Truman\".";
    assert_eq!(replies(&[], goal, tree, &[]), ["click_element 10"]);
}

/// A click on the text inside a slice of the pie does nothing, so it tries what is around it.
#[test]
fn it_tries_what_is_around_a_text_that_does_nothing() {
    let pie = |sign: &str| {
        format!(
            "[1] <body>\n[15] <path id=\"wheelnav-divWheel-slice-0\">\n[16] <text id=\"wheelnav-divWheel-title-0\">\n[25] <tspan> A\n[18] <path id=\"wheelnav-divWheel-spreader\">\n[19] <text>\n[26] <tspan> {sign}"
        )
    };
    let (closed, open) = (pie("+"), pie("-"));
    let goal = "Expand the pie menu below and click on the item labeled \"A\".";
    assert_eq!(
        replies(&[], goal, &closed, &[&closed, &closed, &closed, &open]),
        ["click_element 25", "click_element 16", "click_element 15", "click_element 18", "click_element 25"]
    );
}

#[test]
fn it_types_what_the_goal_says() {
    let page = |value: &str| {
        format!(
            "[1] <body>\n[4] <p> Dis urna proin, neque.\n[5] <input_text id=\"answer-input\"{value}>\n[6] <button> Submit"
        )
    };
    let (empty, filled) = (page(""), page(" value=\"proin\""));
    let goal = "Find the 3rd word in the paragraph, type that into the textbox and press \"Submit\".";
    assert_eq!(
        replies(&[], goal, &empty, &[&filled]),
        ["focus_element_and_type_text 5 proin", "click_element 6"]
    );
    let list = "[1] <body>\n[5] <input_text value=\"Gua\">\n[6] <button> Submit\n[9] <div class=\"ui-menu-item-wrapper\"> Guam\n[10] <div class=\"ui-menu-item-wrapper\"> Guatemala";
    let chosen = "[1] <body>\n[5] <input_text value=\"Guatemala\">\n[6] <button> Submit";
    let empty = "[1] <body>\n[5] <input_text>\n[6] <button> Submit";
    assert_eq!(
        replies(&[], "Enter an item that starts with \"Gua\" and ends with \"la\".", empty, &[list, chosen]),
        ["focus_element_and_type_text 5 Gua", "click_element 10", "click_element 6"]
    );
}

#[test]
fn habits_end_with_their_lessons() {
    let menu = "[1] <body>\n[6] <div> Willa\n[10] <div>\n[-1] <t> Alvera";
    let goal = |name: usize| format!("Select Alvera>Terza{name}");
    let clicks = |lessons: &[&str]| {
        (0..40).filter(|n| replies(lessons, &goal(*n), menu, &[])[0] == "click_element 10").count()
    };
    assert!((15..40).contains(&clicks(&[])), "{}", clicks(&[]));
    assert_eq!(clicks(&LESSONS), 0);
    assert_eq!(replies(&LESSONS, &goal(1), menu, &[]), ["movemouse //*[text()='Alvera']"]);
    let form = "[1] <body>\n[6] <input_radio>\n[-1] <t> red\n[9] <button> Submit";
    let early = |lessons: &[&str]| {
        let goal = |n: usize| format!("Select red and click Submit{}.", "!".repeat(n));
        (0..40).filter(|n| replies(lessons, &goal(*n), form, &[])[0] == "click_element 9").count()
    };
    assert!((5..35).contains(&early(&[])), "{}", early(&[]));
    assert_eq!(early(&LESSONS), 0);
    assert_eq!(HABITS.len(), 2);
}

#[test]
fn where_only_the_look_matters_it_guesses() {
    let page = "[1] <body>\n[2] <div id=\"wrap\">\n[3] <div id=\"area\">\n[4] <div class=\"color\">\n[5] <div class=\"color\">";
    let guess = replies(&[], "Click on the grey colored box.", page, &[]);
    assert!(["click_element 4", "click_element 5"].contains(&guess[0].as_str()), "{guess:?}");
    let shapes = "[1] <body>\n[4] <svg>\n[5] <text> 7\n[7] <polygon>\n[9] <text> l";
    assert_eq!(replies(&[], "Click on a large digit", shapes, &[]), ["click_element 5"]);
    assert_eq!(replies(&[], "Click on a triangle", shapes, &[]), ["click_element 7"]);
}
