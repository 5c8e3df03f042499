//! MiniWoB++: small web pages with a task each, in a real Chromium (docs/MINIWOB.md).
//!
//! The pages, the browser and its driver are the user's. The driver is started with a process group of its own and spoken to
//! over WebDriver; the browser has an empty profile and no network.

mod action;
mod boxes;
mod browser;
mod by_xpath;
mod color;
mod dom;
mod element_row;
mod environment;
mod fields;
mod html;
mod keys;
mod options;
mod pages;
mod picture;
mod tasks;
mod web_driver;

pub use dom::count_elements;
pub use options::{ACTIONS_OPTION, NAME, OPTIONS, RELOAD_OPTION, VIEW_OPTION, WINDOW_OPTION};
pub use picture::{draw_picture, page_html};
pub use tasks::{MiniWobTasks, level};
