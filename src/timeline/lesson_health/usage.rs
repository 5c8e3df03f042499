//! How the lessons of a session were used: prompts, and mistakes that lessons are about.

use super::advice::repeated_advice;
use super::{Finding, LARGE_SHARE, LessonHealth, LessonRef, REPEATED_COSINE, UNUSED_EPISODES, check_lessons};
use crate::domain::{
    EpisodeSummary, Lesson, LessonId, ModelRole, NoteKind, PromptRecord, Scope, SegmentOrigin, Task,
};
use crate::engine::{Envelope, Event, State};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The prefix of the names of rules that write lessons about a mistake; the detector's name follows, and perhaps a variant after
/// another full stop.
const ERROR_RULE_PREFIX: &str = "error.";

/// Collects what the events of a session say about the use of its lessons.
#[derive(Clone, Debug, Default)]
pub struct HealthCollector {
    /// Tokens of lessons and of the whole prompt, by episode and step: the last prompt of a step counts.
    prompts: BTreeMap<(u32, u32), (u32, u32)>,
    /// The lessons in the actor's last prompt.
    prompted: BTreeSet<LessonId>,
    /// Mistakes noted while a lesson was in the prompt, by lesson and detector.
    mistakes: HashMap<(LessonId, String), usize>,
}

impl HealthCollector {
    /// Adds the next event.
    pub fn add_event(&mut self, envelope: &Envelope) {
        match &envelope.event {
            Event::EpisodeStarted { .. } | Event::StepOpened { .. } => self.prompted.clear(),
            Event::PromptSent { prompt } if prompt.role == ModelRole::Actor => self.add_prompt(prompt),
            Event::Noted { notes, .. } => {
                let detectors: BTreeSet<&str> = notes
                    .iter()
                    .filter(|note| note.kind == NoteKind::Mistake)
                    .map(|note| note.detector.as_str())
                    .collect();
                for detector in detectors {
                    for lesson in &self.prompted {
                        *self.mistakes.entry((lesson.clone(), detector.to_owned())).or_default() += 1;
                    }
                }
            }
            _ => {}
        }
    }

    fn add_prompt(&mut self, prompt: &PromptRecord) {
        let mut tokens = 0;
        self.prompted.clear();
        for segment in &prompt.segments {
            if let SegmentOrigin::Lesson { id, .. } = &segment.origin {
                tokens += segment.tokens;
                self.prompted.insert(id.clone());
            }
        }
        self.prompts.insert((prompt.episode, prompt.step), (tokens, prompt.tokens));
    }

    /// Checks the lessons and reflections of the state after the last event.
    pub fn finish(&self, state: &State) -> LessonHealth {
        let episodes = EndedEpisodes::new(state);
        let mut health = check_lessons(state.pool.all(), |lesson| episodes.task_key_of(lesson));
        health.prompt_share = self.median_share();
        health.last_prompt_share = self.shares().next_back();
        let recorded_cosine = state.settings().early_stop_cosine;
        let same_cosine = if recorded_cosine.is_finite() { recorded_cosine } else { REPEATED_COSINE };
        let reflections = state.reflections.iter().map(AsRef::as_ref);
        let repeated = repeated_advice(reflections, same_cosine, |n| episodes.task_name(n));
        health.findings.extend(repeated.into_iter().map(Finding::RepeatedAdvice));
        let rules = rules_by_text(state);
        for lesson in state.pool.all().filter(|lesson| lesson.is_active()) {
            health.findings.extend(self.disobedience(lesson, &rules));
            let unused = episodes.in_scope_after(lesson);
            if lesson.uses == 0 && unused >= UNUSED_EPISODES {
                health.findings.push(Finding::NeverUsed { lesson: LessonRef::new(lesson), episodes: unused });
            }
        }
        if let Some(share) = health.prompt_share.filter(|share| *share > LARGE_SHARE) {
            health.findings.push(Finding::LargeShare { share });
        }
        health
    }

