//! A grounded problem that can be played. The sentences of its facts and actions are generated once, when it is loaded.

use super::applicable_entries::ApplicableEntries;
use super::limits;
use super::listing::ActionListing;
use super::sentences;
use super::tokenizer;
use crate::env::EnvError;
use crate::pddl::{Bits, FactId, FastMap, Model, ObjectId, PddlError, PddlText, State, Task};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

/// The two texts of a problem, and the labels that errors use for them.
#[derive(Clone, Copy, Debug)]
pub struct ProblemSource<'t> {
    /// The domain's file name, or another label.
    pub domain_label: &'t str,
    pub domain: &'t [u8],
    /// The problem's file name, or another label.
    pub problem_label: &'t str,
    pub problem: &'t [u8],
}

/// Which facts an observation mentions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObservationScope {
    /// All facts that are true.
    Everything,
    /// Facts that the last action made true. Facts that became false are never mentioned.
    Changes,
}

/// How the sentences of a goal are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GoalSeparator {
    /// With `, `, as AgentBoard's code prints it.
    #[default]
    Comma,
    /// With one space, as in AgentBoard's published labels and in the tables of OmniReflect's paper.
    Space,
}

/// A part of the goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subgoal {
    /// In PDDL: `(at ball1 roomb)`.
    pub atom: String,
    /// As a sentence: `ball1 is at roomb. `.
    pub sentence: String,
}

/// A problem that can be played. Immutable, and shared by all worlds that play it.
#[derive(Debug)]
pub struct Game {
    pub(super) domain: String,
    pub(super) observation_scope: ObservationScope,
    pub(super) task: Task,
    pub(super) goal: Vec<Subgoal>,
    pub(super) listing: ActionListing,
    pub(super) facts: FactSentences,
    pub(super) objects: FastMap<Arc<str>, ObjectId>,
    /// Whether a name of an object or action could be split or produced by the tokenizer's rules for contractions such
    /// as "cannot".
    pub(super) has_names_like_contractions: bool,
    /// The facts that are true at the start, by rank.
    pub(super) initial_facts: Bits,
    /// The actions that are applicable at the start.
    pub(super) initially_applicable: ApplicableEntries,
    atoms: OnceLock<Vec<(String, FactId)>>,
}

/// The sentences of all facts, sorted. A fact's *rank* is its position in this order.
#[derive(Debug, Default)]
pub(super) struct FactSentences {
    text: String,
    /// By rank: the offset of the sentence in `text`. Has one more element than there are facts.
    starts: Vec<u32>,
    /// By fact: its rank.
    pub(super) ranks: Vec<u32>,
}

impl FactSentences {
    fn new(task: &Task) -> Self {
        let mut text = String::new();
        let mut spans = Vec::with_capacity(task.fact_count());
        for predicate in task.predicates() {
            let name = task.predicate_name(predicate);
            let sentence = sentences::fact_sentence(name, task.arity(predicate));
            for fact in task.facts_of(predicate) {
                let from = text.len();
                let arguments = task.arguments(fact).iter().map(|&object| task.object_name(object));
                sentences::write_sentence(sentence, name, arguments, &mut text);
                if let Some(sentence) = text.get_mut(from..) {
                    sentences::capitalise(sentence);
                }
                spans.push((from, text.len(), fact));
            }
        }
        spans.sort_unstable_by(|left, right| text[left.0..left.1].cmp(&text[right.0..right.1]));
        let mut facts = Self { ranks: vec![0; spans.len()], ..Self::default() };
        facts.text.reserve_exact(text.len());
        for (rank, &(from, to, fact)) in spans.iter().enumerate() {
            facts.starts.push(facts.text.len() as u32);
            facts.text.push_str(&text[from..to]);
            facts.ranks[fact.index()] = rank as u32;
        }
        facts.starts.push(facts.text.len() as u32);
        facts
    }

    /// Returns the sentence with this rank, capitalised.
    #[inline]
    pub(super) fn sentence(&self, rank: usize) -> &str {
        match self.starts.get(rank..rank + 2) {
            Some(&[from, to]) => &self.text[from as usize..to as usize],
            _ => "",
        }
    }

    /// Returns the ranks of the facts that hold in a state.
    pub(super) fn true_ranks(&self, state: &State) -> Bits {
        let mut ranks = Bits::new(self.ranks.len());
        for fact in state.facts().ones() {
            ranks.set(self.ranks[fact] as usize, true);
        }
        ranks
    }
}

