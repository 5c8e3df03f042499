//! Cases on the engine.
