//! The search as the run's memory holds it: what was evaluated, what is being evaluated, what comes next.

use super::advice::{demonstration_pairs, last_advice};
use super::ended_search::EndedSearch;
use super::jobs::{
    Choice, ChoiceInputs, INSTRUCT, InstructInputs, ModelInputs, NEXT_POINTS, ProjectionInputs,
};
use super::reward::{Outcome, Reward, RewardRules};
use super::settings::{
    ALPHA, BATCH, DEMOS, DESIGN, DIVERSITY, Design, FIT_GENERATIONS, FIT_STARTS, INSTANCES, INTRINSIC_DIM,
    KERNEL, Kernel, LENGTHSCALE_RATE, LENGTHSCALE_SHAPE, MIN_DISTANCE, MIN_NOISE, MODEL_SETTING, N_INIT,
    NOISE_RATE, NOISE_SHAPE, OPTIMISE, OUTPUTSCALE_RATE, OUTPUTSCALE_SHAPE, Optimise, PROJECTION, PROMPTER,
    PROMPTER_TEMPERATURE, PROMPTER_TOKENS, Prompter, REWARD, ROUNDS, SEARCH, SEARCH_GENERATIONS,
    SEARCH_POPULATION, SEARCH_STEP, SOFT_TOKENS, SearchSteps, TEMPLATE_SETTING,
};
use super::text_steering::{self, Texts};
use crate::bayes::{
    FitOptions, Hyperparameters, KernelVariant, NextPointsInputs, RandomNumbers, SearchPlan, SearchVariant,
    latin_hypercube, mix_seed, project_to_plane,
};
use crate::domain::{
    DecidedBy, EndReason, Job, Lesson, LessonStatus, PredictedReward, ReflectionKind, SearchHistory,
    SearchedPoint, Task,
};
use crate::engine::{Intent, LessonCommand, State};
use crate::prompt::text_hash;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The box that is searched, in every coordinate.
const BOX: [f64; 2] = [-1.0, 1.0];
/// The rule that writes the results of evaluations.
pub(super) const OBJECTIVE: &str = "objective";
/// The version of the memory.
const VERSION: u32 = 1;

/// The memory of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Search {
    version: u32,
    /// Which group of tasks is played: those of one type, in the order of the run's list.
    pub(super) group: usize,
    /// How many times vectors were chosen after the first ones.
    pub(super) round: u32,
    pub(super) queue: Vec<Candidate>,
    pub(super) now: Option<Evaluation>,
    pub(super) done: Vec<Evaluated>,
    /// The model of the rewards at each fit.
    pub(super) fits: Vec<FitNote>,
    /// The number of the last episode that was counted.
    pub(super) counted: u32,
    /// The numbers of the episodes that a person has started. They are no attempts of the search.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) manual: Vec<u32>,
    /// Whether the record of the objective says that all texts are known, so that the search ended before its last round.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_exhausted: bool,
    /// The searches for the types of tasks before this one, for pictures; nothing is decided by them. Sessions of older versions
    /// have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) ended: Vec<EndedSearch>,
}

/// A vector to evaluate, with what the model of the rewards expects of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Candidate {
    pub(super) v: Vec<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) expected: Option<Expected>,
    /// The text whose vector it is, as the indices of its sentences; empty if the vector chooses its text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) chosen: Vec<usize>,
}

/// The predicted reward and its standard deviation, and the expected improvement in standardised rewards.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Expected {
    pub(super) mean: f64,
    pub(super) deviation: f64,
    pub(super) ei: f64,
}

impl Expected {
    /// Describes the predicted reward and its uncertainty: `expected 0.48 ± 0.11`.
    pub(super) fn describe_mean(self) -> String {
        format!("expected {:.2} ± {:.2}", self.mean, self.deviation)
    }

    /// Describes it in a phrase. The improvement is in standardised rewards, as it is searched for.
    pub(super) fn describe(self) -> String {
        format!("{}, improvement {:.3} standard deviations", self.describe_mean(), self.ei)
    }
}

