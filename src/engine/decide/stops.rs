//! Wishes about breakpoints and watches.

use crate::domain::Stop;
use crate::engine::stops::MOST_BREAKPOINTS;
use crate::engine::{CommandError, Engine, Event};

impl Engine {
    /// Those that a run begins with. They are part of its first batch: no crash comes between a run and its breakpoints.
    pub(super) fn first_breakpoints(&self, texts: &[String]) -> Result<Vec<Event>, CommandError> {
        let mut stops: Vec<Stop> = Vec::new();
        for text in texts {
            let stop = (self.policy.stops.read)(text)?;
            if !stops.contains(&stop) {
                stops.push(stop);
            }
        }
        if stops.len() > MOST_BREAKPOINTS {
            return Err(full());
        }
        Ok(stops
            .into_iter()
            .zip(1..)
            .map(|(stop, breakpoint)| Event::BreakpointSet { breakpoint, stop })
            .collect())
    }

    /// Sets one, or gives one another condition. What is there already is not set twice: it is switched on.
    pub(super) fn set_breakpoint(&self, text: &str, of: Option<u32>) -> Result<Vec<Event>, CommandError> {
        let stops = &self.state.stops;
        let stop = (self.policy.stops.read)(text)?;
        if let Some(number) = of {
            self.breakpoint(number)?;
            return Ok(vec![Event::BreakpointSet { breakpoint: number, stop }]);
        }
        if let Some(same) = stops.all.iter().find(|b| b.stop == stop) {
            let switched = Event::BreakpointSwitched { breakpoint: same.number, on: true };
            return Ok(if same.on { Vec::new() } else { vec![switched] });
        }
        if stops.all.len() >= MOST_BREAKPOINTS {
            return Err(full());
        }
        Ok(vec![Event::BreakpointSet { breakpoint: stops.last_number.saturating_add(1), stop }])
    }

    pub(super) fn switch_breakpoint(&self, number: u32, on: bool) -> Result<Vec<Event>, CommandError> {
        let is = self.breakpoint(number)?;
        Ok(if is == on { Vec::new() } else { vec![Event::BreakpointSwitched { breakpoint: number, on }] })
    }

    pub(super) fn remove_breakpoint(&self, number: u32) -> Result<Vec<Event>, CommandError> {
        self.breakpoint(number)?;
        Ok(vec![Event::BreakpointRemoved { breakpoint: number }])
    }

    /// Whether it is on.
    fn breakpoint(&self, number: u32) -> Result<bool, CommandError> {
        let stops = &self.state.stops;
        stops.get(number).map(|b| b.on).ok_or_else(|| {
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

fn full() -> CommandError {
    let why = format!("a session holds {MOST_BREAKPOINTS} breakpoints and watches at most");
    CommandError::new(why, "delete one first")
}
