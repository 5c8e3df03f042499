//! How large a problem may be to be played as text. The largest problem of the reference has 40 objects.

/// Bytes of a domain or problem file.
pub(super) const FILE_BYTES: usize = 16 << 20;
/// Facts and action instances: each is put into words while the problem loads.
pub(super) const SENTENCES: usize = 300_000;
/// Bytes of all these words together.
pub(super) const TEXT_BYTES: u64 = 64 << 20;
/// Bytes of an action that are looked at. What is longer is read up to here.
pub(super) const ACTION_BYTES: usize = 1 << 16;