/// The evaluation in progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Evaluation {
    pub(super) candidate: Candidate,
    /// The instruction as it was made from the vector.
    pub(super) text: String,
    pub(super) chosen: Vec<usize>,
    /// The length of the soft prompt that a model made the instruction of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) p_norm: Option<f64>,
    /// The index of the task in its group.
    pub(super) instance: usize,
    /// Attempts made at this task.
    pub(super) attempt: u32,
    /// What became of the tasks before this one: solved, reward, attempts.
    pub(super) results: Vec<(bool, f64, u32)>,
    /// Whether the reward isn't the vector's alone, because a person changed the instruction or played: it is not given to the
    /// optimiser.
    pub(super) assisted: bool,
    /// How many more instructions a person has asked for.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) redraws: u32,
    /// Whether the next one is due.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) wants_sample: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// An evaluated vector.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Evaluated {
    /// In which round the vector was chosen; 0: a first one.
    #[serde(default)]
    pub(super) round: u32,
    pub(super) v: Vec<f64>,
    pub(super) chosen: Vec<usize>,
    pub(super) reward: f64,
    pub(super) performance: f64,
    pub(super) diversity: f64,
    pub(super) scores: Vec<f64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) assisted: bool,
    /// What the model of the rewards expected; first vectors have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) expected: Option<Expected>,
    /// The hash of the instruction.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) text: String,
}

/// What a fit found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct FitNote {
    pub(super) round: u32,
    pub(super) hyper: Hyperparameters,
    pub(super) objective: f64,
    /// The share of its prior variance that the model keeps at random vectors.
    pub(super) blind: f64,
}

impl Search {
    /// Begins the search for a group of tasks with its first vectors.
    pub(super) fn new(state: &State, group: usize) -> Self {
        let counted = state.episode.as_ref().map_or(0, |episode| episode.number);
        let mut search = Self {
            version: VERSION,
            group,
            round: 0,
            queue: Vec::new(),
            now: None,
            done: Vec::new(),
            fits: Vec::new(),
            counted,
            manual: Vec::new(),
            is_exhausted: false,
            ended: Vec::new(),
        };
        let count = state.setting(N_INIT) as usize;
        search.queue = match state.setting(OPTIMISE) {
            Optimise::Random => search.random_candidates(state, count),
            Optimise::Bayes if is_text_search(state) => search.first_texts(state),
            Optimise::Bayes | Optimise::Fixed => search.first_vectors(state),
        };
        search
    }

    /// Reads the memory of a run; `None` if the search hasn't begun, or if its memory can't be read.
    pub(super) fn read(state: &State) -> Option<Self> {
        Self::try_read(state).ok().flatten()
    }

    /// Reads the memory of a run; `None` if the search hasn't begun.
    ///
    /// # Errors
    /// Returns why the memory can't be read.
    pub(super) fn try_read(state: &State) -> Result<Option<Self>, String> {
        if state.memory.is_null() {
            return Ok(None);
        }
        match state.memory.get("version").and_then(Value::as_u64) {
            Some(version) if version == u64::from(VERSION) => {}
            Some(version) => return Err(format!("it has version {version}, and {VERSION} is known")),
            None => return Err("it has no version".to_owned()),
        }
        Self::deserialize(&state.memory).map(Some).map_err(|error| error.to_string())
    }

    /// Returns the intent that stores it.
    pub(super) fn store(&self) -> Intent {
        // Plain numbers and texts can always be written.
        Intent::SetMemory(serde_json::to_value(self).unwrap_or(Value::Null))
    }

    fn first_vectors(&self, state: &State) -> Vec<Candidate> {
        let bounds = match state.setting(DESIGN) {
            Design::Box => BOX,
            Design::Unit => [0.0, 1.0],
        };
        let (count, dimension) = (state.setting(N_INIT) as usize, dimension(state));
        let points = latin_hypercube(count, dimension, bounds, self.seed(state, "dora.init"));
        points.into_iter().map(|v| Candidate { v, expected: None, chosen: Vec::new() }).collect()
    }

