//! Designs the two columns of a panel from a session: here, in the episode on screen, and elsewhere, in other tasks of its
//! environment.

use super::design::{
    Measurement, MeasurementDesign, arms_adding_one_in, arms_for_lesson, arms_joining, arms_leaving_one_out,
    similar_lessons,
};
use super::moment::{MomentError, moment_as_of};
use super::starting_point::{FreshStart, StartingPoint};
use crate::catalog::{LessonReader, find_environment, lesson_reader};
use crate::domain::{
    CALIBRATION_SETTING, EXPLORATION_SETTING, EffectStart, Lesson, LessonId, LessonStatus, LessonText,
    ModelRole, PLACE_PREFIX, RoleSource, RunSpec, Scope, Seq, Task,
};
use crate::driver::{DriverError, EpisodeReplay, ReplayError, RunFactory, worlds};
use crate::engine::State;
use crate::env::{TaskError, TaskOptions};
use crate::timeline::Timeline;
use crate::timeline::effect::{
    ALPHA, Column, EffectBudget, EffectScope, MeasuredLesson, Outcome, PlannedTask, Shard, column_alpha,
    placebo_text, shuffled_text,
};
use std::collections::HashSet;
use std::sync::Arc;

/// The number of kinds of task that a list of generated tasks is divided by. With more kinds, there are more tasks than
/// pairs; with fewer, fewer pairs.
const TASK_KINDS: usize = 6;

/// Pairs of a column where they cost nothing and little time.
pub const MANY_PAIRS: u32 = 200;
/// Pairs of a column otherwise.
pub const FEW_PAIRS: u32 = 60;

/// Where in a session the pairs of the column "here" begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EpisodePlace {
    /// The episode's number; `None`: the branch's open or last one.
    pub episode: Option<u32>,
    /// Before the prompt of this step; `None`: at the episode's start.
    pub step: Option<u32>,
}

/// The text that takes the lesson's place in the placebo arm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlaceboKind {
    /// Neutral sentences of equal length.
    #[default]
    Neutral,
    /// The lesson's own words in a random order.
    Shuffled,
    /// There is no such arm.
    None,
}

/// What a person chooses about a measurement, besides the lesson and the place.
#[derive(Clone, Debug)]
pub struct MeasureChoices {
    pub pairs: u32,
    pub outcome: Outcome,
    /// `None`: the outcome's own.
    pub margin: Option<f64>,
    pub budget: EffectBudget,
    pub frozen: bool,
    pub placebo: PlaceboKind,
    /// Another wording to measure against the present one.
    pub edited: Option<LessonText>,
    /// Another primary contrast, as its position among the contrasts.
    pub primary: usize,
    pub seed: u64,
    pub repeats: u32,
    pub shard: Option<Shard>,
    /// Whether the claim is about exactly these tasks, not about tasks like these.
    pub exactly_these: bool,
    pub several: SeveralLessons,
    /// The number of columns that are judged together.
    pub columns: usize,
    /// The keys of tasks on which the lesson was learned in other sessions.
    pub learned_on: Vec<String>,
}

/// How each of several lessons is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SeveralLessons {
    /// The pool with it and without it.
    #[default]
    LeaveOneOut,
    /// It alone with an empty pool.
    AddOneIn,
    /// Those before it with it and without it, in random orders.
    Join,
}

impl Default for MeasureChoices {
    fn default() -> Self {
        Self {
            pairs: FEW_PAIRS,
            outcome: Outcome::Success,
            margin: None,
            budget: EffectBudget::default(),
            frozen: true,
            placebo: PlaceboKind::Neutral,
            edited: None,
            primary: 0,
            seed: 0,
            repeats: 1,
            shard: None,
            exactly_these: false,
            several: SeveralLessons::default(),
            columns: 2,
            learned_on: Vec::new(),
        }
    }
}

/// A session and the lesson to measure in it.
#[derive(Clone)]
pub struct MeasuredSession {
    /// Name of the session.
    pub name: String,
    /// The branch.
    pub timeline: Timeline,
    /// The branch's state when a person asked. What is measured depends on it alone, so a measurement that is continued after the
    /// session went on is still the same one.
    pub asked: Arc<State>,
    pub lesson: Lesson,
}

