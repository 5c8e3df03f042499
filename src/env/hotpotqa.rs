//! HotPotQA (Yang et al. 2018, "HotpotQA: A Dataset for Diverse, Explainable Multi-hop Question Answering") as Reflexion and
//! ReAct play it: a question whose answer needs several pages (docs/HOTPOTQA.md). The data set is the user's; a small one of
//! our own is part of the program.

mod action;
mod environment;
mod page_set;
mod pages_file;
mod picture;
mod question;
mod score;
mod tasks;

pub use picture::draw_picture;
pub use tasks::{AGENT_OPTION, HotpotTasks, PAGES_OPTION, QUESTIONS_OPTION, STYLE_OPTION};

/// The name of the environment.
pub const NAME: &str = "hotpotqa";