    /// Returns the texts that the first vectors choose; random ones in place of those that several choose.
    fn first_texts(&self, state: &State) -> Vec<Candidate> {
        let groups = text_steering::candidates(state);
        let mut first: Vec<Vec<usize>> = Vec::new();
        let vectors = self.first_vectors(state);
        for chosen in vectors.iter().map(|first| text_steering::choose(&first.v, &groups, anchor_seed(state)))
        {
            if !first.contains(&chosen) {
                first.push(chosen);
            }
        }
        let others = self.texts(state).unknown(self.seed(state, "dora.random.0"));
        let others: Vec<_> = others.into_iter().filter(|text| !first.contains(text)).collect();
        first.extend(others);
        first.truncate(vectors.len());
        self.text_candidates(state, first)
    }

    fn random_candidates(&self, state: &State, count: usize) -> Vec<Candidate> {
        let seed = self.seed(state, &format!("dora.random.{}", self.done.len() + self.queue.len()));
        if is_text_search(state) {
            let mut texts = self.texts(state).unknown(seed);
            texts.truncate(count);
            return self.text_candidates(state, texts);
        }
        let mut numbers = RandomNumbers::from_seed(seed);
        let mut draw = || numbers.point(dimension(state), BOX);
        (0..count).map(|_| Candidate { v: draw(), expected: None, chosen: Vec::new() }).collect()
    }

    /// Returns the texts of text steering, of which those are known whose reward the optimiser gets.
    fn texts(&self, state: &State) -> Texts {
        Texts {
            sizes: text_steering::sizes(&text_steering::candidates(state)),
            seed: anchor_seed(state),
            known: self.usable().map(|evaluated| evaluated.chosen.clone()).collect(),
        }
    }

    fn text_candidates(&self, state: &State, texts: Vec<Vec<usize>>) -> Vec<Candidate> {
        let vectors = self.texts(state).vectors(&texts, dimension(state));
        vectors.into_iter().zip(texts).map(|(v, chosen)| Candidate { v, expected: None, chosen }).collect()
    }

    /// Returns the evaluations whose reward the optimiser gets.
    fn usable(&self) -> impl DoubleEndedIterator<Item = &Evaluated> {
        self.done.iter().filter(|evaluated| !evaluated.assisted)
    }

    /// Returns whether text steering has no text left to evaluate.
    fn are_all_texts_known(&self, state: &State) -> bool {
        is_text_search(state) && self.texts(state).are_all_known()
    }

    /// Returns the search with the mark that all texts are known, and how many that are, if a search that ends before its last
    /// round hasn't said so yet.
    pub(super) fn exhausted(&self, state: &State) -> Option<(Self, usize)> {
        let is_over = self.queue.is_empty() && u64::from(self.round) < state.setting(ROUNDS);
        (is_over && !self.is_exhausted && self.are_all_texts_known(state))
            .then(|| (Self { is_exhausted: true, ..self.clone() }, self.texts(state).count()))
    }

    /// Derives a seed for this group of tasks.
    fn seed(&self, state: &State, purpose: &str) -> u64 {
        mix_seed(run_seed(state), &format!("{purpose}.{}", self.group))
    }

    /// Derives a seed for an instruction: another one for each that a person asks for.
    fn draw_seed(&self, state: &State, purpose: &str) -> u64 {
        let redraws = self.now.as_ref().map_or(0, |now| now.redraws);
        let redraws = if redraws == 0 { String::new() } else { format!(".again{redraws}") };
        self.seed(state, &format!("{purpose}.{}{redraws}", self.done.len()))
    }

    /// Returns how many vectors at most are chosen in the next round: no more than there are starts for the searches.
    fn next_count(&self, state: &State) -> usize {
        (state.setting(BATCH) as usize).min(self.done.len().max(1))
    }

    /// Returns how many evaluations the search makes at most: one for each text, if there are few.
    pub(super) fn planned_evaluations(&self, state: &State) -> u64 {
        let rounds = 0..state.setting(ROUNDS);
        let planned = rounds.fold(state.setting(N_INIT), |count, _| count + count.min(state.setting(BATCH)));
        if !is_text_search(state) {
            return planned;
        }
        // Those that a person has changed are evaluated again.
        planned.min(self.texts(state).count().max(self.done.len()) as u64)
    }

