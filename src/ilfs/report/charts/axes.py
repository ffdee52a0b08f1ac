"""Axes of charts: from values to pixels, with round ticks."""

from dataclasses import dataclass
from math import ceil, floor, log10

import numpy as np
from numpy.typing import ArrayLike

MAX_TICKS = 6
MIN_LOG_TICKS = 3  # with fewer powers of ten on an axis, also 2 and 5 times a power
PAD_FRACTION = 0.04  # of the range of an axis, beyond the data


@dataclass(frozen=True)
class Axis:
    """A linear or logarithmic map from values to pixels, with ticks.

    Parameters
    ----------
    low, high : float
        Values at the ends; positive if logarithmic.
    start, end : float
        Pixels at the ends.
    is_log : bool, default=False
        Logarithmic axis.
    """

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def __call__(self, value: float) -> float:
        """Return the pixel of a value."""
        low, high, at = (log10(v) if self.is_log else v for v in (self.low, self.high, value))
        return self.start + (self.end - self.start) * (at - low) / (high - low)

    def ticks(self) -> list[float]:
        """Return round values between the ends."""
        return log_ticks(self.low, self.high) if self.is_log else linear_ticks(self.low, self.high)


class NoTicks(Axis):
    """An axis of categories, whose names are drawn by the chart itself."""

    def ticks(self) -> list[float]:
        """Return no ticks."""
        return []


def linear_ticks(low: float, high: float) -> list[float]:
    """Return multiples of 1, 2 or 5 times a power of ten between two values, at most `MAX_TICKS`.

    Examples
    --------
    >>> from ilfs.report.charts.axes import linear_ticks
    >>> linear_ticks(0.0, 1.0)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    rough = (high - low) / (MAX_TICKS - 1)
    power = 10.0 ** floor(log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9))
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [round(k * step, 12 - floor(log10(step))) for k in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Return powers of ten between two positive values; if these are few, also 2 and 5 times a power.

    Examples
    --------
    >>> from ilfs.report.charts.axes import log_ticks
    >>> log_ticks(1, 10_000), log_ticks(2, 60)
    ([1.0, 10.0, 100.0, 1000.0, 10000.0], [2.0, 5.0, 10.0, 20.0, 50.0])
    """
    exponents = range(floor(log10(low) + 1e-9), ceil(log10(high) - 1e-9) + 1)
    tens = [10.0**e for e in exponents if low * (1 - 1e-9) <= 10.0**e <= high * (1 + 1e-9)]
    if len(tens) < MIN_LOG_TICKS:
        some = [m * 10.0**e for e in exponents for m in (1, 2, 5)]
        return [v for v in some if low * (1 - 1e-9) <= v <= high * (1 + 1e-9)] or [low, high]
    return tens[:: ceil(len(tens) / MAX_TICKS)]


def tick_text(value: float) -> str:
    """Format the value of a tick.

    Examples
    --------
    >>> from ilfs.report.charts.axes import tick_text
    >>> tick_text(20_000), tick_text(0.05), tick_text(1e9), tick_text(0)
    ('20,000', '0.05', '1e9', '0')
    """
    size = abs(value)
    if value == 0:
        return "0"
    text = f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e") if not 1e-4 <= size < 1e7 else f"{value:,.6g}"
    if 1e3 <= size < 1e7:
        text = f"{value:,.0f}"
    return text.replace("-", "\N{MINUS SIGN}")


def span(values: ArrayLike, *, is_log: bool = False, zero: bool = False) -> tuple[float, float]:
    """Return the ends of an axis for values: their range and a little more.

    Parameters
    ----------
    values : array-like
        The values; those that are not finite, or not positive on a logarithmic axis, are left out.
    is_log : bool, default=False
        Logarithmic axis.
    zero : bool, default=False
        Let the axis contain 0.
    """
    found = np.asarray(values, dtype=float).ravel()
    found = found[np.isfinite(found) & ((found > 0) | (not is_log))]
    if not found.size:
        return (0.1, 1.0) if is_log else (0.0, 1.0)
    low, high = float(found.min()), float(found.max())
    if is_log:
        pad = (high / low) ** PAD_FRACTION
        return (low / pad, high * pad) if high > low else (low / 2, high * 2)
    low, high = (min(low, 0.0), max(high, 0.0)) if zero else (low, high)
    pad = PAD_FRACTION * (high - low) or max(abs(high), 1.0) / 2
    return (low if zero and low == 0 else low - pad), (high if zero and high == 0 else high + pad)
