//! DORA's settings. Numbers without a note are those of the paper or of its public code (docs/methods/dora.md).

use crate::domain::SettingOrigin::{self, BuiltIn, Code, Paper};
use crate::domain::common_settings::{ACTING, MEMORY};
use crate::domain::{DefaultValue, SettingSpec, TypedSetting, setting_words};

/// All of them, in the order of the table.
pub const LIST: &[SettingSpec] = &[
    PROMPTER.spec,
    SOFT_TOKENS.spec,
    PROJECTION.spec,
    PROMPTER_TOKENS.spec,
    PROMPTER_TEMPERATURE.spec,
    OPTIMISE.spec,
    INTRINSIC_DIM.spec,
    N_INIT.spec,
    DESIGN.spec,
    ROUNDS.spec,
    BATCH.spec,
    MIN_DISTANCE.spec,
    KERNEL.spec,
    FIT_GENERATIONS.spec,
    FIT_STARTS.spec,
    MIN_NOISE.spec,
    LENGTHSCALE_SHAPE.spec,
    LENGTHSCALE_RATE.spec,
    NOISE_SHAPE.spec,
    NOISE_RATE.spec,
    OUTPUTSCALE_SHAPE.spec,
    OUTPUTSCALE_RATE.spec,
    SEARCH.spec,
    SEARCH_STEP.spec,
    SEARCH_POPULATION.spec,
    SEARCH_GENERATIONS.spec,
    REWARD.spec,
    ALPHA.spec,
    DIVERSITY.spec,
    INSTANCES.spec,
    ATTEMPTS.spec,
    DEMOS.spec,
    PAIRS.spec,
    MEMORY.spec,
    ACTING.spec,
];

/// The recorded folder of the model that is the prompter; a run with [`Prompter::Local`] has it.
pub const MODEL_SETTING: &str = "prompter.model";
/// The recorded text of the model's template.
pub const TEMPLATE_SETTING: &str = "prompter.template";
/// The recorded sentences of `--advice`, one list for each group; without it the built-in ones are chosen from.
pub const ADVICE_SETTING: &str = "prompter.advice";

setting_words! {
    /// What turns a vector into the mentor's instruction.
    pub enum Prompter {
        /// The vector chooses among sentences: ours, not the paper's soft prompt.
        Text = "text",
        /// A model on this machine writes it after a soft prompt, as in the paper.
        Local = "local",
    }
}

pub const PROMPTER: TypedSetting<Prompter> = Prompter::setting(
    "prompter",
    "what turns a searched vector into the mentor's instruction: `text` chooses among candidate sentences (ours, not the paper's soft prompt); `local` is a model on this machine, which `--prompter local:DIR` names",
    Prompter::Text,
    BuiltIn,
);

pub const SOFT_TOKENS: TypedSetting<u64> = TypedSetting::number(
    "soft_tokens",
    "how many made-up tokens the soft prompt of a model as prompter has",
    5,
    (1, 100),
    Code,
);

setting_words! {
    /// The distribution of the matrix that makes a soft prompt of a vector.
    pub enum ProjectionEntries {
        /// Normal, as large as the model's embeddings.
        Embedding = "embedding",
        Uniform = "uniform",
        Normal = "normal",
    }
}

pub const PROJECTION: TypedSetting<ProjectionEntries> = ProjectionEntries::setting(
    "projection",
    "entries of the random matrix that makes a soft prompt of a vector: normal and as large as the model's embeddings (embedding), uniform from -1 to 1 (the public code), or normal with variance 1 (the paper's equation 2)",
    ProjectionEntries::Embedding,
    BuiltIn,
)
.with_code_default(ProjectionEntries::Uniform.as_default());

pub const PROMPTER_TOKENS: TypedSetting<u64> = TypedSetting::number(
    "prompter_tokens",
    "the most tokens that a model as prompter writes",
    128,
    (1, 4096),
    Code,
);

pub const PROMPTER_TEMPERATURE: TypedSetting<u64> = TypedSetting::number(
    "prompter_temperature",
    "the temperature of a model as prompter, in percent; 0: always the most likely token",
    0,
    (0, 1000),
    Code,
);

setting_words! {
    /// How the next vectors are chosen.
    pub enum Optimise {
        /// By Bayesian optimisation.
        Bayes = "bo",
        /// Uniformly at random.
        Random = "random",
        /// The first vectors again and again.
        Fixed = "fixed",
    }
}