    /// Returns what was evaluated, for pictures.
    pub(super) fn history(&self, state: &State) -> SearchHistory {
        let vectors: Vec<Vec<f64>> = self.done.iter().map(|evaluated| evaluated.v.clone()).collect();
        let (places, shown_variance) = project_to_plane(&vectors);
        let points = self.done.iter().zip(places).map(|(evaluated, place)| SearchedPoint {
            round: evaluated.round,
            reward: evaluated.reward,
            assisted: evaluated.assisted,
            place,
            vector: evaluated.v.clone(),
            predicted: evaluated.expected.map(|expected| PredictedReward {
                mean: expected.mean,
                deviation: expected.deviation,
                expected_improvement: expected.ei,
            }),
        });
        SearchHistory {
            points: points.collect(),
            planned: self.planned_evaluations(state),
            dimension: dimension(state),
            shown_variance,
            task_type: searched_type(state, self.group).map(str::to_owned),
        }
    }

    pub(super) fn best(&self) -> Option<(usize, &Evaluated)> {
        let usable = self.done.iter().enumerate().filter(|(_, evaluated)| !evaluated.assisted);
        // Of equal rewards the oldest.
        usable.rev().max_by(|(_, a), (_, b)| a.reward.total_cmp(&b.reward))
    }

    /// Returns what comes between two evaluations: an instruction for the next vector, more vectors, the next group of tasks,
    /// or the end of the run.
    pub(super) fn next_evaluation(&self, state: &State) -> Vec<Intent> {
        if let Some(candidate) = self.queue.first() {
            return vec![match self.with_pinned_vector(state) {
                Some(search) => search.store(),
                None => self.instruct(state, candidate),
            }];
        }
        if u64::from(self.round) < state.setting(ROUNDS) && !self.are_all_texts_known(state) {
            let has_rewards = self.usable().next().is_some();
            let queue = match state.setting(OPTIMISE) {
                Optimise::Bayes if has_rewards => return vec![self.choose_vectors(state)],
                Optimise::Bayes | Optimise::Random => self.random_candidates(state, self.next_count(state)),
                Optimise::Fixed => {
                    let first = self.first_vectors(state);
                    let count = self.next_count(state);
                    let offset = self.done.len();
                    (0..count)
                        .filter_map(|index| first.get((offset + index) % first.len().max(1)).cloned())
                        .collect()
                }
            };
            return vec![Self { queue, round: self.round + 1, ..self.clone() }.store()];
        }
        if groups(state).len() > self.group + 1 {
            let this = EndedSearch::new(self.group, &self.history(state));
            let ended = self.ended.iter().cloned().chain([this]).collect();
            // Each type of tasks has instructions of its own, so one that a person has pinned isn't for the next type either.
            let mut intents: Vec<Intent> = own_instructions(state).map(retire).collect();
            intents.push(
                Self { ended, manual: self.manual.clone(), ..Self::new(state, self.group + 1) }.store(),
            );
            return intents;
        }
        vec![Intent::EndRun]
    }

    /// Returns whether [`Self::next_evaluation`] leads to one, for this group of tasks or the next.
    pub(super) fn has_next_evaluation(&self, state: &State) -> bool {
        !self.queue.is_empty()
            || (u64::from(self.round) < state.setting(ROUNDS) && !self.are_all_texts_known(state))
            || groups(state).len() > self.group + 1
    }

    /// Begins the next evaluation with the vector whose instruction a person has pinned, in place of the queue's first: so a
    /// person fixes a vector. `None` if no instruction is pinned, or if it isn't one that was evaluated as it is.
    fn with_pinned_vector(&self, state: &State) -> Option<Self> {
        let pinned = active_instruction(state).filter(|lesson| lesson.status == LessonStatus::Pinned)?;
        let text = &pinned.text().text;
        let evaluated = self.known_text(text)?;
        let mut search = self.clone();
        *search.queue.first_mut()? =
            Candidate { v: evaluated.v.clone(), expected: None, chosen: evaluated.chosen.clone() };
        Some(search.with_instruction(state, text.clone(), evaluated.chosen.clone(), false))
    }

