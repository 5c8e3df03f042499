//! A domain and a problem, ready to be played: everything that can be said is said once, here.

use super::active::Active;
use super::limits;
use super::listing::Listing;
use super::wording;
use super::words;
use crate::env::EnvError;
use crate::pddl::{Bits, FactId, FastMap, Model, ObjectId, Part, PddlError, State, Task};
use std::sync::{Arc, OnceLock};

/// The two texts of a problem, and the names under which errors speak of them.
#[derive(Clone, Copy, Debug)]
pub struct Source<'t> {
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
pub enum Telling {
    /// All that is true.
    Everything,
    /// What has become true with the last action. What has ceased to be true is never told.
    News,
}

/// How the sentences of a goal are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Joining {
    /// With `, `, as the reference's code prints it.
    #[default]
    Comma,
    /// With one blank, as its published labels and OmniReflect's tables have it.
    Blank,
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
    pub(super) telling: Telling,
    pub(super) task: Task,
    pub(super) goal: Vec<Subgoal>,
    pub(super) listing: Listing,
    pub(super) facts: Facts,
    pub(super) objects: FastMap<Arc<str>, ObjectId>,
    /// Names that the tokenizer's rules for clipped words could make or break.
    pub(super) clipped: bool,
    /// What is true at the start, by rank.
    pub(super) initial: Bits,
    /// What applies at the start.
    pub(super) active: Active,
    atoms: OnceLock<Vec<(String, FactId)>>,
}

/// The sentences of all facts.
#[derive(Debug, Default)]
pub(super) struct Facts {
    text: String,
    /// By rank: where a sentence starts; one more than there are facts.
    starts: Vec<u32>,
    /// By fact: its place in the order of the sentences.
    pub(super) ranks: Vec<u32>,
}

