//! Size limits of games. The largest real file has 130 KB. Each limit leaves two orders of magnitude of headroom and
//! still keeps loading or a single step below one second and a quarter of a gigabyte.

/// Bytes of a game file.
pub(super) const FILE_BYTES: usize = 16 << 20;
/// Symbols of a grammar.
pub(super) const SYMBOLS: usize = 20_000;
/// Productions of a grammar.
pub(super) const PRODUCTIONS: usize = 100_000;
/// Atoms of one query.
pub(super) const QUERY_FACTS: usize = 32;
/// Entries of the fact indexes that queries use.
pub(super) const INDEX_ENTRIES: usize = 8_000_000;
/// Signatures that one atom of a query can match: the product of the numbers of subtypes of its placeholders' types.
pub(super) const SIGNATURES: usize = 200_000;
/// Nesting depth of symbols. A cyclic grammar never ends; real ones nest four deep. The Python stack fails at its own
/// recursion limit.
pub(super) const SYMBOL_DEPTH: usize = 100;
/// Bytes of one expanded text.
pub(super) const TEXT_BYTES: usize = 1 << 20;
/// Pieces expanded and facts visited for one text.
pub(super) const TEXT_WORK: u64 = 2_000_000;
/// Pieces expanded and facts visited for all command templates while a game loads.
pub(super) const LOAD_WORK: u64 = 20_000_000;
/// Bytes of all commands of a game.
pub(super) const COMMAND_BYTES: usize = 32 << 20;
