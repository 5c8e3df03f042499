//! A domain and a problem, ready to be played: everything that can be said is said once, here.

use super::applicable_entries::ApplicableEntries;
use super::limits;
use super::listing::ActionListing;
use super::sentences;
use super::tokenizer;
use crate::env::EnvError;
use crate::pddl::{Bits, FactId, FastMap, Model, ObjectId, PddlError, PddlText, State, Task};
use std::sync::{Arc, OnceLock};

/// The two texts of a problem, and the names under which errors speak of them.
#[derive(Clone, Copy, Debug)]
pub struct ProblemSource<'t> {
    /// The domain's file, or what stands for it.
    pub domain_label: &'t str,
    /// The domain's bytes.
    pub domain: &'t [u8],
    /// The problem's file, or what stands for it.
    pub problem_label: &'t str,
    /// The problem's bytes.
    pub problem: &'t [u8],
}

/// How much an observation tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObservationScope {
    /// All that is true.
    Everything,
    /// What has become true with the last action. What has ceased to be true is never told.
    Changes,
}

/// How the sentences of a goal are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GoalSeparator {
    /// With `, `, as the reference's code prints it.
    #[default]
    Comma,
    /// With one blank, as its published labels and OmniReflect's tables have it.
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

/// A problem that can be played. Immutable and shared by all worlds that play it.
#[derive(Debug)]
pub struct Game {
    pub(super) domain: String,
    pub(super) observation_scope: ObservationScope,
    pub(super) task: Task,
    pub(super) goal: Vec<Subgoal>,
    pub(super) listing: ActionListing,
    pub(super) facts: FactSentences,
    pub(super) objects: FastMap<Arc<str>, ObjectId>,
    /// Names that the tokenizer's rules for clipped words could make or break.
    pub(super) has_clipped_names: bool,
    /// What is true at the start, by rank.
    pub(super) initial_facts: Bits,
    /// What applies at the start.
    pub(super) initially_applicable: ApplicableEntries,
    atoms: OnceLock<Vec<(String, FactId)>>,
}

/// The sentences of all facts.
#[derive(Debug, Default)]
pub(super) struct FactSentences {
    text: String,
    /// By rank: where a sentence starts; one more than there are facts.
    starts: Vec<u32>,
    /// By fact: its place in the order of the sentences.
    pub(super) ranks: Vec<u32>,
}

impl FactSentences {
    fn new(task: &Task) -> Self {
        let mut said = String::new();
        let mut spans = Vec::with_capacity(task.fact_count());
        for predicate in task.predicates() {
            let name = task.predicate_name(predicate);
            let sentence = sentences::fact_sentence(name, task.arity(predicate));
            for fact in task.facts_of(predicate) {
                let from = said.len();
                let arguments = task.arguments(fact).iter().map(|&object| task.object_name(object));
                sentences::write_sentence(sentence, name, arguments, &mut said);
                if let Some(sentence) = said.get_mut(from..) {
                    sentences::capitalise(sentence);
                }
                spans.push((from, said.len(), fact));
            }
        }
        spans.sort_unstable_by(|left, right| said[left.0..left.1].cmp(&said[right.0..right.1]));
        let mut facts = Self { ranks: vec![0; spans.len()], ..Self::default() };
        facts.text.reserve_exact(said.len());
        for (rank, &(from, to, fact)) in spans.iter().enumerate() {
            facts.starts.push(facts.text.len() as u32);
            facts.text.push_str(&said[from..to]);
            facts.ranks[fact.index()] = rank as u32;
        }
        facts.starts.push(facts.text.len() as u32);
        facts
    }

    /// The sentence of this rank, with its capital letter.
    #[inline]
    pub(super) fn sentence(&self, rank: usize) -> &str {
        match self.starts.get(rank..rank + 2) {
            Some(&[from, to]) => &self.text[from as usize..to as usize],
            _ => "",
        }
    }

    /// The facts that a state holds, by rank.
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
            // Characters outside of ASCII may stand in comments only, where it does not matter what becomes of them.
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

/// What the two files say, without grounding the problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProblemOutline {
    /// The domain's name, as its file has it.
    pub domain: String,
    /// The domain that the problem says it belongs to; empty where it says none.
    pub problem_domain: String,
    /// The parts of the goal, in the order written.
    pub goal: Vec<Subgoal>,
}

impl ProblemOutline {
    /// Reads both files.
    ///
    /// # Errors
    /// [`EnvError::Panicked`] with file, place and reason.
    pub fn read(source: &ProblemSource<'_>) -> Result<Self, EnvError> {
        Ok(Self::from_model(&source.parse()?))
    }

