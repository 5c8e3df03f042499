//! A running browser with its driver.

use super::pages::Pages;
use super::web_driver::{BrowserOptions, Failure, WebDriver};
use crate::env::EnvError;
use crate::env::external::{ChildCommand, ChildProcess, IdleChildren};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The browsers that wait for their next episode: that of a run, and the copy for questions about its past.
static IDLE: IdleChildren = IdleChildren::new(2);

/// Ends the browsers that wait for their next episode.
pub(super) fn end_idle_browsers() {
    IDLE.end_all();
}

/// How long the driver and the browser may take to start.
pub(super) const START_LIMIT: Duration = Duration::from_secs(60);
/// The line of the driver after which it answers; the rest of it is ` on port 1234.`.
const STARTED: &str = "ChromeDriver was started successfully";
/// Starts the driver, which doesn't end when its input is closed: a shell beside it waits for that and ends it. Home and
/// temporary files are in the working folder, which is removed afterwards. The first argument only tells browsers with
/// other settings apart.
const START_SCRIPT: &str = r#"shift
exec 3<&0
( read _ <&3; kill $$ ) >/dev/null 2>&1 &
HOME=$PWD TMPDIR=$PWD FONTCONFIG_FILE=$PWD/fonts.conf exec "$@" </dev/null 3<&-"#;
/// The fonts that the browser uses.
const FONTS: &str = include_str!("fonts.conf");
/// The folder of the browser's profile, in the working folder.
const PROFILE: &str = "profile";
/// Variables that a visible browser needs to find the screen.
const SCREEN_VARIABLES: &[&str] = &["DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "XAUTHORITY"];

/// How a browser is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Launch {
    pub(super) driver: PathBuf,
    pub(super) browser: PathBuf,
    pub(super) is_visible: bool,
    pub(super) pages: Pages,
}

/// What stays with the processes between episodes.
struct Notes {
    web: WebDriver,
    pages_folder: PathBuf,
    /// The page that is loaded.
    page: Option<String>,
}

/// A running browser.
///
/// Every failure but a rejected command ends the processes.
pub(super) struct Browser {
    child: ChildProcess,
    /// `None` once it has failed.
    notes: Option<Notes>,
}

impl Browser {
    /// Starts a browser, or takes one that has played an episode.
    ///
    /// # Errors
    /// Returns the errors of the processes, and [`EnvError::Died`] for a browser that can't be started.
    pub(super) fn open(
        launch: &Launch,
        read_wheel: impl FnOnce(&Path) -> Result<Vec<u8>, EnvError>,
    ) -> Result<Self, EnvError> {
        let mut child = ChildProcess::start_or_reuse(&command(launch), &IDLE)?;
        if let Some(notes) = child.take_notes() {
            return Ok(Self { child, notes: Some(notes) });
        }
        let own_folder = child.folder().unwrap_or(Path::new("")).to_owned();
        let pages_folder = match &launch.pages {
            Pages::Folder(folder) => folder.clone(),
            Pages::Wheel(wheel) => {
                let folder = own_folder.join("pages");
                super::pages::unpack(&read_wheel(wheel)?, &folder)?;
                folder
            }
        };
        let line = child.wait_for_start(START_LIMIT)?;
        write_fonts(&own_folder)?;
        let Some(port) = port_of(&line) else {
            return Err(child.reject_reply(format!("chromedriver names no port: {line}")));
        };
        let profile = own_folder.join(PROFILE);
        let browser = launch.browser.to_string_lossy();
        let options =
            BrowserOptions { program: Some(&browser), arguments: arguments(&profile, launch.is_visible) };
        match WebDriver::start(port, &options, START_LIMIT) {
            Ok(web) => Ok(Self { child, notes: Some(Notes { web, pages_folder, page: None }) }),
            Err(failure) => {
                let error = end(&mut child, failure);
                Err(match error {
                    EnvError::Died { what } => {
                        EnvError::Died { what: format!("the browser could not be started: {what}") }
                    }
                    error => error,
                })
            }
        }
    }

    /// Sets the time that all commands until the next call may take together.
    pub(super) fn begin(&mut self, limit: Duration) {
        if let Some(notes) = &mut self.notes {
            notes.web.begin(limit);
        }
    }

    /// Returns the address of a page.
    pub(super) fn page_url(&self, page: &str) -> Option<String> {
        let folder = &self.notes.as_ref()?.pages_folder;
        Some(super::pages::page_url(folder, page))
    }

    /// Returns whether this page is loaded.
    pub(super) fn has_page(&self, page: &str) -> bool {
        self.notes.as_ref().and_then(|notes| notes.page.as_deref()) == Some(page)
    }

