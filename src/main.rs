//! The `retrospect` program.
fn main() {}
