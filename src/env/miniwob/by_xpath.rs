//! Elements that are named by an XPath, as in RCI's actions, and what commands come to that the driver rejects.

use super::action::Pointer;
use super::browser::Rejected;
use super::web_driver::{ElementHandle, Failure, Target, WebDriver};

/// Whether an action was carried out, or why not.
pub(super) type Outcome = Result<(), String>;

/// Describes a command that was rejected.
pub(super) fn outcome(rejected: Rejected) -> Outcome {
    let Rejected { code, message } = rejected;
    match code.as_str() {
        // The action has opened a dialog, which the driver has closed.
        "unexpected alert open" => Ok(()),
        "move target out of bounds" => Err("this place is outside of the page".to_owned()),
        "invalid selector" => Err(format!("this is not an XPath: {message}")),
        _ => Err(format!("{code}: {message}")),
    }
}

fn no_match(xpath: &str) -> String {
    format!("no element matches {}", crate::text::prefix(xpath, 200))
}

/// Clicks the first element of an XPath that can be clicked, and after a `span` also the next one, as RCI does.
pub(super) fn click_first(web: &WebDriver, xpath: &str) -> Result<Outcome, Failure> {
    let found = web.find(xpath)?;
    let mut last = Err(no_match(xpath));
    for element in &found {
        let tag = web.run_on("return arguments[0].tagName.toLowerCase();", element)?;
        let tag = tag.as_str().unwrap_or_default();
        match click_found(web, element, tag) {
            Ok(()) if tag != "span" => return Ok(Ok(())),
            Ok(()) => last = Ok(()),
            Err(Failure::Rejected { code, message }) if last.is_err() => {
                last = outcome(Rejected { code, message });
            }
            Err(Failure::Rejected { .. }) => {}
            Err(failure) => return Err(failure),
        }
    }
    Ok(last)
}

/// Moves the pointer over each element of an XPath that is visible.
pub(super) fn hover_all(web: &WebDriver, xpath: &str) -> Result<Outcome, Failure> {
    let mut last = Err(no_match(xpath));
    for element in &web.find(xpath)? {
        match web.point(Target::Element(element), Pointer::Move) {
            Ok(()) => last = Ok(()),
            Err(Failure::Rejected { code, message }) if last.is_err() => {
                last = outcome(Rejected { code, message });
            }
            Err(Failure::Rejected { .. }) => {}
            Err(failure) => return Err(failure),
        }
    }
    Ok(last)
}

fn click_found(web: &WebDriver, element: &ElementHandle, tag: &str) -> Result<(), Failure> {
    if !["button", "option"].contains(&tag) {
        return web.point(Target::Element(element), Pointer::Click);
    }
    match web.click(element) {
        Err(Failure::Rejected { code, .. }) if code == "element click intercepted" => {
            web.send_keys(element, "\u{e006}")
        }
        clicked => clicked,
    }
}
