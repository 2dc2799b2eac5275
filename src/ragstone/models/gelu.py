"""GELU, the activation of the BERT family, computed in chunks that fit the processor's cache."""

import numpy as np
from numpy.typing import NDArray

CHUNK = 32_768

EXACT = (
    *(7.97884215e-1, 3.63342835e-2, -3.31299840e-5, -5.52401615e-5),
    *(3.96910987e-6, -1.33446436e-7, 1.80561700e-9),
)
BY_TANH = (0.7978845608, 0.7978845608 * 0.044715)


def twice_gelu(
    values: NDArray[np.float32], bias: NDArray[np.float32], coefficients: tuple[float, ...]
) -> None:
    """Add the bias and compute twice the activation, in place.

        2 gelu(x) = x (1 + tanh(x P(x²)))

    With ``BY_TANH`` this is the approximation known as ``gelu_new``; with ``EXACT`` it is x Φ(x),
    Φ the normal distribution function, to 1e-7: P is the fit to atanh(2 Φ(x) - 1) / x with the
    smallest maximal error of gelu. The caller divides by 2, by halving the next layer's weights.

    Args:
        values: Shape (n, d), contiguous.
        bias: Shape (d,).
    """
    rows = max(1, CHUNK // values.shape[1])
    square = np.empty((rows, values.shape[1]), np.float32)
    curve = np.empty_like(square)
    first, *between, last = (np.float32(coefficient) for coefficient in coefficients)
    # Large |x| overflow to infinity in the polynomial; tanh then gives the correct limit of ±1.
    with np.errstate(over="ignore"):
        for start in range(0, len(values), rows):
            x = values[start : start + rows]
            s, p = square[: len(x)], curve[: len(x)]
            x += bias
            np.multiply(x, x, out=s)
            np.multiply(s, last, out=p)
            for coefficient in reversed(between):
                p += coefficient
                p *= s
            p += first
            p *= x
            np.tanh(p, out=p)
            p += np.float32(1)
            x *= p
