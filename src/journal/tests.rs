//! Cases on the journal.