    /// Notes which page is loaded.
    pub(super) fn set_page(&mut self, page: Option<&str>) {
        if let Some(notes) = &mut self.notes {
            notes.page = page.map(str::to_owned);
        }
    }

    /// Carries out commands. `Ok(Err(...))` is a command that the driver rejected, with its code.
    ///
    /// # Errors
    /// Any other failure has ended the processes.
    pub(super) fn ask<T>(
        &mut self,
        commands: impl FnOnce(&WebDriver) -> Result<T, Failure>,
    ) -> Result<Result<T, Rejected>, EnvError> {
        let Some(notes) = &self.notes else {
            return Err(EnvError::Died { what: "its browser was ended after an error".to_owned() });
        };
        match commands(&notes.web) {
            Ok(value) => Ok(Ok(value)),
            Err(Failure::Rejected { code, message }) => Ok(Err(Rejected { code, message })),
            Err(failure) => {
                self.notes = None;
                Err(end(&mut self.child, failure))
            }
        }
    }

    /// Ends the browser because its page answers nonsense, and returns the error to report.
    pub(super) fn reject(&mut self, what: String) -> EnvError {
        self.notes = None;
        self.child.reject_reply(what)
    }
}

/// A command that the driver has rejected.
#[derive(Debug)]
pub(super) struct Rejected {
    pub(super) code: String,
    pub(super) message: String,
}

impl Drop for Browser {
    fn drop(&mut self) {
        if let Some(notes) = self.notes.take() {
            self.child.keep_notes(notes);
        }
    }
}

fn end(child: &mut ChildProcess, failure: Failure) -> EnvError {
    match failure {
        Failure::TimedOut(limit) => child.end_after_timeout(limit),
        Failure::Lost(what) => child.end_after_report(what),
        Failure::Unreachable(why) => match child.end_after_disconnection() {
            EnvError::Died { what } => {
                EnvError::Died { what: format!("the browser's driver has ended: {what}; {why}") }
            }
            error => error,
        },
        Failure::Invalid(what) => child.reject_reply(what),
        Failure::Rejected { code, message } => child.end_after_report(format!("{code}: {message}")),
    }
}

fn command(launch: &Launch) -> ChildCommand {
    let mut words: Vec<OsString> = ["/bin/sh", "-c", START_SCRIPT, "sh"].map(Into::into).into();
    words.push(format!("{launch:?}").into());
    words.extend([launch.driver.clone().into(), "--port=0".into()]);
    let shown = if launch.is_visible { SCREEN_VARIABLES } else { &[] };
    let mut variables: Vec<(OsString, OsString)> =
        shown.iter().filter_map(|name| Some(((*name).into(), std::env::var_os(name)?))).collect();
    let has_authority = variables.iter().any(|(name, _)| name == "XAUTHORITY");
    if launch.is_visible
        && !has_authority
        && let Some(home) = std::env::var_os("HOME")
    {
        variables.push(("XAUTHORITY".into(), Path::new(&home).join(".Xauthority").into()));
    }
    ChildCommand { words, variables, folder: None, reply_prefix: STARTED, has_events: false }
}

/// The arguments of the browser: an empty profile, no network, and the size of the window that the recorded episodes have.
fn arguments(profile: &Path, is_visible: bool) -> Vec<String> {
    let mut arguments: Vec<String> = [
        "disable-gpu",
        "disable-dev-shm-usage",
        "window-size=780,580",
        "host-resolver-rules=MAP * ~NOTFOUND",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
        "no-first-run",
    ]
    .map(str::to_owned)
    .into();
    arguments.push(format!("user-data-dir={}", profile.display()));
    if !is_visible {
        arguments.push("headless".to_owned());
    }
    // The browser refuses to start as root with its sandbox.
    if rustix::process::geteuid().is_root() {
        arguments.push("no-sandbox".to_owned());
    }
    arguments
}

fn write_fonts(folder: &Path) -> Result<(), EnvError> {
    use std::io::Write as _;
    let written = crate::files::create_new(&folder.join("fonts.conf"));
    written.and_then(|mut file| file.write_all(FONTS.as_bytes())).map_err(|error| EnvError::Died {
        what: format!("the browser's files could not be written to {}: {error}", folder.display()),
    })
}

fn port_of(line: &str) -> Option<u16> {
    let (_, rest) = line.rsplit_once(' ')?;
    rest.trim_end_matches('.').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_read() {
        assert_eq!(port_of("ChromeDriver was started successfully on port 43705."), Some(43_705));
        assert_eq!(port_of("ChromeDriver was started successfully."), None);
    }
}
