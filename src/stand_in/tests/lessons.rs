//! Tests that lessons change what the actor does, and only in the way they say.

use super::*;
use crate::stand_in::forms::{Forms, LessonForm, Lessons, Phrase, forms};
use crate::stand_in::habits::{GRID_HABITS, planning_habits};
use crate::stand_in::seeded_random;
use std::collections::{BTreeMap, BTreeSet};

fn lessons_in(sentence: &str) -> Lessons {
    let prompt = Prompt { segments: vec![segment(SegmentLabel::Error, sentence)] };
    forms().find_lessons(&prompt)
}

/// A text is searched once and then remembered, unless it is long; both must find the same.
#[test]
fn a_text_that_comes_again_teaches_the_same() {
    let lesson = "Look for a mug in/on a shelf first.";
    let long = format!("{}\n{lesson}", "Nothing to learn here. ".repeat(200));
    for text in [lesson, &long] {
        let first = lessons_in(text);
        assert_eq!(first.look_for.len(), 1, "{text}");
        assert_eq!(first, lessons_in(text));
    }
    let both = Prompt {
        segments: vec![segment(SegmentLabel::Error, lesson), segment(SegmentLabel::Memory, lesson)],
    };
    assert_eq!(forms().find_lessons(&both).look_for.len(), 2);
}

#[test]
fn the_first_word_index_finds_the_same_forms_as_a_full_scan() {
    let table: BTreeMap<LessonForm, Vec<String>> =
        toml::from_str::<BTreeMap<String, _>>(include_str!("../forms.toml"))
            .map(|mut file| file.remove("forms").expect("the file has one table"))
            .expect("the file parses");
    let all = Forms::compile(&table).without_index();
    let mut random = seeded_random::SeededRandom::new("forms", 7, 0);
    let mut pick = |n: usize| {
        random = seeded_random::SeededRandom::new("forms", random.draw_for_call("next").to_bits(), 0);
        (random.draw_for_call("pick") * n as f64) as usize
    };
    let mut understood = 0;
    for text in table.values().flatten().flat_map(|text| [text; 40]) {
        let mut words = Vec::new();
        for word in text.split(' ') {
            let inner = word.trim_matches(['[', ']']);
            if inner != word && pick(2) == 0 {
                continue;
            }
            let options: Vec<&str> = inner.split('|').collect();
            let word = match options[pick(options.len())] {
                "WHAT" => ["what you hold", "apples", "it", "cup"][pick(4)],
                "THING" => ["mug", "soap bars", "knives"][pick(3)],
                "PLACE" => ["side table", "fridge", "cabinets"][pick(3)],
                "LAMP" => ["desk lamp", "lamp"][pick(2)],
                "PUT" => ["put", "place", "move"][pick(3)],
                literal => literal,
            };
            words.push(word);
        }
        if pick(4) == 0 {
            words.remove(pick(words.len()));
        }
        let sentence = words.join(" ");
        let prompt = Prompt { segments: vec![segment(SegmentLabel::Error, &sentence)] };
        let found = lessons_in(&sentence);
        assert_eq!(found, all.find_lessons(&prompt), "{sentence}");
        understood += u32::from(found != Lessons::default());
    }
    assert!(understood > 1000, "only {understood} sentences are lessons");
}

/// The sentences that symbolic reflection writes, where they differ from `DOCUMENTED`.
const WRITTEN: [(&str, LessonForm); 11] = [
    ("Only a microwave can heat things.", LessonForm::HeatOnly),
    ("Only a fridge can cool things.", LessonForm::CoolOnly),
    ("Only a sinkbasin can clean things.", LessonForm::CleanOnly),
    (
        "Open a closed container before you take something from it or put something in it.",
        LessonForm::OpenFirst,
    ),
    ("Put down what you are holding before you take another object.", LessonForm::HandsFirst),
    ("Do not go back to a place you have already searched.", LessonForm::NoReturn),
    ("Take only the object the task mentions.", LessonForm::OnlyNamed),
    ("To examine something in the light, carry it to a lamp and use the lamp.", LessonForm::Lamp),
    ("Take the object before you heat, cool or clean it.", LessonForm::HoldFirst),
    ("Use \"put OBJECT in/on PLACE\" to put something down.", LessonForm::SayPut),
    ("Use \"move OBJECT to PLACE\" to put something down.", LessonForm::SayMove),
];

