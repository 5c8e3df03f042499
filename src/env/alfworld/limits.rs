//! How large a game may be. The largest real file has 130 KB; each bound leaves two orders of magnitude and still keeps
//! loading or one step below a second and a quarter of a gigabyte.

/// Bytes of a game file.
pub(super) const FILE_BYTES: usize = 16 << 20;
/// Symbols of a grammar.
pub(super) const SYMBOLS: usize = 20_000;
/// Productions of a grammar.
pub(super) const PRODUCTIONS: usize = 100_000;
/// Facts of one query.
pub(super) const QUERY_FACTS: usize = 32;
/// Cells of the indexes over facts that queries use.
pub(super) const INDEX_CELLS: usize = 8_000_000;
/// Signatures that one fact of a query can match: the types below its placeholders' types, multiplied.
pub(super) const SIGNATURES: usize = 200_000;
/// Symbols inside symbols. A cyclic grammar never ends; real ones nest four deep. The Python stack fails on its own recursion limit.
pub(super) const SYMBOL_DEPTH: usize = 100;
/// Bytes of one expanded text.
pub(super) const TEXT_BYTES: usize = 1 << 20;
/// Pieces expanded and facts looked at for one text.
pub(super) const TEXT_WORK: u64 = 2_000_000;
/// The same for all command templates while a game loads.
pub(super) const LOAD_WORK: u64 = 20_000_000;
/// Bytes of all commands of a game.
pub(super) const COMMAND_BYTES: usize = 32 << 20;
