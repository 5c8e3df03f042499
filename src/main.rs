//! The `retrospect` program.

fn main() -> std::process::ExitCode {
    retrospect::cli::main(std::env::args_os())
}
