//! The process group of a child, which more than one thread may signal.

use rustix::process::{Pid, Signal, kill_process_group};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The process group of a child.
pub(super) struct ProcessGroup(Mutex<Group>);

struct Group {
    /// The child, whose number is that of its group. `None` once it is about to be reaped, because the number may belong
    /// to another process then.
    leader: Option<Pid>,
    is_killed: bool,
}

impl ProcessGroup {
    pub(super) fn new(leader: Pid) -> Self {
        Self(Mutex::new(Group { leader: Some(leader), is_killed: false }))
    }

    /// Asks the group to end.
    pub(super) fn terminate(&self) {
        signal(&self.lock(), Signal::TERM);
    }

    /// Kills the group, without waiting for its end.
    pub(super) fn kill(&self) {
        let mut group = self.lock();
        group.is_killed = true;
        signal(&group, Signal::KILL);
    }

    /// Returns whether the group has been killed; its processes may still be ending.
    pub(super) fn is_killed(&self) -> bool {
        self.lock().is_killed
    }

    /// Sends no more signals. Called before the child is reaped.
    pub(super) fn release(&self) {
        self.lock().leader = None;
    }

    fn lock(&self) -> MutexGuard<'_, Group> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn signal(group: &Group, signal: Signal) {
    if let Some(leader) = group.leader {
        // It fails only if every process of the group has ended.
        let _ = kill_process_group(leader, signal);
    }
}
