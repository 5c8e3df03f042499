//! Size limits of problems that can be played as text. AgentBoard's largest problem has 40 objects.

/// Bytes of a domain or problem file.
pub(super) const FILE_BYTES: usize = 16 << 20;
/// Facts and action instances, whose sentences are generated while the problem loads.
pub(super) const FACTS_AND_ACTIONS: usize = 300_000;
/// Total bytes of these sentences.
pub(super) const TEXT_BYTES: u64 = 64 << 20;
/// Bytes of an action text; the rest of a longer one is ignored.
pub(super) const ACTION_BYTES: usize = 1 << 16;
