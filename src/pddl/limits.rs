//! How large a PDDL text and the task made of it may be. A file beyond a limit is refused in words; real ALFWorld games
//! stay below a hundredth of each.

/// Nesting of formulas. Real domains nest less than ten deep; the bound keeps recursion far from the end of the stack.
pub const NESTING: usize = 100;
/// Objects and constants: one less than what 16 bits can name, so that atoms of up to three arguments pack into 64 bits.
pub const OBJECTS: usize = 65_534;
/// Predicates, for the same packing and so that indexes per predicate stay small.
pub const PREDICATES: usize = 4_096;
/// Actions of a domain.
pub const ACTIONS: usize = 4_096;
/// Types of a domain; each keeps one bit an object.
pub const TYPES: usize = 1_024;
/// Arguments of a predicate, parameters of an action, variables of a quantifier.
pub const ARITY: usize = 64;
/// Variables of one action, quantified ones included.
pub const VARIABLES: usize = 512;
/// Initial facts as written, duplicates included.
pub const INIT_FACTS: usize = 500_000;
/// Facts that can become true when deletes are ignored.
pub const ATOMS: usize = 400_000;
/// Action instances. Real games have a few thousand.
pub const INSTANCES: usize = 150_000;
/// Conjunctions that a condition may fall into when it is brought into disjunctive form.
pub const CLAUSES: usize = 1_024;
/// Literals of all these conjunctions together.
pub const LITERALS: usize = 200_000;
/// Candidate facts looked at while instances are sought: well below a second of work.
pub const JOIN_WORK: u64 = 25_000_000;
/// Cells of the argument indexes (four bytes each).
pub const INDEX_CELLS: usize = 12_000_000;
/// Inputs of all gates (preconditions, conditions of effects, quantified parts) together; also effects of all instances.
pub const INPUTS: usize = 1_500_000;
/// Inputs of one gate, what its 16 bit counter can hold.
pub const GATE_INPUTS: usize = 65_000;
/// Literals copied into join plans: each literal that can change gets a plan over its whole clause.
pub const PLAN_WORK: usize = 2_000_000;
/// Effects of one action instance, since each delete looks for a matching add.
pub const EFFECTS: usize = 500;
