//! Advice for the next attempt that follows an instruction, as far as the rules understand its words (`docs/SYMBOLIC.md`, "Instructions").
//! It stands in for a model as mentor, so that a search among instructions has something to find without one.

use super::{NoteRange, RuleLesson, apply_rule, notes_in_range, progress_lesson};
use crate::domain::ReflectionKind;
use crate::engine::{Episode, State};
use crate::symbolic::environment_rules::EnvironmentRules;

/// Which mistakes of an attempt the advice is about, and in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    /// All, in the order in which they were first made.
    InOrder,
    /// The most recent first.
    Latest,
    /// The most frequent first.
    MostFrequent,
    /// Only those made more than once.
    Repeated,
    /// None: what is left to do.
    Goal,
}

/// What becomes of a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// What to do instead.
    Solution,
    /// What was wrong, and what to do instead.
    MistakeAndSolution,
    /// What holds for similar tasks too.
    General,
}

/// Words of the sentences of which a search makes its instructions (`advice.txt` of the method that searches). The rules read an instruction
/// as a model reads a prompt, so they know words of it. A test holds the two texts together: each of these words is in one of the sentences.
const SUBJECTS: &[(&str, Subject)] = &[
    ("never reached", Subject::Goal),
    ("never tried", Subject::Goal),
    ("repeated", Subject::Repeated),
    ("most steps", Subject::MostFrequent),
    ("last few actions", Subject::Latest),
];

const FORMS: &[(&str, Form)] =
    &[("similar tasks", Form::General), ("what to avoid", Form::MistakeAndSolution)];

/// The most sentences.
const LENGTHS: &[(&str, usize)] =
    &[("one or two sentences", 2), ("with one sentence", 1), ("a single action", 1)];

/// What advice is to be about: what the rules understand of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AdviceRequest {
    subject: Subject,
    form: Form,
    /// The most sentences of which the advice is made.
    most: usize,
}

impl AdviceRequest {
    /// All mistakes in order, with what to do instead.
    pub(super) const EVERYTHING: Self =
        Self { subject: Subject::InOrder, form: Form::Solution, most: usize::MAX };

    /// Reads the instructions that are in force.
    pub(super) fn of_instructions(state: &State) -> Self {
        let instructions = state.pool.active_of_kind(ReflectionKind::Instruction);
        let texts: Vec<&str> = instructions.map(|lesson| lesson.text().text.as_str()).collect();
        Self::read(&texts.join(" ").to_lowercase())
    }

    /// Reads an instruction in lower case by its words. What it doesn't say, or says in other words, is as in [`Self::EVERYTHING`].
    fn read(instruction: &str) -> Self {
        Self {
            subject: meaning(instruction, SUBJECTS).unwrap_or(Self::EVERYTHING.subject),
            form: meaning(instruction, FORMS).unwrap_or(Self::EVERYTHING.form),
            most: meaning(instruction, LENGTHS).unwrap_or(Self::EVERYTHING.most),
        }
    }
}

/// Returns what the first words of a table mean that an instruction has.
fn meaning<T: Copy>(instruction: &str, table: &[(&str, T)]) -> Option<T> {
    table.iter().find(|(words, _)| instruction.contains(words)).map(|(_, meaning)| *meaning)
}

/// A mistake of an attempt.
struct Mistake {
    lesson: RuleLesson,
    /// The place of its newest note among all notes.
    last: usize,
    times: usize,
}

/// Returns the sentences of the advice, and what proves the first mistake that it is about. Where there is nothing of the kind that was
/// asked for, it is about all mistakes.
pub(super) fn advice(
    rules: &EnvironmentRules,
    state: &State,
    episode: &Episode,
    request: AdviceRequest,
) -> (Vec<String>, String) {
    let mistakes = mistakes(rules, episode, request.subject);
    let evidence = mistakes.first().map(|mistake| mistake.lesson.evidence.clone()).unwrap_or_default();
    let mut sentences: Vec<String> = Vec::new();
    let mut add = |sentence: String| {
        if !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    };
    if request.form == Form::General {
        let notes = notes_in_range(episode, NoteRange::WholeEpisode);
        for lesson in apply_rule(&notes, rules.abstract_lessons) {
            add(lesson.text.text);
        }
    }
    for Mistake { lesson, .. } in mistakes {
        let (mistake, solution) = (lesson.text.text, lesson.text.solution);
        add(match (request.form, solution) {
            (Form::MistakeAndSolution, Some(solution)) => format!("{mistake} {solution}"),
            (_, Some(solution)) => solution,
            (_, None) => mistake,
        });
    }
    if let Some(progress) = progress_lesson(rules, state, episode, &[], NoteRange::WholeEpisode) {
        // A plan may be asked for before the first step, when there is no attempt yet.
        let text = progress.text.text;
        let is_begun = episode.answered_steps() > 0;
        add(if is_begun { format!("At the end of the last attempt: {text}") } else { text });
    }
    if sentences.is_empty() && request.subject != Subject::InOrder {
        return advice(rules, state, episode, AdviceRequest { subject: Subject::InOrder, ..request });
    }
    sentences.truncate(request.most);
    (sentences, evidence)
}

