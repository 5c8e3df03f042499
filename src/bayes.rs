//! Bayesian optimisation: a Gaussian process over the rewards of tried points, and expected improvement maximised by
//! an evolution strategy. Used by DORA (arXiv paper and public code, `docs/methods/dora.md`).
//!
//! Everything here is a pure function of its inputs and seeds. Only floating-point arithmetic depends on the machine:
//! the same inputs lead to the same result on the same machine, and a session's journal has the results for others.

mod acquisition;
mod coupled;
mod design;
mod evolution;
mod fit;
mod gaussian_process;
mod kernel;
mod next_points;
mod plane;
mod projection;
mod random;

pub use acquisition::{Improvement, expected_improvement};
pub use design::latin_hypercube;
pub use fit::{FitOptions, Fitted, KernelVariant, fit, log_prior};
pub use gaussian_process::{GaussianProcess, Hyperparameters, Prediction, Standardised, TrainingData};
pub use next_points::{
    FoundPoint, NextPoints, NextPointsInputs, SearchPlan, SearchProgress, SearchStage, SearchVariant,
    best_candidates, maximise_improvement, next_points,
};
pub use plane::project_to_plane;
pub use projection::{Projection, ProjectionKind};
pub use random::{RandomNumbers, mix_seed};

/// Is called after each generation of a search. An error ends the search, which returns it.
pub type ReportProgress<'a> = dyn FnMut(SearchProgress) -> Result<(), String> + 'a;
