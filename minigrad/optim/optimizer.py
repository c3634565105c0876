"""``Optimizer``: what all optimizers do around their formula.

Decided here: a parameter that is listed twice is updated once. One whose gradient is None is left
alone, its state too: None is not 0. One whose gradient is nan or infinite is left alone as well, or
so large or small that a formula leaves the floats, and a ``NumericalWarning`` names it (under
``errstate("raise")`` a ``NumericalError``, and then no parameter is changed): a nan in one
parameter would be in all of them after the next step.

Read next: ``schedules.py``.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from minigrad import modes, source
from minigrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    MissingGradientWarning,
    NumericalError,
    NumericalWarning,
)
from minigrad.graph import Node, topological_order
from minigrad.optim.clipping import clip_by_global_norm, clip_by_value, is_finite, positive
from minigrad.optim.parameters import (
    as_gradient,
    called,
    check_arguments,
    gradients_of,
    not_finite,
    parameters_of,
    raising,
    size_of,
)
from minigrad.optim.schedules import rate_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Pairs = list[tuple[Any, Any]]

__all__ = ["Optimizer"]


class Optimizer:
    """The base of all optimizers: θ ← θ − change(θ, g).

    A class of your own defines ``change``; the rest is here.

    Args:
        learning_rate: η; a number, or a function of the number of steps done. No unit.
        params: The parameters: nodes, or a model with ``parameters()``. Without them,
            ``minimize`` and ``apply_gradients`` can be told each time.
        weight_decay: λ; λθ is added to the gradient.
        clip_value: Limit of each number of a gradient.
        clip_norm: Limit of the length of all gradients together.

    Attributes:
        learning_rate: As given; a new one counts from the next step.
        params: The parameters, each once.
        iterations: The number of steps done.

    Raises:
        ArgumentTypeError: if something among ``params`` is no leaf of floats.
        ArgumentValueError: if a number is negative or not finite, or ``params`` is empty.

    >>> from minigrad import Value
    >>> class Sign(Optimizer):
    ...     def change(self, x, gradient, state, rate):
    ...         return rate if gradient > 0 else -rate
    >>> w = Value(1.0)
    >>> optimizer = Sign(0.25, [w])
    >>> (w * w).backward()
    >>> optimizer.step()
    >>> w.data
    0.75
    """

    def __init__(
        self,
        learning_rate: float | Callable[..., float] = 0.01,
        params: Iterable[Any] | Any = None,
        *,
        weight_decay: float = 0.0,
        clip_value: float | None = None,
        clip_norm: float | None = None,
        **unknown: Any,
    ) -> None:
        kind = type(self).__name__
        check_arguments(kind, learning_rate, unknown)
        if not callable(learning_rate):
            positive(learning_rate, f"{kind}(learning_rate)", zero=True)
        self.learning_rate = learning_rate
        self.params = None if params is None else parameters_of(params, f"{kind}(params)")
        self.weight_decay = positive(weight_decay, f"{kind}(weight_decay)", zero=True)
        self.clip_value, self.clip_norm = (
            limit if limit is None else positive(limit, f"{kind}({name})")
            for name, limit in (("clip_value", clip_value), ("clip_norm", clip_norm))
        )
        self.iterations = 0
        self._states: dict[Any, dict[str, Any]] = {}

    _strict = False  # whether NumPy raises in ``change`` where it would only warn

    def change(self, x: Any, gradient: Any, state: dict[str, Any], rate: float) -> Any:
        """What is subtracted from a parameter; a float for a ``Value``, an array for a ``Tensor``.

        Args:
            x: The numbers of the parameter; they must not be changed.
            gradient: Its gradient, of the same shape; it must not be changed.
            state: What the optimizer keeps of this parameter; empty before its first step.
            rate: The learning rate of this step.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define change(…)")

    # -- with .grad ------------------------------------------------------------------------------

    def step(self) -> None:
        """Update every parameter by its ``.grad``; where that is None, nothing happens.

        Where all of them are None, a warning says so.

        Raises:
            ArgumentValueError: if the optimizer was made without ``params``.
            NumericalError: under ``errstate("raise")``, for a nan or infinite gradient.
        """
        pairs = [(p.grad, p) for p in self._own_params("step()")]
        if all(gradient is None for gradient, _ in pairs):
            source.warn(
                MissingGradientWarning,
                "step(): no parameter has a gradient, so nothing changed; the order is "
                "zero_grad(), loss.backward(), step()",
            )
        self._update(pairs)

    def zero_grad(self) -> None:
        """Set ``.grad`` of every parameter to None.

        Raises:
            ArgumentValueError: if the optimizer was made without ``params``.
        """
        for p in self._own_params("zero_grad()"):
            p.zero_grad()

    def _own_params(self, what: str) -> list[Any]:
        if self.params is None:
            kind = type(self).__name__
            raise ArgumentValueError(
                f"{what}: this {kind} has no parameters; {kind}(learning_rate=…, "
                f"params=model.parameters()) gives it some"
            )
        return self.params

    # -- with gradients of their own, as in TensorFlow -------------------------------------------

    def minimize(
        self,
        loss: Any,
        var_list: Iterable[Any] | None = None,
        *,
        global_step: Any = None,
        grad_loss: Any = None,
    ) -> Any:
        """Take one step against the gradient of ``loss``; no ``.grad`` is read or written.

        Args:
            loss: A node, or a function without arguments that gives one. Of several elements, the
                sum is minimized.
            var_list: The parameters; those of the optimizer, or else the trainable variables that
                ``loss`` depends on, by default.
            global_step: A leaf that is counted up by 1.
            grad_loss: ∂(what is minimized)/∂loss, 1 by default.

        Returns:
            The node of the loss, with the value from before the step.

        Raises:
            ArgumentValueError: if there are no parameters, or none of them has a gradient.

        >>> from minigrad import Value
        >>> from minigrad.optim import SGD
        >>> w = Value(1.0)
        >>> loss = SGD(0.1).minimize(lambda: w * w, [w])
        >>> loss.data, w.data, w.grad
        (1.0, 0.8, None)
        """
        loss, pairs = self._gradients(loss, var_list, grad_loss)
        self.apply_gradients(pairs, global_step)
        return loss

    def compute_gradients(
        self, loss: Any, var_list: Iterable[Any] | None = None, grad_loss: Any = None
    ) -> Pairs:
        """∂loss/∂parameter, as pairs (gradient, parameter); arguments as in ``minimize``.

        Returns:
            A pair for each parameter; the gradient is None where ``loss`` does not depend on it.

        >>> from minigrad import Value
        >>> from minigrad.optim import SGD
        >>> w, unused = Value(3.0), Value(0.0)
        >>> [gradient for gradient, _ in SGD().compute_gradients(w * w, [w, unused])]
        [6.0, None]
        """
        return self._gradients(loss, var_list, grad_loss)[1]

    def _gradients(self, loss: Any, var_list: Any, grad_loss: Any) -> tuple[Any, Pairs]:
        loss = loss() if callable(loss) and not isinstance(loss, Node) else loss
        if not isinstance(loss, Node):
            raise ArgumentTypeError(
                f"minimize: the loss is {loss!r}, but it must be a node, or a function that gives "
                f"one"
            )
        order = topological_order(loss)
        if var_list is not None:
            wanted = parameters_of(var_list, "var_list")
        elif self.params is not None:
            wanted = self.params
        else:
            wanted = [node for node in order if getattr(node, "trainable", False)]
        if not wanted:
            raise ArgumentValueError(
                "minimize: no variables to optimize; give var_list=[…], or params=… to the "
                "optimizer"
            )
        gradients = gradients_of(loss, order, grad_loss)
        return loss, [(as_gradient(gradients.get(p), p), p) for p in wanted]

    def apply_gradients(
        self, grads_and_vars: Iterable[tuple[Any, Any]], global_step: Any = None
    ) -> None:
        """Update parameters by gradients that are given beside them.

        Args:
            grads_and_vars: Pairs (gradient, parameter), as ``compute_gradients`` gives them;
                gradients may be changed in between. A parameter with None is left alone.
            global_step: A leaf that is counted up by 1.

        Raises:
            ArgumentValueError: if there is no pair, no gradient, or a second, different gradient
                for the same parameter.
            ShapeError: if a gradient has another shape than its parameter.

        >>> from minigrad import Value
        >>> from minigrad.optim import SGD
        >>> a = Value(1.0)
        >>> SGD(0.5).apply_gradients((4.0, p) for p in [a])
        >>> a.data
        -1.0
        """
        pairs: dict[Any, Any] = {}
        for gradient, p in _pairs(grads_and_vars):
            (p,) = parameters_of([p], "apply_gradients")
            if p in pairs and pairs[p] is not gradient:
                raise ArgumentValueError(
                    f"apply_gradients: {called(p)} has two gradients; add them up first"
                )
            pairs[p] = gradient
        if not any(gradient is not None for gradient in pairs.values()):
            names = ", ".join(map(called, pairs)) or "no variables were given"
            raise ArgumentValueError(
                f"apply_gradients: no gradients for any variable ({names}); does the loss depend "
                f"on them?"
            )
        if global_step is not None and not hasattr(global_step, "data"):
            raise ArgumentTypeError(f"global_step={global_step!r}: it is a leaf, such as Value(0)")
        self._update([(as_gradient(gradient, p), p) for p, gradient in pairs.items()])
        if global_step is not None:
            global_step.data += 1

    # -- the step --------------------------------------------------------------------------------

    def _update(self, pairs: Pairs) -> None:
        pairs = [(getattr(g, "_data", g), p) for g, p in pairs if g is not None]
        if not pairs:
            return
        rate = rate_of(self.learning_rate, self.iterations)
        pairs = [pair for pair in pairs if is_finite(pair[0]) or self._complain(*pair)]
        gradients: Sequence[Any] = [gradient for gradient, _ in pairs]
        if self.clip_value is not None:
            gradients = clip_by_value(gradients, self.clip_value)
        if self.clip_norm is not None:
            gradients, _ = clip_by_global_norm(gradients, self.clip_norm)
        with raising(gradients) if self._strict else nullcontext():
            changes = [
                self._changed(gradient, p, rate)
                for gradient, (_, p) in zip(gradients, pairs, strict=True)
            ]
        for p, x, gradient, change in changes:
            if change is None:
                continue
            _move(p, x, x - change)
            if modes.special:  # perhaps somebody records
                modes.tell_update(p, x, gradient, rate, p._data, type(self).__name__)
        self.iterations += 1

    def _changed(self, gradient: Any, p: Any, rate: float) -> tuple[Any, Any, Any, Any]:
        """A parameter, its numbers and gradient, and what is subtracted; None if that is nothing.

        Raises:
            ArgumentTypeError: if ``change`` returned nothing.
        """
        x = p._data
        try:
            gradient = self._with_decay(x, gradient)
            change = self.change(x, gradient, self._states.setdefault(p, {}), rate)
        except FloatingPointError as error:
            self._tell(
                f"{type(self).__name__} has no step for {called(p)}, whose gradient reaches "
                f"{size_of(gradient)!r}: {error}; it is not updated in this step. clip_value= "
                f"bounds gradients, float32 has room for more than float16"
            )
            return p, x, gradient, None
        if change is None:
            raise ArgumentTypeError(
                f"{type(self).__name__}.change returned None; it returns what is taken off the "
                f"parameter, such as learning_rate * gradient"
            )
        return p, x, gradient, change

    def _with_decay(self, x: Any, gradient: Any) -> Any:
        return gradient + self.weight_decay * x if self.weight_decay else gradient

    def _complain(self, gradient: Any, p: Any) -> bool:
        """Say which gradient is not finite; False, for it is not used."""
        self._tell(
            f"the gradient of {called(p)} is {not_finite(gradient)}; it is not updated in this step"
        )
        return False

    def _tell(self, text: str) -> None:
        """Warn, raise or keep silent, as ``errstate`` has it."""
        action = modes.error_action()
        if action == "raise":
            raise NumericalError(text)
        if action == "warn":
            source.warn(NumericalWarning, text)

    def __repr__(self) -> str:
        count = "no" if self.params is None else len(self.params)
        rate = self.learning_rate
        shown = getattr(rate, "__name__", "a function") if callable(rate) else repr(rate)
        return f"{type(self).__name__}(learning_rate={shown}, {count} parameters)"


def _pairs(grads_and_vars: Any) -> Pairs:
    try:
        return [(gradient, p) for gradient, p in grads_and_vars]
    except TypeError:
        raise ArgumentTypeError(
            f"apply_gradients takes pairs [(gradient, parameter), …], not {grads_and_vars!r}"
        ) from None


def _move(p: Any, x: Any, new: Any) -> None:
    """Give a parameter its new numbers."""
    if new.__class__ is x.__class__ and (
        new.__class__ is float or (new.shape == x.shape and new.dtype == x.dtype)
    ):
        p._data = new  # nobody else has this array, so it need not be copied
    else:
        p.data = new
