"""GELU, the activation of the BERT family, in passes that stay in the processor's cache."""

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
    """Add the bias and take the activation, in place; the result is twice as large.

        2 gelu(x) = x (1 + tanh(x P(x²)))

    With ``BY_TANH`` this is the approximation known as ``gelu_new``, with ``EXACT`` it is x Φ(x) of
    the normal distribution to 1e-7: P was fitted to atanh(2 Φ(x) - 1) / x so that the largest error
    of gelu is smallest. The factor 2 is left to the caller, who can put it into a weight.

    Args:
        values: Shape (n, d), contiguous.
        bias: Shape (d,).
    """
    rows = max(1, CHUNK // values.shape[1])
    square = np.empty((rows, values.shape[1]), np.float32)
    curve = np.empty_like(square)
    first, *between, last = (np.float32(coefficient) for coefficient in coefficients)
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
