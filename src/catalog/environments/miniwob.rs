//! The environment `miniwob`.

use crate::catalog::environment_entry::{EnvironmentDefaults, EnvironmentEntry, TaskFacts};
use crate::env::miniwob::{self, MiniWobTasks};
use crate::prompt::interface::{EnvironmentTexts, OwnWords, PLAIN_TEXTS};
use crate::stand_in::web_reply;
use crate::symbolic::NO_RULES;

pub(super) const ENTRY: EnvironmentEntry = EnvironmentEntry {
    name: miniwob::NAME,
    tasks: &MiniWobTasks,
    rules: &NO_RULES,
    settings: &[],
    options: miniwob::OPTIONS,
    defaults: EnvironmentDefaults::NONE,
    templates: &[("miniwob.toml", include_str!("../../env/miniwob/prompts/miniwob.toml"))],
    public_files: None,
    rule_based_reply: Some(web_reply),
    texts: EnvironmentTexts {
        own_words: &[OwnWords {
            task_type: None,
            words: &[
                "click_element",
                "type_text",
                "press_key",
                "_coords",
                "clickxpath",
                "movemouse",
                "web page",
                "<body>",
                "submit button",
                "submenu",
            ],
        }],
        ..PLAIN_TEXTS
    },
    task_facts: TaskFacts {
        start_text: Some("web pages in a real Chromium; needs Chromium, its driver and the package miniwob"),
        task_help: "a web page, with its seed, as in `click-color/7`",
        difficulty: miniwob::level,
        step_texts: miniwob::page_html,
        count_elements: Some(miniwob::count_elements),
        show_option: Some((&miniwob::WINDOW_OPTION, "visible")),
        unplayable_by_rules: &[(&miniwob::VIEW_OPTION, "html"), (&miniwob::ACTIONS_OPTION, "rci")],
        has_progress: |_| false,
        lists_all_actions: false,
        ..TaskFacts::NONE
    },
    draw_picture: miniwob::draw_picture,
};