impl Facts {
    fn of(task: &Task) -> Self {
        let mut said = String::new();
        let mut spans = Vec::with_capacity(task.fact_count());
        for predicate in task.predicates() {
            let name = task.predicate_name(predicate);
            let sentence = wording::of_fact(name, task.arity(predicate));
            for fact in task.facts_of(predicate) {
                let from = said.len();
                let arguments = task.arguments(fact).iter().map(|&object| task.object_name(object));
                wording::say(sentence, name, arguments, &mut said);
                if let Some(sentence) = said.get_mut(from..) {
                    wording::capitalise(sentence);
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
    pub(super) fn true_in(&self, state: &State) -> Bits {
        let mut ranks = Bits::new(self.ranks.len());
        for fact in state.facts().ones() {
            ranks.set(self.ranks[fact] as usize, true);
        }
        ranks
    }
}

impl Source<'_> {
    fn read(&self) -> Result<Model, EnvError> {
        let text = |label: &str, bytes: &[u8]| {
            if bytes.len() > limits::FILE {
                let place = "the whole file".to_owned();
                let reason =
                    format!("more than {} bytes; the file is too large for this program", limits::FILE);
                return Err(EnvError::Broken { file: label.to_owned(), place, reason });
            }
            // Characters outside of ASCII may stand in comments only, where it does not matter what becomes of them.
            Ok(String::from_utf8_lossy(bytes).into_owned())
        };
        let domain = text(self.domain_label, self.domain)?;
        let problem = text(self.problem_label, self.problem)?;
        Model::read(&domain, &problem).map_err(|error| self.broken(&error))
    }

    fn broken(&self, error: &PddlError) -> EnvError {
        let file = match error {
            PddlError::Text { part: Part::Domain, .. } => self.domain_label,
            PddlError::Text { part: Part::Problem, .. } | PddlError::TooLarge { .. } => self.problem_label,
        };
        EnvError::Broken { file: file.to_owned(), place: error.place(), reason: error.reason() }
    }
}

/// What the two files say, without grounding the problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    /// The domain's name, as its file has it.
    pub domain: String,
    /// The domain that the problem says it belongs to; empty where it says none.
    pub problem_domain: String,
    /// The parts of the goal, in the order written.
    pub goal: Vec<Subgoal>,
}

impl Outline {
    /// Reads both files.
    ///
    /// # Errors
    /// [`EnvError::Panicked`] with file, place and reason.
    pub fn read(source: &Source<'_>) -> Result<Self, EnvError> {
        Ok(Self::of(&source.read()?))
    }

    fn of(model: &Model) -> Self {
        let name = |of: Option<_>| of.map_or("", |name| model.names.word(name)).to_owned();
        Self {
            domain: name(model.domain),
            problem_domain: name(model.problem_domain),
            goal: model.goal_parts().into_iter().map(|part| Subgoal::of(model, part)).collect(),
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
    pub fn goal_text(&self, joining: Joining) -> String {
        joined(&self.goal, joining)
    }
}

impl Game {
    /// Reads and grounds a problem.
    ///
    /// # Errors
    /// [`EnvError::Panicked`] with file, place and reason.
    pub fn load(source: &Source<'_>) -> Result<Arc<Self>, EnvError> {
        let model = source.read()?;
        let broken = |error| source.broken(&error);
        let task = Task::ground_with_parts(&model).map_err(broken)?;
        let said = task.fact_count() + task.op_count();
        if said > limits::SENTENCES {
            let what = "facts and actions to be put into words";
            let place = "PDDL grounding".to_owned();
            return Err(broken(PddlError::TooLarge { place, what, limit: limits::SENTENCES as u64 }));
        }
        if length(&task) > limits::TEXT {
            let what = "bytes of facts and actions put into words";
            let place = "names of the objects".to_owned();
            return Err(broken(PddlError::TooLarge { place, what, limit: limits::TEXT }));
        }
        Ok(Arc::new(Self::of(&model, task)))
    }

    fn of(model: &Model, task: Task) -> Self {
        let Outline { domain, goal, .. } = Outline::of(model);
        let facts = Facts::of(&task);
        let objects: FastMap<Arc<str>, ObjectId> =
            task.objects().map(|object| (task.object_name(object).into(), object)).collect();
        let mut names =
            objects.keys().map(AsRef::as_ref).chain(task.actions().map(|of| task.action_name(of)));
        let listing = Listing::of(&task);
        Self {
            telling: match domain.as_str() {
                "barman" | "tyreworld" => Telling::News,
                _ => Telling::Everything,
            },
            clipped: names.any(words::is_clipped),
            initial: facts.true_in(&task.initial()),
            active: Active::of(&task, &listing, &task.initial()),
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
    pub fn telling(&self) -> Telling {
        self.telling
    }

    /// The goal as the agent is told it: its sentences sorted by bytes.
    pub fn goal_text(&self, joining: Joining) -> String {
        joined(&self.goal, joining)
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
fn length(task: &Task) -> u64 {
    const SENTENCE: u64 = 100;
    let word = |object: &ObjectId| task.object_name(*object).len() as u64;
    let names = |bound: &[ObjectId]| bound.iter().map(word).sum::<u64>();
    let facts = task.predicates().flat_map(|predicate| {
        let name = task.predicate_name(predicate).len() as u64;
        task.facts_of(predicate).map(move |fact| SENTENCE + name + names(task.arguments(fact)))
    });
    let actions = task.ops().map(|op| {
        let name = task.action_name(task.action_of(op)).len() as u64;
        SENTENCE + name + names(task.bound(op))
    });
    facts.sum::<u64>() + actions.sum::<u64>()
}

/// A goal in words.
fn joined(goal: &[Subgoal], joining: Joining) -> String {
    let mut sentences: Vec<&str> = goal.iter().map(|part| part.sentence.as_str()).collect();
    sentences.sort_unstable();
    let joined = match joining {
        Joining::Comma => sentences.join(", "),
        Joining::Blank => {
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
    fn of(model: &Model, part: &crate::pddl::Formula) -> Self {
        use crate::pddl::{Formula, Term};
        let atom = model.spell(part);
        let sentence = match part {
            Formula::Atom(predicate, terms) => {
                let name = model.names.word(model.predicates[*predicate].name);
                let words = terms.iter().map(|term| match term {
                    Term::Constant(name) | Term::Variable(name) => model.names.word(*name),
                });
                let mut said = String::new();
                wording::say(wording::of_fact(name, terms.len()), name, words, &mut said);
                said
            }
            Formula::Not(inner) => format!("not {}", Self::of(model, inner).sentence),
            _ => atom.clone(),
        };
        Self { atom, sentence }
    }
}