/// The documented sentences, with the habit that each must stop.
const DOCUMENTED: [(&str, LessonForm, Habit); 17] = [
    ("Heat food in a microwave only.", LessonForm::HeatOnly, Habit::HeatsElsewhere),
    ("Cool food in a fridge only.", LessonForm::CoolOnly, Habit::CoolsElsewhere),
    ("Clean things at a sinkbasin only.", LessonForm::CleanOnly, Habit::CleansElsewhere),
    (
        "Open a closed container before you take from it or put into it.",
        LessonForm::OpenFirst,
        Habit::ReachesThroughDoors,
    ),
    ("Look inside closed containers too.", LessonForm::LookInside, Habit::PassesClosedDoors),
    (
        "Put down what you hold before you take another object.",
        LessonForm::HandsFirst,
        Habit::GrabsWithFullHands,
    ),
    ("Use the number of every object and place.", LessonForm::Numbers, Habit::OmitsNumbers),
    ("Go to a place before you act on it.", LessonForm::GoFirst, Habit::ActsFromAfar),
    ("Do not repeat an action that did nothing.", LessonForm::NoRepeat, Habit::RepeatsFailures),
    ("Do not go back to a place that was already searched.", LessonForm::NoReturn, Habit::GoesBack),
    ("Take only the object that the task names.", LessonForm::OnlyNamed, Habit::TakesOtherThings),
    ("Take only the object that the task names.", LessonForm::OnlyNamed, Habit::TakesLookAlikes),
    (
        "To examine something in light, hold it and use the lamp where the lamp is.",
        LessonForm::Lamp,
        Habit::MisusesLamp,
    ),
    ("Heat/clean/cool the object before you place it.", LessonForm::TreatFirst, Habit::ForgetsTreatment),
    (
        "Heat, cool or clean the object before you put it in/on the target.",
        LessonForm::TreatFirst,
        Habit::ForgetsTreatment,
    ),
    (
        "After you heat, cool or clean it, put it in/on the target.",
        LessonForm::ThenPlace,
        Habit::LeavesAtAppliance,
    ),
    ("Hold the object before you heat, cool or clean it.", LessonForm::HoldFirst, Habit::TreatsUnheld),
];

#[test]
fn documented_sentences_are_understood_in_any_layout() {
    let documented = DOCUMENTED.map(|(sentence, form, _)| (sentence, form));
    for (sentence, form) in documented.into_iter().chain(WRITTEN) {
        for written in [
            format!("- {sentence}\n"),
            sentence.to_uppercase(),
            format!("3. {}", sentence.trim_end_matches('.')),
            format!("- Mistake: Something went wrong here. Solution: {sentence}\n"),
            format!("(A person rejected \"go to shelf 1\": {sentence})\n"),
            format!("What is known about this world:\n- “{sentence}”\n"),
        ] {
            assert!(lessons_in(&written).has_form(form), "{written}");
        }
    }
    assert!(lessons_in("Say \"put OBJECT in/on PLACE\" to put something down.").has_form(LessonForm::SayPut));
    assert!(lessons_in("Say \"move OBJECT to PLACE\" to put something down.").has_form(LessonForm::SayMove));
}

#[test]
fn kinds_are_understood_in_singular_and_plural_and_as_two_words() {
    for sentence in [
        "Look for a knife in/on a side table first.",
        "Look for knives on sidetables first.",
        "Knives are often on side tables.",
        "Search for the knife on the sidetable first!",
    ] {
        assert_eq!(
            lessons_in(sentence).look_for,
            [("knife".to_owned(), "sidetable".to_owned())],
            "{sentence}"
        );
    }
    assert!(lessons_in("Do not heat food with a stoveburner.").is_forbidden("heat", "stoveburner"));
    assert!(
        lessons_in("After you cool it, put it in/on the target.").has_for_verb(LessonForm::ThenPlace, "cool")
    );
    assert!(
        !lessons_in("After you cool it, put it in/on the target.")
            .has_for_verb(LessonForm::ThenPlace, "heat")
    );
    assert!(
        lessons_in("Open a fridge before you take from it.").has_for_place(LessonForm::OpenFirst, "fridge")
    );
    assert!(
        !lessons_in("Open a fridge before you take from it.").has_for_place(LessonForm::OpenFirst, "safe")
    );
}

