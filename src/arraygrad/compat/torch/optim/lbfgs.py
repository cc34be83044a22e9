"""LBFGS: `ag.optim.lbfgs`, for a loss that a closure computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....optim.newton import descend, joined, split
from ..autograd import enable_grad, no_grad
from ..creation import zeros_like
from ..handles import Tensor, wrap
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
        options = {"lr": lr, "max_iter": max_iter, "tolerance_grad": tolerance_grad}
        more = {"tolerance_change": tolerance_change, "history_size": history_size}
        most = max_iter * 5 // 4 if max_eval is None else max_eval
        ways = {"max_eval": most, "line_search_fn": line_search_fn}
        super().__init__(params, options | more | ways)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Take up to `max_iter` steps; `closure` computes the loss, and its gradients, anew."""
        if closure is None:
            raise TypeError("LBFGS.step() needs a closure that computes the loss and its gradients")
        params: list[Tensor] = self.param_groups[0]["params"]
        shapes = [(tuple(p.shape), p._t.dtype) for p in params]
        losses: list[Any] = []
        moved: Any = 0.0  # what the closure itself, such as by clamp_(), added to the parameters
        searches = self.param_groups[0]["line_search_fn"] is not None

        def place(x: Any) -> None:
            for p, value in zip(params, split(x + moved, shapes), strict=True):
                p.copy_(wrap(value))

        def evaluate(x: Any) -> tuple[float, Any]:
            nonlocal moved
            if losses:
                place(x)
            with enable_grad():
                losses.append(closure())
            if len(losses) == 1 or not searches:  # a search tries places, and goes back
                moved = joined([p.detach()._t for p in params]) - x
            grads = [zeros_like(p) if p.grad is None else p.grad for p in params]
            loss = losses[-1].item() if isinstance(losses[-1], Tensor) else losses[-1]
            return float(loss), joined([g.detach()._t for g in grads])

        with no_grad():
            start = joined([p.detach()._t for p in params])
            place(descend(evaluate, start, self.state[params[0]], self.param_groups[0]))
        return losses[0]