    /// Returns the newest evaluation of an instruction whose reward the optimiser got.
    pub(super) fn known_text(&self, text: &str) -> Option<&Evaluated> {
        let hash = text_hash(text);
        self.usable().rev().find(|evaluated| evaluated.text == hash)
    }

    /// Says why another instruction for the vector that is being evaluated would be the same one, as a clause, and what to do
    /// instead; `None` if it may be another.
    pub(super) fn why_no_sample(&self, state: &State) -> Option<(&'static str, &'static str)> {
        if self.now.is_none() {
            return Some(("no instruction is being evaluated", "wait for the next evaluation"));
        }
        if state.setting(PROMPTER) == Prompter::Text {
            let why = "text steering makes the same instruction of the same vector";
            return Some((why, "edit the instruction (e), or pin another one"));
        }
        let tasks = groups(state).get(self.group).cloned().unwrap_or_default();
        let has_choice = || demonstration_pairs(state, &tasks).len() as u64 > state.setting(DEMOS);
        let draws = state.setting(DEMOS) > 0 && has_choice();
        (state.setting(PROMPTER_TEMPERATURE) == 0 && !draws).then_some((
            "the prompter would write the same instruction again: it is greedy, and there are no other demonstrations to draw",
            "set prompter_temperature, or edit the instruction (e)",
        ))
    }

    /// Returns the search with another instruction asked for, for the vector that is being evaluated. `None` if there can't be
    /// another.
    pub(super) fn with_sample_wanted(mut self, state: &State) -> Option<Self> {
        if self.why_no_sample(state).is_some() {
            return None;
        }
        let now = self.now.as_mut()?;
        now.redraws += 1;
        now.wants_sample = true;
        Some(self)
    }

    /// Returns the search with another instruction for the vector that is being evaluated, which a person has asked for.
    pub(super) fn with_sample(mut self, text: Option<String>) -> Self {
        if let Some(now) = &mut self.now {
            now.wants_sample = false;
            // The same text is still the vector's.
            if let Some(text) = text.filter(|text| *text != now.text) {
                (now.text, now.assisted) = (text, true);
            }
        }
        self
    }

    /// Has the next vectors chosen.
    fn choose_vectors(&self, state: &State) -> Intent {
        let texts = is_text_search(state).then(|| self.texts(state));
        let dimension = dimension(state);
        let points = match &texts {
            // An older version has evaluated other vectors that choose the same texts.
            Some(texts) => texts.vectors(&texts.known, dimension),
            None => self.usable().map(|evaluated| evaluated.v.clone()).collect(),
        };
        let kernel = match state.setting(KERNEL) {
            Kernel::Paper => KernelVariant::Paper,
            Kernel::Scaled => KernelVariant::Scaled,
            Kernel::Ard => KernelVariant::Ard,
            Kernel::Coupled => KernelVariant::Coupled,
        };
        let has_scores = kernel == KernelVariant::Coupled;
        let next = NextPointsInputs {
            dimension,
            bounds: BOX,
            points,
            rewards: self.usable().map(|evaluated| evaluated.reward).collect(),
            scores: self.usable().filter(|_| has_scores).map(|evaluated| evaluated.scores.clone()).collect(),
            kernel,
            fit: fit_options(state),
            search: search_variant(state),
            // The searches of the box begin at no more points than there are.
            count: if texts.is_some() { self.next_count(state) } else { state.setting(BATCH) as usize },
            min_distance: state.setting(MIN_DISTANCE) as f64 / 1e6,
            seed: self.seed(state, &format!("dora.ei.{}", self.round)),
            version: 1,
        };
        compute(NEXT_POINTS, &ChoiceInputs { next, texts }, Vec::new())
    }

