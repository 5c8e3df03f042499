//! The world in small.
