"""scikit-learn's estimators to differentiate with respect to the data they are fitted to.

They are run with ``array_api_dispatch=True``: see `foreign_code`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn
from sklearn import preprocessing
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import pairwise
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import GaussianNB
from standard.foreign_code import Case, like

__all__ = ["CASES", "REFUSED"]

RNG = np.random.default_rng(0)
CLASSES = np.repeat([0, 1, 2], 4)
DATA = RNG.standard_normal((12, 3)) + 2 * np.eye(3)[CLASSES]
POINTS = RNG.standard_normal((4, 3))
TARGET = RNG.standard_normal(12)
GUESS = RNG.standard_normal(12)

CASES: list[Case] = []
REFUSED: list[Case] = []


def dispatched(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(*arguments: Any) -> Any:
        with sklearn.config_context(array_api_dispatch=True):
            return function(*arguments)

    return run


def case(name: str, function: Callable[..., Any], *arguments: Any) -> None:
    CASES.append(Case(name, dispatched(function), arguments))


# --- preprocessing -------------------------------------------------------------------------------


# The first fit combines its variance with that of no data, which is 0 / 0, and then overwrites the
# result: what has been overwritten must not make NaN of the gradient.
case("StandardScaler.var_", lambda x: preprocessing.StandardScaler().fit(x).var_, DATA)
case("StandardScaler.transform", lambda x: preprocessing.StandardScaler().fit_transform(x), DATA)


def scaled_twice(x: Any) -> Any:
    scaler = preprocessing.StandardScaler().fit(like(x, POINTS))
    return scaler.partial_fit(x).transform(x)


case("StandardScaler.partial_fit", scaled_twice, DATA)
case("MinMaxScaler", lambda x: preprocessing.MinMaxScaler().fit_transform(x), DATA)
case("MaxAbsScaler", lambda x: preprocessing.MaxAbsScaler().fit_transform(x), DATA)
case("Normalizer", lambda x: preprocessing.Normalizer().fit_transform(x), DATA)
case("KernelCenterer", lambda x: preprocessing.KernelCenterer().fit_transform(x @ x.T), DATA)
case("PolynomialFeatures", lambda x: preprocessing.PolynomialFeatures(2).fit_transform(x), DATA)

# --- estimators ----------------------------------------------------------------------------------

case("Ridge.coef_", lambda x, y: Ridge(solver="svd").fit(x, y).coef_, DATA, TARGET)
case(
    "Ridge.predict",
    lambda x, y, new: Ridge(solver="svd").fit(x, y).predict(new),
    DATA,
    TARGET,
    POINTS,
)


def principal(x: Any, **options: Any) -> Any:
    return PCA(2, **{"svd_solver": "full", **options}).fit(x)


def whitened(x: Any, new: Any) -> Any:
    return principal(x, svd_solver="covariance_eigh", whiten=True).transform(new)


case("PCA.explained_variance_", lambda x: principal(x).explained_variance_, DATA)
case("PCA.transform", lambda x: principal(x).transform(x), DATA)
case("PCA.score_samples", lambda x, new: principal(x).score_samples(new), DATA, POINTS)
case("PCA(whiten=True).transform", whitened, DATA, POINTS)
case(
    "LinearDiscriminantAnalysis.decision_function",
    lambda x, new: LinearDiscriminantAnalysis().fit(x, like(x, CLASSES)).decision_function(new),
    DATA,
    POINTS,
)
case(
    "LinearDiscriminantAnalysis.transform",
    lambda x, new: LinearDiscriminantAnalysis().fit(x, like(x, CLASSES)).transform(new),
    DATA,
    POINTS,
)
case(
    "LinearDiscriminantAnalysis.predict_proba",
    lambda x, new: LinearDiscriminantAnalysis().fit(x, like(x, CLASSES)).predict_proba(new),
    DATA,
    POINTS,
)
case(
    "GaussianNB.predict_proba",
    lambda x, new: GaussianNB().fit(x, like(x, CLASSES)).predict_proba(new),
    DATA,
    POINTS,
)


def mixture(x: Any, covariance: str = "full") -> Any:
    means = np.eye(3) * 2.0
    precisions = {
        "full": np.stack([np.eye(3)] * 3),
        "diag": np.ones((3, 3)),
    }[covariance]
    model = GaussianMixture(
        3,
        covariance_type=covariance,
        init_params="random",
        means_init=like(x, means),
        weights_init=like(x, np.full(3, 1 / 3)),
        precisions_init=like(x, precisions),
        max_iter=2,
        tol=0.0,
        reg_covar=0.1,
    )
    return model.fit(x)


for _kind in ("full", "diag"):
    case(f"GaussianMixture({_kind!r}).means_", lambda x, k=_kind: mixture(x, k).means_, DATA)
case("GaussianMixture.score_samples", lambda x, new: mixture(x).score_samples(new), DATA, POINTS)

# --- kernels and distances -----------------------------------------------------------------------

for _name in (
    "rbf_kernel laplacian_kernel linear_kernel polynomial_kernel sigmoid_kernel cosine_similarity "
    "additive_chi2_kernel chi2_kernel euclidean_distances cosine_distances paired_cosine_distances "
    "manhattan_distances paired_euclidean_distances"
).split():
    _x, _y = (DATA[:4] ** 2, POINTS**2) if "chi2" in _name else (DATA[:4], POINTS)
    case(_name, getattr(pairwise, _name), _x, _y)

# --- compiled for NumPy only ---------------------------------------------------------------------


def refused(name: str, function: Callable[..., Any], *arguments: Any) -> None:
    REFUSED.append(Case(name, dispatched(function), arguments))


refused("LinearRegression", lambda x, y: LinearRegression().fit(x, y).coef_, DATA, TARGET)
refused("KMeans", lambda x: KMeans(2, n_init=1).fit(x).cluster_centers_, DATA)
