//! A summary that could not be used.

use super::{TestScreen, screen_text};
use crate::domain::{LessonText, Purpose, Question, ReflectionKind, Scope};
use crate::engine::Command;
use crate::ui::fixture::Fixture;
use crate::ui::msg::Request;

/// Regression: nothing said that the old list stays, nor how to ask again.
#[test]
fn a_failed_summary_says_that_the_old_list_stays_and_how_to_ask_again() {
    let mut f = Fixture::for_method("omnireflect", "openai:small", 2);
    f.add_mentor_lesson(ReflectionKind::Abstract, Scope::Environment, "Look first.", &[], None);
    f.run_failed_attempt(0);
    let question = Question { kind: ReflectionKind::Abstract, purpose: Purpose::Summarise };
    let call = f.ask_mentor(&[question])[0];
    let complaint = "the summary was cut off by the token limit";
    f.write_reflection(question, &[], &[complaint], vec![LessonText::plain("In short.")], Some(call));
    let mut stage = TestScreen::new(f, 120, 36);
    let text = screen_text(&stage.draw());
    assert!(text.contains("the summary of Abstract could not be used: the old list stays"), "{text}");
    assert!(text.contains("R ask again, with the Abstract lane selected"), "{text}");
    stage.press("3");
    assert_eq!(stage.press("R"), [Request::Send(Command::Reflect(ReflectionKind::Abstract))]);
}