    fn from_model(model: &Model) -> Self {
        let name = |of: Option<_>| of.map_or("", |name| model.names.word(name)).to_owned();
        Self {
            domain: name(model.domain),
            problem_domain: name(model.problem_domain),
            goal: model.goal_parts().into_iter().map(|part| Subgoal::from_formula(model, part)).collect(),
        }
    }

    /// What is odd about the files without keeping anybody from playing them.
    pub fn warnings(&self) -> Vec<String> {
        let Self { domain, problem_domain, .. } = self;
        if problem_domain.is_empty() || domain == problem_domain {
            return Vec::new();
        }
        vec![format!("the problem is for the domain {problem_domain:?}; it is played in {domain:?}")]
    }

    /// The goal as the agent is told it: its sentences sorted by bytes.
    pub fn goal_text(&self, joining: GoalSeparator) -> String {
        goal_text(&self.goal, joining)
    }
}

impl Game {
    /// Reads and grounds a problem.
    ///
    /// # Errors
    /// [`EnvError::Panicked`] with file, place and reason.
    pub fn load(source: &ProblemSource<'_>) -> Result<Arc<Self>, EnvError> {
        let model = source.parse()?;
        let broken = |error| source.file_error(&error);
        let task = Task::ground_with_parts(&model).map_err(broken)?;
        let said = task.fact_count() + task.op_count();
        if said > limits::SENTENCES {
            let what = "facts and actions to be put into words";
            let place = "PDDL grounding".to_owned();
            return Err(broken(PddlError::TooLarge { place, what, limit: limits::SENTENCES as u64 }));
        }
        if estimated_text_length(&task) > limits::TEXT_BYTES {
            let what = "bytes of facts and actions put into words";
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
            objects.keys().map(AsRef::as_ref).chain(task.actions().map(|of| task.action_name(of)));
        let listing = ActionListing::new(&task);
        Self {
            observation_scope: match domain.as_str() {
                "barman" | "tyreworld" => ObservationScope::Changes,
                _ => ObservationScope::Everything,
            },
            has_clipped_names: names.any(tokenizer::is_clipped),
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

    /// The domain's name, as its file has it.
    pub fn domain(&self) -> &str {
        &self.domain
    }

    /// The parts of the goal, in the order written.
    pub fn goal(&self) -> &[Subgoal] {
        &self.goal
    }

    /// The grounded problem.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// How much observations tell.
    pub fn observation_scope(&self) -> ObservationScope {
        self.observation_scope
    }

    /// The goal as the agent is told it: its sentences sorted by bytes.
    pub fn goal_text(&self, joining: GoalSeparator) -> String {
        goal_text(&self.goal, joining)
    }

    /// All facts as `(name argument ...)`, sorted by bytes; made when they are first asked for.
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

    /// A fact as `name argument ...`.
    pub(super) fn atom(&self, fact: FactId) -> String {
        let mut text = self.task.predicate_name(self.task.predicate_of(fact)).to_owned();
        for &argument in self.task.arguments(fact) {
            text.push(' ');
            text.push_str(self.task.object_name(argument));
        }
        text
    }
}

/// How long all facts and actions will be in words, about.
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

/// A goal in words.
fn goal_text(goal: &[Subgoal], joining: GoalSeparator) -> String {
    let mut sentences: Vec<&str> = goal.iter().map(|part| part.sentence.as_str()).collect();
    sentences.sort_unstable();
    let joined = match joining {
        GoalSeparator::Comma => sentences.join(", "),
        GoalSeparator::Space => {
            // A sentence that ends with a blank of its own is not given a second one.
            let mut text = sentences.iter().map(|sentence| sentence.trim_end()).collect::<Vec<_>>().join(" ");
            if sentences.last().is_some_and(|last| last.ends_with(' ')) {
                text.push(' ');
            }
            text
        }
    };
    format!("The goal is to satisfy the following conditions: {joined}")
}

impl Subgoal {
    fn from_formula(model: &Model, part: &crate::pddl::Formula) -> Self {
        use crate::pddl::{Formula, Term};
        let atom = model.to_pddl(part);
        let sentence = match part {
            Formula::Atom(predicate, terms) => {
                let name = model.names.word(model.predicates[*predicate].name);
                let words = terms.iter().map(|term| match term {
                    Term::Constant(name) | Term::Variable(name) => model.names.word(*name),
                });
                let mut said = String::new();
                sentences::write_sentence(
                    sentences::fact_sentence(name, terms.len()),
                    name,
                    words,
                    &mut said,
                );
                said
            }
            Formula::Not(inner) => format!("not {}", Self::from_formula(model, inner).sentence),
            _ => atom.clone(),
        };
        Self { atom, sentence }
    }
}
