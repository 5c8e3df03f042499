//! FCRF (docs/METHODS.md): Reflexion with reflections whose depth follows the difficulty of the task. The first trials
//! are followed by a simple one (experience, plan), the later ones by an in-depth one (experience, a tip from the
//! lesson pool, a plan built from both). A task that is solved after a failed attempt adds a lesson to the pool.

pub mod settings;

mod difficulty;

pub use difficulty::Difficulty;

use super::{mentor, schedule};
use crate::domain::{LessonText, Purpose, Question, ReflectionKind, Scope};
use crate::engine::{Intent, LessonCommand, MentorReply, Method, State, add_all_lessons};
use crate::symbolic::SymbolicRules;
use settings::{LESSON_POOL, PoolGrowth};

/// Asks what is worth keeping from the attempt.
const EXPERIENCE: Question = Question { kind: ReflectionKind::Experience, purpose: Purpose::Reflect };
/// Asks which lesson of the pool fits best.
const TIP: Question = Question { kind: ReflectionKind::Lesson, purpose: Purpose::Choose };
/// Asks for a plan based on the experience.
const SIMPLE_PLAN: Question = Question { kind: ReflectionKind::Plan, purpose: Purpose::Reflect };
/// Asks for a plan based on the experience and the tip.
const BUILT_PLAN: Question = Question { kind: ReflectionKind::Plan, purpose: Purpose::Build };
/// Asks what made the difference between the failed attempt and the successful one.
const CONTRAST: Question = Question { kind: ReflectionKind::Lesson, purpose: Purpose::Contrast };
/// Asks for a shorter list of the pool's lessons.
const SUMMARY: Question = Question { kind: ReflectionKind::Lesson, purpose: Purpose::Summarise };

/// The method `fcrf`.
pub struct Fcrf {
    /// The rules that answer if the run's mentor is symbolic.
    pub rules: SymbolicRules,
}

impl Method for Fcrf {
    fn name(&self) -> &'static str {
        "fcrf"
    }

    fn next(&self, state: &State) -> Vec<Intent> {
        match state.open_episode() {
            Some(open) if open.first_observation.is_none() => Vec::new(),
            Some(_) => vec![Intent::AskActor],
            None => {
                let due_questions = question_rounds(state).into_iter().find_map(|round| {
                    let unanswered: Vec<Question> =
                        round.into_iter().filter(|q| !state.is_answered(*q)).collect();
                    (!unanswered.is_empty()).then_some(unanswered)
                });
                let mut intents: Vec<Intent> = due_questions
                    .into_iter()
                    .flatten()
                    .flat_map(|q| mentor::ask_mentor(self, self.rules, state, q))
                    .collect();
                intents.extend(schedule::next_by_trial(state));
                intents
            }
        }
    }

    fn reflect_now(&self, state: &State, kind: ReflectionKind) -> Vec<Intent> {
        let question = match kind {
            ReflectionKind::Lesson if may_repeat_summary(state) => SUMMARY,
            ReflectionKind::Lesson if is_corrected(state) => CONTRAST,
            ReflectionKind::Lesson if environment_lessons(state).is_empty() => return Vec::new(),
            ReflectionKind::Lesson => TIP,
            kind => Question::reflect(kind),
        };
        mentor::ask_mentor(self, self.rules, state, question)
    }

    fn on_mentor_reply(&self, state: &State, reply: &MentorReply<'_>) -> Vec<Intent> {
        match reply.question {
            TIP => store_chosen_tip(state, reply),
            SUMMARY => super::constitution::apply_summary(state, reply),
            _ => add_all_lessons(state, reply),
        }
    }
}

/// Returns the questions about the episode that has just ended, in rounds; a round is asked after the previous one has
/// been answered.
fn question_rounds(state: &State) -> Vec<Vec<Question>> {
    let Some(ended) = state.episode.as_deref().and_then(|e| e.outcome.as_deref()) else { return Vec::new() };
    let mut rounds = Vec::new();
    if schedule::failed_attempt(state).is_some() {
        let depth = Difficulty::from_task(&ended.task).depth_for_trial(state, ended.trial);
        let mut first = if state.setting(settings::EXPERIENCE) { vec![EXPERIENCE] } else { Vec::new() };
        if depth == Depth::InDepth
            && state.setting(settings::LESSON)
            && !environment_lessons(state).is_empty()
        {
            first.push(TIP);
        }
        rounds.push(first);
        rounds.push(vec![if depth == Depth::Simple { SIMPLE_PLAN } else { BUILT_PLAN }]);
    }
    let pool_mode = state.setting(LESSON_POOL);
    if is_corrected(state) && pool_mode != PoolGrowth::Person {
        rounds.push(vec![CONTRAST]);
    }
    if pool_mode == PoolGrowth::Summary && is_trial_over(state) && can_be_summarized(state) {
        rounds.push(vec![SUMMARY]);
    }
    rounds
}