    /// Has the instruction of a vector made.
    pub(super) fn instruct(&self, state: &State, candidate: &Candidate) -> Intent {
        let demos = self.draw_demonstrations(state);
        let prompter = state.setting(PROMPTER);
        let mut inputs = InstructInputs {
            prompter: prompter.word().to_owned(),
            v: candidate.v.clone(),
            advice: Vec::new(),
            seed: 0,
            chosen: candidate.chosen.clone(),
            demos,
            by_model: None,
            version: 1,
        };
        let mut texts = Vec::new();
        match prompter {
            Prompter::Text => {
                (inputs.advice, inputs.seed) = (text_steering::candidates(state), anchor_seed(state));
            }
            Prompter::Local => {
                let recorded = |name| state.run.as_ref().map_or("", |run| run.settings.text(name, ""));
                let template = Some(recorded(TEMPLATE_SETTING)).filter(|text| !text.is_empty());
                texts.extend(template.map(|text| (text_hash(text), text.to_owned())));
                inputs.by_model = Some(ModelInputs {
                    model: recorded(MODEL_SETTING).to_owned(),
                    projection: ProjectionInputs {
                        kind: state.setting(PROJECTION).word().to_owned(),
                        seed: mix_seed(run_seed(state), "dora.projection"),
                        tokens: state.setting(SOFT_TOKENS),
                    },
                    template: texts.first().map_or_else(String::new, |(hash, _)| hash.clone()),
                    max_new: state.setting(PROMPTER_TOKENS),
                    temperature: state.setting(PROMPTER_TEMPERATURE),
                    sampling_seed: self.draw_seed(state, "dora.prompter"),
                });
            }
        }
        compute(INSTRUCT, &inputs, texts)
    }

    /// Draws demonstrations for a model as prompter, oldest first.
    fn draw_demonstrations(&self, state: &State) -> Vec<[String; 2]> {
        let count = state.setting(DEMOS) as usize;
        let tasks = groups(state).get(self.group).cloned().unwrap_or_default();
        let pairs = if count == 0 { Vec::new() } else { demonstration_pairs(state, &tasks) };
        let mut drawn: Vec<usize> = (0..pairs.len()).collect();
        RandomNumbers::from_seed(self.draw_seed(state, "dora.demos")).shuffle(&mut drawn);
        drawn.truncate(count);
        // The oldest are left out first where a prompt is too long.
        drawn.sort_unstable();
        drawn.into_iter().map(|index| pairs[index].clone()).collect()
    }

    /// Takes in the vectors that a fit has chosen; without a result, a random one.
    pub(super) fn with_chosen(mut self, state: &State, found: Option<Choice>) -> Self {
        self.round += 1;
        let Some(found) = found else {
            self.queue = self.random_candidates(state, 1);
            return self;
        };
        let Choice { next, mut texts } = found;
        let (round, hyper) = (self.round, next.hyper);
        self.fits.push(FitNote { round, hyper, objective: next.objective, blind: next.blind });
        let groups = match state.setting(PROMPTER) {
            Prompter::Text => text_steering::candidates(state),
            // What a model will write isn't known yet.
            Prompter::Local => Vec::new(),
        };
        let mut seen: Vec<Vec<usize>> = self.usable().map(|evaluated| evaluated.chosen.clone()).collect();
        self.queue = Vec::new();
        for (index, point) in next.points.into_iter().enumerate() {
            let expected =
                Expected { mean: point.mean, deviation: point.deviation, ei: point.improvement.ei };
            // The job of an older version knew no texts, so its vectors choose them, some of them the same.
            let chosen = texts
                .get_mut(index)
                .map_or_else(|| text_steering::choose(&point.v, &groups, anchor_seed(state)), std::mem::take);
            if chosen.is_empty() || !seen.contains(&chosen) {
                seen.push(chosen.clone());
                self.queue.push(Candidate { v: point.v, expected: Some(expected), chosen });
            }
        }
        self
    }

