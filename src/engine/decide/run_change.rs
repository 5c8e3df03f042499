//! Changing a run that has started, and the sampling settings of a role.

use crate::domain::{RunSpec, SAMPLING_PARAMS, Setting, SettingOrigin, role_setting};
use crate::engine::{CommandError, Effect, Engine, Event};
use serde_json::Value;

impl Engine {
    /// Returns the events that replace the run's specification with `spec`. If the method changes, its memory starts
    /// empty, because a method can't read the memory of another one. Reflections and lessons are kept.
    pub(super) fn change_run(&self, spec: &RunSpec) -> Result<Vec<Event>, CommandError> {
        let state = &self.state;
        if state.calls.values().any(Effect::is_cancellable) {
            return Err(CommandError::new(
                "the run can't be changed during a model call",
                "wait for the reply, or cancel the call with Ctrl-C; then change the run",
            ));
        }
        let Some(run) = state.run.as_deref().filter(|run| *run != spec) else {
            return Err(CommandError::new("the run would stay the same", "change at least one value"));
        };
        let mut events = vec![Event::RunChanged { spec: Box::new(spec.clone()) }];
        if run.method != spec.method {
            events.push(Event::MemorySet { value: Value::Null });
        }
        Ok(events)
    }

    /// Checks that the method can go on with another value of a setting.
    pub(super) fn check_changed_run(&self, name: &str, value: &Value) -> Result<(), CommandError> {
        let Some(run) = self.state.run.as_deref() else { return Ok(()) };
        let mut changed = run.clone();
        changed.change_setting(name, Some(Setting { value: value.clone(), origin: SettingOrigin::Person }));
        self.policy.method.check_run(&changed)
    }

    /// Checks a change of a sampling setting (`actor.*` or `mentor.*`): the parameter must exist, the value must be
    /// valid, and the role must be played by a model that supports the parameter. Other settings aren't checked.
    pub(super) fn check_sampling_setting(&self, name: &str, value: &Value) -> Result<(), CommandError> {
        let Some((role, part)) = role_setting(name) else { return Ok(()) };
        let Some(param) = SAMPLING_PARAMS.iter().find(|param| param.name == part) else {
            let names: Vec<&str> = SAMPLING_PARAMS.iter().map(|param| param.name).collect();
            return Err(CommandError::new(
                format!("{name} is not a sampling parameter"),
                format!("sampling parameters: {}; to use another server, change the model", names.join(", ")),
            ));
        };
        param
            .validate(value)
            .map_err(|reason| CommandError::new(format!("invalid value for {name}: {value}"), reason))?;
        let Some(run) = self.state.run.as_deref() else { return Ok(()) };
        run.check_param_supported(role, param, value)
            .map_err(|reason| CommandError::new(reason, "choose a model for this role first (openai:MODEL)"))
    }
}