fn mistakes(rules: &EnvironmentRules, episode: &Episode, subject: Subject) -> Vec<Mistake> {
    let notes = notes_in_range(episode, NoteRange::WholeEpisode);
    let mut mistakes: Vec<Mistake> = Vec::new();
    for (place, note) in notes.iter().enumerate() {
        for lesson in apply_rule(std::slice::from_ref(note), rules.error_lessons) {
            match mistakes.iter_mut().find(|known| known.lesson.is_same(&lesson)) {
                Some(known) => (known.last, known.times) = (place, known.times + 1),
                None => mistakes.push(Mistake { lesson, last: place, times: 1 }),
            }
        }
    }
    // Stable: equal ones stay in the order in which they were first made.
    match subject {
        Subject::InOrder => {}
        Subject::Latest => mistakes.sort_by_key(|mistake| std::cmp::Reverse(mistake.last)),
        Subject::MostFrequent => mistakes.sort_by_key(|mistake| std::cmp::Reverse(mistake.times)),
        Subject::Repeated => mistakes.retain(|mistake| mistake.times > 1),
        Subject::Goal => mistakes.clear(),
    }
    mistakes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sentences of which instructions are made, in lower case.
    fn sentences() -> Vec<String> {
        let text = include_str!("../../method/dora/prompts/advice.txt").to_lowercase();
        text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
    }

    #[test]
    fn the_words_that_the_rules_understand_are_in_the_sentences_of_instructions() {
        let words = SUBJECTS.iter().map(|row| row.0).chain(FORMS.iter().map(|row| row.0));
        for words in words.chain(LENGTHS.iter().map(|row| row.0)) {
            assert!(sentences().iter().any(|sentence| sentence.contains(words)), "no sentence has {words:?}");
        }
    }

    /// A sentence that is reworded, or added, is understood or listed here.
    #[test]
    fn a_sentence_of_instructions_is_understood_or_known_not_to_be() {
        let sentences = sentences();
        let is_ignored = |sentence: &&String| AdviceRequest::read(sentence) == AdviceRequest::EVERYTHING;
        let ignored: Vec<&String> = sentences.iter().filter(is_ignored).collect();
        assert_eq!(
            ignored,
            [
                "look at the first action that did not have the effect it was meant to have.",
                "look at the order of the actions, and at what each of them needed first.",
                "look at what the observations said and the agent did not use.",
                "compare it with the shortest sequence of actions that you can think of.",
                "compare it with what the goal says, word by word.",
                "compare it with what earlier advice already said, and say something else.",
                "compare what was expected before each action with what happened.",
                "compare it with how a careful person would begin.",
                "compare the actions with the list of actions that exist here.",
                "compare the place where the time was spent with the place where the goal is decided.",
                "compare it with an attempt that does the most uncertain part first.",
                "answer with a short list of steps in one sentence.",
                "answer with a rule that begins with \"if\", and what to do then.",
                "answer with a question that the agent must settle first, and with how to settle it.",
            ]
        );
        assert_eq!(sentences.len() - ignored.len(), 10);
    }

    #[test]
    fn words_of_an_instruction_that_the_rules_understand() {
        let all = usize::MAX;
        for (instruction, subject, form, most) in [
            ("", Subject::InOrder, Form::Solution, all),
            (
                "look at the first action. answer with one sentence that says",
                Subject::InOrder,
                Form::Solution,
                1,
            ),
            (
                "look at the last few actions. answer with one or two sentences",
                Subject::Latest,
                Form::Solution,
                2,
            ),
            (
                "everything that was repeated. answer with what to avoid",
                Subject::Repeated,
                Form::MistakeAndSolution,
                all,
            ),
            (
                "that cost the most steps. answer with a single action",
                Subject::MostFrequent,
                Form::Solution,
                1,
            ),
            (
                "was never reached. advice that also holds for similar tasks",
                Subject::Goal,
                Form::General,
                all,
            ),
            ("answer with a short list of steps in one sentence", Subject::InOrder, Form::Solution, all),
        ] {
            assert_eq!(
                AdviceRequest::read(instruction),
                AdviceRequest { subject, form, most },
                "{instruction}"
            );
        }
    }
}