pub const OPTIMISE: TypedSetting<Optimise> = Optimise::setting(
    "optimise",
    "how vectors are chosen: Bayesian optimisation, at random, or the first ones again and again (two readings of the paper's \"w/o BO\")",
    Optimise::Bayes,
    Paper,
);

pub const INTRINSIC_DIM: TypedSetting<u64> =
    TypedSetting::number("intrinsic_dim", "the dimension of the searched vectors", 10, (1, 100), Code);

pub const N_INIT: TypedSetting<u64> =
    TypedSetting::number("n_init", "vectors that are evaluated before the first fit", 4, (1, 100), Paper);

setting_words! {
    /// Where the first vectors are.
    pub enum Design {
        /// In the box that is searched, from -1 to 1.
        Box = "box",
        /// In the part of it from 0 to 1.
        Unit = "unit",
    }
}

pub const DESIGN: TypedSetting<Design> = Design::setting(
    "design",
    "where the first vectors are: anywhere in the searched box (-1 to 1), or from 0 to 1 as in the public code",
    Design::Box,
    BuiltIn,
)
.with_code_default(Design::Unit.as_default());

pub const ROUNDS: TypedSetting<u64> =
    TypedSetting::number("rounds", "how many times the model of the rewards is fitted", 5, (0, 100), Paper);

pub const BATCH: TypedSetting<u64> =
    TypedSetting::number("batch", "the most vectors that are evaluated after a fit", 10, (1, 100), Code);

/// In millionths, because a setting with decimals has two.
pub const MIN_DISTANCE: TypedSetting<u64> = TypedSetting::number(
    "min_distance",
    "vectors that differ by less than this in each of their numbers, in millionths, are the same: of those that follow a fit only one is evaluated, and none that was evaluated before; text steering chooses among texts and doesn't read it",
    1,
    (1, 1_000_000),
    BuiltIn,
);

setting_words! {
    /// The Gaussian process's kernel and what is fitted.
    pub enum Kernel {
        Paper = "paper",
        Scaled = "scaled",
        Ard = "ard",
        Coupled = "coupled",
    }
}

pub const KERNEL: TypedSetting<Kernel> = Kernel::setting(
    "kernel",
    "what is fitted: one length scale and noise (paper), also the output scale (scaled), a length scale for each dimension (ard), or the public code's kernel over vectors and scores (coupled)",
    Kernel::Paper,
    Paper,
)
.with_code_default(Kernel::Coupled.as_default());

pub const FIT_GENERATIONS: TypedSetting<u64> = TypedSetting::number(
    "fit_generations",
    "the most generations of CMA-ES from each place where the fit of the Gaussian process begins",
    300,
    (1, 10_000),
    BuiltIn,
);

pub const FIT_STARTS: TypedSetting<u64> = TypedSetting::number(
    "fit_starts",
    "from how many places the fit of the Gaussian process begins; 0: four, or one with the kernel `coupled`, each of whose starts takes seconds",
    0,
    (0, 100),
    BuiltIn,
);

/// In millionths, because a setting with decimals has two.
pub const MIN_NOISE: TypedSetting<u64> = TypedSetting::number(
    "min_noise",
    "the lowest variance of the noise that is fitted, in millionths of the variance of the rewards",
    100,
    (1, 1_000_000),
    Code,
);

/// The shape or the rate of a prior of the fit.
const fn prior(
    name: &'static str,
    meaning: &'static str,
    hundredths: u64,
    origin: SettingOrigin,
) -> TypedSetting<f64> {
    TypedSetting::decimal(name, meaning, hundredths, (1, 1_000_000), origin)
}

pub const LENGTHSCALE_SHAPE: TypedSetting<f64> =
    prior("lengthscale_shape", "the shape of the Gamma prior of length scales", 300, Paper);

pub const LENGTHSCALE_RATE: TypedSetting<f64> =
    prior("lengthscale_rate", "the rate of the Gamma prior of length scales", 600, Paper);

pub const NOISE_SHAPE: TypedSetting<f64> = prior(
    "noise_shape",
    "the shape of the Gamma prior of the noise's variance; the kernel `paper` has no such prior",
    110,
    Code,
);

pub const NOISE_RATE: TypedSetting<f64> =
    prior("noise_rate", "the rate of the Gamma prior of the noise's variance; not for `paper`", 5, Code);

