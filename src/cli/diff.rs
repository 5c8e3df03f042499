//! `diff`.

mod json;
mod line;
mod text;

use line::Line;
pub(super) use line::Place;
#[cfg(feature = "tui")]
pub(super) use line::open_branch;

use super::args;
use super::config::Config;
use super::error::{CliError, CliErrorKind};
use super::out::Out;
use crate::prompt::render;
use crate::timeline::compare::{Comparison, EpisodePair, find_counterpart, pair_episodes};

/// `diff A B`: two episodes side by side, or all of two sessions by task and trial.
pub(super) fn diff(config: &Config, args: &args::Diff, out: &mut Out) -> Result<(), CliError> {
    let mut open = |text: &str| -> Result<Line, CliError> {
        let line = Line::open(config, &Place::parse(text)?)?;
        if let Some(lacks) = &line.lacks {
            out.note(&format!("{}: {lacks}", line.name));
        }
        Ok(line)
    };
    let (a, b) = (open(&args.a)?, open(&args.b)?);
    let all = wanted(&a, &b)?;
    let both = all.iter().filter(|p| p.left.is_some() && p.right.is_some()).count();
    let mut told = Told::default();
    let voice = Voice { args, whole: all.len() > 1, width: width(args, out), colour: colours(out) };
    if both == 0 {
        return Err(CliError::new(
            CliErrorKind::Usage,
            format!("{} and {} have no episode of the same task and trial", a.name, b.name),
            "name the episodes: `retrospect diff A#1 B#2`",
        ));
    }
    voice.begin(&a, &b, out)?;
    for pair in &all {
        let (Some(x), Some(y)) = (pair.left, pair.right) else {
            told.alone(pair);
            voice.alone(pair, out)?;
            continue;
        };
        let compared = Comparison::new(a.side(x)?, b.side(y)?, render);
        let compared =
            compared.map_err(|why| CliError::new(CliErrorKind::Session, why, "restore it from a copy"))?;
        told.count(&compared);
        voice.pair(pair, &compared, (&a, &b), out)?;
    }
    voice.end(&told, out)
}

/// The episodes that are compared: those that are named, else all of both.
fn wanted(a: &Line, b: &Line) -> Result<Vec<EpisodePair>, CliError> {
    let (one, other) = match (a.episode, b.episode) {
        (None, None) => return Ok(pair_episodes(&a.head(), &b.head())),
        (Some(x), Some(y)) => (a.side(x)?, b.side(y)?),
        (Some(x), None) => {
            let side = a.side(x)?;
            let other = beside((&side.episode.task, side.episode.trial), b, x)?;
            (side, b.side(other)?)
        }
        (None, Some(y)) => {
            let side = b.side(y)?;
            let other = beside((&side.episode.task, side.episode.trial), a, y)?;
            (a.side(other)?, side)
        }
    };
    let (task, trial) = (one.episode.task.clone(), one.episode.trial);
    Ok(vec![EpisodePair { task, trial, left: Some(one.episode.number), right: Some(other.episode.number) }])
}

fn beside(of: (&crate::domain::Task, u32), among: &Line, number: u32) -> Result<u32, CliError> {
    find_counterpart(of, &among.head()).ok_or_else(|| {
        let name = &among.name;
        CliError::usage(
            format!("{name} has no episode of the task of episode {number} ({})", of.0.id),
            format!("name the episode: `{name}#1`"),
        )
    })
}

/// What all pairs came to.
#[derive(Default)]
struct Told {
    compared: u32,
    same: u32,
    only_a: u32,
    only_b: u32,
    won: (u32, u32),
    steps: (u64, u64),
    mistakes: (u64, u64),
    tokens: (u64, u64),
}

impl Told {
    fn count(&mut self, found: &Comparison) {
        self.compared += 1;
        self.same += u32::from(found.first_difference.is_none());
        let (x, y) = &found.outcomes;
        self.won.0 += u32::from(x.won);
        self.won.1 += u32::from(y.won);
        for (sum, x, y) in [
            (&mut self.steps, u64::from(x.steps), u64::from(y.steps)),
            (&mut self.mistakes, u64::from(x.mistake_count()), u64::from(y.mistake_count())),
            (&mut self.tokens, x.tokens, y.tokens),
        ] {
            sum.0 = sum.0.saturating_add(x);
            sum.1 = sum.1.saturating_add(y);
        }
    }

    fn alone(&mut self, pair: &EpisodePair) {
        self.only_a += u32::from(pair.left.is_some());
        self.only_b += u32::from(pair.right.is_some());
    }
}

/// How it is told.
struct Voice<'a> {
    args: &'a args::Diff,
    /// There are several episodes: a line for each, or a JSON object.
    whole: bool,
    width: usize,
    colour: bool,
}

impl Voice<'_> {
    fn begin(&self, a: &Line, b: &Line, out: &mut Out) -> Result<(), CliError> {
        if self.args.json || !self.whole {
            return Ok(());
        }
        text::heads(self, a, b, out)
    }

    fn pair(
        &self,
        pair: &EpisodePair,
        found: &Comparison,
        lines: (&Line, &Line),
        out: &mut Out,
    ) -> Result<(), CliError> {
        if self.args.json {
            return out.json(&json::comparison(found, lines, self.args.only_differences));
        }
        if self.whole { text::row(self, pair, found, out) } else { text::comparison(self, found, out) }
    }

    fn alone(&self, pair: &EpisodePair, out: &mut Out) -> Result<(), CliError> {
        if self.args.json { out.json(&json::alone(pair)) } else { text::alone(self, pair, out) }
    }

    fn end(&self, told: &Told, out: &mut Out) -> Result<(), CliError> {
        match (self.args.json, self.whole) {
            (true, _) => out.json(&json::summary(told)),
            (false, true) => text::sums(self, told, out),
            (false, false) => Ok(()),
        }
    }
}

/// Columns: as asked, else the terminal's, else 80.
fn width(args: &args::Diff, out: &Out) -> usize {
    let asked = args.width.map(usize::from);
    let terminal = || terminal_columns().filter(|_| out.terminal());
    asked.or_else(terminal).unwrap_or(80).clamp(40, 500)
}

#[cfg(feature = "tui")]
fn terminal_columns() -> Option<usize> {
    crossterm::terminal::size().ok().map(|size| usize::from(size.0))
}

#[cfg(not(feature = "tui"))]
fn terminal_columns() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok()
}

/// Colours only where a terminal shows them and the person has not asked for none.
fn colours(out: &Out) -> bool {
    let set = |name| std::env::var(name).ok().filter(|v: &String| !v.is_empty());
    out.terminal() && set("NO_COLOR").is_none() && set("TERM").is_none_or(|t| t != "dumb")
}
