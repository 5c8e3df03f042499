//! The tasks: a page and a seed.

use super::action::ActionSet;
use super::browser::{Browser, Launch, START_LIMIT};
use super::environment::{PageEnvironment, PlayOptions, RESET_LIMIT, STEP_LIMIT, View};
use super::options::{
    ACTIONS_OPTION, BROWSER_OPTION, DRIVER_OPTION, NAME, PAGES_OPTION, PAUSE_OPTION, RELOAD_OPTION,
    SCREENSHOT_OPTION, VIEW_OPTION, WINDOW_OPTION,
};
use super::pages::Pages;
use crate::domain::Task;
use crate::env::task_name::parse_range;
use crate::env::{
    EnvError, Environment, EnvironmentOption, TaskAccess, TaskCheck, TaskError, TaskSource, TimeLimits,
};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// DORA's ten tasks, with the milliseconds that their animations take.
pub(super) const DORA_PAGES: [(&str, u64); 10] = [
    ("click-color", 100),
    ("click-shape", 100),
    ("click-checkboxes-soft", 100),
    ("click-option", 100),
    ("find-word", 100),
    ("navigate-tree", 500),
    ("click-collapsible-2", 700),
    ("use-autocomplete", 900),
    ("click-pie", 1500),
    ("click-menu", 700),
];
/// The page whose entries must be hovered over.
const HOVER_PAGE: &str = "click-menu";
/// The pause for any other page: animations of the library that the pages use take 0.4 s.
const PAUSE_MILLIS: u64 = 500;
const MAX_PAUSE_MILLIS: u64 = 10_000;
/// The pattern of a set for DORA's tasks.
const DORA_SET: &str = "dora";
/// The variables that name a screen; a visible browser needs one of them.
const DISPLAY_VARIABLES: [&str; 2] = ["DISPLAY", "WAYLAND_DISPLAY"];
/// The names under which browsers and their driver are looked for.
const BROWSER_NAMES: &[&str] = &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const DRIVER_NAMES: &[&str] = &["chromedriver"];
const BROWSER_HINT: &str = "install Chromium and its driver (on Debian the packages `chromium` and `chromium-driver`), or set \
                            miniwob.browser and miniwob.driver";

/// Returns the level that DORA gives a page (Table 1, figure 5): how many steps it needs, and on how many screens. `None` for
/// pages that the paper doesn't use.
pub fn level(task: &Task) -> Option<&'static str> {
    let page = task.task_type.as_deref()?;
    Some(match DORA_PAGES.iter().position(|(name, _)| *name == page)? {
        0..2 => "1 screen 1 step",
        2..5 => "1 screen n steps",
        _ => "n screens n steps",
    })
}

/// The tasks: a page of MiniWoB++ and a seed, such as `click-color/7`.
pub struct MiniWobTasks;

/// Returns the page and the seed of a task's id.
fn parse_id(id: &str) -> Option<(&str, u64)> {
    let (page, seed) = id.rsplit_once('/')?;
    let seed = seed.parse::<u64>().ok().filter(|number| number.to_string() == seed)?;
    is_page_name(page).then_some((page, seed))
}

/// Returns whether a text can be the name of a page, so that it names no other file.
fn is_page_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

fn task(page: &str, seed: u64) -> Task {
    Task {
        env: NAME.to_owned(),
        id: format!("{page}/{seed}"),
        goal: String::new(),
        task_type: Some(page.to_owned()),
        difficulty: None,
        seed,
    }
}

fn pages(access: TaskAccess) -> Result<Pages, TaskError> {
    Pages::find(access.options.path(&PAGES_OPTION), access)
}

/// Returns a program: the one that is set, or the first one of these names on PATH.
fn program(option: &EnvironmentOption, names: &[&str], access: TaskAccess) -> Result<PathBuf, TaskError> {
    if let Some(path) = access.options.path(option) {
        if access.files.is_file(path) {
            return Ok(access.absolute_path(path));
        }
        return Err(TaskError::NoData {
            what: format!("there is no program {} ({})", path.display(), option.name),
            hint: BROWSER_HINT,
        });
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let candidates = names.iter().flat_map(|name| {
        std::env::split_paths(&folders)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(name))
            .collect::<Vec<_>>()
    });
    candidates.into_iter().find(|path| access.files.is_file(path)).ok_or_else(|| TaskError::NoData {
        what: format!("there is no {} on PATH", names.join(", ")),
        hint: BROWSER_HINT,
    })
}

fn is_visible(access: TaskAccess) -> bool {
    access.options.word(&WINDOW_OPTION) == "visible"
}

