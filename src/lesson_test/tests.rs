//! Expectations, the exchange of lessons, and the file format.

use super::expectation::Target;
use super::*;
use crate::domain::{MessageRole, Segment, SegmentOrigin};

fn proposal(thought: Option<&str>, action: Option<&str>) -> Proposal {
    Proposal { thought: thought.map(str::to_owned), action: action.map(str::to_owned) }
}

/// Each row: what was typed, a proposal (thought, action), and whether it is the target.
#[test]
fn expectations_are_judged_on_the_proposal_alone() {
    let rows = [
        ("go to microwave 1", (None, Some("go to microwave 1")), true),
        ("go to microwave 1", (None, Some("Go to  microwave 1 ")), true),
        ("go to microwave 1", (None, Some("go to microwave 11")), false),
        ("think: I wait.", (Some("I wait."), None), true),
        ("think: I wait.", (Some("I wait."), Some("look")), false),
        ("/^go to (microwave|stove)/", (None, Some("go to stoveburner 1")), true),
        ("/^go to (microwave|stove)/", (None, Some("I go to microwave 1")), false),
        ("/microwave/", (Some("the microwave"), Some("look")), false),
        ("if thought = microwave", (Some("The Microwave is near."), Some("look")), true),
        ("if thought = microwave", (None, Some("go to microwave 1")), false),
        ("if action = microwave", (None, Some("go to microwave 1")), true),
    ];
    for (typed, (thought, action), is_target) in rows {
        let case = format!("{typed} on {thought:?} {action:?}");
        let proposal = proposal(thought, action);
        let judge = |is_forbidden| Expectation::parse(typed, is_forbidden).unwrap().judge(&proposal);
        let (complies, differs) = (Verdict::Complies, Verdict::Differs);
        assert_eq!(judge(false), if is_target { complies } else { differs }, "{case}");
        assert_eq!(judge(true), if is_target { differs } else { complies }, "{case}");
    }
    let unusable = proposal(None, None);
    for is_forbidden in [false, true] {
        let expectation = Expectation::parse("look", is_forbidden).unwrap();
        assert_eq!(expectation.judge(&unusable), Verdict::NoProposal, "an unusable reply never complies");
    }
}

#[test]
fn what_needs_more_than_a_proposal_is_refused() {
    for (typed, expected) in [
        ("", "type an action"),
        ("if mistake", "only the action and the thought"),
        ("if nothing 3", "only the action and the thought"),
        ("if observation = fridge", "only the action and the thought"),
        ("if action ~ (", "unclosed group"),
        ("/(/", "unclosed group"),
        ("if nonsense", "nonsense"),
    ] {
        let error = Expectation::parse(typed, false).unwrap_err();
        assert!(error.contains(expected), "{typed}: {error}");
    }
    let two = Target { action: Some("a".to_owned()), pattern: Some("b".to_owned()), condition: None };
    assert_eq!(
        Expectation::Expect(two).check().unwrap_err(),
        "2 of action, pattern and condition are given; give one"
    );
}

fn segment(label: SegmentLabel, text: &str, lesson: Option<&str>) -> Segment {
    let origin = match lesson {
        Some(id) => SegmentOrigin::Lesson { id: crate::domain::LessonId(id.into()), version: 1 },
        None => SegmentOrigin::Text("00".into()),
    };
    Segment { label, origin, message_role: MessageRole::User, text: text.into() }
}

fn texts(prompt: &Prompt) -> Vec<&str> {
    prompt.segments.iter().map(|segment| &*segment.text).collect()
}

/// Each row: the kept prompt, the drafted one, and the result, as one letter a segment: Instruction, heading and lessons
/// of Abstract (a, b), heading and lesson of Error (e), Task, Cue.
#[test]
fn lessons_are_exchanged_with_their_headings() {
    let prompt = |letters: &str| Prompt {
        segments: letters
            .chars()
            .map(|letter| match letter {
                'I' => segment(SegmentLabel::Instruction, "I", None),
                'A' => segment(SegmentLabel::Abstract, "A", None),
                'a' | 'b' => segment(SegmentLabel::Abstract, &letter.to_string(), Some("x")),
                'E' => segment(SegmentLabel::Error, "E", None),
                'e' => segment(SegmentLabel::Error, "e", Some("y")),
                'T' => segment(SegmentLabel::Task, "T", None),
                _ => segment(SegmentLabel::Cue, "C", None),
            })
            .collect(),
    };
    for (kept, drafted, expected) in [
        ("IAaTC", "IAbEeT", "IAbEeTC"),
        ("IAaEeTC", "IT", "ITC"),
        ("ITC", "IAbT", "IAbTC"),
        ("TC", "IAbT", "AbTC"),
        ("IAaTC", "", "ITC"),
    ] {
        let kept: Vec<TestSegment> = prompt(kept).segments.iter().map(TestSegment::from_segment).collect();
        let result = replace_lessons(&kept, Some(&prompt(drafted)));
        assert_eq!(texts(&result).concat(), expected);
        let unchanged = replace_lessons(&kept, None);
        let restored: Vec<TestSegment> = unchanged.segments.iter().map(TestSegment::from_segment).collect();
        assert_eq!(restored, kept, "without another pool, the prompt is as it was kept");
    }
}

fn sample_test() -> LessonTest {
    let text = include_str!("../../docs/LESSON_TESTS.md");
    let line = text.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    parse_tests(line).unwrap().remove(0)
}

#[test]
fn the_documented_line_is_read_and_written() {
    let test = sample_test();
    let written = serde_json::to_string(&test).unwrap();
    assert_eq!(parse_tests(&format!("# a comment\n\n{written}\n")).unwrap(), std::slice::from_ref(&test));
    assert_eq!(test.prompt.iter().filter(|segment| segment.lesson.is_some()).count(), 1);
    let body = replace_lessons(&test.prompt, None);
    assert!(body.segments.iter().any(|segment| segment.label == SegmentLabel::Task), "{body:?}");
    for (from, to, expected) in [
        ("\"v\":1", "\"v\":9", "format version 9"),
        ("\"need\":1", "\"need\":2", "need=2 is not between 1 and samples=1"),
        ("\"need\":1", "\"need\":0", "need=0"),
        ("\"action\":", "\"motion\":", "unknown field"),
        ("\"expect\":", "\"hope\":", ""),
    ] {
        assert!(written.contains(from), "{written}");
        let (number, error) = parse_tests(&format!("\n{}", written.replace(from, to))).unwrap_err();
        assert_eq!(number, 2);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn each_test_has_seeds_of_its_own() {
    let (one, mut other) = (sample_test(), sample_test());
    "0123456789ab".clone_into(&mut other.id);
    assert_ne!(one.base_seed(), other.base_seed());
    assert_eq!(one.base_seed(), one.clone().base_seed());
}
