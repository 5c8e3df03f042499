//! The limits of a run that have the names of settings.

use super::common_settings::{LOOP_DETECTOR, MAX_MOVES, MAX_STEPS, WALL_SECONDS};
use super::{RunSpec, Setting, SettingOrigin};
use serde_json::Value;

/// A limit that is changed like a setting, but that the engine reads from a field of [`RunSpec`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunLimit {
    Steps,
    Moves,
    WallSeconds,
    LoopDetector,
}

impl RunLimit {
    /// Returns the limit with the name of this setting, or `None` for every other setting.
    fn named(setting: &str) -> Option<Self> {
        let all = [
            (MAX_STEPS.spec.name, Self::Steps),
            (MAX_MOVES.spec.name, Self::Moves),
            (WALL_SECONDS.spec.name, Self::WallSeconds),
            (LOOP_DETECTOR.spec.name, Self::LoopDetector),
        ];
        all.into_iter().find(|(name, _)| *name == setting).map(|(_, limit)| limit)
    }

    fn write(self, run: &mut RunSpec, value: &Value) {
        let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        match (self, value.as_u64()) {
            (Self::Steps, Some(number)) => run.limits.steps = small(number),
            // 0 and null mean that there is no limit.
            (Self::Moves, number) => run.limits.moves = number.map(small).filter(|number| *number > 0),
            (Self::WallSeconds, number) => run.limits.wall_seconds = number.filter(|number| *number > 0),
            (Self::LoopDetector, _) => run.loop_detector = value.as_bool().unwrap_or(run.loop_detector),
            (Self::Steps, None) => {}
        }
    }

    fn read(self, run: &RunSpec) -> Option<Value> {
        match self {
            Self::Steps => Some(run.limits.steps.into()),
            Self::Moves => run.limits.moves.map(Value::from),
            Self::WallSeconds => run.limits.wall_seconds.map(Value::from),
            Self::LoopDetector => Some(run.loop_detector.into()),
        }
    }
}

impl RunSpec {
    /// Changes a setting, also where the engine reads it. `None` removes it, and with it its limit. The step limit has no
    /// entry among the settings.
    pub fn change_setting(&mut self, name: &str, setting: Option<Setting>) {
        let limit = RunLimit::named(name);
        if let Some(limit) = limit {
            limit.write(self, setting.as_ref().map_or(&Value::Null, |setting| &setting.value));
        }
        match setting {
            _ if limit == Some(RunLimit::Steps) => {}
            Some(setting) => self.settings.insert(name, setting),
            None => self.settings.remove(name),
        }
    }

    /// Returns a setting's current value, also if only its limit has one.
    pub fn current_setting(&self, name: &str) -> Option<Setting> {
        self.settings.recorded(name).cloned().or_else(|| {
            let value = RunLimit::named(name)?.read(self)?;
            Some(Setting { value, origin: SettingOrigin::BuiltIn })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_limit_is_written_where_the_engine_reads_it_and_removed_with_its_setting() {
        let mut run = RunSpec::sample();
        let changed = |value: Value| Some(Setting { value, origin: SettingOrigin::Person });
        for (name, value) in [("max_steps", json!(7)), ("max_moves", json!(8)), ("wall_seconds", json!(9))] {
            let before = run.current_setting(name);
            run.change_setting(name, changed(value.clone()));
            assert_eq!(run.current_setting(name).map(|setting| setting.value), Some(value), "{name}");
            run.change_setting(name, before.clone());
            assert_eq!(run.current_setting(name), before, "{name}");
        }
        run.change_setting("max_steps", changed(json!(7)));
        run.change_setting("max_moves", changed(json!(0)));
        run.change_setting("wall_seconds", changed(json!(9)));
        run.change_setting("loop_detector", changed(json!(true)));
        assert_eq!(run.limits, crate::domain::Limits { steps: 7, moves: None, wall_seconds: Some(9) });
        assert!(run.loop_detector && !run.settings.contains("max_steps"));
        assert_eq!(run.settings.iter().count(), 3);
    }
}