/// Returns whether the last episode solved a task after a failed attempt that is still kept.
fn is_corrected(state: &State) -> bool {
    let ended = state.episode.as_deref().and_then(|e| e.outcome.as_deref());
    ended.is_some_and(|ended| ended.won && state.last_attempt(&ended.task).is_some())
}

/// The depth of a reflection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Experience, then a plan from it.
    Simple,
    /// Experience and a tip from the pool, then a plan built from both.
    InDepth,
}

/// Returns the lessons of FCRF's pool: those from corrected tasks, and a person's.
fn environment_lessons(state: &State) -> Vec<&crate::domain::Lesson> {
    state.pool.active_of_kind(ReflectionKind::Lesson).filter(|l| l.scope == Scope::Environment).collect()
}

/// Returns whether there are at least two lessons to combine.
fn can_be_summarized(state: &State) -> bool {
    environment_lessons(state).len() > 1
}

/// Returns whether a person who asks for a reflection gets another summary: the last one could not be used, or it has just
/// been answered and the person may have rejected its lines.
fn may_repeat_summary(state: &State) -> bool {
    let is_open = state.is_answered(SUMMARY)
        || super::constitution::failed_summary(state, ReflectionKind::Lesson).is_some();
    is_open && can_be_summarized(state)
}

/// Returns whether the next episode belongs to another trial.
fn is_trial_over(state: &State) -> bool {
    let Some(ended) = state.ended_episodes.last() else { return false };
    match schedule::next_by_trial(state).first() {
        Some(Intent::StartEpisode { trial, .. }) => *trial > ended.trial,
        _ => true,
    }
}

/// Stores the chosen tip with scope task. The mentor was shown a numbered list of lessons and names the tip's source by
/// its number there; that lesson becomes the tip's parent. If the mentor names none, a complaint is recorded and the
/// tip has no parent.
fn store_chosen_tip(state: &State, reply: &MentorReply<'_>) -> Vec<Intent> {
    let mut reflection = reply.reflection();
    // The question asks for the single best tip; everything else in the reply is kept in the reflection.
    let tip = reply.items.first().map(|item| {
        let (number, rest) = split_number(&item.text.text);
        let shown: Vec<_> = reply.shown_lessons().map(|(id, _)| id.clone()).collect();
        let source = number.and_then(|n| shown.get(n.checked_sub(1)?)).cloned();
        match (number, &source) {
            (None, _) => {
                reflection.complaints.push("the tip doesn't begin with the number of a lesson".to_owned());
            }
            (Some(n), None) => reflection
                .complaints
                .push(format!("the tip names lesson {n}, but only {} were shown", shown.len())),
            _ => {}
        }
        let adopted = source.as_ref().filter(|_| rest.is_empty()).and_then(|id| state.pool.get(id));
        let mut item = item.clone();
        // A reply that is only a number adopts the lesson unchanged.
        item.text = adopted.map_or_else(|| LessonText::plain(rest), |lesson| lesson.text().clone());
        (item, source)
    });
    let tip = tip.filter(|(item, _)| !item.text.text.is_empty());
    if let Some((item, _)) = &tip
        && let Some(first) = reflection.items.first_mut()
    {
        first.text.clone_from(&item.text);
    }
    let mut intents = vec![Intent::Reflect(Box::new(reflection))];
    let Some((item, source)) = tip else { return intents };
    let mut command = reply.lesson_command(&item);
    if let LessonCommand::Add { scope, parents, .. } = &mut command {
        *scope = Scope::Task;
        parents.extend(source);
    }
    intents.push(Intent::Lesson(command));
    intents
}

/// Splits the number at the beginning of a tip (`2: ...`, `Lesson 2 - ...`, `[2] ...`) from the text after it.
fn split_number(text: &str) -> (Option<usize>, &str) {
    let text = text.trim();
    let unquoted = text.trim_start_matches(['#', '[', '(', '*', '"', ' ']);
    let after_word = unquoted
        .get(..6)
        .filter(|w| w.eq_ignore_ascii_case("lesson"))
        .map_or(unquoted, |w| &unquoted[w.len()..]);
    let after_word = after_word.trim_start_matches(['#', '[', '(', ' ']);
    let digits = after_word.find(|c: char| !c.is_ascii_digit()).unwrap_or(after_word.len());
    let (number, rest) = after_word.split_at(digits);
    let rest = rest.trim_start_matches([']', ')', '*', '"']);
    // `2 apples are needed` doesn't name a lesson.
    let is_separated =
        rest.trim_start().starts_with([':', '.', '-', '–', '—']) || rest.len() < after_word.len() - digits;
    match number.parse() {
        Ok(number) if is_separated || rest.trim().is_empty() => {
            (Some(number), rest.trim_start_matches([':', '.', '-', '–', '—', '*', '"', ' ']).trim_end())
        }
        _ => (None, text),
    }
}
