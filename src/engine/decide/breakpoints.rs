//! Commands about breakpoints and watches.

use crate::domain::BreakpointConfig;
use crate::engine::breakpoints::MAX_BREAKPOINTS;
use crate::engine::{Breakpoint, CommandError, Engine, Event};

impl Engine {
    /// Returns the events that set a run's initial breakpoints. They are part of the run's first batch: after a crash,
    /// the session has either no run or a run with its breakpoints.
    pub(super) fn initial_breakpoints(&self, texts: &[String]) -> Result<Vec<Event>, CommandError> {
        let mut configs: Vec<BreakpointConfig> = Vec::new();
        for text in texts {
            let config = (self.policy.breakpoints.parse)(text)?;
            if !configs.contains(&config) {
                configs.push(config);
            }
        }
        if configs.len() > MAX_BREAKPOINTS {
            return Err(too_many_breakpoints_error());
        }
        Ok(configs
            .into_iter()
            .zip(1..)
            .map(|(config, breakpoint)| Event::BreakpointSet { breakpoint, config })
            .collect())
    }

    /// Sets a breakpoint, or replaces the condition of the existing breakpoint `replaces`. A new breakpoint that would
    /// be equal to an existing one isn't added; the existing one is enabled instead.
    pub(super) fn set_breakpoint(
        &self,
        text: &str,
        replaces: Option<u32>,
    ) -> Result<Vec<Event>, CommandError> {
        let breakpoints = &self.state.breakpoints;
        let config = (self.policy.breakpoints.parse)(text)?;
        if let Some(number) = replaces {
            self.find_breakpoint(number)?;
            return Ok(vec![Event::BreakpointSet { breakpoint: number, config }]);
        }
        if let Some(same) = breakpoints.all.iter().find(|b| b.config == config) {
            let enabled = Event::BreakpointSwitched { breakpoint: same.number, enabled: true };
            return Ok(if same.enabled { Vec::new() } else { vec![enabled] });
        }
        if breakpoints.all.len() >= MAX_BREAKPOINTS {
            return Err(too_many_breakpoints_error());
        }
        Ok(vec![Event::BreakpointSet { breakpoint: breakpoints.last_number.saturating_add(1), config }])
    }

    pub(super) fn switch_breakpoint(&self, number: u32, enable: bool) -> Result<Vec<Event>, CommandError> {
        let breakpoint = self.find_breakpoint(number)?;
        Ok(if breakpoint.enabled == enable {
            Vec::new()
        } else {
            vec![Event::BreakpointSwitched { breakpoint: number, enabled: enable }]
        })
    }

    pub(super) fn remove_breakpoint(&self, number: u32) -> Result<Vec<Event>, CommandError> {
        self.find_breakpoint(number)?;
        Ok(vec![Event::BreakpointRemoved { breakpoint: number }])
    }

    /// Returns the breakpoint or watch with this number, or an error that lists the existing ones.
    fn find_breakpoint(&self, number: u32) -> Result<&Breakpoint, CommandError> {
        let breakpoints = &self.state.breakpoints;
        breakpoints.get(number).ok_or_else(|| {
            let existing: Vec<String> = breakpoints.all.iter().map(|b| b.number.to_string()).collect();
            let hint = if existing.is_empty() {
                "no breakpoint or watch is set yet".to_owned()
            } else {
                format!("existing: {}", existing.join(", "))
            };
            CommandError::new(format!("no breakpoint or watch {number}"), hint)
        })
    }
}

fn too_many_breakpoints_error() -> CommandError {
    let message = format!("a session has at most {MAX_BREAKPOINTS} breakpoints and watches");
    CommandError::new(message, "delete one first")
}