/// Sensible sentences that match no form. A model would follow them; the rule-based actor must not.
const PARAPHRASES: [&str; 32] = [
    "The microwave is the right place to heat things.",
    "Stoveburners are useless for heating.",
    "You should heat food in a microwave and nowhere else.",
    "Heat apple 1 with microwave 1.",
    "Heat the food slowly in a microwave only.",
    "Microwaves heat food.",
    "Nothing but a fridge cools.",
    "If something must be cool, think of the fridge.",
    "Water comes from a sinkbasin, so clean there.",
    "Doors have to be opened.",
    "A closed fridge gives nothing.",
    "Remember that drawers can hide what you need.",
    "Closed containers may hold the object.",
    "Empty your hands first.",
    "Two objects at once are too much.",
    "Names need numbers.",
    "Write apple 1 instead of apple.",
    "Walk there first.",
    "You cannot reach things across the room.",
    "If nothing happens, try something else.",
    "Never give up.",
    "Repeating is pointless.",
    "Search each place once.",
    "Keep track of where you have been.",
    "A mug is not a cup.",
    "Ignore everything that is not part of the task.",
    "Apples like fridges.",
    "The apple might be in the fridge.",
    "Bring the object to the lamp and switch it on.",
    "Lamps must be used, not examined.",
    "The treatment comes before the placing.",
    "Do not forget what the task asks for.",
];

#[test]
fn sentences_outside_the_forms_change_nothing() {
    let games: Vec<PlayedGame> =
        (0..6).map(|seed| play(generate_game(Difficulty::Normal, seed), &[], 50)).collect();
    for sentence in PARAPHRASES {
        assert_eq!(lessons_in(&format!("- {sentence}\n")), Lessons::default(), "{sentence}");
        for (n, prompt) in games.iter().flat_map(|g| g.prompts.iter().step_by(3)).enumerate() {
            let mut with_lesson = prompt.clone();
            with_lesson.segments.insert(1, segment(SegmentLabel::Abstract, &format!("- {sentence}\n")));
            with_lesson.segments.insert(
                1,
                segment(SegmentLabel::Error, &format!("- Mistake: {sentence} Solution: {sentence}\n")),
            );
            assert_eq!(answer(&with_lesson, n as u64), answer(prompt, n as u64), "{sentence}");
        }
    }
}

#[test]
fn each_lesson_stops_its_habit() {
    let untaught: Vec<PlayedGame> =
        (0..48).map(|seed| play(generate_game(Difficulty::Normal, seed), &[], 50)).collect();
    for (sentence, _, habit) in DOCUMENTED {
        let showing =
            (0_u32..).zip(&untaught).filter(|(_, game)| count_shown(&game.mistakes, habit) > 0).take(6);
        let (mut without, mut with) = (0, 0);
        for (seed, before) in showing {
            without += count_shown(&before.mistakes, habit);
            with +=
                count_shown(&play(generate_game(Difficulty::Normal, seed), &[sentence], 50).mistakes, habit);
        }
        // Some of the remaining cases are legitimate: the actor goes back to a place for something it saw there, passes
        // a closed one with full hands, and retries a failed action after two others.
        let left = match habit {
            Habit::GoesBack => without * 3 / 4,
            Habit::PassesClosedDoors => without / 2,
            _ => without / 10,
        };
        assert!(without > 0 && with <= left, "{sentence}: {without} without the lesson, {with} with it");
    }
}

const ROOM: &str = "You are in the middle of a room. Looking quickly around you, you see a cabinet 2, a cabinet 1, a \
                    drawer 1, a countertop 1, a sinkbasin 1, and a stoveburner 1.\n\nYour task is to: put a mug in drawer.";

#[test]
fn a_look_for_lesson_decides_the_first_place() {
    for (n, place) in ["stoveburner", "drawer", "sinkbasin", "cabinet"].into_iter().enumerate() {
        let with_lesson =
            prompt(&[&format!("Look for a mug in/on a {place} first.")], ROOM, &[("think: So.", "OK.")]);
        let line = answer(&with_lesson, n as u64);
        assert!(line.starts_with(&format!("go to {place} ")), "{line}");
    }
}

