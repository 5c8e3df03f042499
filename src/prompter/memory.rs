//! How much memory a process may still use.

use crate::files;
use std::path::Path;

/// The longest of the files that are read here, in bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// Returns how many bytes are available: of the machine (Linux), and of the control group (version 2) that the process is in,
/// if that is visible at its usual place and has a limit. `None` where neither can be read.
pub(super) fn available() -> Option<u64> {
    let read = |path: &str| files::read_text(Path::new(path), MAX_BYTES).ok();
    let machine = read("/proc/meminfo").and_then(|text| available_of_machine(&text));
    let limit = read("/sys/fs/cgroup/memory.max").and_then(|text| text.trim().parse::<u64>().ok());
    let used = read("/sys/fs/cgroup/memory.current").and_then(|text| text.trim().parse::<u64>().ok());
    let group = limit.zip(used).map(|(limit, used)| limit.saturating_sub(used));
    machine.into_iter().chain(group).min()
}

fn available_of_machine(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_says_what_is_available() {
        let text = "MemTotal:       24000000 kB\nMemFree:   1 kB\nMemAvailable:   12000000 kB\n";
        assert_eq!(available_of_machine(text), Some(12_288_000_000));
        assert_eq!(available_of_machine("MemTotal: 1 kB\n"), None);
        #[cfg(target_os = "linux")]
        assert!(available().is_some_and(|bytes| bytes > 1_000_000));
    }
}