    /// Begins the evaluation of the first vector of the queue with this instruction.
    pub(super) fn with_instruction(
        mut self,
        state: &State,
        text: String,
        chosen: Vec<usize>,
        assisted: bool,
    ) -> Self {
        if self.queue.is_empty() {
            return self;
        }
        let candidate = self.queue.remove(0);
        self.counted = state.episode.as_ref().map_or(0, |episode| episode.number);
        self.now = Some(Evaluation {
            candidate,
            text,
            chosen,
            p_norm: None,
            instance: 0,
            attempt: 0,
            results: Vec::new(),
            assisted,
            redraws: 0,
            wants_sample: false,
        });
        self
    }

    /// Returns the search with the length of the soft prompt that the instruction in force was made of.
    pub(super) fn with_soft_prompt(mut self, p_norm: Option<f64>) -> Self {
        if let Some(now) = &mut self.now {
            now.p_norm = p_norm;
        }
        self
    }

    /// Returns the task that is being played.
    pub(super) fn task<'a>(&self, state: &'a State) -> Option<&'a Task> {
        let now = self.now.as_ref()?;
        groups(state).get(self.group)?.get(now.instance).copied()
    }

    /// Counts an attempt at the current task. Returns the search with the next attempt or task due, and the reward once the
    /// last task was played.
    pub(super) fn count_attempt(
        mut self,
        state: &State,
        solved: bool,
        reward: f64,
        attempts: u64,
    ) -> (Self, Option<Reward>) {
        let tasks = groups(state).get(self.group).cloned().unwrap_or_default();
        self.counted = state.episode.as_ref().map_or(0, |episode| episode.number);
        let Some(mut now) = self.now.take() else { return (self, None) };
        // Here and not only at the end: an instruction may be changed back.
        now.assisted |= is_instruction_changed(state, &now) || is_attempt_void(state);
        now.attempt += 1;
        if solved || u64::from(now.attempt) >= attempts {
            now.results.push((solved, reward, now.attempt));
            now.instance += 1;
            now.attempt = 0;
        }
        if now.instance < tasks.len() {
            self.now = Some(now);
            return (self, None);
        }
        let outcomes: Vec<Outcome> = now
            .results
            .iter()
            .zip(&tasks)
            .map(|((solved, reward, attempts), task)| Outcome {
                solved: *solved,
                reward: *reward,
                attempts: *attempts,
                advice: last_advice(state, task),
            })
            .collect();
        let reward = reward_rules(state).evaluate(&outcomes);
        self.done.push(Evaluated {
            round: self.round,
            v: now.candidate.v,
            chosen: now.chosen,
            reward: reward.value,
            performance: reward.performance,
            diversity: reward.diversity,
            scores: reward.scores.clone(),
            assisted: now.assisted,
            expected: now.candidate.expected,
            text: text_hash(&now.text),
        });
        (self, Some(reward))
    }
}

/// Returns whether another text than the evaluation's is in force, or none.
fn is_instruction_changed(state: &State, now: &Evaluation) -> bool {
    let mut in_force = state.pool.active_of_kind(ReflectionKind::Instruction).peekable();
    in_force.peek().is_none() || in_force.any(|lesson| lesson.text().text != now.text)
}

/// Returns whether the attempt that has just ended says nothing about the advice: the environment failed, or a person decided an
/// action or changed what the agent saw or thought. Advice that a person wrote is part of what is evaluated.
fn is_attempt_void(state: &State) -> bool {
    let Some(episode) = state.episode.as_deref() else { return false };
    episode
        .outcome
        .as_ref()
        .is_some_and(|outcome| outcome.reason == EndReason::Person || outcome.reason.is_env_failure())
        || episode.steps.iter().any(|step| {
            step.thought_edited
                || step.answer.as_ref().is_some_and(|answer| answer.edited)
                || step.executed.as_ref().is_some_and(|executed| executed.decided_by == DecidedBy::Person)
        })
}

fn compute(name: &str, inputs: &impl Serialize, texts: Vec<(String, String)>) -> Intent {
    let inputs = serde_json::to_value(inputs).unwrap_or(Value::Null);
    Intent::Compute { job: Box::new(Job { name: name.to_owned(), inputs }), texts }
}

fn run_seed(state: &State) -> u64 {
    state.run.as_ref().map_or(0, |run| run.seed)
}