#[test]
fn rejected_actions_are_not_proposed_again() {
    for seed in 0..24 {
        let played = play(generate_game(Difficulty::Normal, seed), &[], 30);
        for (n, prompt) in played.prompts.iter().enumerate() {
            let mut with_lesson = prompt.clone();
            let mut refused = Vec::new();
            for again in 0..4 {
                let line = answer(&with_lesson, n as u64 + again);
                assert!(!refused.contains(&line), "{line} was proposed again");
                let at = with_lesson.segments.len() - 1;
                with_lesson.segments.insert(
                    at,
                    segment(SegmentLabel::Rejection, &format!("(A person rejected \"{line}\": no)\n")),
                );
                refused.push(line);
            }
        }
    }
}

#[test]
fn a_rejection_reason_in_a_documented_form_is_followed() {
    let room = ROOM
        .replace("a stoveburner 1", "a stoveburner 1, and a microwave 1")
        .replace("put a mug", "put a hot mug");
    let steps = [
        ("think: So.", "OK."),
        ("go to sinkbasin 1", "You arrive at sinkbasin 1. On the sinkbasin 1, you see a mug 1."),
        ("take mug 1 from sinkbasin 1", "You pick up the mug 1 from the sinkbasin 1."),
        ("think: I heat it.", "OK."),
        ("go to stoveburner 1", "You arrive at stoveburner 1. On the stoveburner 1, you see nothing."),
    ];
    let mut with_lesson = prompt(&["Go to a place before you act on it."], &room, &steps);
    let at = with_lesson.segments.len() - 1;
    let reason = "(A person rejected \"heat mug 1 with stoveburner 1\": Heat food in a microwave only.)\n";
    with_lesson.segments.insert(at, segment(SegmentLabel::Rejection, reason));
    // The actor could still forget to heat first, which depends on the task's text; this lesson prevents that.
    with_lesson
        .segments
        .insert(1, segment(SegmentLabel::Abstract, "- Heat the object before you place it.\n"));
    assert_eq!(answer(&with_lesson, 3), "go to microwave 1");
}

#[test]
fn the_document_lists_every_form() {
    let forms = include_str!("../forms.toml");
    let document = include_str!("../../../docs/LESSON_FORMS.md");
    let listed: Vec<&str> =
        document.lines().filter_map(|line| line.strip_prefix("    ")).map(str::trim).collect();
    let patterns = forms
        .lines()
        .filter_map(|line| line.trim().strip_prefix('"')?.trim_end_matches(',').strip_suffix('"'));
    for pattern in patterns {
        assert!(listed.contains(&pattern), "docs/LESSON_FORMS.md lacks the form: {pattern}");
    }
}

/// Verbs and other words of the environments' actions, goals and rules, beside the names in `places.toml`.
const ENVIRONMENT_WORDS: &str = "go take put move open close use examine look heat cool clean toggle turn drop pick pickup push \
    stack unstack pour fill hit grasp shake find search goal door key ball box room block blocks red green blue purple yellow \
    grey lamp light hand hands container receptacle object objects thing things place places number action actions task lesson \
    step steps hot cold dirty water hold holding carry";

#[test]
fn placebo_texts_are_no_lessons_and_name_nothing_in_an_environment() {
    use crate::domain::lower_case_words;
    use crate::timeline::effect::{placebo_sentences, placebo_text};
    let places = include_str!("../places.toml").lines().filter(|line| !line.starts_with('#'));
    let known: BTreeSet<String> = lower_case_words(&places.collect::<Vec<_>>().join(" "))
        .chain(lower_case_words(ENVIRONMENT_WORDS))
        .collect();
    assert!(known.len() > 150);
    for sentence in placebo_sentences() {
        let named: Vec<String> = lower_case_words(sentence).filter(|word| known.contains(word)).collect();
        assert!(named.is_empty(), "{sentence}: {named:?}");
    }
    let phrases: Vec<&[Phrase]> = GRID_HABITS
        .values()
        .map(|habit| habit.lessons.as_slice())
        .chain(planning_habits().map(|habit| habit.habit.lessons.as_slice()))
        .collect();
    for length in 0..400 {
        let placebo = placebo_text(&"x".repeat(length), &format!("l{}", length % 7), 1 + length as u32 % 3);
        assert_eq!(lessons_in(&placebo), Lessons::default(), "{placebo}");
        let prompt = Prompt { segments: vec![segment(SegmentLabel::Error, &placebo)] };
        assert!(phrases.iter().all(|phrases| !Phrase::is_in_prompt(phrases, &prompt)), "{placebo}");
        assert!(lower_case_words(&placebo).all(|word| !known.contains(&word)), "{placebo}");
    }
}