/// Checks that a browser that is to be visible has a screen. `variable` reads the environment.
fn check_screen(is_visible: bool, variable: impl Fn(&str) -> Option<OsString>) -> Result<(), TaskError> {
    let is_set = |name: &&str| variable(name).is_some_and(|value| !value.is_empty());
    // The window system of macOS needs no variable.
    if !is_visible || cfg!(target_os = "macos") || DISPLAY_VARIABLES.iter().any(is_set) {
        return Ok(());
    }
    Err(TaskError::NoData {
        what: format!(
            "a visible browser (--show, or {} = \"visible\") needs a screen, but neither {} is set",
            WINDOW_OPTION.name,
            DISPLAY_VARIABLES.join(" nor ")
        ),
        hint: "start the program in a terminal of your desktop, over SSH with `ssh -X`, or with `xvfb-run`; or leave out --show",
    })
}

fn launch(access: TaskAccess) -> Result<Launch, TaskError> {
    let is_visible = is_visible(access);
    check_screen(is_visible, |name| std::env::var_os(name))?;
    Ok(Launch {
        pages: pages(access)?,
        browser: program(&BROWSER_OPTION, BROWSER_NAMES, access)?,
        driver: program(&DRIVER_OPTION, DRIVER_NAMES, access)?,
        is_visible,
    })
}

fn pause(page: &str, access: TaskAccess) -> Duration {
    let known = DORA_PAGES.iter().find(|(name, _)| *name == page).map_or(PAUSE_MILLIS, |(_, millis)| *millis);
    Duration::from_millis(match access.options.number(&PAUSE_OPTION) {
        0 => known,
        millis => millis.min(MAX_PAUSE_MILLIS),
    })
}

fn check_page(text: &str, page: &str, access: TaskAccess) -> Result<(), TaskError> {
    let pages = pages(access)?;
    if is_page_name(page) && pages.has(page, access)? {
        return Ok(());
    }
    let why = "it is neither a page, such as `click-color`, nor a page with a seed, such as `click-color/7`";
    Err(TaskError::unknown_task(NAME, text, why))
}

fn open_browser(access: TaskAccess) -> Result<Browser, EnvError> {
    let launch = launch(access).map_err(|error| error.to_start_error())?;
    Browser::open(&launch, |wheel| access.read(wheel).map_err(|error| error.to_env_error()))
}

impl TaskSource for MiniWobTasks {
    fn open(&self, task: &Task, access: TaskAccess) -> Result<Box<dyn Environment>, EnvError> {
        let Some((page, seed)) = parse_id(&task.id) else {
            return Err(EnvError::Refused {
                what: format!("{:?} is not a page and a seed, such as `click-color/7`", task.id),
            });
        };
        check_page(&task.id, page, access).map_err(|error| error.to_env_error())?;
        let options = PlayOptions {
            actions: ActionSet::from_word(access.options.word(&ACTIONS_OPTION)),
            view: View::from_word(access.options.word(&VIEW_OPTION)),
            pause: pause(page, access),
            has_screenshot: access.options.word(&SCREENSHOT_OPTION) == "end",
            reloads: access.options.word(&RELOAD_OPTION) == "episode",
        };
        Ok(Box::new(PageEnvironment::new(open_browser(access)?, page, seed, options)))
    }

    /// Finds a task, also if no browser can be started; only a window that can't be shown is refused at once.
    fn find(&self, text: &str, access: TaskAccess) -> Result<Task, TaskError> {
        check_screen(is_visible(access), |name| std::env::var_os(name))?;
        let (page, seed) = parse_id(text).unwrap_or((text, access.options.seed));
        check_page(text, page, access)?;
        Ok(task(page, seed))
    }

    /// Returns DORA's ten tasks, then one of each other page.
    fn list(&self, access: TaskAccess) -> Result<Vec<Task>, TaskError> {
        let names = pages(access)?.names(access)?;
        let seed = access.options.seed;
        let is_first = |name: &&str| DORA_PAGES.iter().any(|(page, _)| page == name);
        let first = DORA_PAGES.iter().map(|(page, _)| *page).filter(|page| names.contains(*page));
        let rest = names.iter().map(String::as_str).filter(|name| !is_first(name) && is_page_name(name));
        Ok(first.chain(rest).map(|page| task(page, seed)).collect())
    }

    fn list_split(&self, split: &str, _: TaskAccess) -> Result<Option<Vec<Task>>, TaskError> {
        let why = "the environment has no splits; use --tasks 'dora/0-9' for a set";
        Err(TaskError::unknown_split(NAME, split, why))
    }

