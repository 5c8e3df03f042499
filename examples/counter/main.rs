//! `retrospect` with one more environment and three more methods (`docs/EXTENDING.md`):
//!
//! ```sh
//! cargo run --example counter -- run --env counter --task 14 --method shortest --mentor none
//! cargo run --example counter -- run --env counter --task 14 --method greedy
//! cargo run --example counter -- run --env counter --task 14 --method cautious --trials 2
//! cargo run --example counter -- run --env counter --task 14 --actor human
//! cargo run --example counter -- play --env counter --task 14
//! ```

mod cautious;
mod environment;
mod greedy;
mod method;

use retrospect::catalog::Extension;
use std::process::ExitCode;

fn main() -> ExitCode {
    let extension = Extension {
        methods: &[&method::ENTRY, &greedy::ENTRY, &cautious::ENTRY],
        environments: &[&environment::ENTRY],
    };
    retrospect::cli::main_with(extension, std::env::args_os())
}