impl ProblemSource<'_> {
    fn parse(&self) -> Result<Model, EnvError> {
        let text = |label: &str, bytes: &[u8]| {
            if bytes.len() > limits::FILE_BYTES {
                let place = "the whole file".to_owned();
                let reason =
                    format!("more than {} bytes; the file is too large for this program", limits::FILE_BYTES);
                return Err(EnvError::Broken { file: label.to_owned(), place, reason });
            }
            // Non-ASCII characters may only occur in comments, where replacing them has no effect.
            Ok(String::from_utf8_lossy(bytes).into_owned())
        };
        let domain = text(self.domain_label, self.domain)?;
        let problem = text(self.problem_label, self.problem)?;
        Model::parse(&domain, &problem).map_err(|error| self.file_error(&error))
    }

    fn file_error(&self, error: &PddlError) -> EnvError {
        let file = match error {
            PddlError::Text { part: PddlText::Domain, .. } => self.domain_label,
            PddlError::Text { part: PddlText::Problem, .. } | PddlError::TooLarge { .. } => {
                self.problem_label
            }
        };
        EnvError::Broken { file: file.to_owned(), place: error.place(), reason: error.reason() }
    }
}

/// The names and the goal from the two files, read without grounding the problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProblemOutline {
    /// The domain's name, as written in its file.
    pub domain: String,
    /// The domain that the problem declares; empty if it declares none.
    pub problem_domain: String,
    /// The parts of the goal, in the order written.
    pub goal: Vec<Subgoal>,
}

impl ProblemOutline {
    /// Reads both files.
    ///
    /// # Errors
    /// [`EnvError::Broken`] with file, location and reason.
    pub fn read(source: &ProblemSource<'_>) -> Result<Self, EnvError> {
        Ok(Self::from_model(&source.parse()?))
    }

    fn from_model(model: &Model) -> Self {
        let name = |name: Option<_>| name.map_or("", |name| model.names.text(name)).to_owned();
        Self {
            domain: name(model.domain),
            problem_domain: name(model.problem_domain),
            goal: model.goal_conjuncts().into_iter().map(|part| Subgoal::from_formula(model, part)).collect(),
        }
    }

    /// Returns warnings about inconsistencies that don't prevent the problem from being played.
    pub fn warnings(&self) -> Vec<String> {
        let Self { domain, problem_domain, .. } = self;
        if problem_domain.is_empty() || domain == problem_domain {
            return Vec::new();
        }
        vec![format!("the problem is for the domain {problem_domain:?}, but the domain file is {domain:?}")]
    }

    /// Returns the goal as shown to the agent: its sentences, sorted by bytes.
    pub fn goal_text(&self, separator: GoalSeparator) -> String {
        goal_text(&self.goal, separator)
    }
}

impl Game {
    /// Reads and grounds a problem.
    ///
    /// # Errors
    /// [`EnvError::Broken`] with file, location and reason.
    pub fn load(source: &ProblemSource<'_>) -> Result<Arc<Self>, EnvError> {
        let model = source.parse()?;
        let broken = |error| source.file_error(&error);
        let task = Task::ground_with_parts(&model).map_err(broken)?;
        let count = task.fact_count() + task.op_count();
        if count > limits::FACTS_AND_ACTIONS {
            let what = "facts and actions to describe in text";
            let place = "PDDL grounding".to_owned();
            return Err(broken(PddlError::TooLarge { place, what, limit: limits::FACTS_AND_ACTIONS as u64 }));
        }
        if estimated_text_length(&task) > limits::TEXT_BYTES {
            let what = "bytes of text for facts and actions";
            let place = "names of the objects".to_owned();
            return Err(broken(PddlError::TooLarge { place, what, limit: limits::TEXT_BYTES }));
        }
        Ok(Arc::new(Self::from_model(&model, task)))
    }

    fn from_model(model: &Model, task: Task) -> Self {
        let ProblemOutline { domain, goal, .. } = ProblemOutline::from_model(model);
        let facts = FactSentences::new(&task);
        let objects: FastMap<Arc<str>, ObjectId> =
            task.objects().map(|object| (task.object_name(object).into(), object)).collect();
        let mut names =
            objects.keys().map(AsRef::as_ref).chain(task.actions().map(|action| task.action_name(action)));
        let listing = ActionListing::new(&task);
        Self {
            observation_scope: match domain.as_str() {
                "barman" | "tyreworld" => ObservationScope::Changes,
                _ => ObservationScope::Everything,
            },
            has_names_like_contractions: names.any(tokenizer::is_affected_by_contractions),
            initial_facts: facts.true_ranks(&task.initial()),
            initially_applicable: ApplicableEntries::new(&task, &listing, &task.initial()),
            listing,
            domain,
            goal,
            facts,
            objects,
            atoms: OnceLock::new(),
            task,
        }
    }