/// Why a measurement can't be designed.
#[derive(Debug, thiserror::Error)]
pub enum DesignError {
    #[error("no run has started in this session; open a session with an episode")]
    NoRun,
    #[error("a person plays this run, and nobody would play the episodes; choose an actor first")]
    HumanActor,
    #[error("episode {0} can't be played again: {1}")]
    Replay(u32, &'static str),
    #[error("this session has no episode {0}; choose one of its episodes")]
    NoEpisode(u32),
    #[error("step {0} is not a step of this episode; choose one of its steps")]
    NoStep(u32),
    #[error("the past before step {0} can't be read, so nothing can be played on from there")]
    Unreadable(u32),
    #[error("there are no other tasks in {0} to measure with; name tasks with --tasks")]
    NoTasks(String),
    #[error(
        "--outcome progress: {env} task {task} has no sub-goals, so its progress is either 0 or all of it; \
         use --outcome success or steps"
    )]
    NoProgress { env: String, task: String },
    #[error(
        "a budget in money can't stop this: no price is known of {0}; set price_prompt and price_reply in the server's profile, or \
         limit calls or tokens"
    )]
    NoPrice(String),
    #[error(
        "the agent's prompts don't show this lesson (kind {0}), so nothing would differ; choose one that they show"
    )]
    NotShown(&'static str),
    #[error(transparent)]
    Tasks(#[from] TaskError),
    #[error(transparent)]
    Run(#[from] DriverError),
}

impl MeasuredSession {
    /// Designs the column "here": the same task from the same point, with new sample seeds.
    ///
    /// # Errors
    /// Returns [`DesignError`] if the episode can't be played from there.
    pub fn here(
        &self,
        place: EpisodePlace,
        choices: &MeasureChoices,
        make: &RunFactory,
    ) -> Result<Measurement, DesignError> {
        self.check_is_shown(choices)?;
        let asked = &self.state_with_last(place.episode)?;
        let episode = asked.episode.as_deref().ok_or(DesignError::NoRun)?;
        let observed = asked.run.as_deref().ok_or(DesignError::NoRun)?.seed;
        let (start, described) = match place.step {
            None => {
                let replay = EpisodeReplay::from_timeline(&self.timeline, &self.name, episode.number)
                    .map_err(|error| DesignError::Replay(episode.number, describe_replay_error(&error)))?;
                let described = EffectStart::Episode { session: self.name.clone(), episode: episode.number };
                (self.episode_start(replay), described)
            }
            Some(step) => {
                let lessons = vec![self.active_lesson()];
                let moment =
                    moment_as_of(&self.timeline, asked, step, lessons).map_err(|error| match error {
                        MomentError::NoStep => DesignError::NoStep(step),
                        MomentError::Unreadable => DesignError::Unreadable(step),
                    })?;
                let described = EffectStart::Moment {
                    session: self.name.clone(),
                    episode: episode.number,
                    step,
                    seq: moment.state.head,
                };
                (StartingPoint::Moment(Box::new(moment)), described)
            }
        };
        let task = Task { goal: String::new(), ..episode.task.clone() };
        let tasks = vec![PlannedTask { task, learned: false }];
        let mut design = design(&self.lesson, Column::Here, choices, tasks);
        design.scope = EffectScope::Moment;
        design.start = described;
        design.excluded_seeds = vec![observed];
        measurement(design, start, make)
    }

    /// Fails if the arms would play alike, because no prompt of theirs shows the lesson.
    fn check_is_shown(&self, choices: &MeasureChoices) -> Result<(), DesignError> {
        let method = self.asked.run.as_deref().ok_or(DesignError::NoRun)?.method.as_str();
        let is_shown = match lesson_reader(method, self.lesson.kind) {
            LessonReader::Actor => true,
            // A mentor is asked where reflection isn't frozen.
            LessonReader::Mentor => !choices.frozen,
            LessonReader::Nobody => false,
        };
        if is_shown { Ok(()) } else { Err(DesignError::NotShown(self.lesson.kind.name())) }
    }

    /// Designs the column "elsewhere": other tasks, from their start. Without `tasks`, the environment's own: those that
    /// calibrations use, or else its list. The tasks of this session are never among them: the lesson may have been learned
    /// there, and they have been observed. Nor are those on which it was learned before.
    ///
    /// # Errors
    /// Returns [`DesignError`] if there are no such tasks, or if the run can't be built.
    pub fn elsewhere(
        &self,
        tasks: Option<Vec<Task>>,
        options: &TaskOptions,
        choices: &MeasureChoices,
        make: &RunFactory,
    ) -> Result<Measurement, DesignError> {
        self.check_is_shown(choices)?;
        let head = &self.asked;
        let run = head.run.as_deref().ok_or(DesignError::NoRun)?;
        let env = head.episode.as_deref().map(|episode| episode.task.env.clone());
        let env = env.or_else(|| run.tasks.first().map(|task| task.env.clone())).ok_or(DesignError::NoRun)?;
        let blocks = match tasks {
            Some(tasks) => vec![tasks],
            None => other_tasks(&env, choices.pairs, options)?,
        };
        let played = head.ended_episodes.iter().map(|ended| ended.task.key());
        let open = head.episode.iter().map(|episode| episode.task.key());
        let about = self.lesson.task_key.as_deref().map(str::to_owned);
        let mut seen: HashSet<String> =
            played.chain(open).chain(about).chain(choices.learned_on.iter().cloned()).collect();
        let (mut tasks, mut task_blocks) = (Vec::new(), Vec::new());
        for block in blocks {
            let before = tasks.len();
            // Named twice, a task would count as two.
            let new = block.into_iter().filter(|task| seen.insert(task.key()));
            tasks.extend(new.map(|task| PlannedTask { task, learned: false }));
            task_blocks.push((tasks.len() - before) as u32);
        }
        if task_blocks.len() == 1 {
            task_blocks.clear();
        }
        if tasks.is_empty() {
            return Err(DesignError::NoTasks(env));
        }
        let general = |lesson: &&Lesson| {
            lesson.is_active()
                && lesson.id != self.lesson.id
                && matches!(lesson.scope, Scope::Environment | Scope::TaskType)
        };
        let mut lessons: Vec<Lesson> = head.pool.all().filter(general).cloned().collect();
        // Wherever it stood, the measured lesson comes last: a person sees what was added to the others.
        lessons.push(widened(&self.active_lesson()));
        let start =
            FreshStart { spec: other_run(run), lessons, source: self.name.clone(), replay_start: None };
        let mut design = design(&self.lesson, Column::Elsewhere, choices, tasks);
        (design.repeats, design.task_blocks) = (choices.repeats, task_blocks);
        measurement(design, StartingPoint::Start(Box::new(start)), make)
    }

    /// Returns the branch's state in which an episode is the last one: as of the measurement's request, or at the episode's end.
    fn state_with_last(&self, episode: Option<u32>) -> Result<Arc<State>, DesignError> {
        let last = self.asked.episode.as_ref().map(|last| last.number);
        let Some(number) = episode.filter(|number| Some(*number) != last) else {
            return Ok(self.asked.clone());
        };
        let ended = self.asked.ended_episodes.iter().find(|ended| ended.number == number);
        let end = Seq(ended.ok_or(DesignError::NoEpisode(number))?.seq_range.1);
        let state = self.timeline.state_at(end);
        let is_last = state.episode.as_ref().is_some_and(|last| last.number == number);
        if is_last { Ok(state) } else { Err(DesignError::Replay(number, "its events can't be read")) }
    }

    fn episode_start(&self, replay: EpisodeReplay) -> StartingPoint {
        let measured = replay.bind(&self.active_lesson());
        let mut lessons = replay.lessons;
        match lessons.iter_mut().find(|lesson| lesson.id == measured.id) {
            Some(lesson) => *lesson = measured,
            None => lessons.push(measured),
        }
        StartingPoint::Start(Box::new(FreshStart {
            spec: replay.spec,
            lessons,
            source: replay.source,
            replay_start: Some(Box::new(replay.start)),
        }))
    }

    /// The lesson as it is when it is in force.
    fn active_lesson(&self) -> Lesson {
        let status = if self.lesson.is_active() { self.lesson.status } else { LessonStatus::On };
        Lesson { status, ..self.lesson.clone() }
    }
}

/// Designs a measurement of a lesson over a task list, with the lessons of a pool.
///
/// # Errors
/// Returns [`DesignError`] if there are no tasks, or if the run can't be built.
pub fn measure_over_tasks(
    lesson: &Lesson,
    spec: &RunSpec,
    (source, lessons): (&str, Vec<Lesson>),
    choices: &MeasureChoices,
    make: &RunFactory,
) -> Result<Measurement, DesignError> {
    let (start, tasks) = task_list_start(spec, source, lessons, &choices.learned_on)?;
    let mut design = design(lesson, Column::Elsewhere, choices, tasks);
    design.column = None;
    design.repeats = choices.repeats;
    measurement(design, start, make)
}

/// Designs a measurement of each of several lessons, by leaving it out of a pool, by adding it alone to an empty one, or by letting all of
/// them join in random orders.
///
/// # Errors
/// Returns [`DesignError`] if there are no tasks, or if the run can't be built.
pub fn measure_each(
    measured: &[Lesson],
    spec: &RunSpec,
    (source, lessons): (&str, Vec<Lesson>),
    choices: &MeasureChoices,
    make: &RunFactory,
) -> Result<Measurement, DesignError> {
    let pool: Vec<LessonId> = lessons.iter().map(|lesson| lesson.id.clone()).collect();
    let (start, tasks) = task_list_start(spec, source, lessons, &choices.learned_on)?;
    let Some(first) = measured.first() else { return Err(DesignError::NoRun) };
    let mut design = design(first, Column::Elsewhere, choices, tasks);
    design.column = None;
    design.repeats = choices.repeats;
    design.lessons = measured.iter().map(describe_lesson).collect();
    if choices.several == SeveralLessons::Join {
        // Of lessons that say the same, the one that joins first gets the credit.
        design.groups = similar_lessons(&design.lessons);
        design.orders = true;
        (design.arms, design.contrasts) = arms_joining(&design.lessons, &pool);
    } else if choices.several == SeveralLessons::AddOneIn {
        (design.arms, design.contrasts) = arms_adding_one_in(&design.lessons, &pool);
    } else {
        design.groups = similar_lessons(&design.lessons);
        (design.arms, design.contrasts) = arms_leaving_one_out(&design.lessons, &design.groups);
    }
    measurement(design, start, make)
}

fn task_list_start(
    spec: &RunSpec,
    source: &str,
    lessons: Vec<Lesson>,
    learned_on: &[String],
) -> Result<(StartingPoint, Vec<PlannedTask>), DesignError> {
    let plain = |task: &Task| {
        let key = task.key();
        let is_about = |lesson: &Lesson| lesson.task_key.as_deref() == Some(key.as_str());
        let learned = learned_on.contains(&key) || lessons.iter().any(is_about);
        PlannedTask { task: Task { goal: String::new(), ..task.clone() }, learned }
    };
    // Named twice, a task would count as two.
    let mut keys = HashSet::new();
    let tasks: Vec<PlannedTask> =
        spec.test_tasks().iter().filter(|task| keys.insert(task.key())).map(plain).collect();
    if tasks.is_empty() {
        return Err(DesignError::NoTasks("this run".to_owned()));
    }
    let start = FreshStart { spec: other_run(spec), lessons, source: source.to_owned(), replay_start: None };
    Ok((StartingPoint::Start(Box::new(start)), tasks))
}

fn measurement(
    design: MeasurementDesign,
    start: StartingPoint,
    make: &RunFactory,
) -> Result<Measurement, DesignError> {
    let run = start.run().ok_or(DesignError::NoRun)?;
    if run.role_source(ModelRole::Actor) == RoleSource::Person {
        return Err(DesignError::HumanActor);
    }
    if design.outcome == Outcome::Progress
        && let Some(task) = design.tasks.iter().map(|planned| &planned.task).find(|task| !has_progress(task))
    {
        return Err(DesignError::NoProgress { env: task.env.clone(), task: task.id.clone() });
    }
    // How the rule-based actor plays depends on the environments.
    let tasks = design.tasks.iter().map(|planned| planned.task.clone()).collect();
    let config = make(&RunSpec { tasks, ..run.clone() })?;
    Ok(Measurement::new(design, start, config))
}

/// Returns whether a task's progress rate says more than whether it is solved. Environments that aren't in the catalog may say so.
fn has_progress(task: &Task) -> bool {
    find_environment(&task.env).is_none_or(|entry| (entry.task_facts.has_progress)(task))
}

fn design(
    lesson: &Lesson,
    column: Column,
    choices: &MeasureChoices,
    tasks: Vec<PlannedTask>,
) -> MeasurementDesign {
    let text = lesson.text();
    let replaced = |replace: &dyn Fn(&str) -> String| LessonText {
        text: replace(&text.text),
        solution: text.solution.as_deref().map(replace),
    };
    let (id, version) = (&*lesson.id.0, lesson.version());
    let placebo = match choices.placebo {
        PlaceboKind::Neutral => Some(replaced(&|text| placebo_text(text, id, version))),
        PlaceboKind::Shuffled => Some(replaced(&|text| shuffled_text(text, id, version))),
        PlaceboKind::None => None,
    };
    let (arms, mut contrasts) = arms_for_lesson(&lesson.id, placebo, choices.edited.clone());
    let primary = choices.primary.min(contrasts.len() - 1);
    contrasts.swap(0, primary);
    MeasurementDesign {
        lessons: vec![describe_lesson(lesson)],
        groups: Vec::new(),
        column: Some(column),
        arms,
        contrasts,
        scope: if choices.exactly_these { EffectScope::These } else { EffectScope::Tasks },
        start: EffectStart::Tasks,
        outcome: choices.outcome,
        margin: choices.margin.or(choices.outcome.default_margin()).unwrap_or(0.0),
        alpha: if choices.columns > 1 { column_alpha(choices.columns) } else { ALPHA },
        pairs: choices.pairs,
        budget: choices.budget,
        frozen: choices.frozen,
        seed: choices.seed,
        repeats: 1,
        shard: choices.shard,
        tasks,
        task_blocks: Vec::new(),
        excluded_seeds: Vec::new(),
        orders: false,
    }
}

fn describe_lesson(lesson: &Lesson) -> MeasuredLesson {
    MeasuredLesson { id: lesson.id.clone(), version: lesson.version(), text: lesson.text().clone() }
}

/// Returns the run for other tasks: one trial of each, without what belongs to the session.
fn other_run(run: &RunSpec) -> RunSpec {
    let mut spec = RunSpec { tasks: Vec::new(), trials: 1, ..run.clone() };
    spec.settings.retain(|name| {
        !name.starts_with(PLACE_PREFIX) && name != CALIBRATION_SETTING && name != EXPLORATION_SETTING
    });
    spec
}

/// Returns the lesson for all tasks of the environment: whether it would help there is the question.
fn widened(lesson: &Lesson) -> Lesson {
    Lesson { scope: Scope::Environment, task_key: None, task_type: None, ..lesson.clone() }
}

/// Returns tasks of an environment that nobody has looked at: those for calibration, without their goals, enough for a block of
/// [`MANY_PAIRS`] at a time. So a measurement of more pairs continues one of fewer.
fn other_tasks(env: &str, pairs: u32, options: &TaskOptions) -> Result<Vec<Vec<Task>>, TaskError> {
    let per_block = (MANY_PAIRS as usize).div_ceil(TASK_KINDS);
    let mut known = HashSet::new();
    let mut blocks: Vec<Vec<Task>> = Vec::new();
    for number in 1..=pairs.div_ceil(MANY_PAIRS).max(1) as usize {
        let tasks = worlds::list_calibration_tasks(env, per_block * number, options)?;
        let new = tasks.into_iter().filter(|task| known.insert(task.key()));
        let block: Vec<Task> = new.map(|task| Task { goal: String::new(), ..task }).collect();
        if block.is_empty() {
            break;
        }
        blocks.push(block);
    }
    Ok(blocks)
}

fn describe_replay_error(error: &ReplayError) -> &'static str {
    match error {
        ReplayError::NoEpisode(_) => "the session has no such episode",
        ReplayError::Unreadable => "its first events can't be read",
        ReplayError::Imported(_) => "it was imported, and its environment's data is not in it",
    }
}
