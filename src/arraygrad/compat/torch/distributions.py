"""`torch.distributions`: laws of random tensors, by a table of their formulas.

Samples are drawn by `ag.random`, with derivatives where PyTorch has them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ... import random as native
from . import distribution_transforms
from .autograd import no_grad
from .creation import as_tensor, zeros_like
from .distribution_transforms import *
from .dtypes import Size, get_default_dtype
from .functions.elementwise import digamma, igamma, lgamma, where, xlogy
from .functions.joining import stack
from .functions.reductions import log_softmax
from .functions.shapes import broadcast_tensors
from .handles import Tensor
from .linalg import cholesky, solve_triangular
from .nn.functional import binary_cross_entropy_with_logits, one_hot, softplus
from .publish import function
from .random import default_generator, rand, randn

__all__ = [
    "Bernoulli", "Beta", "Categorical", "Cauchy", "Chi2", "Dirichlet", "Distribution",
    "Exponential", "Gamma", "Gumbel", "HalfNormal", "Independent", "Laplace", "LogNormal",
    "MixtureSameFamily", "MultivariateNormal", "Normal", "OneHotCategorical", "Poisson", "StudentT",
    "TransformedDistribution", "Uniform", "kl_divergence", "register_kl",
]  # fmt: skip
__all__ += distribution_transforms.__all__


def _key() -> Any:
    return default_generator._stream.key()


_gamma = function(lambda a, shape: native.gamma(_key(), a, shape), name="gamma", method=False)
_poisson = function(lambda r, shape: native.poisson(_key(), r, shape), name="poisson", method=False)
Formulas = dict[str, Callable[..., Any]]
_LOG_TWO_PI = math.log(2 * math.pi)
_EULER = 0.57721566490153286  # of Euler and Mascheroni
_CHECKS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "real": ("Real()", lambda x: x == x),
    "positive": ("GreaterThan(lower_bound=0.0)", lambda x: x > 0),
}


class Distribution:
    """A law of random tensors. Each formula takes its parameters, in order, and then its own."""

    has_rsample = False
    _kinds: dict[str, str] = {}  # noqa: RUF012  (a table for each subclass)
    _usual: dict[str, float] = {}  # noqa: RUF012
    _formulas: Formulas = {}  # noqa: RUF012
    _event = 0  # the number of axes of one event

    def __init__(self, *args: Any, validate_args: bool | None = None, **keywords: Any) -> None:
        given = {**self._usual, **dict(zip(self._kinds, args, strict=False)), **keywords}
        if len(args) > len(self._kinds) or set(given) != set(self._kinds):
            raise TypeError(f"{type(self).__name__} takes {', '.join(self._kinds)}, not {given}")
        tensors = broadcast_tensors(*_as_tensors(*(given[name] for name in self._kinds)))
        for (name, kind), value in zip(self._kinds.items(), tensors, strict=True):
            words, holds = _CHECKS[kind]
            if validate_args is not False and not bool(holds(value.detach()).all()):
                raise ValueError(
                    f"Expected parameter {name} of shape {tuple(value.shape)} of distribution "
                    f"{type(self).__name__} to satisfy the constraint {words}, but found invalid "
                    f"values:\n{value}"
                )
            setattr(self, name, value)
        self._set_shapes(tuple(tensors[0].shape), self._event)

    def _set_shapes(self, shape: tuple[int, ...], event: int) -> None:
        cut = len(shape) - event
        self.batch_shape, self.event_shape = Size(shape[:cut]), Size(shape[cut:])

    @property
    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self._kinds)

    def _formula(self, name: str, *args: Any) -> Any:
        if name not in self._formulas:
            raise NotImplementedError(f"{type(self).__name__} has no {name}")
        return self._formulas[name](*self._values, *args)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Numbers of the law, with derivatives with respect to its parameters."""
        if not self.has_rsample:
            raise NotImplementedError(f"{type(self).__name__} has no rsample: use sample()")
        shape = (*sample_shape, *self.batch_shape, *self.event_shape)
        return self._formula("draw", shape)  # type: ignore[no-any-return]

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Numbers of the law, cut off from the graph."""
        shape = (*sample_shape, *self.batch_shape, *self.event_shape)
        with no_grad():
            return self._formula("draw", shape).detach()  # type: ignore[no-any-return]

    def log_prob(self, value: Any) -> Tensor:
        """The logarithm of the density, or of the probability, at a value."""
        return self._formula("log_prob", as_tensor(value))  # type: ignore[no-any-return]

    def cdf(self, value: Any) -> Tensor:
        """The probability of numbers up to a value."""
        return self._formula("cdf", as_tensor(value))  # type: ignore[no-any-return]

    def icdf(self, value: Any) -> Tensor:
        """The number up to which a probability lies."""
        return self._formula("icdf", as_tensor(value))  # type: ignore[no-any-return]

    def entropy(self) -> Tensor:
        """The entropy."""
        return self._formula("entropy")  # type: ignore[no-any-return]

    mean = property(lambda self: self._formula("mean"))
    mode = property(lambda self: self._formula("mode"))
    variance = property(lambda self: self._formula("variance"))
    stddev = property(lambda self: self.variance.sqrt())

    def expand(self, batch_shape: Any) -> Any:
        """The law with its parameters repeated to a shape."""
        lead = len(self.batch_shape)
        values = [v.expand(*batch_shape, *v.shape[lead:]) for v in self._values]
        return type(self)(**dict(zip(self._kinds, values, strict=True)), validate_args=False)

    def __repr__(self) -> str:
        shapes = (f"{n}: {tuple(v.shape)}" for n, v in zip(self._kinds, self._values, strict=True))
        return f"{type(self).__name__}({', '.join(shapes)})"


def _as_tensors(*values: Any) -> list[Any]:
    like = next((v for v in values if isinstance(v, Tensor)), None)
    dtype = get_default_dtype() if like is None else like.dtype
    return [v if isinstance(v, Tensor) else as_tensor(v, dtype=dtype) for v in values]


def _law(
    name: str, parameters: str, *, rsample: bool = True, event: int = 0, **formulas: Any
) -> Any:
    """A law: its parameters as `name:kind`, perhaps with a usual value, and its formulas."""
    words = [word.split(":") for word in parameters.split()]
    members = {
        "has_rsample": rsample,
        "_event": event,
        "_kinds": {own: kind for own, kind, *_ in words},
        "_usual": {own: float(usual[0]) for own, _, *usual in words if usual},
        "_formulas": formulas,
        "__doc__": f"The law {name}, with the parameters {parameters}.",
        "__module__": __name__,
    }
    return type(name, (Distribution,), members)


def _unit(like: Any, shape: Any) -> Any:
    """Numbers between 0 and 1, without 0."""
    return rand(*shape, dtype=like.dtype).clamp(1e-38 if like.dtype.itemsize < 8 else 1e-300)


def _laplace(loc: Any, scale: Any, shape: Any) -> Any:
    u = _unit(loc, shape) - 0.5
    return loc - scale * u.sign() * (-2 * u.abs()).clamp(min=-1 + 1e-7).log1p()


def _student_norm(n: Any) -> Any:
    return (n.log() + math.log(math.pi)) / 2 + lgamma(n / 2) - lgamma((n + 1) / 2)


def _beta_norm(a: Any, b: Any) -> Any:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def _shares(a: Any, shape: Any) -> Any:
    """Positive numbers whose sum along the last axis is one."""
    x = _gamma(a, tuple(shape)).to(a.dtype)
    return x / x.sum(-1, keepdim=True)


def _beta(a: Any, b: Any, shape: Any) -> Any:
    return _shares(stack([a, b], -1), (*shape, 2))[..., 0]


def _dirichlet_entropy(a: Any) -> Any:
    total = a.sum(-1)
    norm = lgamma(a).sum(-1) - lgamma(total)
    return norm - (a.shape[-1] - total) * digamma(total) - ((a - 1) * digamma(a)).sum(-1)


Normal = _law(
    "Normal",
    "loc:real scale:positive",
    draw=lambda m, s, shape: m + s * randn(*shape, dtype=m.dtype),
    log_prob=lambda m, s, x: -(((x - m) / s) ** 2 + _LOG_TWO_PI) / 2 - s.log(),
    entropy=lambda m, s: (1 + _LOG_TWO_PI) / 2 + s.log(),
    cdf=lambda m, s, x: (1 + ((x - m) / (s * math.sqrt(2))).erf()) / 2,
    icdf=lambda m, s, p: m + s * math.sqrt(2) * (2 * p - 1).erfinv(),
    mean=lambda m, s: m,
    mode=lambda m, s: m,
    variance=lambda m, s: s**2,
)
LogNormal = _law(
    "LogNormal",
    "loc:real scale:positive",
    draw=lambda m, s, shape: (m + s * randn(*shape, dtype=m.dtype)).exp(),
    log_prob=lambda m, s, x: Normal(m, s).log_prob(x.log()) - x.log(),
    entropy=lambda m, s: Normal(m, s).entropy() + m,
    cdf=lambda m, s, x: Normal(m, s).cdf(x.log()),
    icdf=lambda m, s, p: Normal(m, s).icdf(p).exp(),
    mean=lambda m, s: (m + s**2 / 2).exp(),
    mode=lambda m, s: (m - s**2).exp(),
    variance=lambda m, s: (s**2).expm1() * (2 * m + s**2).exp(),
)
StudentT = _law(
    "StudentT",
    "df:positive loc:real:0 scale:positive:1",
    draw=lambda n, m, s, shape: (
        m + s * randn(*shape, dtype=m.dtype) * (2 * _gamma(n / 2, tuple(shape)) / n).rsqrt()
    ),
    log_prob=lambda n, m, s, x: (
        -(n + 1) / 2 * (((x - m) / s) ** 2 / n).log1p() - s.log() - _student_norm(n)
    ),
    entropy=lambda n, m, s: (
        s.log() + (n + 1) / 2 * (digamma((n + 1) / 2) - digamma(n / 2)) + _student_norm(n)
    ),
    mean=lambda n, m, s: where(n > 1, m, math.nan),
    mode=lambda n, m, s: m,
    variance=lambda n, m, s: where(
        n > 2, s**2 * n / (n - 2).clamp(min=1e-30), where(n > 1, math.inf, math.nan)
    ),
)
Uniform = _law(
    "Uniform",
    "low:real high:real",
    draw=lambda a, b, shape: a + (b - a) * rand(*shape, dtype=a.dtype),
    log_prob=lambda a, b, x: where((x >= a) & (x < b), -(b - a).log(), -math.inf),
    entropy=lambda a, b: (b - a).log(),
    cdf=lambda a, b, x: ((x - a) / (b - a)).clamp(0, 1),
    icdf=lambda a, b, p: a + p * (b - a),
    mean=lambda a, b: (a + b) / 2,
    variance=lambda a, b: (b - a) ** 2 / 12,
)
Exponential = _law(
    "Exponential",
    "rate:positive",
    draw=lambda r, shape: -_unit(r, shape).log() / r,
    log_prob=lambda r, x: r.log() - r * x,
    entropy=lambda r: 1 - r.log(),
    cdf=lambda r, x: 1 - (-r * x).exp(),
    icdf=lambda r, p: -(-p).log1p() / r,
    mean=lambda r: 1 / r,
    mode=zeros_like,
    variance=lambda r: r**-2,
)
Laplace = _law(
    "Laplace",
    "loc:real scale:positive",
    draw=_laplace,
    log_prob=lambda m, s, x: -(2 * s).log() - (x - m).abs() / s,
    entropy=lambda m, s: 1 + (2 * s).log(),
    cdf=lambda m, s, x: 0.5 - 0.5 * (x - m).sign() * (-(x - m).abs() / s).expm1(),
    mean=lambda m, s: m,
    mode=lambda m, s: m,
    variance=lambda m, s: 2 * s**2,
)
Cauchy = _law(
    "Cauchy",
    "loc:real scale:positive",
    draw=lambda m, s, shape: m + s * ((_unit(m, shape) - 0.5) * math.pi).tan(),
    log_prob=lambda m, s, x: -math.log(math.pi) - s.log() - (((x - m) / s) ** 2).log1p(),
    entropy=lambda m, s: math.log(4 * math.pi) + s.log(),
    cdf=lambda m, s, x: ((x - m) / s).atan() / math.pi + 0.5,
    icdf=lambda m, s, p: m + s * ((p - 0.5) * math.pi).tan(),
    mean=lambda m, s: m * math.nan,
    mode=lambda m, s: m,
    variance=lambda m, s: m * 0 + math.inf,
)
Gumbel = _law(
    "Gumbel",
    "loc:real scale:positive",
    draw=lambda m, s, shape: m - s * (-_unit(m, shape).log()).log(),
    log_prob=lambda m, s, x: (m - x) / s - ((m - x) / s).exp() - s.log(),
    entropy=lambda m, s: s.log() + (1 + _EULER),
    cdf=lambda m, s, x: (-((m - x) / s).exp()).exp(),
    icdf=lambda m, s, p: m - s * (-p.log()).log(),
    mean=lambda m, s: m + s * _EULER,
    mode=lambda m, s: m,
    variance=lambda m, s: (s * math.pi) ** 2 / 6,
)
HalfNormal = _law(
    "HalfNormal",
    "scale:positive",
    draw=lambda s, shape: (s * randn(*shape, dtype=s.dtype)).abs(),
    log_prob=lambda s, x: where(x >= 0, Normal(0 * s, s).log_prob(x) + math.log(2), -math.inf),
    entropy=lambda s: Normal(0 * s, s).entropy() - math.log(2),
    cdf=lambda s, x: 2 * Normal(0 * s, s).cdf(x) - 1,
    icdf=lambda s, p: Normal(0 * s, s).icdf((p + 1) / 2),
    mean=lambda s: s * math.sqrt(2 / math.pi),
    mode=zeros_like,
    variance=lambda s: s**2 * (1 - 2 / math.pi),
)
Gamma = _law(
    "Gamma",
    "concentration:positive rate:positive",
    draw=lambda a, r, shape: _gamma(a, tuple(shape)).to(r.dtype) / r,
    log_prob=lambda a, r, x: xlogy(a, r) + xlogy(a - 1, x) - r * x - lgamma(a),
    entropy=lambda a, r: a - r.log() + lgamma(a) + (1 - a) * digamma(a),
    cdf=lambda a, r, x: igamma(a, r * x),
    mean=lambda a, r: a / r,
    mode=lambda a, r: ((a - 1) / r).clamp(min=0),
    variance=lambda a, r: a / r**2,
)
Chi2 = _law(
    "Chi2",
    "df:positive",
    draw=lambda n, shape: 2 * _gamma(n / 2, tuple(shape)).to(n.dtype),
    log_prob=lambda n, x: Gamma(n / 2, 0.5).log_prob(x),
    entropy=lambda n: Gamma(n / 2, 0.5).entropy(),
    cdf=lambda n, x: igamma(n / 2, x / 2),
    mean=lambda n: n,
    mode=lambda n: (n - 2).clamp(min=0),
    variance=lambda n: 2 * n,
)
Beta = _law(
    "Beta",
    "concentration1:positive concentration0:positive",
    draw=_beta,
    log_prob=lambda a, b, x: xlogy(a - 1, x) + xlogy(b - 1, 1 - x) - _beta_norm(a, b),
    entropy=lambda a, b: _dirichlet_entropy(stack([a, b], -1)),
    mean=lambda a, b: a / (a + b),
    variance=lambda a, b: a * b / (a + b) ** 2 / (a + b + 1),
)
Dirichlet = _law(
    "Dirichlet",
    "concentration:positive",
    event=1,
    draw=_shares,
    log_prob=lambda a, x: xlogy(a - 1, x).sum(-1) + lgamma(a.sum(-1)) - lgamma(a).sum(-1),
    entropy=_dirichlet_entropy,
    mean=lambda a: a / a.sum(-1, keepdim=True),
    variance=lambda a: (
        a * (a.sum(-1, keepdim=True) - a) / a.sum(-1, True) ** 2 / (a.sum(-1, True) + 1)
    ),
)
Poisson = _law(
    "Poisson",
    "rate:positive",
    rsample=False,
    draw=lambda r, shape: _poisson(r, tuple(shape)).to(r.dtype),
    log_prob=lambda r, x: xlogy(x, r) - r - lgamma(x + 1),
    mean=lambda r: r,
    mode=lambda r: r.floor(),
    variance=lambda r: r,
)

# --- of classes, by probabilities or their logits ---


class _Classes(Distribution):
    """A law with `probs` or `logits`. The other one is computed."""

    _kinds = {"probs": "real", "logits": "real"}  # noqa: RUF012
    _many = False  # whether there is one probability for each of several classes

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: Any = None) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        (value,) = _as_tensors(logits if probs is None else probs)
        least = bool(((value >= 0) & (self._many | (value <= 1))).all())
        if probs is not None and validate_args is not False and not least:
            raise ValueError(f"Expected parameter probs to be probabilities, but found\n{value}")
        tiny = 1.1920929e-07 if value.dtype.itemsize < 8 else 2.220446049250313e-16
        if self._many:
            known = value.softmax(-1) if probs is None else value / value.sum(-1, keepdim=True)
            logs = log_softmax(value, -1) if probs is None else known.clamp(tiny, 1 - tiny).log()
        else:
            known = value.sigmoid() if probs is None else value
            inside = value.clamp(tiny, 1 - tiny)
            logs = value if probs is None else inside.log() - (-inside).log1p()
        self.probs, self.logits = known, logs
        self._set_shapes(tuple(value.shape[:-1] if self._many else value.shape), 0)

    def expand(self, batch_shape: Any) -> Any:
        last = self.probs.shape[-1:] if self._many else ()
        return type(self)(logits=self.logits.expand(*batch_shape, *last))


def _bits(probs: Any, logits: Any, x: Any) -> Any:
    """Minus the cross entropy of ones and zeros."""
    pair = broadcast_tensors(logits, x.to(logits.dtype))
    return -binary_cross_entropy_with_logits(*pair, reduction="none")


def _drawn(probs: Any, logits: Any, shape: Any) -> Any:
    noise = -(-_unit(logits, (*shape, logits.shape[-1])).log()).log()
    return (logits.detach() + noise).argmax(-1)


def _picked(probs: Any, logits: Any, x: Any) -> Any:
    index, table = broadcast_tensors(x.long().unsqueeze(-1), logits)
    return table.gather(-1, index[..., :1]).squeeze(-1)


class Bernoulli(_Classes):
    """One with a probability, or zero."""

    _formulas: Formulas = {  # noqa: RUF012
        "draw": lambda p, _, shape: (rand(*shape) < p.detach()).to(p.dtype),
        "log_prob": _bits,
        "entropy": lambda p, logits: -_bits(p, logits, p),
        "mean": lambda p, _: p,
        "variance": lambda p, _: p * (1 - p),
    }


class Categorical(_Classes):
    """The number of a class."""

    _many = True
    _formulas: Formulas = {  # noqa: RUF012
        "draw": _drawn,
        "log_prob": _picked,
        "entropy": lambda p, logits: -(logits.clamp(min=-3.4e38) * p).sum(-1),
        "mean": lambda p, _: p[..., 0] * math.nan,
        "mode": lambda p, _: p.argmax(-1),
        "variance": lambda p, _: p[..., 0] * math.nan,
    }


class OneHotCategorical(_Classes):
    """A class as a vector with a one in its place."""

    _many = True
    _formulas: Formulas = {  # noqa: RUF012
        "draw": lambda p, logits, shape: one_hot(_drawn(p, logits, shape[:-1]), shape[-1]).to(p),
        "log_prob": lambda p, logits, x: _picked(p, logits, x.argmax(-1)),
        "entropy": Categorical._formulas["entropy"],
        "mean": lambda p, _: p,
        "mode": lambda p, _: one_hot(p.argmax(-1), p.shape[-1]).to(p),
        "variance": lambda p, _: p * (1 - p),
    }

    def _set_shapes(self, shape: tuple[int, ...], event: int) -> None:
        super()._set_shapes((*shape, self.probs.shape[-1]), 1)


# --- of vectors ---


def _squares(lower: Any, x: Any) -> Any:
    """The squared lengths of `lower⁻¹ x`."""
    return (solve_triangular(lower, x.unsqueeze(-1), upper=False).squeeze(-1) ** 2).sum(-1)


def _volume(lower: Any) -> Any:
    return lower.diagonal(dim1=-2, dim2=-1).log().sum(-1)


class MultivariateNormal(Distribution):
    """Normal vectors with a covariance, which is given as such or by its Cholesky factor."""

    has_rsample = True
    _kinds = {"loc": "real", "scale_tril": "real"}  # noqa: RUF012
    _formulas: Formulas = {  # noqa: RUF012
        "draw": lambda m, c, shape: (
            m + (c @ randn(*shape, dtype=m.dtype).unsqueeze(-1)).squeeze(-1)
        ),
        "log_prob": lambda m, c, x: (
            -(m.shape[-1] * _LOG_TWO_PI + _squares(c, x - m)) / 2 - _volume(c)
        ),
        "entropy": lambda m, c: m.shape[-1] * (1 + _LOG_TWO_PI) / 2 + _volume(c) + 0 * m[..., 0],
        "mean": lambda m, c: m,
        "mode": lambda m, c: m,
        "variance": lambda m, c: (c**2).sum(-1) + 0 * m,
    }

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        given = (covariance_matrix, precision_matrix, scale_tril)
        if sum(value is not None for value in given) != 1:
            raise ValueError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be "
                "specified."
            )
        if precision_matrix is not None:
            covariance_matrix = precision_matrix.inverse()
        self.scale_tril = cholesky(covariance_matrix) if scale_tril is None else scale_tril
        self.loc = broadcast_tensors(loc, self.scale_tril[..., 0])[0]
        self._set_shapes(tuple(self.loc.shape), 1)

    @property
    def covariance_matrix(self) -> Any:
        """The covariance."""
        return self.scale_tril @ self.scale_tril.mT


class Independent(Distribution):
    """A law whose last batch axes are those of one event."""

    def __init__(
        self, base_distribution: Any, reinterpreted_batch_ndims: int, validate_args: Any = None
    ) -> None:
        base, count = base_distribution, reinterpreted_batch_ndims
        self.base_dist, self.reinterpreted_batch_ndims = base, count
        self.has_rsample = base.has_rsample
        shape = (*base.batch_shape, *base.event_shape)
        self._set_shapes(shape, count + len(base.event_shape))

    def _formula(self, name: str, *args: Any) -> Any:
        found = self.base_dist._formula(name, *args)
        return self._summed(found) if name in ("log_prob", "entropy") else found

    def _summed(self, value: Any) -> Any:
        axes = tuple(range(-self.reinterpreted_batch_ndims, 0))
        return value.sum(axes) if axes else value


class MixtureSameFamily(Distribution):
    """One of several laws, the last batch axis of `component_distribution`, by its probability."""

    def __init__(
        self, mixture_distribution: Any, component_distribution: Any, validate_args: Any = None
    ) -> None:
        self.mixture_distribution = mixture_distribution
        self.component_distribution = each = component_distribution
        shape = (*each.batch_shape[:-1], *each.event_shape)
        self._set_shapes(shape, len(each.event_shape))

    def _formula(self, name: str, *args: Any) -> Any:
        each, weights = self.component_distribution, self.mixture_distribution
        axis = -1 - len(each.event_shape)
        if name == "log_prob":
            known = each.log_prob(args[0].unsqueeze(axis))
            return (known + weights.logits).logsumexp(-1)
        if name == "draw":
            count = args[0][: len(args[0]) - len(self.batch_shape) - len(self.event_shape)]
            own = (1,) * len(each.event_shape)
            chosen = weights.sample(count).reshape(*count, *weights.batch_shape, 1, *own)
            drawn = each.sample(count)
            index = chosen.expand(*drawn.shape[:axis], 1, *each.event_shape)
            return drawn.gather(axis, index).squeeze(axis)
        shares = weights.probs.reshape(*weights.probs.shape, *(1,) * len(each.event_shape))
        if name == "mean":
            return (shares * each.mean).sum(axis)
        if name == "variance":
            apart = (each.mean - self.mean.unsqueeze(axis)) ** 2
            return (shares * (each.variance + apart)).sum(axis)
        return super()._formula(name, *args)


# --- of what functions make of other numbers ---


class TransformedDistribution(Distribution):
    """The law of what functions, one after the other, make of numbers of another law."""

    def __init__(self, base_distribution: Any, transforms: Any, validate_args: Any = None) -> None:
        self.base_dist = base_distribution
        several = isinstance(transforms, list | tuple)
        self.transforms = list(transforms) if several else [transforms]
        self.has_rsample = base_distribution.has_rsample
        self.batch_shape = base_distribution.batch_shape
        self.event_shape = base_distribution.event_shape

    def _formula(self, name: str, *args: Any) -> Any:
        if name == "draw":
            x = self.base_dist._formula(name, *args)
            for transform in self.transforms:
                x = transform(x)
            return x
        if name != "log_prob":
            return super()._formula(name, *args)
        (y,), stretched = args, 0.0
        axes = tuple(range(-len(self.event_shape), 0))
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            slopes = transform.log_abs_det_jacobian(x, y)
            stretched, y = stretched + (slopes.sum(axes) if axes else slopes), x
        return self.base_dist.log_prob(y) - stretched


# --- how far one law is from another: of the parameters of the first, and of the second ---


def _kl_dirichlet(a: Any, b: Any) -> Any:
    total = a.sum(-1)
    norm = lgamma(total) - lgamma(b.sum(-1)) - (lgamma(a) - lgamma(b)).sum(-1)
    return norm + ((a - b) * (digamma(a) - digamma(total).unsqueeze(-1))).sum(-1)


def _kl_gamma(a: Any, r: Any, b: Any, q: Any) -> Any:
    scaled = b * (r / q).log() + (q - r) * (a / r)
    return scaled + lgamma(b) - lgamma(a) + (a - b) * digamma(a)


def _kl_vectors(m: Any, c: Any, n: Any, d: Any) -> Any:
    turned = (solve_triangular(d, c, upper=False) ** 2).sum((-2, -1))
    return _volume(d) - _volume(c) + (turned + _squares(d, n - m) - m.shape[-1]) / 2


def _kl_laplace(m: Any, s: Any, n: Any, t: Any) -> Any:
    ratio, apart = s / t, (m - n).abs()
    return -ratio.log() + apart / t + ratio * (-apart / s).exp() - 1


def _kl_bits(p: Any, _: Any, q: Any, logits: Any) -> Any:
    entropies = xlogy(p, p) + xlogy(1 - p, 1 - p)
    return entropies + p * softplus(-logits) + (1 - p) * softplus(logits)


def _kl_classes(p: Any, logits: Any, q: Any, others: Any) -> Any:
    has_none = p == 0
    ratio = where(has_none, 0.0, logits) - where(has_none, 0.0, where(q == 0, -math.inf, others))
    return (p * ratio).sum(-1)


def _kl_uniform(a: Any, b: Any, c: Any, d: Any) -> Any:
    return where((c <= a) & (d >= b), ((d - c) / (b - a)).log(), math.inf)


_KL: dict[Any, Callable[..., Any]] = {
    Normal: lambda m, s, n, t: ((s / t) ** 2 + ((m - n) / t) ** 2 - 1) / 2 - (s / t).log(),
    Bernoulli: _kl_bits,
    Beta: lambda a, b, c, d: _kl_dirichlet(stack([a, b], -1), stack([c, d], -1)),
    Categorical: _kl_classes,
    Dirichlet: _kl_dirichlet,
    Exponential: lambda r, q: q / r - (q / r).log() - 1,
    Gamma: _kl_gamma,
    HalfNormal: lambda s, t: ((s / t) ** 2 - 1) / 2 - (s / t).log(),
    Laplace: _kl_laplace,
    LogNormal: lambda m, s, n, t: kl_divergence(Normal(m, s), Normal(n, t)),
    MultivariateNormal: _kl_vectors,
    OneHotCategorical: _kl_classes,
    Poisson: lambda r, q: r * (r.log() - q.log()) - (r - q),
    Uniform: _kl_uniform,
}
_REGISTERED: dict[tuple[type, type], Callable[[Any, Any], Any]] = {
    (Independent, Independent): lambda p, q: p._summed(kl_divergence(p.base_dist, q.base_dist))
}


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The Kullback-Leibler divergence of one law from another."""
    for (first, second), formula in reversed(list(_REGISTERED.items())):
        if isinstance(p, first) and isinstance(q, second):
            return formula(p, q)  # type: ignore[no-any-return]
    for law, formula in _KL.items():
        if isinstance(p, law) and isinstance(q, law):
            return formula(*p._values, *q._values)  # type: ignore[no-any-return]
    raise NotImplementedError(
        f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
    )


def register_kl(type_p: type, type_q: type) -> Callable[[Any], Any]:
    """Decorate a function that computes the divergence of two types of laws."""

    def decorate(formula: Any) -> Any:
        _REGISTERED[type_p, type_q] = formula
        return formula

    return decorate
