//! Settings that others follow: a preset, a method and a reading bring theirs along, a model its profile.

use super::{Chooser, Section};
use crate::domain::SettingOrigin;
use crate::method::derived_generation;
use crate::ui::start::SettingsVariant;

/// The setting that chooses a row of a paper's table, or settings of the configuration.
const PRESET: &str = "run.preset";
/// The setting that chooses the method.
const METHOD: &str = "run.method";
/// The setting that chooses between paper and code.
const PAPER_OR_CODE: &str = "run.as";
/// The setting that follows from who the mentor is.
const GENERATION: &str = "generation";
/// Who is a model, and how its server is spoken to.
const MODEL_SETTINGS: [(&str, &str); 2] =
    [("run.actor", "run.profile"), ("run.mentor", "run.mentor_profile")];

impl Chooser {
    /// What follows from a setting that was changed.
    pub(super) fn update_dependent(&mut self, turned: &str) {
        if matches!(turned, PRESET | METHOD | PAPER_OR_CODE) {
            self.apply_variant(turned);
        }
        self.apply_model_profile(turned);
        self.update_generation();
    }

    /// What follows from who the mentor is, where the person has not set it.
    fn update_generation(&mut self) {
        let value = |name: &str| self.model.knobs.iter().find(|k| k.name == name).map(|k| k.value.clone());
        let mentor = value(MODEL_SETTINGS[1].0).unwrap_or_default();
        let mine = self.changed.iter().any(|name| name == GENERATION);
        let Some(knob) = self.model.knobs.iter_mut().find(|k| k.name == GENERATION && !mine) else { return };
        // Here only a preset's value is called the paper's.
        if let Some((value, origin)) = derived_generation(&mentor, knob.origin, true) {
            (knob.value, knob.origin) = (value.to_owned(), origin);
        }
    }

    /// The settings of the chosen preset, method and reading, with what the person changed where they have it. A preset brings
    /// its method along; another method leaves the preset.
    fn apply_variant(&mut self, turned: &str) {
        let value = |name: &str| {
            self.model.knobs.iter().find(|k| k.name == name).map(|k| k.value.clone()).unwrap_or_default()
        };
        let (preset, method, reading) = (value(PRESET), value(METHOD), value(PAPER_OR_CODE));
        let of_reading = || self.model.variants.iter().filter(|v| v.paper_or_code == reading);
        let same = |v: &&SettingsVariant| v.preset == preset && v.method == method;
        let found = match turned {
            PRESET => of_reading().find(same).or_else(|| of_reading().find(|v| v.preset == preset)),
            _ => of_reading().find(same).or_else(|| of_reading().find(|v| v.method == method)),
        };
        let Some(found) = found else { return };
        let mut fresh = found.settings.clone();
        for knob in &mut fresh {
            let mine = self.model.knobs.iter().find(|k| k.name == knob.name);
            let mine = mine.filter(|k| self.changed.contains(&k.name) && k.allowed == knob.allowed);
            let Some(mine) = mine else { continue };
            // What brought the others along is as it was found.
            if !matches!(knob.name.as_str(), PRESET | METHOD | PAPER_OR_CODE) {
                knob.clone_from(mine);
            } else if mine.value == knob.value {
                knob.origin = mine.origin;
            }
        }
        self.model.knobs = fresh;
        let knobs = &self.model.knobs;
        self.changed.retain(|name| knobs.iter().any(|k| k.name == *name));
        if let Some(place) = self.model.knobs.iter().position(|k| k.name == turned) {
            self.section = Section::Setting(place);
        }
    }

    /// A model that a profile names is spoken to by that profile.
    fn apply_model_profile(&mut self, turned: &str) {
        let Some((role, profile)) = MODEL_SETTINGS.iter().find(|r| r.0 == turned) else { return };
        let Some(model) = self.model.knobs.iter().find(|k| k.name == *role).map(|k| &k.value) else { return };
        let Some((_, named)) = self.model.model_profiles.iter().find(|p| p.0 == *model) else { return };
        if let Some(knob) = self.model.knobs.iter_mut().find(|k| k.name == *profile) {
            knob.value.clone_from(named);
            knob.origin = SettingOrigin::Person;
            if !self.changed.iter().any(|name| name == profile) {
                self.changed.push((*profile).to_owned());
            }
        }
    }
}
