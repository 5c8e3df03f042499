//! Wishes about breakpoints and watches.

use crate::domain::BreakpointConfig;
use crate::engine::breakpoints::MAX_BREAKPOINTS;
use crate::engine::{CommandError, Engine, Event};

impl Engine {
    /// Those that a run begins with. They are part of its first batch: no crash comes between a run and its breakpoints.
    pub(super) fn initial_breakpoints(&self, texts: &[String]) -> Result<Vec<Event>, CommandError> {
        let mut stops: Vec<BreakpointConfig> = Vec::new();
        for text in texts {
            let stop = (self.policy.breakpoints.parse)(text)?;
            if !stops.contains(&stop) {
                stops.push(stop);
            }
        }
        if stops.len() > MAX_BREAKPOINTS {
            return Err(too_many_breakpoints());
        }
        Ok(stops
            .into_iter()
            .zip(1..)
            .map(|(stop, breakpoint)| Event::BreakpointSet { breakpoint, config: stop })
            .collect())
    }

    /// Sets one, or gives one another condition. What is there already is not set twice: it is switched on.
    pub(super) fn set_breakpoint(&self, text: &str, of: Option<u32>) -> Result<Vec<Event>, CommandError> {
        let stops = &self.state.breakpoints;
        let stop = (self.policy.breakpoints.parse)(text)?;
        if let Some(number) = of {
            self.is_breakpoint_enabled(number)?;
            return Ok(vec![Event::BreakpointSet { breakpoint: number, config: stop }]);
        }
        if let Some(same) = stops.all.iter().find(|b| b.config == stop) {
            let switched = Event::BreakpointSwitched { breakpoint: same.number, enabled: true };
            return Ok(if same.enabled { Vec::new() } else { vec![switched] });
        }
        if stops.all.len() >= MAX_BREAKPOINTS {
            return Err(too_many_breakpoints());
        }
        Ok(vec![Event::BreakpointSet { breakpoint: stops.last_number.saturating_add(1), config: stop }])
    }

    pub(super) fn switch_breakpoint(&self, number: u32, on: bool) -> Result<Vec<Event>, CommandError> {
        let is = self.is_breakpoint_enabled(number)?;
        Ok(if is == on {
            Vec::new()
        } else {
            vec![Event::BreakpointSwitched { breakpoint: number, enabled: on }]
        })
    }

    pub(super) fn remove_breakpoint(&self, number: u32) -> Result<Vec<Event>, CommandError> {
        self.is_breakpoint_enabled(number)?;
        Ok(vec![Event::BreakpointRemoved { breakpoint: number }])
    }

    /// Whether it is on.
    fn is_breakpoint_enabled(&self, number: u32) -> Result<bool, CommandError> {
        let stops = &self.state.breakpoints;
        stops.get(number).map(|b| b.enabled).ok_or_else(|| {
            let known: Vec<String> = stops.all.iter().map(|b| b.number.to_string()).collect();
            let next = if known.is_empty() {
                "none is set yet".to_owned()
            } else {
                format!("there are {}", known.join(", "))
            };
            CommandError::new(format!("there is no breakpoint or watch {number}"), next)
        })
    }
}

fn too_many_breakpoints() -> CommandError {
    let why = format!("a session holds {MAX_BREAKPOINTS} breakpoints and watches at most");
    CommandError::new(why, "delete one first")
}