fn anchor_seed(state: &State) -> u64 {
    mix_seed(run_seed(state), "dora.anchors")
}

fn dimension(state: &State) -> usize {
    state.setting(INTRINSIC_DIM) as usize
}

/// Returns whether texts are searched for: the vectors of texts are then all that there is to choose from.
fn is_text_search(state: &State) -> bool {
    state.setting(PROMPTER) == Prompter::Text && state.setting(OPTIMISE) == Optimise::Bayes
}

fn fit_options(state: &State) -> FitOptions {
    FitOptions {
        generations: state.setting(FIT_GENERATIONS) as usize,
        starts: state.setting(FIT_STARTS) as usize,
        min_noise: state.setting(MIN_NOISE) as f64 / 1e6,
        lengthscale_prior: [state.setting(LENGTHSCALE_SHAPE), state.setting(LENGTHSCALE_RATE)],
        noise_prior: [state.setting(NOISE_SHAPE), state.setting(NOISE_RATE)],
        outputscale_prior: [state.setting(OUTPUTSCALE_SHAPE), state.setting(OUTPUTSCALE_RATE)],
    }
}

/// Returns how expected improvement is searched: as the preset says, with a person's own numbers in the place of its.
fn search_variant(state: &State) -> SearchVariant {
    let preset = match state.setting(SEARCH) {
        SearchSteps::Ours => SearchVariant::Ours,
        SearchSteps::Code => SearchVariant::Code,
    };
    let of_preset = preset.plan();
    let count = |own: u64, of_preset: usize| if own == 0 { of_preset } else { own as usize };
    let step = state.setting(SEARCH_STEP);
    let plan = SearchPlan {
        step: if step > 0.0 { step } else { of_preset.step },
        population: count(state.setting(SEARCH_POPULATION), of_preset.population),
        generations: count(state.setting(SEARCH_GENERATIONS), of_preset.generations),
    };
    if plan == of_preset { preset } else { SearchVariant::Own(plan) }
}

fn reward_rules(state: &State) -> RewardRules {
    RewardRules {
        kind: state.setting(REWARD),
        diversity: state.setting(DIVERSITY),
        alpha: state.setting(ALPHA) as f64 / 100.0,
    }
}

/// Returns the tasks of the run by type, in the order in which the types first appear, of each the first `instances`.
pub(super) fn groups(state: &State) -> Vec<Vec<&Task>> {
    let mut groups: Vec<(&Option<String>, Vec<&Task>)> = Vec::new();
    for task in state.run.iter().flat_map(|run| run.test_tasks()) {
        match groups.iter_mut().find(|(kind, _)| **kind == task.task_type) {
            Some((_, tasks)) => tasks.push(task),
            None => groups.push((&task.task_type, vec![task])),
        }
    }
    let instances = state.setting(INSTANCES) as usize;
    let limited = groups.into_iter().map(|(_, mut tasks)| {
        tasks.truncate(instances);
        tasks
    });
    limited.collect()
}

/// Returns the name of the type of tasks that is searched for, if the run has several.
pub(super) fn searched_type(state: &State, group: usize) -> Option<&str> {
    let groups = groups(state);
    (groups.len() > 1).then(|| groups.get(group)?.first()?.task_type.as_deref()).flatten()
}

/// Returns the instructions in force that the search has made, not those that a person has added.
fn own_instructions(state: &State) -> impl Iterator<Item = &Lesson> {
    let in_force = state.pool.active_of_kind(ReflectionKind::Instruction);
    in_force.filter(|lesson| lesson.rule.as_deref() == Some(INSTRUCT))
}

/// Returns the intent that retires a lesson.
pub(super) fn retire(lesson: &Lesson) -> Intent {
    Intent::Lesson(LessonCommand::Status { id: lesson.id.clone(), status: LessonStatus::Retired })
}

/// Returns the instruction in force.
pub(super) fn active_instruction(state: &State) -> Option<&Lesson> {
    state.pool.active_of_kind(ReflectionKind::Instruction).last()
}
