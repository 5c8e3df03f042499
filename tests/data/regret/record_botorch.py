"""Records the regret of botorch and of random search on the functions of `tests/simulations/bayes.rs`.

The same process as the program's kernel `paper`: Matérn 5/2 with one length scale (prior Gamma(3, 6)), no output scale, mean 0, noise
of at least 1e-4 without a prior, rewards standardised, hyper-parameters by the largest marginal likelihood with priors, and
expected improvement over the best reward. One point after each fit, 46 evaluations, and the same first points.

usage: RETROSPECT_WRITE_FIRST_POINTS=first.json cargo test --test simulations first_points
       python record_botorch.py first.json [PROBLEM]    (with botorch; writes botorch.json beside it)
"""

import json
import math
import pathlib
import sys
import warnings

import botorch
import gpytorch
import numpy as np
import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.models.gp_regression import SingleTaskGP
from botorch.optim import optimize_acqf
from gpytorch.constraints import GreaterThan
from gpytorch.kernels import MaternKernel
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.means import ZeroMean
from gpytorch.mlls import ExactMarginalLogLikelihood
from gpytorch.priors import GammaPrior

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)
warnings.simplefilter("ignore")
HERE = pathlib.Path(__file__).parent
EVALUATIONS = 46
STARTS = [(0.33, 0.01), (0.5, 0.1), (1.0, 0.001), (0.2, 0.5)]


def branin(p):
    x, y = 2.5 + 7.5 * p[0], 7.5 + 7.5 * p[1]
    square = (y - 5.1 / (4 * math.pi**2) * x * x + 5 / math.pi * x - 6) ** 2
    return 0.397887357729739 - (square + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10)


A = np.array([[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]])
P = np.array(
    [
        [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
        [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
        [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650],
        [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
    ]
)


def hartmann(p):
    squares = (A * ((np.array(p) + 1) / 2 - P) ** 2).sum(1)
    return float((np.array([1.0, 1.2, 3.0, 3.2]) * np.exp(-squares)).sum()) - 3.322368011415515


TOP = np.array([0.3, -0.2, 0.1, 0.4, -0.35, 0.25, -0.1, 0.05, -0.3, 0.2])


def ackley(p):
    moved = 5 * (np.array(p) - TOP)
    return float(
        20 * np.exp(-0.2 * np.sqrt((moved**2).mean())) + np.exp(np.cos(2 * np.pi * moved).mean()) - 20 - np.e
    )


FUNCTIONS = {"Branin": branin, "Hartmann-6": hartmann, "Ackley-10": ackley}


def fitted(x, y):
    """The best of several starts, since the objective has several maxima."""
    best = None
    for length, noise in STARTS:
        kernel = MaternKernel(nu=2.5, lengthscale_prior=GammaPrior(3.0, 6.0))
        likelihood = GaussianLikelihood(noise_constraint=GreaterThan(1e-4))
        model = SingleTaskGP(
            x, y, covar_module=kernel, mean_module=ZeroMean(), likelihood=likelihood, outcome_transform=None
        )
        model.covar_module.lengthscale = length
        model.likelihood.noise = max(noise, 1.01e-4)
        mll = ExactMarginalLogLikelihood(model.likelihood, model)
        try:
            botorch.fit.fit_gpytorch_mll(mll)
        except Exception:
            continue
        mll.train()
        with torch.no_grad():
            value = float(mll(model(x), y.squeeze(-1)))
        mll.eval()
        if best is None or value > best[0]:
            best = (value, model)
    return best[1]


def regret_of_botorch(function, first, seed):
    torch.manual_seed(seed)
    points = [list(p) for p in first]
    rewards = [function(p) for p in points]
    bounds = torch.tensor([[-1.0] * len(points[0]), [1.0] * len(points[0])])
    while len(points) < EVALUATIONS:
        values = torch.tensor(rewards)
        scale = values.std()
        y = ((values - values.mean()) / (scale if scale > 1e-9 else 1.0)).unsqueeze(-1)
        model = fitted(torch.tensor(points), y)
        improvement = LogExpectedImprovement(model, best_f=y.max())
        point, _ = optimize_acqf(improvement, bounds, q=1, num_restarts=10, raw_samples=512)
        points.append(point[0].tolist())
        rewards.append(function(points[-1]))
    return -max(rewards)


def regret_of_random_search(function, dimension, seed):
    numbers = np.random.default_rng(seed)
    return -max(function(p) for p in numbers.uniform(-1, 1, (EVALUATIONS, dimension)))


def main():
    first = json.loads(pathlib.Path(sys.argv[1]).read_text())
    out = {
        "made_with": {"botorch": botorch.__version__, "gpytorch": gpytorch.__version__, "torch": torch.__version__.split("+")[0]},
        "evaluations": EVALUATIONS,
        "problems": {},
    }
    for name, function in FUNCTIONS.items():
        if len(sys.argv) > 2 and name != sys.argv[2]:
            continue
        seeds = first[name]
        found = []
        for seed, points in enumerate(seeds):
            found.append(regret_of_botorch(function, points, seed))
            print(name, seed, found[-1], flush=True)
        random = [regret_of_random_search(function, len(seeds[0][0]), seed) for seed in range(len(seeds))]
        out["problems"][name] = {"botorch": found, "random": random, "first_points": seeds}
        print(name, "median", np.median(found), "random search", np.median(random), flush=True)
    target = "botorch.json" if len(sys.argv) < 3 else f"botorch-{sys.argv[2]}.json"
    (HERE / target).write_text(json.dumps(out) + "\n")


main()
