//! Size limits for PDDL texts and the tasks grounded from them. A file that exceeds one is rejected with an error. Real
//! games stay below a hundredth of each.

/// Nesting depth of formulas. Real domains nest less than ten deep; the limit keeps recursion far from a stack
/// overflow.
pub const NESTING: usize = 100;
/// Objects and constants: one less than 16 bits can number, so that atoms with up to three arguments fit into 64 bits.
pub const OBJECTS: usize = 65_534;
/// Predicates. Limited for the same packing, and to keep the per-predicate indexes small.
pub const PREDICATES: usize = 4_096;
/// Actions of a domain.
pub const ACTIONS: usize = 4_096;
/// Types of a domain. Each needs one bit per object.
pub const TYPES: usize = 1_024;
/// Arguments of a predicate, parameters of an action, or variables of a quantifier.
pub const ARITY: usize = 64;
/// Variables of one action, including quantified ones.
pub const VARIABLES: usize = 512;
/// Initial facts as written, including duplicates.
pub const INIT_FACTS: usize = 500_000;
/// Facts reachable under delete relaxation.
pub const ATOMS: usize = 400_000;
/// Action instances. Real games have a few thousand.
pub const INSTANCES: usize = 150_000;
/// Conjunctions in the disjunctive normal form of a condition.
pub const CLAUSES: usize = 1_024;
/// Literals of all these conjunctions together.
pub const LITERALS: usize = 200_000;
/// Join steps run and facts examined while grounding: well below one second of work.
pub const JOIN_WORK: u64 = 25_000_000;
/// Entries of the argument indexes (four bytes each): one per object for each argument position in use.
pub const INDEX_ENTRIES: usize = 12_000_000;
/// Inputs of all gates (preconditions, conditions of effects, quantified parts) together; also the effects of all
/// instances.
pub const INPUTS: usize = 1_500_000;
/// Inputs of one gate: what its 16-bit counter can hold.
pub const GATE_INPUTS: usize = 65_000;
/// Literals copied into join plans. Each literal that can change gets a plan over its whole clause.
pub const JOIN_PLAN_LITERALS: usize = 2_000_000;
/// Effects of one action instance. Limited because each delete searches for a matching add.
pub const EFFECTS: usize = 500;