    fn expand_set(&self, text: &str, access: TaskAccess) -> Result<Option<Vec<Task>>, TaskError> {
        let Some((page, numbers)) = text.strip_prefix("miniwob/").unwrap_or(text).rsplit_once('/') else {
            return Ok(None);
        };
        let Some(seeds) = parse_range::<u32>(numbers) else { return Ok(None) };
        let names: Vec<String> = match page {
            DORA_SET => DORA_PAGES.iter().map(|(page, _)| (*page).to_owned()).collect(),
            page if !is_page_name(page) => return Ok(None),
            page => vec![page.to_owned()],
        };
        check_screen(is_visible(access), |name| std::env::var_os(name))?;
        for name in &names {
            check_page(text, name, access)?;
        }
        let tasks = names.iter().flat_map(|name| seeds.clone().map(|seed| task(name, seed.into())));
        Ok(Some(tasks.collect()))
    }

    fn set_forms(&self) -> Option<&'static str> {
        Some(
            "a set such as `click-color/0-9` (a page and seeds) or `dora/0-9` (the ten pages of DORA's paper)",
        )
    }

    fn with_seed(&self, known: Task, seed: u64) -> Task {
        let page = parse_id(&known.id).map(|(page, _)| page.to_owned());
        page.map_or_else(|| Task { seed, ..known }, |page| task(&page, seed))
    }

    fn warnings(&self, task: &Task, access: TaskAccess) -> Vec<String> {
        let is_menu = parse_id(&task.id).is_some_and(|(page, _)| page == HOVER_PAGE);
        let word = |option| access.options.word(option);
        if is_menu && word(&ACTIONS_OPTION) == "paper" {
            vec![format!("{HOVER_PAGE} needs `move_coords`, which the actions `paper` leave out")]
        } else if is_menu && matches!(word(&ACTIONS_OPTION), "full" | "code") && word(&VIEW_OPTION) == "dom" {
            vec![format!("{HOVER_PAGE} needs the places of its entries; set miniwob.view to `detailed`")]
        } else {
            Vec::new()
        }
    }

    fn time_limits(&self, _: TaskAccess) -> Option<TimeLimits> {
        let longest = STEP_LIMIT.saturating_add(Duration::from_millis(2 * MAX_PAUSE_MILLIS));
        // The driver and the browser start one after the other.
        let open = START_LIMIT.saturating_mul(2).saturating_add(RESET_LIMIT);
        Some(TimeLimits { open, step: longest, list: longest })
    }

    fn end_idle_processes(&self) {
        super::browser::end_idle_browsers();
    }

    fn is_external(&self) -> bool {
        true
    }

    fn starts_slowly(&self) -> bool {
        true
    }

    fn check(&self, access: TaskAccess) -> Option<TaskCheck> {
        let missing =
            |error: TaskError, hint: &'static str| TaskCheck::Missing { detail: error.to_string(), hint };
        let launch = match launch(access) {
            Ok(launch) => launch,
            Err(TaskError::NoData { what, hint }) => return Some(TaskCheck::Missing { detail: what, hint }),
            Err(error) => return Some(missing(error, BROWSER_HINT)),
        };
        let count = match launch.pages.names(access) {
            Ok(names) => names.len(),
            Err(error) => return Some(missing(error, "download the package again")),
        };
        Some(match open_browser(access) {
            Ok(_) => TaskCheck::Ok(format!("{count} pages; {} starts", display(&launch.browser))),
            Err(error) => TaskCheck::Broken { detail: error.to_string(), hint: BROWSER_HINT },
        })
    }
}

fn display(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visible_browser_needs_a_screen() {
        let check = |is_visible, set: &'static [(&str, &str)]| {
            let value =
                |name: &str| set.iter().find(|(other, _)| *other == name).map(|(_, value)| value.into());
            check_screen(is_visible, value)
        };
        for set in [&[("DISPLAY", ":0")][..], &[("WAYLAND_DISPLAY", "wayland-0")]] {
            assert!(check(true, set).is_ok(), "{set:?}");
        }
        for set in [&[][..], &[("DISPLAY", "")], &[("XAUTHORITY", "/x")]] {
            assert!(check(false, set).is_ok(), "{set:?}");
            if cfg!(target_os = "macos") {
                continue;
            }
            let error = check(true, set).unwrap_err();
            assert!(error.to_string().contains("neither DISPLAY nor WAYLAND_DISPLAY is set"), "{error}");
            assert!(error.hint().contains("xvfb-run"), "{}", error.hint());
        }
    }
}
