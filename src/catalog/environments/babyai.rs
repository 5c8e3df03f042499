//! The environment `babyai`.

use crate::catalog::environment_entry::{EnvironmentDefaults, EnvironmentEntry, PublishedTasks, TaskFacts};
use crate::domain::SettingOrigin::BuiltIn;
use crate::domain::TypedSetting;
use crate::env::Label;
use crate::env::babyai::{self, BabyAiTasks};
use crate::prompt::interface::{ActionAlias, EnvironmentTexts, OwnWords, PLAIN_TEXTS};
use crate::stand_in::grid_reply;
use crate::symbolic::{CIRCLE_TURNS, GRID_RULES};

pub(super) const ENTRY: EnvironmentEntry = EnvironmentEntry {
    name: babyai::NAME,
    tasks: &BabyAiTasks,
    rules: &GRID_RULES,
    settings: &[CIRCLE_TURNS.spec, PICKUP_ALIAS.spec],
    options: &[],
    defaults: EnvironmentDefaults::NONE,
    templates: &[
        ("babyai.toml", include_str!("../../env/babyai/prompts/babyai.toml")),
        ("door.txt", include_str!("../../env/babyai/prompts/door.txt")),
        ("key.txt", include_str!("../../env/babyai/prompts/key.txt")),
    ],
    public_files: None,
    rule_based_reply: Some(grid_reply),
    texts: EnvironmentTexts {
        alias: Some(ActionAlias { setting: PICKUP_ALIAS, rule: "babyai.pickup", apply: pickup_alias }),
        short_actions: Some(&["drop"]),
        own_words: &[OwnWords {
            task_type: None,
            words: &[
                "grid",
                "turn left",
                "turn right",
                "move forward",
                "closed door",
                "locked door",
                "open door 1",
                "toggle",
                "pickup red",
                "steps away",
                "steps in front of you",
                "facing a wall",
                "facing a ",
                "right in front of you",
                "grey",
                "purple",
                "barrier",
                "check available actions",
            ],
        }],
        ..PLAIN_TEXTS
    },
    task_facts: TaskFacts {
        start_text: Some("built in; every level, any seed"),
        published: Some(PublishedTasks { keys: babyai::published_keys, key: babyai::published_key }),
        task_help: "a level number or name",
        splits: &["test"],
        has_state_files: true,
        // Otherwise it is the reward, which a solved mission alone has.
        has_progress: |task| Label::is_task_id(&task.id),
        ..TaskFacts::NONE
    },
    draw_picture: babyai::draw_picture,
};

/// Whether the verb of AgentBoard's prompt is understood.
const PICKUP_ALIAS: TypedSetting<bool> = TypedSetting::switch(
    "pickup_alias",
    "babyai: `pick up X`, as in AgentBoard's prompt, is sent as `pickup X`, as its environment expects",
    false,
    BuiltIn,
);

/// Rewrites `pick up X` to `pickup X`. Returns `None` for any other action.
fn pickup_alias(action: &str) -> Option<String> {
    const PREFIX: &str = "pick up ";
    let action = action.trim();
    let verb = action.get(..PREFIX.len())?;
    verb.eq_ignore_ascii_case(PREFIX).then(|| format!("pickup {}", &action[PREFIX.len()..]))
}
