//! The `retrospect` program.

/// The system's allocator can hold a lock for 100 ms while it merges what another thread has freed, such as the record of
/// an exported session of 1 GB. A key pressed then would wait (`benches/terminal.rs`).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    retrospect::cli::main(std::env::args_os())
}