pub const OUTPUTSCALE_SHAPE: TypedSetting<f64> = prior(
    "outputscale_shape",
    "the shape of the Gamma prior of the output scale, with the kernels `scaled` and `ard`",
    200,
    BuiltIn,
);

pub const OUTPUTSCALE_RATE: TypedSetting<f64> = prior(
    "outputscale_rate",
    "the rate of the Gamma prior of the output scale, with the kernels `scaled` and `ard`",
    15,
    BuiltIn,
);

setting_words! {
    /// How expected improvement is searched.
    pub enum SearchSteps {
        Ours = "ours",
        Code = "code",
    }
}

pub const SEARCH: TypedSetting<SearchSteps> = SearchSteps::setting(
    "search",
    "how CMA-ES maximises expected improvement: with step 0.3 and 60 generations of 20, or with the public code's step 0.8 and 10 generations of 50; text steering computes it for each text and doesn't read it",
    SearchSteps::Ours,
    BuiltIn,
)
.with_code_default(SearchSteps::Code.as_default());

pub const SEARCH_STEP: TypedSetting<f64> = TypedSetting::decimal(
    "search_step",
    "the first step of CMA-ES where it maximises expected improvement; 0: that of `search`",
    0,
    (0, 1000),
    BuiltIn,
);

pub const SEARCH_POPULATION: TypedSetting<u64> = TypedSetting::number(
    "search_population",
    "how many vectors each of its generations has, at least 2; 0: as many as with `search`",
    0,
    (0, 1000),
    BuiltIn,
);

pub const SEARCH_GENERATIONS: TypedSetting<u64> = TypedSetting::number(
    "search_generations",
    "how many generations it has at most; 0: as many as with `search`",
    0,
    (0, 10_000),
    BuiltIn,
);

setting_words! {
    /// What an evaluation is worth.
    pub enum RewardKind {
        Paper = "paper",
        Code = "code",
    }
}

pub const REWARD: TypedSetting<RewardKind> = RewardKind::setting(
    "reward",
    "what an evaluation is worth: the share of solved tasks and the diversity of the advice (paper), or equal parts of result, attempts and diversity (code)",
    RewardKind::Paper,
    Paper,
)
.with_code_default(RewardKind::Code.as_default());

pub const ALPHA: TypedSetting<u64> = TypedSetting::number(
    "alpha",
    "the weight of diversity in the paper's reward, in percent",
    50,
    (0, 100),
    Paper,
);

setting_words! {
    /// How the difference of two pieces of advice is measured.
    pub enum Diversity {
        /// 1 minus the cosine of their words, as the paper says and its code does.
        Distance = "distance",
        /// The cosine itself, as the paper's formula 7 is printed, which rewards repetition.
        Printed = "printed",
    }
}

pub const DIVERSITY: TypedSetting<Diversity> = Diversity::setting(
    "diversity",
    "how different the last two pieces of advice are: 1 minus their cosine, or the cosine itself, as formula 7 is printed",
    Diversity::Distance,
    BuiltIn,
);

pub const INSTANCES: TypedSetting<u64> = TypedSetting::number(
    "instances",
    "how many tasks of each type an instruction is evaluated on",
    10,
    (1, 1000),
    Code,
);

pub const ATTEMPTS: TypedSetting<u64> = TypedSetting::number(
    "attempts",
    "the most attempts at each task with one instruction",
    3,
    (1, 100),
    Code,
);

pub const DEMOS: TypedSetting<u64> = TypedSetting::number(
    "demos",
    "earlier pairs (`pairs`), drawn at random, that a model as prompter is shown; recorded with `text`, which doesn't read them; 0: none (zero-shot)",
    2,
    (0, 8),
    Paper,
)
.with_code_default(DefaultValue::Number(1));

setting_words! {
    /// What a demonstration of the prompter pairs with a piece of advice.
    pub enum Pairs {
        /// The instruction that it was written with.
        Prompt = "prompt",
        /// The attempt that it was written after.
        Trajectory = "trajectory",
    }
}

pub const PAIRS: TypedSetting<Pairs> = Pairs::setting(
    "pairs",
    "what an earlier pair has beside the advice: the instruction that it was written with (prompt), or task and last actions of the attempt that it was written after (trajectory, as in the public code)",
    Pairs::Prompt,
    Paper,
)
.with_code_default(Pairs::Trajectory.as_default());
