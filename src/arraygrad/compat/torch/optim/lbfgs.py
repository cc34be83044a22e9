"""LBFGS: Newton's method, with the curvature estimated from the last steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..autograd import enable_grad, no_grad
from ..creation import zeros_like
from ..functions.joining import cat
from ..handles import Tensor
from .optimizer import Optimizer


class LBFGS(Optimizer):
    """Quasi-Newton steps along a direction from the last `history_size` changes of the gradient."""

    def __init__(
        self,
        params: Any,
        lr: float = 1.0,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        if line_search_fn is not None:
            raise NotImplementedError(
                "LBFGS(line_search_fn=...): steps have the length lr here; for a line search, use "
                "arraygrad.optimize.minimize with SciPy's L-BFGS-B"
            )
        options = {"lr": lr, "max_iter": max_iter, "tolerance_grad": tolerance_grad}
        more = {"tolerance_change": tolerance_change, "history_size": history_size}
        most = {"max_eval": max_iter * 5 // 4 if max_eval is None else max_eval}
        super().__init__(params, options | more | most)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._held = self.param_groups[0]["params"]

    def _gradient(self) -> Tensor:
        return cat([(zeros_like(p) if p.grad is None else p.grad).reshape(-1) for p in self._held])

    def _move(self, length: float, direction: Tensor) -> None:
        start = 0
        for p in self._held:
            part = direction[start : start + p.numel()].reshape(p.shape)
            p.add_(length * part)
            start += p.numel()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Take up to `max_iter` steps; `closure` computes the loss, and its gradients, anew."""
        if closure is None:
            raise TypeError("LBFGS.step() needs a closure that computes the loss and its gradients")
        group, state = self.param_groups[0], self.state.setdefault(self._held[0], {})
        state.setdefault("n_iter", 0)

        def evaluate() -> tuple[Any, Tensor]:
            with enable_grad():
                loss = closure()
            return loss, self._gradient()

        with no_grad():
            first, g = evaluate()
            loss, evaluations = _number(first), 1
            if g.abs().max() <= group["tolerance_grad"]:
                return first
            for taken in range(1, group["max_iter"] + 1):
                state["n_iter"] += 1
                direction = self._direction(g, state, group)
                slope = g.dot(direction).item()
                length = group["lr"]
                if state["n_iter"] == 1:
                    length *= min(1.0, 1.0 / g.abs().sum().item())
                if slope > -group["tolerance_change"]:
                    break
                state["before"], state["step"] = g, direction * length
                self._move(length, direction)
                if taken == group["max_iter"]:
                    break
                previous, (value, g) = loss, evaluate()
                loss, evaluations = _number(value), evaluations + 1
                if (
                    evaluations >= group["max_eval"]
                    or g.abs().max() <= group["tolerance_grad"]
                    or (direction * length).abs().max() <= group["tolerance_change"]
                    or abs(loss - previous) < group["tolerance_change"]
                ):
                    break
        return first

    def _direction(self, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> Tensor:
        """The gradient times an estimate of the inverse of the Hessian, downwards."""
        pairs = state.setdefault("pairs", [])  # changes of the gradient, and the steps
        if state["n_iter"] == 1:
            state["scale"] = 1.0
        else:
            change, step = g - state["before"], state["step"]
            curvature = change.dot(step).item()
            if curvature > 1e-10:
                pairs.append((change, step, 1.0 / curvature))
                del pairs[: -group["history_size"]]
                state["scale"] = curvature / change.dot(change).item()
        q: Tensor = -g
        weights = []
        for change, step, inverse in reversed(pairs):
            weights.append(inverse * step.dot(q).item())
            q = q - weights[-1] * change
        q = q * state["scale"]
        for (change, step, inverse), weight in zip(pairs, reversed(weights), strict=True):
            q = q + step * (weight - inverse * change.dot(q).item())
        return q


def _number(loss: Any) -> float:
    return float(loss.item() if isinstance(loss, Tensor) else loss)
