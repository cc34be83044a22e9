"""Logistic regression with standard errors, in a few lines of NumPy-like code.

Newton's method finds the maximum of the log-likelihood; the inverse of its Hessian there says how
well the data determine each coefficient. The Hessian is one batched sweep over the gradient.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import arraygrad as ag


def negative_log_likelihood(beta: Any, features: Any, labels: Any) -> Any:
    """Of labels 0 and 1, for coefficients `beta`."""
    score = features @ beta
    return ag.sum(ag.logaddexp(score, 0.0) - labels * score)


def gradient_and_hessian(beta: Any, features: Any, labels: Any) -> tuple[Any, Any]:
    """Both at `beta`, as NumPy arrays."""
    leaf = ag.tensor(beta, requires_grad=True)
    gradient = ag.grad(negative_log_likelihood(leaf, features, labels), leaf, create_graph=True)
    hessian = ag.grad(gradient, leaf, grad_outputs=np.eye(len(beta)), is_grads_batched=True)
    return gradient.detach().numpy(), hessian.numpy()


def fit(features: Any, labels: Any, steps: int = 8) -> tuple[Any, Any]:
    """The coefficients and their standard errors."""
    beta = np.zeros(features.shape[1])
    for _ in range(steps):
        gradient, hessian = gradient_and_hessian(beta, features, labels)
        beta = beta - np.linalg.solve(hessian, gradient)
    _, hessian = gradient_and_hessian(beta, features, labels)
    return beta, np.sqrt(np.diag(np.linalg.inv(hessian)))


def main(count: int = 2000) -> tuple[Any, Any, Any]:
    """Draw labels from known coefficients, and find these again."""
    rng = np.random.default_rng(7)
    truth = np.array([-0.5, 1.0, 0.0, 2.0])
    features = np.column_stack([np.ones(count), rng.normal(size=(count, 3))])
    labels = (rng.uniform(size=count) < 1 / (1 + np.exp(-features @ truth))).astype(float)
    beta, error = fit(features, labels)
    for true, found, uncertainty in zip(truth, beta, error, strict=True):
        print(f"true {true:5.2f}   found {found:6.3f} ± {uncertainty:.3f}")
    return truth, beta, error


if __name__ == "__main__":
    main()
