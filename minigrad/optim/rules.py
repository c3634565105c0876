"""The optimizers: θ is a parameter, g its gradient, η the learning rate, λ the weight decay.

Each class is its formula, in ``change``, which works on a float and on an array alike. The step
around it (which parameters, clipping, what is not finite) is in ``optimizer.py``.

Read next: ``optimizer.py``.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import TYPE_CHECKING, Any

from minigrad.errors import ArgumentValueError
from minigrad.optim.clipping import positive
from minigrad.optim.optimizer import Optimizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["Adam", "AdamW", "Momentum", "Nesterov", "RMSProp", "SGD"]


class SGD(Optimizer):
    """Gradient descent: θ ← θ − η (g + λθ).

    Args:
        learning_rate: η; a number, or a function of the number of steps done. No unit.
        params: The parameters: nodes, or a model with ``parameters()``.
        weight_decay: λ, added to the gradient (L2).
        clip_value: Limit of each number of a gradient; ``clip_norm``: limit of their length.
        clip_norm: See ``clip_by_global_norm``.

    Source: H. Robbins, S. Monro, A stochastic approximation method, Ann. Math. Statist. 22 (1951).

    >>> from minigrad import Value
    >>> w = Value(1.0)
    >>> optimizer = SGD(learning_rate=0.1, params=[w])
    >>> (w * 2.0).backward()
    >>> optimizer.step()
    >>> w.data
    0.8
    """

    def change(self, x: Any, gradient: Any, state: dict[str, Any], rate: float) -> Any:
        """η g."""
        return rate * gradient


class Momentum(Optimizer):
    """Gradient descent that keeps moving: v ← μv + g + λθ, θ ← θ − η v.

    Args:
        learning_rate: η; a number, or a function of the number of steps done. No unit.
        params: The parameters: nodes, or a model with ``parameters()``.
        momentum: μ, which part of the velocity stays, from 0 to below 1.
        **options: ``weight_decay``, ``clip_value``, ``clip_norm`` as in ``SGD``.

    Raises:
        ArgumentValueError: if μ is not from 0 to below 1.

    Source: B. T. Polyak, Some methods of speeding up the convergence of iteration methods, USSR
    Comput. Math. Math. Phys. 4 (1964), with v in units of the gradient, as TensorFlow and PyTorch
    have it.

    >>> from minigrad import Value
    >>> w = Value(1.0)
    >>> optimizer = Momentum(learning_rate=0.1, params=[w])
    >>> for _ in range(3):
    ...     optimizer.zero_grad()
    ...     (w * w).backward()
    ...     optimizer.step()
    ...     print(round(w.data, 3))
    0.8
    0.46
    0.062
    """

    def __init__(
        self,
        learning_rate: float | Callable[..., float] = 0.01,
        params: Iterable[Any] | Any = None,
        momentum: float = 0.9,
        **options: Any,
    ) -> None:
        super().__init__(learning_rate, params, **options)
        self.momentum = _fraction(momentum, "momentum")

    def change(self, x: Any, gradient: Any, state: dict[str, Any], rate: float) -> Any:
        """η v."""
        return rate * self._velocity(gradient, state)

    def _velocity(self, gradient: Any, state: dict[str, Any]) -> Any:
        v = state.get("velocity", 0.0)
        v *= self.momentum
        v += gradient  # in place, where v is an array; 0.0 + array is a new one
        state["velocity"] = v
        return v


class Nesterov(Momentum):
    """Momentum that looks ahead: v ← μv + g + λθ, θ ← θ − η (g + λθ + μv).

    Args:
        learning_rate: η; a number, or a function of the number of steps done. No unit.
        params: The parameters: nodes, or a model with ``parameters()``.
        momentum: μ, which part of the velocity stays, from 0 to below 1.
        **options: ``weight_decay``, ``clip_value``, ``clip_norm`` as in ``SGD``.

    Raises:
        ArgumentValueError: if μ is not from 0 to below 1.

    Source: Y. Nesterov, Soviet Math. Dokl. 27 (1983); in this form I. Sutskever, J. Martens,
    G. Dahl, G. Hinton, On the importance of initialization and momentum in deep learning (2013),
    with θ where the gradient is taken, as TensorFlow and PyTorch have it.

    >>> from minigrad import Value
    >>> w = Value(1.0)
    >>> optimizer = Nesterov(learning_rate=0.1, params=[w])
    >>> (w * w).backward()
    >>> optimizer.step()
    >>> round(w.data, 9)
    0.62
    """

    def change(self, x: Any, gradient: Any, state: dict[str, Any], rate: float) -> Any:
        """η (g + μv)."""
        return rate * (gradient + self.momentum * self._velocity(gradient, state))


class RMSProp(Optimizer):
    """Steps in units of the usual gradient: v ← ρv + (1 − ρ) g², θ ← θ − η g / (√v + ε).

    Args:
        learning_rate: η; a number, or a function of the number of steps done. No unit.
        params: The parameters: nodes, or a model with ``parameters()``.
        rho: ρ, which part of the mean square stays, from 0 to below 1.
        epsilon: ε, so that nothing is divided by 0; added to the root, in units of the gradient.
        **options: ``weight_decay``, ``clip_value``, ``clip_norm`` as in ``SGD``.

    Raises:
        ArgumentValueError: if ρ is not from 0 to below 1, or ε not positive.

    Source: T. Tieleman, G. Hinton, Lecture 6.5, COURSERA: Neural networks for machine learning
    (2012); ε after the root, as PyTorch has it.

    >>> from minigrad import Value
    >>> w = Value(1.0)
    >>> optimizer = RMSProp(learning_rate=0.1, params=[w])
    >>> (w * w).backward()
    >>> optimizer.step()
    >>> round(w.data, 6)  # the first step is η / √(1 − ρ), whatever the gradient
    0.683772
    """

    def __init__(
        self,
        learning_rate: float | Callable[..., float] = 0.001,
        params: Iterable[Any] | Any = None,
        rho: float = 0.9,
        epsilon: float = 1e-8,
        **options: Any,
    ) -> None:
        super().__init__(learning_rate, params, **options)
        self.rho = _fraction(rho, "rho")
        self.epsilon = positive(epsilon, "RMSProp(epsilon)")

    _strict = True

    def change(self, x: Any, gradient: Any, state: dict[str, Any], rate: float) -> Any:
        """η g / (√v + ε)."""
        v = _mean(state, "square", _square(gradient), self.rho)
        return rate * gradient / (_root(v) + self.epsilon)


class Adam(Optimizer):
    """Momentum in units of the usual gradient, both corrected for their start at 0.

    m ← β₁m + (1 − β₁) g and v ← β₂v + (1 − β₂) g²; after t steps m̂ = m / (1 − β₁ᵗ) and
    v̂ = v / (1 − β₂ᵗ); θ ← θ − η m̂ / (√v̂ + ε), where g is the gradient + λθ.

    Args:
        learning_rate: η; a number, or a function of the number of steps done. No unit.
        params: The parameters: nodes, or a model with ``parameters()``.
        beta_1: β₁, which part of the mean gradient stays, from 0 to below 1.
        beta_2: β₂, which part of the mean square stays, from 0 to below 1.
        epsilon: ε, so that nothing is divided by 0; added to the root, in units of the gradient.
        **options: ``weight_decay``, ``clip_value``, ``clip_norm`` as in ``SGD``. This weight decay
            is L2, which Adam scales like any gradient; ``AdamW`` has the other.

    Raises:
        ArgumentValueError: if β₁ or β₂ is not from 0 to below 1, or ε not positive.

    Source: D. Kingma, J. Ba, Adam: A method for stochastic optimization, arXiv:1412.6980,
    algorithm 1.

    >>> from minigrad import Value
    >>> w = Value(0.0)
    >>> optimizer = Adam(learning_rate=0.1, params=[w])
    >>> (w * 2.0).backward()
    >>> optimizer.step()
    >>> round(w.data, 10)
    -0.0999999995
    """

    def __init__(
        self,
        learning_rate: float | Callable[..., float] = 0.001,
        params: Iterable[Any] | Any = None,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        **options: Any,
    ) -> None:
        super().__init__(learning_rate, params, **options)
        self.beta_1 = _fraction(beta_1, "beta_1")
        self.beta_2 = _fraction(beta_2, "beta_2")
        self.epsilon = positive(epsilon, f"{type(self).__name__}(epsilon)")

    _strict = True

    def change(self, x: Any, gradient: Any, state: dict[str, Any], rate: float) -> Any:
        """η m̂ / (√v̂ + ε)."""
        square = _square(gradient)  # before the state is touched, should it overflow
        t = state["steps"] = state.get("steps", 0) + 1
        m = _mean(state, "gradient", gradient, self.beta_1)
        v = _mean(state, "square", square, self.beta_2)
        root = _root(v / (1.0 - self.beta_2**t))
        root += self.epsilon
        return (rate / (1.0 - self.beta_1**t)) * m / root


class AdamW(Adam):
    """Adam with weight decay beside it: θ ← θ − η (m̂ / (√v̂ + ε) + λθ).

    The decay is not part of g, so it is not divided by √v̂: every weight shrinks at the same rate.

    Args:
        learning_rate: η; a number, or a function of the number of steps done. No unit.
        params: The parameters: nodes, or a model with ``parameters()``.
        beta_1: β₁, which part of the mean gradient stays, from 0 to below 1.
        beta_2: β₂, which part of the mean square stays, from 0 to below 1.
        epsilon: ε, so that nothing is divided by 0; added to the root, in units of the gradient.
        weight_decay: λ; no unit.
        **options: ``clip_value``, ``clip_norm`` as in ``SGD``.

    Raises:
        ArgumentValueError: if β₁ or β₂ is not from 0 to below 1, or ε not positive.

    Source: I. Loshchilov, F. Hutter, Decoupled weight decay regularization, arXiv:1711.05101,
    algorithm 2, with λ multiplied by the learning rate, as PyTorch has it.

    >>> from minigrad import Value
    >>> w = Value(1.0)
    >>> w.grad = 0.0
    >>> AdamW(learning_rate=0.1, params=[w], weight_decay=0.1).step()
    >>> w.data
    0.99
    """

    def __init__(
        self,
        learning_rate: float | Callable[..., float] = 0.001,
        params: Iterable[Any] | Any = None,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        weight_decay: float = 0.01,
        **options: Any,
    ) -> None:
        options["weight_decay"] = weight_decay
        super().__init__(learning_rate, params, beta_1, beta_2, epsilon, **options)

    def _with_decay(self, x: Any, gradient: Any) -> Any:
        return gradient  # the decay is not part of the gradient

    def change(self, x: Any, gradient: Any, state: dict[str, Any], rate: float) -> Any:
        """η (m̂ / (√v̂ + ε) + λθ)."""
        step = super().change(x, gradient, state, rate)
        return step + (rate * self.weight_decay) * x if self.weight_decay else step


def _square(gradient: Any) -> Any:
    """g², of an array with NumPy told to raise.

    Raises:
        FloatingPointError: if it overflows, for then the mean would be inf for ever.
    """
    square = gradient * gradient
    if square.__class__ is float and square == inf:
        raise FloatingPointError("overflow encountered in multiply")
    return square


def _root(x: Any) -> Any:
    """√x, without the checks of ``mg.sqrt``: a mean of squares is never negative."""
    if not hasattr(x, "shape"):
        return sqrt(x)
    import numpy as np

    return np.sqrt(x)


def _mean(state: dict[str, Any], name: str, x: Any, stays: float) -> Any:
    """The running mean ``mean ← stays · mean + (1 − stays) · x``, from 0 on."""
    mean = state.get(name, 0.0)
    mean *= stays
    mean += (1.0 - stays) * x  # in place, where mean is an array; 0.0 + array is a new one
    state[name] = mean
    return mean


def _fraction(number: Any, name: str) -> float:
    value = positive(number, name, zero=True)
    if value >= 1.0:
        raise ArgumentValueError(f"{name}={number!r}: it must be from 0 to below 1")
    return value