    /// Returns the share of the prompt that lessons take, step by step.
    fn shares(&self) -> impl DoubleEndedIterator<Item = f64> {
        let prompts = self.prompts.values().filter(|(_, all)| *all > 0);
        prompts.map(|(lessons, all)| (f64::from(*lessons) / f64::from(*all)).min(1.0))
    }

    /// Returns the median of the shares over all steps.
    fn median_share(&self) -> Option<f64> {
        let mut shares: Vec<f64> = self.shares().collect();
        shares.sort_by(f64::total_cmp);
        let upper = shares.get(shares.len() / 2)?;
        let lower = shares.get(shares.len().saturating_sub(1) / 2)?;
        Some(f64::midpoint(*lower, *upper))
    }

    /// Returns how often the mistake that a lesson is about was made while the lesson was in the prompt. `None` if it never was, or
    /// if no detector notes that mistake.
    fn disobedience(&self, lesson: &Lesson, rules: &HashMap<String, String>) -> Option<Finding> {
        let rule =
            lesson.rule.as_deref().or_else(|| rules.get(&lesson.text().normalized()).map(String::as_str))?;
        let detector = rule.strip_prefix(ERROR_RULE_PREFIX)?.split('.').next()?;
        let times = *self.mistakes.get(&(lesson.id.clone(), detector.to_owned()))?;
        let detector = detector.to_owned();
        Some(Finding::NotObeyed { lesson: LessonRef::new(lesson), detector, times, uses: lesson.uses })
    }
}

/// Returns the rules behind the sentences of reflections, so that a lesson in the same words counts as the same, whoever wrote it.
fn rules_by_text(state: &State) -> HashMap<String, String> {
    let items = state.reflections.iter().flat_map(|reflection| &reflection.items);
    items.filter_map(|item| Some((item.text.normalized(), item.rule.clone()?))).collect()
}

/// The episodes of a state, with their tasks.
struct EndedEpisodes<'a> {
    ended: Vec<&'a EpisodeSummary>,
    /// The tasks of all episodes, the open one included.
    tasks: HashMap<u32, &'a Task>,
}

impl<'a> EndedEpisodes<'a> {
    fn new(state: &'a State) -> Self {
        let ended: Vec<&EpisodeSummary> = state.ended_episodes.iter().map(AsRef::as_ref).collect();
        let mut tasks: HashMap<u32, &Task> =
            ended.iter().map(|episode| (episode.number, &episode.task)).collect();
        if let Some(open) = state.episode.as_deref() {
            tasks.insert(open.number, &open.task);
        }
        Self { ended, tasks }
    }

    fn task_name(&self, episode: u32) -> Option<String> {
        self.tasks.get(&episode).map(|task| format!("{} {}", task.env, task.id))
    }

    /// Returns the key of the task that a lesson is about, if it was learned on one.
    fn task_key_of(&self, lesson: &Lesson) -> Option<String> {
        let recorded = lesson.task_key.as_deref().map(str::to_owned);
        recorded.or_else(|| self.tasks.get(&lesson.learnt_at.0).map(|task| task.key()))
    }

    /// Returns the number of ended episodes after the one in which a lesson was learned, as far as they are in its scope
    /// ([`State::is_in_scope`]).
    fn in_scope_after(&self, lesson: &Lesson) -> usize {
        let learnt_on = self.tasks.get(&lesson.learnt_at.0).copied();
        let is_in_scope = |task: &Task| {
            if let Some(key) = lesson.task_key.as_deref() {
                return key == task.key();
            }
            if let Some(task_type) = lesson.task_type.as_deref().filter(|_| lesson.scope == Scope::TaskType) {
                return task.task_type.as_deref() == Some(task_type);
            }
            let Some(learnt_on) = learnt_on else { return true };
            learnt_on.env == task.env
                && match lesson.scope {
                    Scope::Episode => false,
                    Scope::Task => learnt_on.id == task.id,
                    Scope::TaskType => learnt_on.task_type == task.task_type,
                    Scope::Environment => true,
                }
        };
        let later = self.ended.iter().filter(|episode| episode.number > lesson.learnt_at.0);
        later.filter(|episode| is_in_scope(&episode.task)).count()
    }
}
