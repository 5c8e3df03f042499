//! The options of the environment: configuration keys.

use super::action::ActionSet;
use super::environment::View;
use crate::env::{EnvironmentOption, OptionValues};

/// The environment's name.
pub const NAME: &str = "miniwob";

/// Where the pages are.
pub(super) const PAGES_OPTION: EnvironmentOption = EnvironmentOption {
    name: "miniwob.pages",
    meaning: "the folder with the pages of MiniWoB++ (`core` and `miniwob` are in it), or the package's wheel",
    values: OptionValues::Path,
    variable: "MINIWOB_HTML",
};
pub(super) const BROWSER_OPTION: EnvironmentOption = EnvironmentOption {
    name: "miniwob.browser",
    meaning: "the Chromium or Chrome to use; by default the one that is found on PATH",
    values: OptionValues::Path,
    variable: "MINIWOB_CHROME_BINARY",
};
pub(super) const DRIVER_OPTION: EnvironmentOption = EnvironmentOption {
    name: "miniwob.driver",
    meaning: "the chromedriver of the same version; by default the one that is found on PATH",
    values: OptionValues::Path,
    variable: "MINIWOB_CHROMEDRIVER",
};
pub const VIEW_OPTION: EnvironmentOption = EnvironmentOption {
    name: "miniwob.view",
    meaning: "what the agent sees: the page's elements (`dom`), with their places and backgrounds (`detailed`), or the HTML (`html`)",
    values: OptionValues::Words(View::WORDS),
    variable: "RETROSPECT_MINIWOB_VIEW",
};
pub const ACTIONS_OPTION: EnvironmentOption = EnvironmentOption {
    name: "miniwob.actions",
    meaning: "which actions are understood: all of them (`full`), those of DORA's public code (`code`: without XPaths), without places and single keys either (`paper`), or RCI's (`rci`)",
    values: OptionValues::Words(ActionSet::WORDS),
    variable: "RETROSPECT_MINIWOB_ACTIONS",
};
pub(super) const PAUSE_OPTION: EnvironmentOption = EnvironmentOption {
    name: "miniwob.pause",
    meaning: "milliseconds to wait after each action, at most 10000, before waiting until nothing moves on the page; 0 waits as long as the page usually needs",
    values: OptionValues::Number { minimum: 0, default: 0 },
    variable: "RETROSPECT_MINIWOB_PAUSE",
};
pub(super) const SCREENSHOT_OPTION: EnvironmentOption = EnvironmentOption {
    name: "miniwob.screenshot",
    meaning: "whether the session keeps a picture of the page at the `end` of each episode that the page, a limit of steps or moves or the loop detector ends, which HTML exports show, or `never`",
    values: OptionValues::LocalWords(&["end", "never"]),
    variable: "RETROSPECT_MINIWOB_SCREENSHOT",
};
pub const RELOAD_OPTION: EnvironmentOption = EnvironmentOption {
    name: "miniwob.reload",
    meaning: "when the page is loaded again: before each `episode`, or only for another `task`, as the pages' package does; then an episode may depend on those before it",
    values: OptionValues::Words(&["episode", "task"]),
    variable: "RETROSPECT_MINIWOB_RELOAD",
};
pub const WINDOW_OPTION: EnvironmentOption = EnvironmentOption {
    name: "miniwob.window",
    meaning: "whether the browser has a window that you can see (`visible`) or none (`headless`); `--show` on the command line",
    values: OptionValues::LocalWords(&["headless", "visible"]),
    variable: "RETROSPECT_MINIWOB_WINDOW",
};

/// All of them.
pub const OPTIONS: &[EnvironmentOption] = &[
    PAGES_OPTION,
    BROWSER_OPTION,
    DRIVER_OPTION,
    WINDOW_OPTION,
    VIEW_OPTION,
    ACTIONS_OPTION,
    PAUSE_OPTION,
    RELOAD_OPTION,
    SCREENSHOT_OPTION,
];