    /// Returns the domain's name, as written in its file.
    pub fn domain(&self) -> &str {
        &self.domain
    }

    /// Returns the parts of the goal, in the order written.
    pub fn goal(&self) -> &[Subgoal] {
        &self.goal
    }

    /// Returns the grounded problem.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// Returns the goal as shown to the agent: its sentences, sorted by bytes.
    pub fn goal_text(&self, separator: GoalSeparator) -> String {
        goal_text(&self.goal, separator)
    }

    /// Returns all facts as `(name argument ...)`, sorted by bytes. Computed on first use.
    pub(super) fn atoms(&self) -> &[(String, FactId)] {
        self.atoms.get_or_init(|| {
            let mut atoms: Vec<(String, FactId)> = self
                .task
                .predicates()
                .flat_map(|predicate| self.task.facts_of(predicate))
                .map(|fact| (format!("({})", self.atom(fact)), fact))
                .collect();
            atoms.sort_unstable();
            atoms
        })
    }

    /// Formats a fact as `name argument ...`.
    pub(super) fn atom(&self, fact: FactId) -> String {
        let mut text = self.task.predicate_name(self.task.predicate_of(fact)).to_owned();
        for &argument in self.task.arguments(fact) {
            text.push(' ');
            text.push_str(self.task.object_name(argument));
        }
        text
    }
}

/// Estimates the total length, in bytes, of all facts and actions as text.
fn estimated_text_length(task: &Task) -> u64 {
    const SENTENCE: u64 = 100;
    let word = |object: &ObjectId| task.object_name(*object).len() as u64;
    let names = |bound: &[ObjectId]| bound.iter().map(word).sum::<u64>();
    let facts = task.predicates().flat_map(|predicate| {
        let name = task.predicate_name(predicate).len() as u64;
        task.facts_of(predicate).map(move |fact| SENTENCE + name + names(task.arguments(fact)))
    });
    let actions = task.ops().map(|op| {
        let name = task.action_name(task.action_of(op)).len() as u64;
        SENTENCE + name + names(task.bound_objects(op))
    });
    facts.sum::<u64>() + actions.sum::<u64>()
}

/// Formats a goal as text.
fn goal_text(goal: &[Subgoal], separator: GoalSeparator) -> String {
    let mut sentences: Vec<&str> = goal.iter().map(|part| part.sentence.as_str()).collect();
    sentences.sort_unstable();
    let joined = match separator {
        GoalSeparator::Comma => sentences.join(", "),
        GoalSeparator::Space => {
            // Sentences that already end with a space don't get a second one.
            let mut text = sentences.iter().map(|sentence| sentence.trim_end()).collect::<Vec<_>>().join(" ");
            if sentences.last().is_some_and(|last| last.ends_with(' ')) {
                text.push(' ');
            }
            text
        }
    };
    format!("{GOAL_PREFIX}{joined}")
}

/// The words with which every goal begins.
const GOAL_PREFIX: &str = "The goal is to satisfy the following conditions: ";

/// Returns the conditions of a goal, without the words before them: `b1 is on b3, b3 is on b5`.
pub fn short_goal(goal: &str) -> Cow<'_, str> {
    let Some((_, conditions)) = goal.split_once(GOAL_PREFIX) else { return Cow::Borrowed(goal) };
    let conditions = conditions.split(". ").flat_map(|part| part.split(".,"));
    let conditions =
        conditions.map(|part| part.trim_matches([' ', ',', '.'])).filter(|part| !part.is_empty());
    Cow::Owned(conditions.collect::<Vec<_>>().join(", "))
}

impl Subgoal {
    fn from_formula(model: &Model, part: &crate::pddl::Formula) -> Self {
        use crate::pddl::{Formula, Term};
        let atom = model.to_pddl(part);
        let sentence = match part {
            Formula::Atom(predicate, terms) => {
                let name = model.names.text(model.predicates[*predicate].name);
                let words = terms.iter().map(|term| match term {
                    Term::Constant(name) | Term::Variable(name) => model.names.text(*name),
                });
                let mut text = String::new();
                sentences::write_sentence(
                    sentences::fact_sentence(name, terms.len()),
                    name,
                    words,
                    &mut text,
                );
                text
            }
            Formula::Not(inner) => format!("not {}", Self::from_formula(model, inner).sentence),
            _ => atom.clone(),
        };
        Self { atom, sentence }
    }
}
